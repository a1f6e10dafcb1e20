"""`reducekit replay` as users run it: exit statuses, signals, and what it says."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.tool import Tool, until
from tests.frontends.trace.endless import endless

SAT = "init\nadd 1\nadd 0\nsat\nreturn 10\n"
IPASIR = "init\nadd 1\nadd 0\nsolve\nreturn 10\nval 1\nreturn 1\nrelease\n"
OURSELVES = f"{sys.executable} -m reducekit replay"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (SAT + "release\n", 0, "replay: passed: 5 calls\n"),
        ("init\n", 0, "replay: passed: 1 call\n"),
        ("", 0, "replay: passed: 0 calls\n"),
        (SAT + "add 1\n", 86, "replay: contract violation: line 6: add 1: *** API usage error"),
        ("add 1\n", 86, "replay: contract violation: line 1: add 1: there is no live object\n"),
        ("init\ninit\n", 86, "line 2: init: there is a live object already\n"),
        ("init\nfoo\n", 87, "replay: line 2: foo: there is no call 'foo' in the API lingeling\n"),
        ("init\n\n", 87, "line 2, column 1: expected a call, found a blank line\n"),
        ("init\nadd 1 2\n", 87, "'add' has 2 arguments; expected: add int\n"),
        ("init\nadd 99999999999\n", 87, "line 2, column 1: "),
        (b"\x00\xff\xfe", 87, "found binary data"),
    ],
)
def test_exit_statuses(tool: Tool, text: str | bytes, code: int, said: str) -> None:
    done = tool("replay", tool.write("lgl.trace", text))
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "Traceback" not in done.err


def played_by(err: str) -> tuple[str, str]:
    """Return the library that a replay names in its first line, and the other lines."""
    first, _, rest = err.partition("\n")
    match = re.fullmatch(r"replay: note: library: (\S+) \(/\S+\)", first)
    assert match is not None, first
    return match[1], rest


@pytest.mark.slow
def test_check_returns(tool: Tool) -> None:
    path = tool.write("lgl.trace", SAT + "deref 1\nreturn -1\n")
    assert tool("replay", path).code == 0
    done = tool("replay", "--check-returns", path)
    assert done.code == 88
    assert played_by(done.err) == (
        "lingeling",
        "replay: wrong result: line 6: deref 1: returned 1, the trace says -1\n",
    )


def test_results(tool: Tool) -> None:
    done = tool("replay", "--results", tool.write("lgl.trace", SAT + "deref -1\nmaxvar\n"))
    assert (done.code, done.out) == (0, "4: sat: 10\n6: deref -1: -1\n7: maxvar: 1\n")


@pytest.mark.slow
def test_it_dies_by_the_librarys_signal(tool: Tool) -> None:
    path = tool.write("lgl.trace", "init\nadd 1\nadd 0\nmelt 1\n")
    done = tool("replay", path, "--fault", "lglmelt+1:abort")
    assert done.code == -signal.SIGILL
    assert played_by(done.err) == ("lingeling", "replay: signal SIGILL in line 4: melt 1\n")
    assert tool("replay", path, "--fault", "none").code == 86


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "lglmelt"], "there is no list of faults"),
        (["--fault", "lglmelt+1:explode"], "only abort and delete"),
        (["--fault", "lglmelt+2:abort"], "inside of the instruction at lglmelt+0x1"),
        (["--fault", "lglmelt:abort=00"], "is it another build of the library?"),
        (["--fault", "lglmalt:abort"], "has no function 'lglmalt'; there is: "),
        (["--library", "no.so"], "there is no library no.so"),
        (["--library", "nothing"], "one of the engines for the API lingeling"),
        (["--model", "nothing"], "there is no library for the API 'nothing'"),
        (["--cmd", "true", "--fault", "lglmelt:abort"], "--fault is for replays against a library"),
        (["--cmd", "no-such-program"], "'no-such-program' is not in PATH"),
        (["--cmd", "true", "--", "true"], "two commands given"),
    ],
)
def test_what_cannot_be_used(tool: Tool, arguments: list[str], said: str) -> None:
    done = tool("replay", tool.write("lgl.trace", SAT), *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_other_apis(tool: Tool) -> None:
    path = tool.write("i.trace", IPASIR)
    assert tool("replay", path, "--check-returns", "--model", "ipasir").code == 0
    engine = ("--library", "cadical103")
    assert tool("replay", path, "--format", "words", "--model", "ipasir", *engine).code == 0
    done = tool.ok(
        "replay", tool.write("c.trace", "init\nadd 1\nadd 0\nsolve 10\nval 1 1\nreset\n")
    )
    assert played_by(done.err) == ("cadical195", "replay: passed: 6 calls\n")


@pytest.mark.slow
def test_time_limits(tool: Tool) -> None:
    path = tool.write("slow.trace", endless())
    before = tool.files()
    done = tool("replay", path, "--timeout", "0.5")
    assert done.code == -signal.SIGALRM
    assert "stopped after 0.5 s in line" in done.err
    assert tool("replay", path, "--cpu", "1").code == -signal.SIGXCPU
    assert tool.files() == before


def test_interrupting(tool: Tool) -> None:
    process = tool.start("replay", tool.write("slow.trace", endless()))
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until(lambda: bool(children.read_text()))
    process.send_signal(signal.SIGINT)
    assert tool.end(process).code == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (IPASIR, 0, "replay: exit status 0\n"),
        ("init\nadd 1\nsolve\n", 86, "replay: contract: exit status 86\n"),
        ("init\nfoo\n", 87, "replay: parse: exit status 87\n"),
    ],
)
def test_another_interpreter(tool: Tool, text: str, code: int, said: str) -> None:
    path = tool.write("i.trace", text)
    inner = f"{OURSELVES} --model ipasir --format words"
    done = tool("replay", path, "--model", "ipasir", "--cmd", inner)
    assert done.code == code
    assert said in done.err
    assert tool("replay", path, "--model", "ipasir", "--", *inner.split()).code == code


def test_another_interpreter_is_told_by_what_it_says(tool: Tool) -> None:
    script = tool.script("abort", "echo '*** API usage error of x' >&2; kill -ABRT $$")
    path = tool.write("i.trace", IPASIR)
    done = tool("replay", path, "--model", "ipasir", "--cmd", script)
    assert (done.code, done.err.splitlines()[-1]) == (86, "replay: contract: signal SIGABRT")
    script = tool.script("crash", "kill -SEGV $$")
    assert tool("replay", path, "--model", "ipasir", "--cmd", script).code == -signal.SIGSEGV


@pytest.mark.debian("picosat", "minisat", "g++")
@pytest.mark.parametrize("model", ["ipasir", "picosat", "minisat"])
def test_the_model_is_found_by_the_calls(tool: Tool, model: str) -> None:
    made = tool("generate", "trace", "--model", model, "-s", "3", "--variables", "9", "-o", "x")
    assert (made.code, made.err) == (0, "")
    done = tool("replay", "x", "--check-returns")
    assert (done.code, "replay: passed: " in done.err) == (0, True)


def test_a_command_that_replays_a_proof_leaves_no_file(tool: Tool) -> None:
    text = "init\ntrace_proof out.proof\nadd 1\nadd 0\nsolve 10\nclose_proof_trace\nreset\n"
    path = tool.write("proof.trace", text)
    before = tool.files()
    inner = f"{OURSELVES} --model cadical --library cadical195"
    done = tool("replay", path, "--model", "cadical", "--cmd", inner)
    assert (done.code, done.err.splitlines()[-1]) == (0, "replay: exit status 0")
    assert "replay: passed: 7 calls" in done.out + done.err
    assert tool.files() == before


@pytest.mark.slow
@pytest.mark.debian("cadical")
def test_mobical(tool: Tool) -> None:
    """CaDiCaL's own interpreter of traces, from the Debian package `cadical`."""
    path = tool.write("ok.trace", "init\nadd 1\nadd 0\nsolve 10\nval 1\nreset\n")
    assert tool("replay", path, "--cmd", "mobical").code == 0
    path = tool.write("open.trace", "init\nadd 1\nsolve 0\nreset\n")
    done = tool("replay", path, "--cmd", "mobical --do-not-enforce-contracts")
    assert (done.code, done.err.splitlines()[-1]) == (86, "replay: contract: signal SIGABRT")
    path = tool.write("unknown.trace", "init\nfoo\n")
    done = tool("replay", path, "--model", "cadical", "--cmd", "mobical")
    assert (done.code, done.err.splitlines()[-1]) == (87, "replay: parse: exit status 1")


@pytest.mark.slow
def test_a_debugger_runs_one_process_that_makes_the_calls(tool: Tool) -> None:
    path = tool.write("lgl.trace", "init\nadd 1\nadd 0\nmelt 1\n")
    fake = tool.script("gdb", 'shift; exec "$@"')
    tool.environment["PATH"] = f"{fake.parent}:{os.environ['PATH']}"
    done = tool("replay", "--gdb", path)
    assert (done.code, done.out) == (86, "")
    assert "API usage error" in done.err
    assert done.err.endswith("replay: gdb has ended\n")
    done = tool("replay", "--gdb", "--results", path)
    assert (done.code, done.err) == (
        2,
        "reducekit: --gdb and --results are mutually exclusive: give one\n",
    )
    assert list(tool.temporary.iterdir()) == []


def test_without_a_debugger(tool: Tool) -> None:
    tool.environment["PATH"] = str(tool.folder)
    done = tool("replay", "--gdb", tool.write("lgl.trace", SAT))
    assert (done.code, done.err) == (
        2,
        "reducekit: gdb is not in PATH: install it, or leave out --gdb\n",
    )


@pytest.mark.slow
@pytest.mark.debian("gdb")
def test_the_stack_at_a_call(tool: Tool) -> None:
    path = tool.write("lgl.trace", "init\nadd 1\nadd 0\nsat\nreturn 10\n")
    tool.write("commands", "set breakpoint pending on\nbreak lglsat\nrun\nbacktrace 1\nkill\n")
    with (tool.folder / "commands").open() as commands:
        done = tool("replay", "--gdb", path, stdin=commands)
    assert "#0 " in done.out
    assert "in lglsat ()" in done.out
