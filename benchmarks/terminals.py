"""What the full screens of reducekit and Shrink Ray show of the same reduction, and when.

    python -m benchmarks.terminals > benchmarks/results/terminals.md     # with shrinkray in PATH

Both reduce the same generated script with the same command in a terminal of 120x40 (tmux), one
after the other. The screens are read after 1 s, 5 s, and when the program has ended or is done. A
row of the table is a fact; its cells say what a screen tells of it, by the patterns below.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple

MOMENTS = (1.0, 5.0)
"""Seconds after the start."""
_LONGEST = 120.0
"""Seconds until the end is no longer waited for."""
COMMAND = """#!/bin/sh
sleep 0.05
grep -q "(bvudiv " "$1" && grep -q "(bvmul " "$1" && grep -q "(check-sat)" "$1" || exit 1
echo "solver: rewrite.c:812: Assertion failed" >&2
"""


class Fact(NamedTuple):
    """What a screen may tell, and how each of the two does."""

    name: str
    ours: str
    theirs: str


_NEVER = "(?!)"
FACTS = (
    Fact("bytes left", r"([\d,]+ bytes) of", r"case size: ([\d.]+ \w+)"),
    Fact("share removed", r"([\d.]+ %) removed", r"([\d.]+%) reduction"),
    Fact("bytes removed a second", r"([\d,]+) bytes a second", r"([\d.]+\s+\w+)\s+/\s+second\)"),
    Fact("runtime", r"time (\d+ s)", r"Total runtime: (.*? seconds)"),
    Fact("time left, estimated", r"left: ([\w. ]+?)  ", _NEVER),
    Fact("checks", r"checks +([\d,]+) ", r"interestingness test: ([\d,]+)"),
    Fact("checks a second", r"checks [\d,]+  (\d+)/s", r"\(([\d.]+) calls"),
    Fact("share that succeeds", r"(\d+ %) succeed", r"([\d.]+%)\s+interesting"),
    Fact("verdicts without a check", r"known ([\d,]+) verdicts", _NEVER),
    Fact("steps accepted", r"accepted ([\d,]+)", _NEVER),
    Fact(
        "time since the last step",
        r"last success ([\w ]+?)  |(no success yet)",
        r"last reduction: ([\d.]+s)",
    ),
    Fact("pass", r"pass ([\w ]+), round", r"reduction pass\s+(\w+)"),
    Fact("successes not used", r"([\d.]+ %) unused", r"([\d.]+%)\s+wasted"),
    Fact("steps accepted a second", r"accepted [\d,]+  ([\d.]+)/s", r"([\d.]+)\s+reductions"),
    Fact("parallelism", r"([\d.]+) busy on average", r"Average ([\d.]+)"),
    Fact("timeouts", r"([\d,]+) timeouts", r"(\d+%)\s+of\s+recent\s+tests\s+timed"),
    Fact("workers", r"workers (\d+)", r"parallel workers: (\d+)"),
    Fact("time limit of a check", r"timeouts \(([\d.]+ s)\)", r"Test timeout: ([\d.]+s)"),
    Fact("failure that is kept", r"keeps: (.*?)  ", _NEVER),
    Fact("output of the program", r"(solver: \w+\.c)", r"(solver: \w+\.c)"),
    Fact("last change", r"Last change.*?  (-\d+ bytes|[\w ]+: [-+][\d,]+ bytes)", r"(@@[^@]*@@)"),
    Fact("how the program ended", r"(exit status \d)\)", r"(exited with code \d+)"),
    Fact("curve", r"(█)", r"(┤)"),
    Fact("text or change", r"(\((?:set|assert|declare|define|check).{0,20})", r"(@@[^@]*@@)"),
    Fact("keys", r"(t Lines|q Close)", r"(q Quit)"),
)


class Screens(NamedTuple):
    """The text of a terminal at the moments, and at the end."""

    taken: list[str]
    seconds: float
    """How long the program has run; `_LONGEST` if it was stopped."""


def tmux(server: str, *words: str) -> str:
    """Run tmux with a server of that name."""
    line = ["tmux", "-L", server, "-f", "/dev/null", *words]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def watch(command: list[str], folder: Path) -> Screens:
    """Run a command in a terminal and read its screens."""
    ended = folder / "ended"
    ended.unlink(missing_ok=True)
    line = f"{shlex.join(command)}; touch {ended.name}"
    server = f"terminals-{uuid.uuid4().hex}"
    tmux(server, "new-session", "-d", "-x", "120", "-y", "40", "-c", str(folder), "sh")
    try:
        tmux(server, "send-keys", line, "Enter")
        begin, taken = time.monotonic(), []
        for moment in MOMENTS:
            time.sleep(max(0.0, moment - (time.monotonic() - begin)))
            taken.append(tmux(server, "capture-pane", "-p"))
        while not ended.exists() and time.monotonic() - begin < _LONGEST:
            # When they are done, both wait for a key.
            if re.search("  Done  |Reduction completed", tmux(server, "capture-pane", "-p")):
                break
            time.sleep(0.2)
        seconds = time.monotonic() - begin
        taken.append(tmux(server, "capture-pane", "-p"))
    finally:
        tmux(server, "kill-server")
    return Screens([each.replace(f"{folder}/", "./") for each in taken], seconds)


def told(pattern: str, screen: str) -> str:
    """Return what a screen tells of a fact; empty if nothing."""
    # One pane after the other: a sentence may go on in the next row.
    halves = [row[:60] for row in screen.split("\n")], [row[60:] for row in screen.split("\n")]
    rows = [
        row.strip(" │┌└").removeprefix("█").removesuffix("█").strip(" │┃")
        for half in halves
        for row in half
    ]
    found = re.search(pattern, "  ".join(rows))
    return "" if found is None else next((each for each in found.groups() if each), "")


def table(ours: Screens, theirs: Screens) -> str:
    """Return the rows of facts, the screens below."""
    names = [*(f"{moment:g} s" for moment in MOMENTS), "end"]
    heads = [f"{who}, {name}" for who in ("reducekit", "Shrink Ray") for name in names]
    lines = [f"| fact | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for fact in FACTS:
        cells = [told(fact.ours, each) for each in ours.taken]
        cells += [told(fact.theirs, each) for each in theirs.taken]
        lines.append(f"| {fact.name} | {' | '.join(cell.replace('|', '') for cell in cells)} |")
    for who, screens in (("reducekit", ours), ("Shrink Ray", theirs)):
        for name, screen in zip(names, screens.taken, strict=True):
            body = "\n".join(row.rstrip() for row in screen.rstrip().split("\n"))
            body = body.replace(sys.executable, "python")
            lines.append(f"\n{who}, {name}:\n\n```\n{body}\n```")
    return "\n".join(lines)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.parse_args()
    if not shutil.which("shrinkray") or not shutil.which("tmux"):
        sys.exit("install Shrink Ray and tmux, and put them in PATH")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test = folder / "solver.sh"
        test.write_text(COMMAND, encoding="utf-8")
        test.chmod(0o755)
        own = [sys.executable, "-m", "reducekit"]
        made = [*own, "generate", "smt2", "--seed", "3", "--logic", "QF_BV", "--asserts", "200"]
        subprocess.run([*made, "-o", str(folder / "in.smt2")], check=True)
        text = (folder / "in.smt2").read_bytes()
        (folder / "theirs.smt2").write_bytes(text)
        asked = ["smt2", "in.smt2", "-o", "out.smt2", "--tui", "--jobs", "1", "--cmd"]
        ours = watch([*own, *asked, f"./{test.name}"], folder)
        other = ["shrinkray", "--no-llm", "--parallelism=1", f"./{test.name}", "theirs.smt2"]
        theirs = watch(other, folder)
        ends = [
            f"{who} {'was stopped' if screens.seconds >= _LONGEST else 'ended'} after "
            f"{screens.seconds:.0f} s with {(folder / name).stat().st_size:,} bytes."
            for who, screens, name in (
                ("reducekit", ours, "out.smt2"),
                ("Shrink Ray", theirs, "theirs.smt2"),
            )
        ]
        print(
            "# Two full screens\n\nMade by `python -m benchmarks.terminals`, with one worker each,"
        )
        print(f"from a script of {len(text):,} bytes.", *ends, end="\n\n")
        print(table(ours, theirs))


if __name__ == "__main__":
    main()
