"""What is wrong gets one message with place and reason and an exit code; no file is touched."""

import json
from collections.abc import Sequence

import pytest

from tests.cli.tool import NEEDLE, Done, Tool, problem

pytestmark = pytest.mark.reduction


def refused(tool: Tool, *arguments: str) -> Done:
    """Run the tool on what it has to refuse; return how it ended."""
    before = tool.files()
    done = tool(*arguments)
    assert tool.files() == before
    assert "Traceback" not in done.err
    assert done.out == ""
    return done


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["smt2", "btor"])
def test_a_file_of_comments_is_minimal(tool: Tool, format_name: str) -> None:
    """Such is a result that fails by a comment: a second run accepts it."""
    tool.write("in", "; needle\n;b\n")
    done = tool(format_name, "in", "--oracle", "grep -q needle", "--json")
    assert (done.code, json.loads(done.out)["after"]["bytes"]) == (0, 12)
    done = tool(format_name, "in", "--cmd", "false")
    assert done.code == 1
    assert "an empty file fails in the same way" in done.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/in.smt2", "the input none/in.smt2 does not exist"),
        ("loop", "the input loop cannot be read: Too many levels of symbolic links"),
        # Nobody may read that, not even root.
        ("/proc/self/mem", "the input /proc/self/mem cannot be read: Input/output error"),
    ],
)
def test_inputs(tool: Tool, name: str, said: str) -> None:
    tool.write("ok.smt2", problem())
    (tool.folder / "loop").symlink_to("loop")
    done = refused(tool, "smt2", name, "--cmd", "false")
    assert (done.code, done.err) == (2, f"reducekit: {said}\n")


def test_a_pipe_as_input_needs_a_name_for_the_output(tool: Tool) -> None:
    for arguments, code in (((), 2), (("-o", "out"), 0)):
        process = tool.start("smt2", "/dev/stdin", "--oracle", NEEDLE, *arguments, stdin=-1)
        assert process.stdin is not None
        process.stdin.write(problem())
        done = tool.end(process)
        assert done.code == code, done.err
        assert ("not a regular file: name the output with -o" in done.err) == (code == 2)
    assert "needle" in (tool.folder / "out").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("./none", "the program './none' does not exist"),
        ("no-such-program", "the program 'no-such-program' is not in PATH"),
        ("plain", "the program 'plain' is not in PATH; did you mean ./plain?"),
        ("./plain", "the program './plain' is not executable (chmod +x ./plain)"),
        ("./folder", "the program './folder' is a directory"),
        ("sh 'a", 'cannot parse the command "sh \'a": No closing quotation'),
        ("  ", "the command is empty"),
    ],
)
def test_commands(tool: Tool, command: str, said: str) -> None:
    tool.write("in.smt2", problem())
    tool.write("plain", "exit 1\n")
    (tool.folder / "folder").mkdir()
    done = refused(tool, "smt2", "in.smt2", "--cmd", command)
    assert (done.code, done.err) == (2, f"reducekit: {said}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/no/such/shell\n", "its interpreter '/no/such/shell' does not exist"),
        ("exit 1\n", "it may lack the line '#!/bin/sh'"),
        ("", "it may lack the line '#!/bin/sh'"),
    ],
)
def test_commands_that_do_not_start(tool: Tool, text: str, said: str) -> None:
    tool.write("in.smt2", problem())
    tool.write("solver", text).chmod(0o755)
    done = refused(tool, "smt2", "in.smt2", "--cmd", "./solver")
    assert done.code == 2
    assert done.err.startswith(f"reducekit: cannot run {tool.folder}/solver: ")
    assert done.err.endswith(f"{said}\n")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("in.smt2/out", "the output in.smt2/out cannot be written: Not a directory"),
        ("in.smt2", "the output in.smt2 is the input: --in-place replaces it"),
        ("folder/../in.smt2", "is the input: --in-place replaces it"),
        ("link", "the output link is the input: --in-place replaces it"),
        # Nobody may write there, not even root.
        ("/proc/out", "the output /proc/out cannot be written: "),
        ("n" * 300, "File name too long"),
    ],
)
def test_outputs(tool: Tool, output: str, said: str) -> None:
    tool.write("in.smt2", problem())
    (tool.folder / "folder").mkdir()
    (tool.folder / "link").symlink_to("in.smt2")
    # Found before the command runs for the first time.
    done = refused(tool, "smt2", "in.smt2", "--oracle", "touch ran", "-o", output)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Missing --cmd: the program that fails"),
        (["--cmd", "false", "--", "false"], "the command after -- are mutually exclusive"),
        (["--cmd", "a", "--resume", "--no-journal"], "--resume and --no-journal are mutually"),
        (["--cmd", "a", "--cpu", "0"], "--cpu"),
        (["--cmd", "a", "--cpu", "nan"], "--cpu"),
        (["--cmd", "a", "--max-output", "0"], "--max-output"),
        (["--cmd", "a", "--repeat", "4-of-3"], "'4-of-3'"),
        (["--cmd", "a", "--exit-code", "SIGFOO"], "'SIGFOO' is not a number from -64 to 255 or"),
        (["--cmd", "false", "--oracle", "false"], "--cmd and --oracle are mutually exclusive"),
        (
            ["--oracle", "false", "--match-out", "x"],
            "--oracle and --match-out are mutually exclusive",
        ),
        (["--oracle", "false", "--ignore-err"], "--oracle and --ignore-err are mutually exclusive"),
        (["--cmd", "a", "--match-out", "("], "'(' is not a regular expression: missing )"),
        (["--cmd", "a", "--match-err", "[b"], "'[b' is not a regular expression"),
        (
            ["--cmd", "true", "--reference", "true", "--slower-than", "1", "--exit-code", "1"],
            "give one",
        ),
        (["--cmd", "true", "--unstable", "8", "--exit-code", "1"], "give one"),
        (["--cmd", "true", "--exit-code", "1", "--ignore-out"], "mutually exclusive"),
        (["--cmd", "true", "--slower-than", "1", "--timeout", "1"], "not go with --timeout"),
        (["--cmd", "true", "--in-place", "-o", "x"], "--in-place and -o are mutually exclusive"),
        (["--cmd", "a", "--strategy", "x"], "unknown strategy 'x'; known: adaptive, auto, bfs"),
        (["--cmd", "a", "--no-such"], "--no-such"),
        (["--cmd", "a", "--jobs", "0"], "Invalid value for '-j' / '--jobs'"),
        (["--cmd", "a", "--max-checks", "-1"], "Invalid value for '--max-checks'"),
        (["--cmd", "a", "--max-time", "nan"], "'nan' is not a time"),
        (["--cmd", "a", "--timeout", "1e300"], "Invalid value for '--timeout'"),
        (["--cmd", "a", "--timeout", "0"], "Invalid value for '--timeout'"),
        (["--cmd", "a", "--memory", "1" * 30], "Invalid value for '--memory'"),
        (["--cmd", "a", "--exit-code", "256"], "Invalid value for '--exit-code'"),
        (["--cmd"], "Option '--cmd' requires an argument"),
    ],
)
def test_options(tool: Tool, options: Sequence[str], said: str) -> None:
    tool.write("in.smt2", problem())
    for name in ("a", "b"):
        options = [f"sh -c {name}" if word == name else word for word in options]
    done = refused(tool, "smt2", "in.smt2", *options)
    assert done.code == 2
    assert said in done.err


@pytest.mark.slow
def test_no_input_and_no_command(tool: Tool) -> None:
    done = refused(tool, "smt2")
    assert done.code == 2
    assert "Missing argument 'INPUT'" in done.err
    tool.write("in.smt2", problem())
    done = refused(tool, "in.smt2")
    assert done.code == 2
    assert "Missing --cmd" in done.err, "a file in place of a command is reduced"
    tool.write("notes", "nothing in particular")
    done = refused(tool, "notes", "--cmd", "true")
    assert done.code == 1
    assert "the input does not fail" in done.err, "any file is at least a text"
    done = refused(tool, "redcue", "in.smt2", "--cmd", "false")
    assert "Unknown command 'redcue'" in done.err


def test_an_input_that_does_not_fail(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    script = tool.script("solver", "echo sat; echo 'c done' >&2")
    done = refused(tool, "smt2", "in.smt2", "--cmd", f"{script} --fast")
    assert done.code == 1
    assert "the input does not fail" in done.err
    assert f"command: {script} --fast in.smt2\n" in done.err
    assert "ended: exit status 0" in done.err
    assert "stdout:\n  sat\n" in done.err
    assert "stderr:\n  c done\n" in done.err
    for way in ("--oracle", "--match-out", "--reference", "--slower-than"):
        assert way in done.err


def test_errors_with_json(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--cmd", "true", "--json")
    assert done.code == 1
    assert "does not fail" in done.err
    report = json.loads(done.out)
    assert report["exit_code"] == 1
    assert report["error"].startswith("the input does not fail")


def test_a_command_that_goes_away(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    runs = tool.temporary / "runs"
    script = tool.script(
        "test", f'echo >> {runs}; [ $(wc -l < {runs}) -lt 10 ] || rm -f "$0"; {NEEDLE} "$1"'
    )
    done = tool("smt2", "in.smt2", "--oracle", script)
    assert done.code == 2
    assert f"cannot run {script}: No such file or directory" in done.err
    result = (tool.folder / "in.reduced.smt2").read_bytes()
    assert f"the best result so far ({len(result):,} bytes) is in in.reduced.smt2" in done.err
    assert b"needle" in result
