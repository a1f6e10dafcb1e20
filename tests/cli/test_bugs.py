"""A bug, of ours or of a strategy from elsewhere: one message, and the best result is saved."""

import re
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Tool, problem

BROKEN = """
from dataclasses import dataclass
from reducekit.search.problem import Search
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive

@dataclass(frozen=True)
class Breaking(Search):
    search: object
    left: int

    def propose(self):
        return self.search.propose()

    def after(self, ok):
        if not self.left:
            raise {error}
        return Breaking(self.search.after(ok), self.left - ok)

def wrapped(start):
    return lambda problem: Breaking(start(problem), {successes})

broken = Strategy("broken", wrapped(adaptive.items), wrapped(adaptive.tree))
odd = 17
"""


@pytest.fixture
def broken(tool: Tool, request: pytest.FixtureRequest) -> Tool:
    """Install a package with a strategy that raises an error after some successes."""
    error, successes = request.param
    place = tool.folder / "packages"
    info = place / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "broken.py").write_text(BROKEN.format(error=error, successes=successes))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[reducekit.strategies]\nbroken = broken:broken\nodd = broken:odd\nnone = nowhere:it\n"
    )
    tool.environment["PYTHONPATH"] = str(place)
    tool.write("in.smt2", problem())
    return tool


ERRORS = [("RuntimeError('a\\nb')", 3), ("EOFError", 3), ("OSError(2, 'No file')", 3)]


@pytest.mark.parametrize("broken", ERRORS, indirect=True)
def test_a_bug(broken: Tool) -> None:
    done = broken("smt2", "in.smt2", "--oracle", NEEDLE, "--strategy", "broken", "-q")
    assert (done.code, done.out) == (4, "")
    said, where, saved = done.err.splitlines()
    assert re.match(r"reducekit: a bug in reducekit, please report it: \w+Error", said)
    trace = Path(where.removeprefix("  the traceback is in "))
    assert trace.parent == broken.temporary
    assert "Traceback" in trace.read_text()
    assert "reducekit 0." in trace.read_text()
    result = (broken.folder / "in.reduced.smt2").read_bytes()
    assert saved == f"the best result so far ({len(result):,} bytes) is in in.reduced.smt2"
    assert b"needle" in result
    assert len(result) < len(problem())


@pytest.mark.parametrize("broken", [("MemoryError", 3)], indirect=True)
def test_out_of_memory(broken: Tool) -> None:
    done = broken("smt2", "in.smt2", "--oracle", NEEDLE, "--strategy", "broken", "-q")
    assert done.code == 6
    said, saved = done.err.splitlines()
    assert said.startswith("reducekit: out of memory; raise the limit (`ulimit -v`)")
    assert saved.startswith("the best result so far (")


@pytest.mark.parametrize("broken", [("RuntimeError", 0)], indirect=True)
def test_what_is_no_strategy(broken: Tool) -> None:
    done = broken("smt2", "in.smt2", "--oracle", NEEDLE, "--strategy", "odd")
    assert done.code == 2
    assert done.err == "reducekit: the strategy 'odd' is not a Strategy but 17\n"
