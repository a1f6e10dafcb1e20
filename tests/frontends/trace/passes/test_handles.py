"""Handles in each other's places: always by the contract, and with cones that go."""

import shlex
import signal
import sys
from collections.abc import Set
from pathlib import Path
from random import Random

import pytest

from reducekit.change import Template
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import print_trace, read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model, parse_model
from reducekit.frontends.trace.passes.handles import HandleItems, Handles
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.search.problem import NOTHING
from tests.cli.tool import Tool

BOOLECTOR = load_model("boolector")
FILES = parse_model(
    b"""
[api]
name = "files"
title = "Files"
formats = ["boolector"]
[types]
file = { kind = "handle" }
lock = { kind = "handle" }
size = { kind = "int", min = 0 }
[states]
names = ["any"]
initial = "any"
[counters]
bytes = { per = "file" }
[calls]
open = { args = ["size"], produces = "file", effects = ["bytes(result) = size"] }
lock = { args = ["file"], produces = "lock" }
join = { args = ["a: file", "b: file"], produces = "file", requires = [
  { is = "bytes(a) = bytes(b)", why = "the sizes differ" },
], effects = ["bytes(result) = bytes(a)"] }
read = { args = ["file", "lock"] }
close = { args = ["file"], releases = ["file"] }
""",
    "files",
)


def terms(seed: int, calls: int) -> bytes:
    """Return a legal trace of Boolector that makes terms of two widths, and solves nothing."""
    dice = Random(seed)
    made = [Call("new", (), result="0x1")]
    nodes: dict[int, list[str]] = {1: [], 8: [], 16: []}

    def node(width: int, name: str, *arguments: str | int) -> str:
        result = f"n{len(made)}@0x1"
        made.append(Call(name, ("0x1", *arguments), result=result))
        nodes[width].append(result)
        return result

    for width in (8, 16):
        made.append(Call("bitvec_sort", ("0x1", width), result=f"s{width}@0x1"))
        for _ in range(2):
            node(width, "var", f"s{width}@0x1", f"v{len(made)}")
    while len(made) < calls:
        width = dice.choice((8, 16))
        one, other = (dice.choice(nodes[width][-5:]) for _ in range(2))
        name = dice.choice(("add", "sub", "and", "udiv", "ult", "slice", "concat", "release"))
        if name == "ult":
            node(1, name, one, other)
        elif name == "slice":
            node(8, name, dice.choice(nodes[16][-5:]), 7, 0)
        elif name == "concat":
            node(16, name, dice.choice(nodes[8][-5:]), nodes[8][-1])
        elif name != "release":
            node(width, name, one, other)
        elif len(nodes[width]) > 6:
            made.append(Call(name, ("0x1", nodes[width].pop(0))))
    both = node(16, "urem", nodes[16][-1], nodes[16][-2])
    made.append(Call("assert", ("0x1", node(1, "eq", both, nodes[16][-3]))))
    return print_trace(made, "boolector")


def taken(view: TraceView, items: HandleItems, chosen: Set[int]) -> bytes:
    """Return the text with some items taken, and what goes with them."""
    closed = chosen | items.close(chosen, NOTHING).required
    assert not items.close(closed, NOTHING).required
    change = items.change(closed, NOTHING)
    return view.document.render({edit.node: edit.template for edit in change.edits})


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_all_that_is_tried_is_shorter_and_lawful(seed: int, rank: int) -> None:
    """One by one, and any of them together; the library agrees."""
    view = TraceView(read_trace(terms(seed, 60), "boolector"), BOOLECTOR)
    assert first_violation(view.calls, BOOLECTOR) is None
    items = Handles(rank).problem(view)
    assert items is not None
    count = len(items.units)
    assert count > 30
    dice = Random(seed)
    some = [frozenset(dice.sample(range(count), dice.randint(2, count))) for _ in range(40)]
    with ReplayServer(find_library("boolector")) as server:
        for chosen in (*(frozenset((each,)) for each in range(count)), *some):
            calls = read_trace(taken(view, items, chosen), "boolector").calls
            assert len(calls) <= len(view.calls) - len(chosen)
            assert first_violation(calls, BOOLECTOR) is None
            assert server.replay(calls).kind == "ok"


def test_what_is_taken_later_builds_on_what_was() -> None:
    view = TraceView(read_trace(terms(5, 60), "boolector"), BOOLECTOR)
    items = Handles().problem(view)
    assert items is not None
    edits: dict[int, Template] = {}
    have: Set[int] = NOTHING
    for unit in range(len(items.units) - 1, -1, -2):
        if unit in have:
            continue
        chosen = frozenset((unit,)) | items.close(frozenset((unit,)), have).required
        edits |= dict(items.change(chosen, have).edits)
        have |= chosen
        calls = read_trace(view.document.render(edits), "boolector").calls
        assert first_violation(calls, BOOLECTOR) is None
    whole = items.change(have, NOTHING)
    assert view.document.render(dict(whole.edits)) == view.document.render(edits)


def moves(text: str, rank: int = 0) -> list[str]:
    """Return what the pass tries on a trace of files: one by one, and all together."""
    view = TraceView(read_trace(text.replace(";", "\n").encode(), "boolector"), FILES)
    items = Handles(rank).problem(view)
    if items is None:
        return []
    units = range(len(items.units))
    some = [*(frozenset((each,)) for each in units), frozenset(units)]
    return [taken(view, items, each).decode().replace("\n", ";") for each in dict.fromkeys(some)]


def test_a_handle_of_the_same_sort_takes_the_place() -> None:
    """Of another size, or another type, it does not."""
    text = "open 1;return f1;open 2;return f2;open 1;return f3;lock f3;return l3;read f3 l3;"
    assert moves(text) == ["open 1;return f1;open 2;return f2;lock f1;return l3;read f1 l3;"]
    assert moves(text, rank=1) == []


def test_what_its_own_call_takes_comes_first() -> None:
    text = "open 1;return f1;open 1;return f2;join f2 f2;return f3;lock f3;return l3;"
    assert moves(text) == [
        "open 1;return f1;join f1 f1;return f3;lock f3;return l3;",
        "open 1;return f1;open 1;return f2;lock f2;return l3;",
        "open 1;return f1;lock f1;return l3;",
    ]
    assert moves(text, rank=1) == ["open 1;return f1;open 1;return f2;lock f1;return l3;"]


def test_releases_go_along() -> None:
    """Those of a handle that is not made any more; early ones of that in its place."""
    text = "open 1;return f1;open 1;return f2;close f1;lock f2;return l2;close f2;open 3;return f4;"
    assert moves(text) == ["open 1;return f1;lock f1;return l2;open 3;return f4;"]


def test_apis_without_handles_have_nothing_to_try() -> None:
    view = TraceView(read_trace(b"init\nadd 1\nadd 0\nsat\n", "lgl"), load_model("lingeling"))
    assert Handles().problem(view) is None


@pytest.fixture(name="tool")
def tool_in_a_folder(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.mark.slow
def test_the_cone_of_a_term_goes(tool: Tool) -> None:
    """The real library, with a fault in one operation: its operands may be any of their sort."""
    path = tool.write("terms.trace", terms(1, 80))
    done = tool("trace", path, "--fault", "boolector_urem:abort", "-q")
    assert done.code == 0, done.err
    calls = read_trace(path.with_name("terms.reduced.trace").read_bytes()).calls
    assert [call.name for call in calls] == ["new", "bitvec_sort", "var", "urem"]
    assert calls[-1].arguments[1] == calls[-1].arguments[2] == calls[2].result
    done = tool("replay", "terms.reduced.trace", "--fault", "boolector_urem:abort")
    assert done.code == -signal.SIGILL


def test_any_command_is_an_oracle(tool: Tool) -> None:
    """One that knows nothing of handles: wherever two terms are divided it fails."""
    tool.write("oracle.py", "import sys\nsys.exit('udiv' not in open(sys.argv[1]).read())\n")
    tool.write("terms.trace", terms(2, 60))
    oracle = shlex.join([sys.executable, "oracle.py"])
    done = tool("trace", "terms.trace", "--model", "boolector", "--oracle", oracle, "-q")
    assert done.code == 0, done.err
    calls = read_trace((tool.folder / "terms.reduced.trace").read_bytes()).calls
    assert first_violation(calls, BOOLECTOR) is None
    assert [call.name for call in calls] == ["new", "bitvec_sort", "var", "udiv"]
