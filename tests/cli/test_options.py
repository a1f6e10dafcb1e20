"""What users ask for: every option, with shell one-liners as the programs under test."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Tool, problem

pytestmark = pytest.mark.reduction


def reduced(tool: Tool, *arguments: str | Path, text: str | None = None) -> str:
    """Reduce `problem()` (or a text) and return the result."""
    tool.write("in.smt2", problem() if text is None else text)
    done = tool("smt2", "in.smt2", *arguments)
    assert done.code == 0, done.err
    return (tool.folder / "in.reduced.smt2").read_text()


def test_an_oracle(tool: Tool) -> None:
    result = reduced(tool, "--oracle", NEEDLE)
    assert "(needle" in result
    assert "(check-sat)" not in result
    assert len(result) < 200


def test_a_crash_is_kept_and_nothing_else(tool: Tool) -> None:
    script = tool.script(
        "solver",
        "grep -q '(assert.*(needle' $1 && { echo 'solver.c:12: Assertion `x == 1` failed' >&2;"
        " kill -ABRT $$; }; grep -q assert $1 || exit 1; echo sat",
    )
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--cmd", script)
    assert done.code == 0
    assert "signal SIGABRT, solver.c: Assertion `x == 1` failed" in done.out
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


def test_the_command_at_the_end(tool: Tool) -> None:
    assert "(needle" in reduced(tool, "--", "sh", "-c", f'{NEEDLE} "$0" && exit 3 || exit 0')


def test_the_place_of_the_file(tool: Tool) -> None:
    """The word behind the file is an argument, too: `{}` says where the file goes."""
    script = tool.script("solver", f'[ "$2" = last ] && {NEEDLE} "$1" && exit 7 || exit 0')
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--cmd", f"{script} {{}} last")
    assert done.code == 0, done.err
    assert f"$ {script} in.reduced.smt2 last\n" in done.out


def test_standard_input(tool: Tool) -> None:
    script = tool.script("solver", f"[ $# = 0 ] && {NEEDLE} && exit 7 || exit 0")
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--stdin", "--cmd", script)
    assert done.code == 0, done.err
    assert f"$ {script} < in.reduced.smt2\n" in done.out


def test_an_exit_code(tool: Tool) -> None:
    script = tool.script(
        "solver", 'grep -q needle $1 || exit 1; echo "error: $(wc -c < $1)x"; exit 9'
    )
    assert "needle" in reduced(tool, "--cmd", str(script), "--exit-code", "9")


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["out", "err"])
def test_a_pattern(tool: Tool, stream: str) -> None:
    to = {"out": "1", "err": "2"}[stream]
    script = tool.script("solver", f"{NEEDLE} $1 && echo bad answer >&{to}; exit 0")
    assert "needle" in reduced(tool, "--cmd", str(script), f"--match-{stream}", "^bad +answer$")
    tool.write("in.smt2", problem())
    other = {"out": "err", "err": "out"}[stream]
    done = tool("smt2", "in.smt2", "--cmd", script, f"--match-{other}", "bad", "-o", "other")
    assert done.code == 1
    assert not (tool.folder / "other").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["out", "err"])
def test_an_ignored_stream(tool: Tool, stream: str) -> None:
    """The message differs in every run; without it the status is what is kept."""
    to = {"out": "1", "err": "2"}[stream]
    noise = f'echo "error: $(date +%N | tr 0-9 a-j)" >&{to}'
    script = tool.script("solver", f"{NEEDLE} $1 || exit 0; {noise}; exit 5")
    tool.write("in.smt2", problem(3, (1,)))
    assert tool("smt2", "in.smt2", "--cmd", script).code == 1
    done = tool("smt2", "in.smt2", "--cmd", script, f"--ignore-{stream}")
    assert done.code == 0, done.err
    assert "failure   exit status 5\n" in done.out


def test_a_reference(tool: Tool) -> None:
    wrong = tool.script("wrong", f"{NEEDLE} $1 && echo unsat || echo sat")
    right = tool.script("right", "grep -q check-sat $1 && echo sat")
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--cmd", wrong, "--reference", right)
    assert done.code == 0, done.err
    result = (tool.folder / "in.reduced.smt2").read_text()
    assert "needle" in result
    assert "check-sat" in result
    assert "the command answers unsat, its reference sat" in done.out
    assert f"$ {wrong} in.reduced.smt2\nunsat\n(exit status 0)\n" in done.out
    assert f"$ {right} in.reduced.smt2\nsat\n(exit status 0)\n" in done.out


def test_a_slow_run(tool: Tool) -> None:
    script = tool.script("solver", f"{NEEDLE} $1 && sleep 60; exit 0")
    text = problem(1, (0,))
    result = reduced(tool, "--cmd", str(script), "--slower-than", "0.1", text=text)
    assert "needle" in result
    assert len(result) < len(text)


def test_a_run_into_the_time_limit(tool: Tool) -> None:
    script = tool.script("solver", f"{NEEDLE} $1 && sleep 60; exit 0")
    tool.write("in.smt2", problem(1, (0,)))
    done = tool("smt2", "in.smt2", "--cmd", script, "--timeout", "0.1")
    assert done.code == 0, done.err
    assert "does not end in time (0.1 s)" in done.out


@pytest.mark.slow
def test_jobs_do_not_change_the_result(tool: Tool) -> None:
    tool.write("in.smt2", problem(30, (3, 11, 28)))
    script = tool.script("test", "[ $(grep -c '(assert.*needle' $1) = 3 ]")
    results = set()
    for jobs in ("1", "4"):
        out = tool.folder / f"out{jobs}"
        assert tool("smt2", "in.smt2", "--oracle", script, "-j", jobs, "-o", out).code == 0
        results.add(out.read_bytes())
    assert len(results) == 1


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
    assert report["stopped"] == f"after {checks} checks"
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


def test_memory(tool: Tool) -> None:
    """A limit on the address space reaches the command, a moment after it has started."""
    script = tool.script(
        "solver", "sleep 0.02; [ $(ulimit -v) = 195312 ] && grep -q needle $1 && exit 3; :"
    )
    assert "needle" in reduced(tool, "--cmd", str(script), "--memory", "200")


def test_cpu_seconds(tool: Tool) -> None:
    script = tool.script(
        "solver", "sleep 0.02; [ $(ulimit -t) = 2 ] && grep -q needle $1 && exit 3; :"
    )
    assert "needle" in reduced(tool, "--cmd", str(script), "--cpu", "1.5")


@pytest.mark.slow
def test_a_run_into_the_cpu_limit(tool: Tool) -> None:
    """The limit is on each process; the shell that spins is the only one."""
    script = tool.script("solver", f"{NEEDLE} $1 || exit 0; while :; do :; done")
    tool.write("in.smt2", problem(1, (0,)))
    done = tool("smt2", "in.smt2", "--cmd", script, "--cpu", "1", "--max-checks", "0")
    assert done.code == 5, done.err
    assert "does not end in time" in done.out


@pytest.mark.slow
def test_much_output(tool: Tool) -> None:
    """What prints more than the limit fails by it; below the limit nothing is wrong."""
    script = tool.script("solver", f"{NEEDLE} $1 && head -c 1500000 /dev/zero; exit 0")
    tool.write("in.smt2", problem(2, (1,)))
    for limits in ((), ("--max-output", "2")):
        assert tool("smt2", "in.smt2", "--cmd", script, *limits).code == 1
    done = tool("smt2", "in.smt2", "--cmd", script, "--max-output", "1")
    assert done.code == 0, done.err
    assert "failure   stopped by the output limit\n" in done.out
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--cpu", "0"), ("--cpu", "nan"), ("--cpu", "x"), ("--max-output", "0")],
)
def test_limits_that_are_none(tool: Tool, option: str, value: str) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--cmd", "true", option, value)
    assert done.code == 2
    assert option in done.err


def test_in_place(tool: Tool) -> None:
    source = tool.write("in.smt2", problem())
    source.chmod(0o640)
    done = tool("smt2", "in.smt2", "--oracle", NEEDLE, "--in-place")
    assert done.code == 0, done.err
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


def test_the_output_gets_the_usual_permissions(tool: Tool) -> None:
    reduced(tool, "--oracle", NEEDLE)
    umask = os.umask(0)
    os.umask(umask)
    mode = (tool.folder / "in.reduced.smt2").stat().st_mode
    assert stat.S_IMODE(mode) == 0o666 & ~umask


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
    done = tool("smt2", name, "--oracle", NEEDLE, errors="surrogateescape")
    assert done.code == 0, done.err
    assert (tool.folder / name.replace(".smt2", ".reduced.smt2")).exists()


def test_names_that_look_like_options(tool: Tool) -> None:
    tool.write("-in.smt2", problem())
    script = tool.script("solver", f"{NEEDLE} -- $1 && exit 3; :")
    done = tool("smt2", "--cmd", script, "--", "-in.smt2")
    assert done.code == 0, done.err
    assert (tool.folder / "-in.reduced.smt2").exists()
