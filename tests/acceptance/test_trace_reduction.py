"""Faults seeded into the Lingeling inside python-sat: real failing traces, reduced end to end."""

import json
import random
import signal
from pathlib import Path

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import print_trace, read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.player import ReplayServer, find_library, read_fault, resolve
from tests.cli.tool import Tool

LINGELING = load_model("lingeling")
ABORTS = ("lglmelt+1:abort", "lglookahead+1:abort", "lglreducecache+1:abort")


def busy_trace(seed: int) -> bytes:
    """Return a legal trace with several rounds, and every kind of call that the faults need."""
    chance = random.Random(seed)
    calls = [Call("init", ()), Call("option", ("elim", 0)), Call("option", ("probe", 0))]
    frozen = [*range(1, 9)]
    calls += [Call("freeze", (variable,)) for variable in frozen]
    for _ in range(4):
        for _ in range(10):
            literals = [chance.choice((-1, 1)) * chance.choice(frozen) for _ in range(3)]
            calls += [Call("add", (literal,)) for literal in (*literals, 0)]
        calls += [Call("lkhd", ()), Call("sat", ()), Call("fixed", (1,)), Call("reduce", ())]
    calls += [Call("melt", (variable,)) for variable in frozen]
    return print_trace(calls, "lgl")


@pytest.fixture(name="tool")
def tool_in_a_folder(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "options"), [*zip(ABORTS, ("none", "explicit", "all"), strict=True)]
)
def test_the_same_signal_in_a_few_calls(tool: Tool, fault: str, options: str) -> None:
    path = tool.write("lgl.trace", busy_trace(7))
    done = tool("trace", path, "--fault", fault, "--options", options, "-q")
    assert done.code == 0, done.err
    calls = read_trace(path.with_name("lgl.reduced.trace").read_bytes()).calls
    kept = [call for call in calls if call.name != "option"]
    assert len(kept) <= 3
    assert len(calls) - len(kept) == (2 if options == "none" else 0)
    machine = Machine(LINGELING)
    for call in calls:
        assert machine.allowed(call) is None
        machine.after(call)
    library = find_library("lingeling")
    seeded = read_fault(fault)
    assert seeded is not None
    with ReplayServer(library, patch=resolve(seeded, library.path)) as server:
        assert server.replay(calls).signal == signal.SIGILL
    with ReplayServer(library) as server:
        assert server.replay(calls).kind == "ok"


@pytest.mark.slow
def test_fewer_runs_than_lglddtrace(tool: Tool) -> None:
    path = tool.write("lgl.trace", busy_trace(3))
    runs = {}
    for strategy in ("adaptive", "lglddtrace"):
        output = tool.folder / strategy
        done = tool(
            "trace", path, "--fault", ABORTS[2], "--strategy", strategy, "-o", output, "--json"
        )
        assert done.code == 0, done.err
        runs[strategy] = json.loads(done.out)["checks"]
    assert runs["adaptive"] < runs["lglddtrace"]
