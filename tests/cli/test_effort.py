"""`--effort quick` ends behind the first passes; a full reduction goes on from there."""

import json
from typing import Any

import pytest

from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from tests.cli.tool import NEEDLE, Tool, problem

pytestmark = pytest.mark.reduction

MUL = 'grep -q "^[0-9]* mul " $1'


def reduced(tool: Tool, command: str, name: str, *options: str) -> dict[str, Any]:
    oracle = tool.folder / "oracle"
    done = tool.ok(command, name, "--oracle", oracle, "--json", *options)
    return dict(json.loads(done.out))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name", "text", "oracle"),
    [
        ("btor", "in.btor", generate_text(Parameters(seed=11, nodes=150)), MUL),
        ("smt2", "in.smt2", problem(20, (7, 12)), NEEDLE + " $1"),
    ],
)
def test_quick_and_then_full(
    tool: Tool, command: str, name: str, text: str | bytes, oracle: str
) -> None:
    tool.write(name, text)
    tool.script("oracle", oracle)
    full = reduced(tool, command, name, "-o", "full" + name[2:])
    quick = reduced(tool, command, name, "--effort", "quick")
    assert quick["checks"] < full["checks"]
    assert full["after"]["bytes"] <= quick["after"]["bytes"] < quick["before"]["bytes"]
    assert quick["stopped"] is None
    more = reduced(tool, command, name, "--resume")
    assert (tool.folder / f"in.reduced{name[2:]}").read_bytes() == (
        tool.folder / f"full{name[2:]}"
    ).read_bytes()
    assert more["checks"] == full["checks"]
    assert more["runs"] < full["runs"] - quick["checks"] / 2, "what is known is not run again"


@pytest.mark.slow
def test_where_nothing_runs_once_only_the_last_sweep_is_left_out(tool: Tool) -> None:
    """The lines of a text: each of them has to go, quick or not."""
    tool.write("in.smt2", "(one\ntwo needle\n" + "three\n" * 40)
    tool.script("oracle", "grep -q needle $1")
    quick = reduced(tool, "smt2", "in.smt2", "--effort", "quick", "--lenient")
    assert (tool.folder / "in.reduced.smt2").read_bytes().strip() == b"needle"
    full = reduced(tool, "smt2", "in.smt2", "--lenient")
    assert quick["checks"] <= full["checks"]


@pytest.mark.slow
def test_algorithms_by_name_are_whole_in_a_quick_run(tool: Tool) -> None:
    tool.write("in.btor", generate_text(Parameters(seed=11, nodes=100)))
    tool.script("oracle", MUL)
    first = reduced(tool, "btor", "in.btor", "--strategy", "hdd*")
    again = reduced(tool, "btor", "in.btor", "--strategy", "hdd*", "--effort", "quick")
    assert (first["checks"], first["after"]) == (again["checks"], again["after"])
