"""What is printed where: for people, for programs, on terminals of all kinds, and on none."""

import fcntl
import json
import os
import pty
import re
import struct
import termios
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Done, Tool, problem

pytestmark = pytest.mark.reduction


@pytest.fixture
def source(tool: Tool) -> Path:
    return tool.write("in.smt2", problem())


def test_the_summary(tool: Tool, source: Path) -> None:
    script = tool.script("solver", f'{NEEDLE} $3 && echo "error: $3:12: bad" && exit 3 || :')
    done = tool.ok("smt2", source.name, "--cmd", f"{script} -a 'b c'")
    size = len((tool.folder / "in.reduced.smt2").read_bytes())
    pattern = rf"""in\.reduced\.smt2
  bytes     +{len(problem()):,} -> {size} +\([\d.]+ %\)
  commands  +28 -> \d +\([\d.]+ %\)
  asserts   +12 -> 1 +\([\d.]+ %\)
  terms     +\d+ -> \d+ +\([\d.]+ %\)
  checks    \d+ \(runs of commands in all: \d+\), cache hits: \d+, [\d.]+ s
  failure   exit status 3, error: in\.smt2: bad

\$ {script} -a 'b c' in\.reduced\.smt2
error: in\.reduced\.smt2:12: bad
\(exit status 3\)
"""
    assert re.fullmatch(pattern, done.out), done.out
    assert "keeping this failure: exit status 3, error: in.smt2: bad\n" in done.err
    assert "accepted, round " in done.err
    assert "\x1b" not in done.err


def test_json(tool: Tool, source: Path) -> None:
    done = tool.ok("smt2", source.name, "--oracle", NEEDLE, "--json")
    report = json.loads(done.out)
    assert done.out.count("\n") == 1
    result = (tool.folder / "in.reduced.smt2").read_bytes()
    assert report["before"]["bytes"] == len(problem())
    assert report["after"]["bytes"] == len(result)
    assert report["failure"] == "the test accepts the file"
    assert report["output"] == "in.reduced.smt2"
    assert report["see_again"][0].endswith("grep -q '(assert.*(needle' in.reduced.smt2")
    assert (report["stopped"], report["verified"]) == (None, True)
    assert report["runs"] == report["checks"] + 6
    assert "accepted" in done.err


@pytest.mark.slow
def test_quiet(tool: Tool, source: Path) -> None:
    done = tool("smt2", source.name, "--oracle", NEEDLE, "--quiet")
    assert done == Done(0, "", "")
    done = tool("smt2", source.name, "--oracle", NEEDLE, "--quiet", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["verified"]


def test_help_and_version(tool: Tool) -> None:
    for arguments, said in (
        (["--help"], "smt2"),
        (["smt2", "-h"], "--reference"),
        (["--version"], "reducekit 0."),
    ):
        done = tool(*arguments)
        assert (done.code, done.err) == (0, "")
        assert said in done.out


@pytest.mark.parametrize("option", [["--json"], [], ["--help"]])
def test_a_full_output(tool: Tool, source: Path, option: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = tool("smt2", source.name, "--oracle", NEEDLE, *option, stdout=full)
    assert done.code == 2
    assert "reducekit: standard output cannot be written: No space left on device\n" in done.err
    assert "Traceback" not in done.err
    assert "Exception" not in done.err
    assert (tool.folder / "in.reduced.smt2").exists() == (option != ["--help"])


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_more_than_a_buffer_to_a_full_output(tool: Tool, unbuffered: str) -> None:
    tool.write("in.smt2", problem(400))
    tool.environment["PYTHONUNBUFFERED"] = unbuffered
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = tool("variant", "in.smt2", "1", stdout=full)
    said = "reducekit: standard output cannot be written: No space left on device\n"
    assert (done.code, done.err) == (2, said)


@pytest.mark.parametrize("option", ["--json", "--help"])
def test_nobody_reads_the_output(tool: Tool, source: Path, option: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = tool("smt2", source.name, "--oracle", NEEDLE, "-q", option, stdout=write)
    os.close(write)
    assert (done.code, done.err) == (0, "")


def closing(redirection: str) -> list[str]:
    return ["sh", "-c", f'exec "$@" {redirection}', "sh"]


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams(tool: Tool, source: Path, redirection: str) -> None:
    """The candidate's output must not land where ours is closed, nor ours in a file."""
    script = tool.script("solver", f"echo out; echo err >&2; {NEEDLE} $1 && exit 3 || exit 0")
    done = tool.ok("smt2", source.name, "--cmd", script, before=closing(redirection))
    result = (tool.folder / "in.reduced.smt2").read_text()
    assert len(result) < 200
    assert "needle" in result
    assert "accepted" not in done.out
    assert ("$ " in done.out) == (">&-" not in redirection.split())


def test_json_to_a_closed_output(tool: Tool, source: Path) -> None:
    done = tool("smt2", source.name, "--oracle", NEEDLE, "--json", before=closing(">&-"))
    assert (done.code, done.err) == (
        2,
        "reducekit: standard output is closed: --json has nowhere to go\n",
    )
    assert not (tool.folder / "in.reduced.smt2").exists()


def on_a_terminal(tool: Tool, columns: int, *arguments: str, **environment: str) -> str:
    """Run the tool with a terminal of so many columns; return what it was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        tool.environment[name] = ""
    tool.environment.update(environment)
    process = tool.start(
        *arguments, stdin=theirs, stdout=theirs, stderr=theirs, before=("env", *unset(tool))
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # nobody has the other end any more
            break
        sent += part
    os.close(ours)
    assert process.wait() == 0
    return sent.decode()


def unset(tool: Tool) -> list[str]:
    return [word for name, value in tool.environment.items() if not value for word in ("-u", name)]


SLOW = f"sh -c 'sleep 0.01; {NEEDLE.replace(chr(39), chr(34))} $0'"


@pytest.mark.slow
@pytest.mark.parametrize("columns", [140, 40])
def test_the_live_block(tool: Tool, source: Path, columns: int) -> None:
    sent = on_a_terminal(
        tool, columns, "smt2", source.name, "--oracle", SLOW, TERM="xterm-256color"
    )
    live, _, summary = sent.partition("in.reduced.smt2\r\n")
    assert not re.search(r"\x1b(?!\[[\d;]*m)", summary)  # colours only
    # The cursor is shown, and the five lines are gone.
    assert live.rstrip().endswith("\x1b[?25h\r" + 5 * "\x1b[1A\x1b[2K")
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split("[\r\n]", live)]
    drawn = [line for line in lines if " bytes" in line or " check" in line]
    assert [line for line in drawn if " checks" in line]
    assert max(map(len, drawn)) < columns, drawn
    assert "▇" in live or columns < 140
    assert "\x1b[1m" in live


def test_no_colour(tool: Tool, source: Path) -> None:
    sent = on_a_terminal(
        tool, 140, "smt2", source.name, "--oracle", SLOW, TERM="xterm", NO_COLOR="1"
    )
    assert "▇" in sent
    assert re.findall(r"\x1b\[[0-9;]*m", sent) == []


@pytest.mark.parametrize("words", [["--help"], ["hunt", "-h"], ["cnf", "--help-all"]])
def test_the_help_has_colours_on_a_terminal_only(tool: Tool, words: list[str]) -> None:
    plain = tool.end(tool.start(*words)).out
    assert "\x1b" not in plain
    coloured = on_a_terminal(tool, 80, *words, TERM="xterm").replace("\r\n", "\n")
    assert {"\x1b[1mUsage:\x1b[0m"} <= set(re.findall(r"\x1b\[1m.*?\x1b\[0m", coloured))
    assert re.findall(r"^  \x1b\[36m(-h, --help)\x1b\[0m  ", coloured, re.MULTILINE)
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert on_a_terminal(tool, 80, *words, TERM="xterm", NO_COLOR="1").count("\x1b") == 0


@pytest.mark.slow
def test_a_terminal_without_utf8(tool: Tool, source: Path) -> None:
    sent = on_a_terminal(
        tool, 140, "smt2", source.name, "--oracle", SLOW, TERM="xterm", PYTHONIOENCODING="ascii"
    )
    assert sent.isascii()
    assert "###" in sent


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_gets_plain_lines(tool: Tool, source: Path, term: str) -> None:
    sent = on_a_terminal(tool, 40, "smt2", source.name, "--oracle", NEEDLE, TERM=term)
    assert "\x1b" not in sent
    assert "accepted, round " in sent


def test_quiet_on_a_terminal(tool: Tool, source: Path) -> None:
    sent = on_a_terminal(tool, 80, "smt2", source.name, "--oracle", NEEDLE, "-q", TERM="xterm")
    assert sent == ""
