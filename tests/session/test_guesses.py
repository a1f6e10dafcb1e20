"""Guesses of a session: a solver of a few lines names a core, which fails as the whole does."""

from pathlib import Path

from reducekit import reduce
from reducekit.events import Event, Notice, PassEnded, PassStarted
from reducekit.reduction import GUESSES

SCRIPT = b"".join(
    b"(declare-const x%d Int)\n(assert (> x%d %d))\n" % (n, n, n) for n in range(30)
) + b"(check-sat)\n"  # fmt: skip
SOLVER = """#!/bin/sh
grep -q '(> [^ ]* 7)' "$1" || { echo sat; exit; }
test "$2" = 3 && { echo unknown; exit; }
echo unsat
grep -q get-unsat-core "$1" && grep -o '(> [^ ]* 7) :named [^)]*' "$1" | sed 's/.* /(/; s/$/)/'
exit 0
"""
"""Seed 3 is lost; the core of the others is the assertion of 7."""


def test_the_core_is_the_first_guess(tmp_path: Path) -> None:
    solver = tmp_path / "solver"
    solver.write_text(SOLVER)
    solver.chmod(0o755)
    events: list[Event] = []
    report = reduce(
        SCRIPT, command=f"{solver} {{}} {{seed}}", unstable=4, listen=events.append, max_checks=1
    )
    assert report.after["asserts"] == 1
    assert b" 7)" in report.text
    started = next(each for each in events if isinstance(each, PassStarted))
    assert (started.name, started.round) == (GUESSES, 0)
    ended = next(each for each in events if isinstance(each, PassEnded))
    assert (ended.name, ended.checks, ended.accepted) == (GUESSES, 1, 1)
    said = [each.text for each in events if isinstance(each, Notice)]
    assert any("starting from a part of the input that fails" in each for each in said)
