"""Makes the pictures of terminal and page in README and docs: `make captures`, from real runs.

The terminal is tmux's, the page is in Debian's Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from docs.animation import Screen, animation
from tests.ui.browser import Visit, chromium
from tests.ui.serving import serving

DOCS = Path(__file__).parent
CHECKOUT = DOCS.parent
REDUCEKIT = [sys.executable, "-m", "reducekit"]
COMMAND = "reducekit btor random.btor --cmd './faulty.sh {}'"
FAULTY = """#!/bin/sh
# Stands for a solver with a bug in its rewriting of writes below reductions.
sleep %s
grep -q write "$1" && grep -q redxor "$1" || exit 0
echo "faulty: rewrite.c:812: Assertion failed" >&2
kill -6 $$
"""
_PATIENCE = 120  # seconds
_EVERY = 0.8
"""Seconds between two screens of the recording."""
_FINISHED = 3
"""The screens of the recording that show the finished run."""


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.2)


def faulty(folder: Path, seconds: float = 0.02) -> Path:
    """Write the solver that fails."""
    path = folder / "faulty.sh"
    path.write_text(FAULTY % seconds)
    path.chmod(0o755)
    return path


@contextmanager
def reducing(
    columns: int, rows: int, options: str = "", *, seconds: float = 0.02
) -> Iterator[tuple[Callable[[], list[str]], Callable[[str], None]]]:
    """Start a reduction in a terminal.

    Yields a function that returns its lines, with colours, and one that presses a key. `seconds`:
    what a run of the solver takes.
    """
    with tempfile.TemporaryDirectory() as name:
        faulty(Path(name), seconds)
        text = [*REDUCEKIT, "generate", "btor", "--seed", "11", "--nodes", "3000"]
        subprocess.run([*text, "-o", f"{name}/random.btor"], check=True)
        tmux = ["tmux", "-L", f"captures-{columns}", "-f", "/dev/null"]
        line = f"{' '.join(REDUCEKIT)} {COMMAND.removeprefix('reducekit ')} {options}"
        line += "; echo; echo '$ cat random.reduced.btor'; cat random.reduced.btor; sleep 60"
        size = ["-x", str(columns), "-y", str(rows)]
        subprocess.run([*tmux, "new-session", "-d", *size, "-c", name, line], check=True)

        def shown() -> list[str]:
            show = [*tmux, "capture-pane", "-p", "-e"]
            done = subprocess.run(show, capture_output=True, text=True, check=True)
            return done.stdout.rstrip().replace(name, "/tmp").split("\n")

        def press(key: str) -> None:
            subprocess.run([*tmux, "send-keys", key], check=True)

        try:
            yield shown, press
        finally:
            subprocess.run([*tmux, "kill-server"], check=True)


def terminal(columns: int) -> str:
    """Return what a terminal of that width shows during a reduction, without colours."""
    accepted = re.compile(r"(\d+) accepted")

    def text() -> str:
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(shown()))

    with reducing(columns, 9) as (shown, _):
        until(lambda: (found := accepted.search(text())) and int(found[1]) >= 7)
        return text()


def recording() -> str:
    """Return a reduction in the whole terminal, from its start to its summary, as animated SVG."""
    columns, rows = 100, 26
    screens: list[Screen] = []
    with reducing(columns, rows, "--tui", seconds=0.3) as (shown, press):
        until(lambda: "Running" in "".join(shown()))
        begin = time.monotonic()
        while not screens or "$ cat" not in "".join(screens[-1].lines):
            screens.append(Screen(time.monotonic() - begin, shown()))
            if sum(" Done " in "".join(each.lines) for each in screens) == _FINISHED:
                press("q")
            time.sleep(_EVERY)
    first = screens[0].seconds
    screens = [Screen(each.seconds - first, each.lines) for each in screens]
    return animation(screens, columns, f"{COMMAND} --tui")


def page() -> None:
    """Make the pictures of the page, by the steps that `ui.md` describes."""
    with (
        tempfile.TemporaryDirectory() as name,
        serving(Path(name)) as served,
        chromium() as browser,
    ):
        solver = faulty(served.folder)
        visit = Visit(browser, served)
        shown = visit.start()
        shown.click("#empty-generate")
        shown.fill("dialog [data-option=nodes]", "300")
        shown.fill("dialog [data-name=seed]", "11")
        visit.picture(DOCS, "ui-generate")
        shown.click("dialog button:has-text('Generate')")
        visit.drawn()
        visit.fails(f"{solver} {{}}", "fails")
        visit.algorithms("adaptive", "ddmin", "changeref+", "hdd")
        shown.click("#start")
        until(lambda: "adaptive" in shown.inner_text("#tabs"))
        until(lambda: int(shown.get_attribute("#graph", "data-nodes") or 999) < 40)
        visit.picture(DOCS, "ui-race")
        until(lambda: shown.locator(".run[data-status=done]").count() == 4)
        shown.select_option("#theme", "dark")
        shown.wait_for_selector("#steps pre .minus")
        visit.picture(DOCS, "ui-steps")
        visit.end()
    for each in ("generate", "race", "steps"):
        shrink(DOCS / f"ui-{each}.png")


def melt() -> bytes:
    """Return the film of the example of the web interface."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def reducekit(*words: str) -> None:
            subprocess.run([sys.executable, "-m", "reducekit", *words], cwd=folder, check=True)

        reducekit("generate", "btor", "--seed", "11", "--nodes", "80", "-o", "in.btor")
        reducekit("btor", "in.btor", "--oracle", "grep -q redxor", "--quiet")
        reducekit("report", "in.reduced.btor", "--film", "film.svg")
        return (folder / "film.svg").read_bytes()


def shrink(path: Path) -> None:
    """Write a picture with 64 colors, which takes a third of the bytes."""
    program = shutil.which("pngquant")
    if program is None:
        sys.exit("captures need pngquant: apt-get install pngquant")
    subprocess.run([program, "--force", "--output", str(path), "64", str(path)], check=True)


def main() -> None:
    """Make all captures."""
    text = (DOCS / "terminal.md").read_text()
    before, heading, rest = text.partition("At 80 columns, and at 200:\n\n")
    _, _, _, _, after = rest.split("```", 4)
    shown = "\n\n".join(f"```\n{terminal(columns)}\n```" for columns in (80, 200))
    (DOCS / "terminal.md").write_text(before + heading + shown + after)
    (DOCS / "terminal.svg").write_text(recording())
    (DOCS.parent / "reducekit" / "ui" / "static" / "melt.svg").write_bytes(melt())
    page()


if __name__ == "__main__":
    main()
