"""Traces that break the contract of the API are never what is looked for."""

import random
import re
import sys
from pathlib import Path

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.frontends.trace.player.contract import may_be_lawful, without_slips
from reducekit.oracle.printed import Matches
from tests.cli.tool import Tool

LINGELING = load_model("lingeling")
ROUND = "freeze 1\nadd 1\nadd -2\nadd 0\nassume 1\nsat\nreturn 10\nderef 1\nreturn 1\nmelt 1\n"
RECORDED = "init\noption elim 0\n" + ROUND + "add 3\nadd 0\nsat\nreturn 10\nrelease\n"
LOGS = """\
import sys
text = open(sys.argv[1]).read()
open(sys.argv[2], "a").write(text + "---\\n")
sys.exit(3 if "sat" in text else 0)
"""


@pytest.fixture(name="tool")
def tool_in_a_folder(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.mark.parametrize(
    ("text", "lawful"),
    [
        ("", True),
        ("init\nadd 1\nadd 0\nsat\nreturn 10\nfailed 1\n", False),
        ("init\nassume 1\nsat\nreturn 10\nfailed 1\n", True),  # the result is of another trace
        ("init\nadd 1\nsat\n", False),
        ("init\nadd 1\nadd 0\nsat\nadd 1\nadd 0\n", False),
        ("add 1\n", False),
    ],
)
def test_what_no_results_allow(text: str, *, lawful: bool) -> None:
    calls = read_trace(text.encode(), "lgl").calls if text else ()
    assert may_be_lawful(LINGELING, calls) is lawful


@pytest.mark.parametrize("strategy", ["lglddtrace", "ddmin"])
def test_no_command_is_run_on_what_breaks_the_contract(tool: Tool, strategy: str) -> None:
    script, log = Path(tool.folder) / "interpreter.py", Path(tool.folder) / "log"
    script.write_text(LOGS)
    path = tool.write("lgl.trace", RECORDED)
    command = f"{sys.executable} {script} {{}} {log}"
    done = tool("trace", path, "--cmd", command, "--strategy", strategy, "--options", "none", "-q")
    assert done.code == 0, done.err
    assert path.with_name("lgl.reduced.trace").read_text().endswith("\nsat\n")
    ran = [text for text in log.read_text().split("---\n") if text.strip()]
    assert len(ran) > 3
    for text in ran:
        assert may_be_lawful(LINGELING, read_trace(text.encode(), "lgl").calls), text


def test_all_is_run_where_the_input_breaks_the_contract_of_the_model(tool: Tool) -> None:
    script, log = Path(tool.folder) / "interpreter.py", Path(tool.folder) / "log"
    script.write_text(LOGS)
    path = tool.write("lgl.trace", "init\nmelt 1\nadd 1\nadd 0\nsat\n")
    command = f"{sys.executable} {script} {{}} {log}"
    done = tool("trace", path, "--cmd", command, "--strategy", "lglddtrace", "-q")
    assert done.code == 0, done.err
    assert path.with_name("lgl.reduced.trace").read_text() == "sat\n"


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (Matches(86), True),  # no other failure has that exit code
        (Matches(3), False),
        (Matches(134), False),  # an assertion, or a broken contract
        (Matches(None, err=(re.compile(b"API usage"),)), True),
    ],
)
def test_what_is_asked_for_is_kept(asked: Matches, *, kept: bool) -> None:
    assert (without_slips(asked, LINGELING.classify) is asked) == kept
    # All is, where the input itself breaks the contract.
    assert without_slips(asked, LINGELING.classify, lawful=False) is asked


def test_what_falls_is_the_same_from_wherever_the_walk_begins() -> None:
    chance = random.Random(5)
    solved = (
        "add 1\nadd -2\nadd 0\nfreeze 4\nadd 4\nadd 0\nassume 3\nsat\nmelt 4\nsimp 1\nreuse 4\n"
    )
    text = "init\nfreeze 1\nfreeze 2\nfreeze 3\n" + 20 * solved
    view, whole = (TraceView(read_trace(each.encode(), "lgl"), LINGELING) for each in (text, text))
    whole.__dict__ |= {"_starts": [(0, Machine(LINGELING), ())], "_more_starts": iter(())}
    found = set()
    for _ in range(300):
        altered: dict[int, tuple[Call, ...]] = {
            chance.randrange(1, len(view.calls)): chance.choice(((), (Call("add", (0,)),)))
            for _ in range(chance.randint(1, 4))
        }
        gone = view.contract_closure(altered)
        assert gone == whole.contract_closure(altered)
        found.add(gone)
    assert len(found) > 50
