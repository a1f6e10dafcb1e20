"""`--cluster` typed: a reduction on workers of this machine, and what is said when it cannot be."""

import json
import time

import pytest

from tests.cli.tool import NEEDLE, Tool, problem
from tests.clusters import machines

pytestmark = pytest.mark.reduction


@pytest.mark.slow
def test_on_workers_of_this_machine(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    script = tool.script("test", f'{NEEDLE} "$1"')
    done = tool.ok(
        "smt2", "in.smt2", "--oracle", script, "--ship", script, "--cluster", "local:2x2", "--json"
    )
    assert json.loads(done.out)
    there = (tool.folder / "in.reduced.smt2").read_text()
    here = tool("smt2", "in.smt2", "--oracle", script, "--width", "4", "-o", "here.smt2")
    assert here.code == 0, here.err
    assert there == (tool.folder / "here.smt2").read_text()
    assert "distributed" not in done.err


@pytest.mark.slow
def test_a_killed_scheduler_is_told_in_our_words_only(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    script = tool.script("test", f'touch ran; sleep 0.1; {NEEDLE} "$1"')
    with machines(2) as cluster:
        words = ("--cluster", cluster.address, "--local-slots", "2", "--width", "2")
        process = tool.start("smt2", "in.smt2", "--oracle", script, *words)
        while not (tool.folder / "ran").exists():
            assert process.poll() is None
            time.sleep(0.02)
        cluster.kill_scheduler()
        done = tool.end(process)
    assert done.code == 0, done.err
    assert "checks are made on this machine" in done.err
    assert "distributed" not in done.err
    assert "Traceback" not in done.err
    assert "Error" not in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cluster", "nowhere"), "'nowhere' is no cluster: expected tcp://HOST:PORT"),
        (("--ship", "in.smt2"), "--ship requires --cluster"),
        (("--local-slots", "2"), "--local-slots requires --cluster"),
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
