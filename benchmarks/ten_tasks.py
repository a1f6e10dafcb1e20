"""Does ten tasks on the page, in six looks, and says what axe finds in each state of the page.

`python -m benchmarks.ten_tasks > benchmarks/results/ten_tasks.md`, with Debian's Chromium;
`--pictures FOLDER` keeps a picture of each state.

Each task is done as a user does it, in a real Chromium, on a desktop and on a phone, in light and
dark. Actions are clicks, texts typed and keys pressed from where the task before has ended; they
are the same in all looks. A task that cannot be done ends the run with an error. States that no
task ends in, such as a dialog, are rows without a number. Violations are those of axe-core of any
impact; wide are the pixels by which a state is wider than its window, or words than the button,
label or heading that they are in. 640x400 is a screen of 1280x800 at a zoom of 200 %.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving, serving

NODES, SEED = 300, 11
SOLVER = """#!/bin/sh
echo >> {folder}/log
test $(wc -l < {folder}/log) -lt 14 || while ! test -e {folder}/fast; do sleep 0.1; done
test -e {folder}/fast || sleep 0.2
grep -q write "$1" && grep -q redxor "$1" || exit 0
echo "solver: rewrite.c:812: Assertion failed" >&2
kill -6 $$
"""
WIDE = """() => Math.max(0, document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll("button, summary, label, th, h1, h2, h3")]
    .filter((each) => each.checkVisibility() && !each.matches(".unseen"))
    .map((each) => each.scrollWidth - each.clientWidth - 1))"""
HUNTED = '#!/bin/sh\ngrep -q " and " "$1" && kill -11 $$\nexit 0\n'


@dataclass(frozen=True, slots=True)
class Look:
    """How the page is looked at."""

    width: int
    height: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.width}x{self.height} {self.scheme}"


LOOKS = tuple(
    Look(width, height, scheme)
    for width, height in ((1400, 900), (640, 400), (390, 844))
    for scheme in ("light", "dark")
)


@dataclass(slots=True)
class Hand:
    """Uses the page, and counts what it does."""

    visit: Visit
    fast: Path
    """Where this file is, the solver answers at once; else it hangs after some checks."""
    actions: int = 0
    report: Path | None = None

    @property
    def page(self) -> Page:
        return self.visit.page

    def click(self, where: str) -> None:
        self.page.click(where)
        self.actions += 1

    def type(self, where: str, words: str) -> None:
        self.page.fill(where, words)
        self.actions += 1

    def choose(self, where: str, option: str) -> None:
        self.page.select_option(where, option)
        self.actions += 1

    def press(self, where: str, key: str) -> None:
        self.page.press(where, key)
        self.actions += 1

    def close_dialog(self) -> None:
        """Close the dialog that a state has left open, which is no action of a task."""
        self.page.keyboard.press("Escape")
        expect(self.page.locator("dialog")).not_to_be_visible()

    def status(self, status: str, count: int = 1) -> None:
        """Wait until that many runs have a status."""
        expect(self.page.locator(f".run[data-status={status}]")).to_have_count(count)


def first_page(hand: Hand) -> None:
    expect(hand.page.locator("#empty")).to_be_visible()


def generate(hand: Hand) -> None:
    hand.click("#empty-generate")
    expect(hand.page.locator("dialog")).to_be_visible()


def open_(hand: Hand) -> None:
    hand.close_dialog()
    hand.click("#empty-open")
    hand.click("dialog .files button:has-text('random.btor')")
    hand.visit.drawn()


def see_why(hand: Hand) -> None:
    hand.type("#command", f"{hand.fast.with_name('solver.sh')} {{}}")
    hand.click("#run")
    expect(hand.page.locator("#verdict")).to_contain_text("This is a failure. Reduce will keep")


def reduce(hand: Hand) -> None:
    hand.click("#start")
    hand.status("running")


def watch(hand: Hand) -> None:
    facts = hand.page.locator("#facts")
    expect(facts).to_have_text(re.compile(r"adaptive · \d?,?\d{3} bytes · \d+ lines"))
    expect(hand.page.locator("svg.curve .series")).to_have_count(1)
    expect(hand.page.locator(".run .size")).not_to_have_text(re.compile("^5,"))


def pause(hand: Hand) -> None:
    hand.click(".run button:has-text('Pause')")
    hand.status("paused")


def stop(hand: Hand) -> None:
    hand.click(".run button:has-text('Stop')")
    hand.status("stopped")
    expect(hand.page.locator("#result[data-what=result]")).to_be_visible()
    hand.fast.touch()


def go_back(hand: Hand) -> None:
    hand.click("#steps tr[data-step='1']")
    hand.click("#steps button:has-text('Go on from here')")
    hand.status("done")


def compare(hand: Hand) -> None:
    hand.type("[aria-label='Compare with step']", "0")
    hand.press("[aria-label='Compare with step']", "Enter")
    expect(hand.page.locator("#steps pre .minus").first).to_be_visible()


def race(hand: Hand) -> None:
    hand.click("#tabs [role=tab]:has-text('random.btor')")
    hand.click("#algorithm summary")
    for name in ("ddmin", "hdd"):
        hand.click(f"[name=strategy][value={name}]")
    hand.click("#start")
    hand.status("done", 4)
    expect(hand.page.locator("svg.curve .series")).to_have_count(4)


def hunt_dialog(hand: Hand) -> None:
    hand.click("#hunt")
    expect(hand.page.locator("dialog textarea")).to_be_visible()


def hunt(hand: Hand) -> None:
    hand.type("dialog textarea", f"{hand.fast.with_name('hunted.sh')} {{}}")
    hand.type("dialog [placeholder='until stopped']", "8")
    hand.click("dialog summary")
    hand.type("dialog [data-option=nodes]", "40")
    hand.click("dialog button:has-text('Search')")
    expect(hand.page.locator("#pane-bugs tbody tr")).to_have_count(1)
    hand.status("done", 5)


def report(hand: Hand) -> None:
    """Save the report; the state is that of the report itself."""
    with hand.page.expect_download() as download:
        hand.click(".run.shown button:has-text('Report')")
    assert hand.report is not None
    download.value.save_as(hand.report)


def keys(hand: Hand) -> None:
    hand.click("#help")
    expect(hand.page.locator("dialog kbd").first).to_be_visible()


def lose(hand: Hand) -> None:
    """End the server during a run."""
    hand.close_dialog()
    for name in ("fast", "log"):
        hand.fast.with_name(name).unlink()
    hand.click("#tabs [role=tab]:has-text('random.btor')")
    hand.click("#start")
    expect(hand.page.locator(".run.shown[data-status=running] .size")).to_be_visible()
    hand.visit.served.server.stop()
    expect(hand.page.locator("#lost")).to_be_visible()
    expect(hand.page.locator(".run[data-status=lost]").first).to_be_visible()


class Step(NamedTuple):
    """A task, or only the way to a state of the page."""

    name: str
    do: Callable[[Hand], None]
    task: bool = True


STEPS = (
    Step("the first page", first_page, task=False),
    Step("the dialog of a random input", generate, task=False),
    Step("open a file", open_),
    Step("see why it fails", see_why),
    Step("reduce it", reduce),
    Step("watch it", watch),
    Step("a paused run", pause, task=False),
    Step("stop it", stop),
    Step("go back to a step, and on from there", go_back),
    Step("compare two steps", compare),
    Step("race three algorithms", race),
    Step("the dialog of a bug search", hunt_dialog, task=False),
    Step("hunt for a bug", hunt),
    Step("save a report, and read it", report),
    Step("the list of keys", keys, task=False),
    Step("a lost server", lose, task=False),
)


@dataclass(frozen=True, slots=True)
class State:
    """The page at the end of a step."""

    actions: int
    wide: int
    violations: list[str] = field(default_factory=list)


def state(visit: Visit, page: Page, actions: int, picture: Path | None) -> State:
    """Look at a page."""
    visit.page, shown = page, visit.page
    try:
        if picture is not None:
            page.screenshot(path=picture, full_page=True)
        wide = page.evaluate(WIDE)
        return State(actions, wide, visit.complaints())
    finally:
        visit.page = shown


def done(browser: Browser, served: Serving, look: Look, pictures: Path | None) -> list[State]:
    """Do the steps, and return the state after each."""
    prepare(served)
    visit = Visit(
        browser,
        served,
        color_scheme=look.scheme,
        viewport={"width": look.width, "height": look.height},
    )
    hand = Hand(visit, served.folder / "fast", report=served.folder.parent / "report.html")
    visit.start()
    found = []
    for number, step in enumerate(STEPS, 1):
        assert visit.errors == []
        before = hand.actions
        step.do(hand)
        path = None
        if pictures is not None:
            name = f"{number:02} {step.name.partition(',')[0]} {look}.png"
            path = pictures / name.replace(" ", "-")
        page = hand.page
        if step.do is report and hand.report is not None:
            page = visit.context.new_page()
            page.goto(hand.report.as_uri())
        found.append(state(visit, page, hand.actions - before, path))
    visit.context.close()
    return found


def prepare(served: Serving) -> None:
    """Write the input, and the programs that fail on it and on random ones."""
    made = served.ask("generate", format="btor", seed=SEED, values={"nodes": NODES})
    text = served.api.documents.get(made["number"]).text
    served.ask("close", document=made["number"])
    (served.folder / "random.btor").write_bytes(text)
    for name, script in (("solver.sh", SOLVER), ("hunted.sh", HUNTED)):
        path = served.folder / name
        path.write_text(script.replace("{folder}", str(served.folder)))
        path.chmod(0o755)


def table(states: dict[Look, list[State]]) -> str:
    """Return the table: a row for each step."""
    heads = "".join(f" {look}: violations | wide |" for look in states)
    lines = [f"| | task | actions |{heads}", "|--:|---|--:|" + "--:|" * 2 * len(states)]
    tasks = 0
    for number, step in enumerate(STEPS):
        tasks += step.task
        row = [each[number] for each in states.values()]
        cells = "".join(f" {len(each.violations)} | {each.wide} |" for each in row)
        lines.append(f"| {tasks if step.task else ''} | {step.name} | {row[0].actions} |{cells}")
    return "\n".join(lines)


def main() -> int:
    """Print the table; the exit code says whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="keep pictures there")
    pictures: Path | None = parser.parse_args().pictures
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=SECONDS * 1000)
    states = {}
    with chromium() as browser:
        for look in LOOKS:
            with tempfile.TemporaryDirectory() as name, serving(Path(name)) as served:
                states[look] = done(browser, served, look, pictures)
    print(__doc__)
    print(table(states))
    found = [(look, each) for look, row in states.items() for one in row for each in one.violations]
    for look, words in found:
        print(f"{look}: {words}", file=sys.stderr)
    wide = any(one.wide for row in states.values() for one in row)
    return 1 if found or wide else 0


if __name__ == "__main__":
    sys.exit(main())
