"""`--cluster` typed: a reduction on workers of this machine, and what is said when it cannot be."""

from __future__ import annotations

import json

import pytest

from tests.cli.tool import NEEDLE, Tool, problem


@pytest.mark.slow
def test_on_workers_of_this_machine(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    script = tool.script("test", f'{NEEDLE} "$1"')
    done = tool(
        "smt2", "in.smt2", "--oracle", script, "--ship", script, "--cluster", "local:2x2", "--json"
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)
    there = (tool.folder / "in.reduced.smt2").read_text()
    here = tool("smt2", "in.smt2", "--oracle", script, "--width", "4", "-o", "here.smt2")
    assert here.code == 0, here.err
    assert there == (tool.folder / "here.smt2").read_text()
    assert "distributed" not in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cluster", "nowhere"), "'nowhere' is no cluster: expected tcp://HOST:PORT"),
        (("--ship", "in.smt2"), "--ship goes with --cluster"),
        (("--local-slots", "2"), "--local-slots goes with --cluster"),
    ],
)
@pytest.mark.parametrize("command", [("smt2",), ("hunt", "smt2"), ("compare",)])
def test_what_is_refused(
    tool: Tool, command: tuple[str, ...], options: tuple[str, ...], said: str
) -> None:
    tool.write("in.smt2", problem())
    files = () if command[0] == "hunt" else ("in.smt2",)
    done = tool(*command, *files, "--cmd", "true", *options)
    assert done.code == 2
    assert said in done.err
