"""What users ask for: every option, with shell one-liners as the programs under test."""

import json
import os
import shlex
import stat
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Tool, problem

pytestmark = pytest.mark.reduction


def reduced(tool: Tool, *arguments: str | Path, text: str | None = None) -> str:
    """Reduce `problem()` (or a text) and return the result."""
    tool.write("in.smt2", problem() if text is None else text)
    tool.ok("smt2", "in.smt2", *arguments)
    return (tool.folder / "in.reduced.smt2").read_text()


NEEDED = "grep -q needle $1 || exit 0; "
CRASH = f"{NEEDED}kill -SEGV $$"
SAYS = f"{NEEDED}echo bad answer; echo $(date +%N | tr 0-9 a-j): error >&2; exit 5"
BIG = f"{NEEDED}head -c 1500000 /dev/zero"


@pytest.mark.parametrize(
    ("body", "options", "failure"),
    [
        (f"{NEEDED}exit 9", "--exit-code 9", "exit status 9"),
        (CRASH, "--exit-code segv", "signal SIGSEGV"),
        (CRASH, "--exit-code=-11", "signal SIGSEGV"),
        (SAYS, "--match-out '^bad +answer$'", "stdout matching '^bad +answer$'"),
        (SAYS, "--match-err ': error$'", "stderr matching ': error$'"),
        (SAYS, "--ignore-err --ignore-out", "exit status 5"),
        (f"{NEEDED}sleep 60", "--slower-than 0.1", "takes 0.1 s or more"),
        (f"{NEEDED}sleep 60", "--timeout 0.1", "does not end in time (0.1 s)"),
        (f"{NEEDED}sleep .02; [ $(ulimit -v) = 195312 ] && exit 3", "--memory 200", "exit status"),
        (f"{NEEDED}sleep .02; [ $(ulimit -t) = 2 ] && exit 3", "--cpu 1.5", "exit status 3"),
        (f"{NEEDED}while :; do :; done", "--cpu 1 --max-checks 0", "does not end in time"),
        (BIG, "--max-output 1", "stopped by the output limit"),
        ('[ "$2" = last ] || exit 0; ' + CRASH, "--cmd './solver {} last'", "signal SIGSEGV"),
        ("[ $# = 0 ] && grep -q needle && exit 7", "--stdin", "exit status 7"),
        (SAYS, "--match-err 'no such'", ""),
        (BIG, "--max-output 2", ""),
    ],
)
def test_what_fails_is_kept(tool: Tool, body: str, options: str, failure: str) -> None:
    """A row an option, in its units; the last ones do not show what they ask for."""
    tool.script("solver", f"{body}; exit 0")
    tool.write("in.smt2", problem(2, (1,)))
    command = () if "--cmd" in options else ("--cmd", "./solver")
    done = tool("smt2", "in.smt2", *command, *shlex.split(options))
    assert done.code == (1 if not failure else 5 if "max-checks" in options else 0), done.err
    if failure:
        assert failure in done.out.partition("failure")[2]
        assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


def test_a_reference(tool: Tool) -> None:
    wrong = tool.script("wrong", f"{NEEDLE} $1 && echo unsat || echo sat")
    right = tool.script("right", "grep -q check-sat $1 && echo sat")
    tool.write("in.smt2", problem())
    done = tool.ok("smt2", "in.smt2", "--cmd", wrong, "--reference", right)
    assert "the command answers unsat, its reference sat" in done.out
    assert f"$ {wrong} in.reduced.smt2\nunsat\n(exit status 0)\n" in done.out
    assert f"$ {right} in.reduced.smt2\nsat\n(exit status 0)\n" in done.out


@pytest.mark.parametrize("strategy", ["adaptive", "ddmin", "halving", "hdd"])
def test_strategies(tool: Tool, strategy: str) -> None:
    text = problem(4, (2,))
    result = reduced(tool, "--oracle", NEEDLE, "--strategy", strategy, text=text)
    assert "(needle" in result
    assert len(result) < len(text) / 2


@pytest.mark.parametrize("checks", [0, 1, 5])
def test_so_many_checks(tool: Tool, checks: int) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--oracle", NEEDLE, "--max-checks", str(checks), "--json")
    assert done.code == 5, done.err
    report = json.loads(done.out)
    assert report["checks"] == checks
    # Twice the input, the empty file, the result; that twice more if it is a new one.
    assert report["runs"] == checks + 4 + (2 if report["accepted"] else 0)
    assert report["stopped"] == f"after {checks} check" + "s" * (checks != 1)
    assert report["verified"] is True
    result = (tool.folder / "in.reduced.smt2").read_bytes()
    assert report["after"]["bytes"] == len(result)
    assert len(result) <= len(problem())
    assert checks or result.decode() == problem()


def test_so_much_time(tool: Tool) -> None:
    script = tool.script("test", f"sleep 0.05; {NEEDLE} $1")
    tool.write("in.smt2", problem(40))
    done = tool("smt2", "in.smt2", "--oracle", script, "--max-time", "0.3", "--json")
    assert done.code == 5, done.err
    assert json.loads(done.out)["stopped"] == "after 0.3 s"
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


def test_in_place(tool: Tool) -> None:
    source = tool.write("in.smt2", problem())
    source.chmod(0o640)
    tool.ok("smt2", "in.smt2", "--oracle", NEEDLE, "--in-place")
    assert (tool.folder / "in.smt2.orig").read_text() == problem()
    assert len(source.read_text()) < 200
    assert stat.S_IMODE(source.stat().st_mode) == 0o640
    assert not (tool.folder / "in.reduced.smt2").exists()


def test_an_output_that_is_a_link(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    (tool.folder / "elsewhere").mkdir()
    (tool.folder / "link").symlink_to("elsewhere/out")
    assert tool("smt2", "in.smt2", "--oracle", NEEDLE, "-o", "link").code == 0
    assert (tool.folder / "link").is_symlink()
    assert "needle" in (tool.folder / "elsewhere" / "out").read_text()


@pytest.mark.slow
def test_lenient(tool: Tool) -> None:
    text = problem() + ")\n(open |quoted\n"
    script = tool.script("solver", '[ "${1%.smt2}" != "$1" ] && grep -q needle $1 && exit 3; :')
    tool.write("in.smt2", text)
    assert tool("smt2", "in.smt2", "--cmd", script).code == 3
    assert reduced(tool, "--lenient", "--cmd", str(script), text=text).strip() == "needle"


@pytest.mark.slow
def test_lenient_changes_nothing_for_what_parses(tool: Tool) -> None:
    assert reduced(tool, "--oracle", NEEDLE) == reduced(tool, "--oracle", NEEDLE, "--lenient")


def test_odd_names_and_bytes(tool: Tool) -> None:
    """File names and texts in no encoding at all."""
    name = os.fsdecode(b"a b\xff'\".smt2")
    text = problem().encode().replace(b"check-sat", b"check-sat \xff\xfe")
    tool.write(name, text)
    tool.ok("smt2", name, "--oracle", NEEDLE, errors="surrogateescape")
    assert (tool.folder / name.replace(".smt2", ".reduced.smt2")).exists()


def test_names_that_look_like_options(tool: Tool) -> None:
    tool.write("-in.smt2", problem())
    script = tool.script("solver", f"{NEEDLE} -- $1 && exit 3; :")
    tool.ok("smt2", "--cmd", script, "--", "-in.smt2")
    assert (tool.folder / "-in.reduced.smt2").exists()
