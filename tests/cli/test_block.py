"""The live block: what it says, and that it fits."""

import re
from pathlib import Path

import pytest

from reducekit.events import Accepted, Checked, FailureFound, PassStarted, RolledBack, Started
from reducekit.session.progress import SLOW, Progress
from reducekit.usage.block import Row, Watched, curve, rows

pytestmark = pytest.mark.reduction

SCRIPT = b"".join(b"(assert (= x%d (+ y%d 1)))\n" % (n, n) for n in range(200))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def watched(clock: Clock, output: str = "out.smt2") -> Watched:
    found = Watched(Progress(clock=clock), 4, "solver --opt {}")
    found.see(Started(len(SCRIPT), Path(output)))
    return found


def searching(clock: Clock, output: str = "out.smt2") -> Watched:
    found = watched(clock, output)
    found.see(FailureFound("signal SIGSEGV"))
    found.see(PassStarted("commands", 1))
    text = SCRIPT
    lines = SCRIPT.splitlines(keepends=True)
    for number in range(1, 41):
        clock.now += 0.5
        found.see(Checked(number % 4 == 0, number % 10 == 0, "drop", len(text)))
        if number % 4 == 0:
            text = b"".join(lines[4 * number :])
            found.see(Accepted(text, "drop commands", "commands"))
    return found


def said(found: list[Row]) -> list[str]:
    return ["".join(text for text, _ in row) for row in found]


def test_five_lines_say_how_far_it_is() -> None:
    clock = Clock()
    found = searching(clock)
    clock.now += 2
    lines = said(rows(found, 120))
    assert len(lines) == 5
    size = len(b"".join(SCRIPT.splitlines(keepends=True)[160:]))
    assert lines[0].startswith(f"out.smt2  {len(SCRIPT):,} -> {size:,} bytes (")
    assert re.search(r"  █+▇+$", lines[0])
    assert lines[1].startswith("36 checks  2/s  ")
    assert "4 workers" in lines[1]
    assert lines[2] == "round 1: commands  10 accepted  last success 2 s ago"
    assert lines[3].startswith("drop commands  -464 bytes  -(assert (= x144 (+ y144 1))) (+15)")
    assert lines[4] == "p pause  n skip pass  q stop  t full screen  ? help"


@pytest.mark.parametrize("width", [20, 39, 79, 199])
@pytest.mark.parametrize("output", ["o", "a/rather/long/folder/" * 6 + "out.smt2", "ö\x1b[2J"])
def test_no_line_is_too_wide_or_unsafe(width: int, output: str) -> None:
    clock = Clock()
    found = searching(clock, output)
    for _ in range(2):
        found.help = found.paused = not found.help
        lines = said(rows(found, width))
        assert all(len(line) <= width and line.isprintable() for line in lines)
        assert f"{len(SCRIPT):,}"[:1] in lines[0]


def test_a_wide_terminal_shows_more() -> None:
    clock = Clock()
    found = searching(clock)
    narrow, wide = said(rows(found, 79)), said(rows(found, 199))
    assert narrow[0].count("▇") < wide[0].count("▇")
    assert len(narrow[3]) < len(wide[3])


def test_a_slow_check_is_named_with_its_time() -> None:
    clock = Clock()
    found = searching(clock)
    clock.now += SLOW + 9
    assert said(rows(found, 79))[4] == "a check has been running for 12 s: solver --opt {}"


def test_before_the_search_it_says_that_the_command_runs() -> None:
    clock = Clock()
    found = watched(clock)
    clock.now += 7
    assert said(rows(found, 79))[1] == "running the command on the input for 7 s"


def test_a_text_that_is_given_up_is_seen_in_the_curve() -> None:
    clock = Clock()
    found = searching(clock)
    before = curve(found.progress, 20, unicode=True)
    found.see(RolledBack(SCRIPT, ()))
    assert curve(found.progress, 20, unicode=True)[-1] == "█" != before[-1]
    assert set(curve(found.progress, 20, unicode=False)) <= set("_.:-=+*#")


def test_many_steps_and_large_texts_cost_little() -> None:
    clock = Clock()
    found = watched(clock)
    found.see(PassStarted("commands", 1))
    large = b"(exit)\n" * 60_000
    for number in range(5000):
        found.see(Checked(True, False, "drop", len(large)))
        found.see(Accepted(large[: 400_000 - number], "drop", "commands"))
    assert found.change() == ()
    assert len(said(rows(found, 79))) == 5
