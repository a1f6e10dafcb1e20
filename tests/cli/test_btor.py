"""`reducekit btor`."""

import pytest

from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from reducekit.frontends.btor.model.operators import Dialect
from tests.cli.tool import Tool

pytestmark = pytest.mark.reduction

BUGGY = "grep -q '^[0-9]* mul ' $1 && { echo 'mul.c:7: Assertion `w > 0` failed' >&2; exit 134; }"


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [Dialect.BTOR1, Dialect.BTOR2])
def test_a_file_gets_small(tool: Tool, dialect: Dialect) -> None:
    text = generate_text(Parameters(seed=11, nodes=150, dialect=dialect)).decode()
    assert " mul " in text
    tool.write("in.btor", text)
    done = tool.ok("btor", "in.btor", "--cmd", tool.script("solver", f"{BUGGY}; echo sat"))
    result = (tool.folder / "in.reduced.btor").read_text()
    assert " mul " in result
    nodes = [line for line in result.splitlines() if " sort " not in line]
    assert len(nodes) <= 4
    assert "nodes" in done.out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hdd*", "changeref+", "deltabtor"])
def test_algorithms_by_name(tool: Tool, name: str) -> None:
    text = generate_text(Parameters(seed=11, nodes=150)).decode()
    assert " mul " in text
    tool.write("in.btor", text)
    solver = tool.script("solver", f"{BUGGY}; echo sat")
    tool.ok("btor", "in.btor", "--cmd", solver, "--strategy", name, "--no-simplify")
    result = (tool.folder / "in.reduced.btor").read_text()
    assert " mul " in result
    assert result.count("\n") < text.count("\n")


def test_the_dialect_is_what_is_said(tool: Tool) -> None:
    """The old `write` has no index width."""
    text = "1 array 4 2\n2 var 2\n3 var 4\n4 write 4 1 2 3\n5 eq 1 1 4\n6 root 1 5\n"
    tool.write("in.btor", text)
    solver = tool.script("solver", "grep -q write $1 && exit 9; echo sat")
    done = tool.ok("btor", "in.btor", "--cmd", solver, "--dialect", "btor-old")
    done = tool("btor", "in.btor", "--cmd", solver, "--dialect", "btor2")
    assert done.code == 3
    assert "in.btor, line 1, column 3: " in done.err
