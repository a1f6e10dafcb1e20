"""No program, input or file name writes to a terminal, a page or a report but text."""

import os
import pty
import re
import shlex
import subprocess

import pytest

from tests.cli.tool import PROGRAM, Tool

ATTACKS = ("\x1bc", "\x1bk", "\x1b[5;41m", "\x1b]0;", "\x9b5;41m", "\x9d0;", "\x07", "\b", "\x7f")
"""Reset, the name of the window, colours, the title; as C1 codes; bell, backspace, delete."""
EVIL = "".join(f"a{each}" for each in ATTACKS)
NAME = "x\x1bc\x9b41m\x1bky{}"
STYLING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SMT2 = f"""\
(set-info :source |{EVIL}|)
(declare-const |{EVIL}| Bool)
(assert (! (and |{EVIL}| true) :named needle))
(assert (or |{EVIL}| true))
(check-sat)
"""
FILES = {
    ".smt2": SMT2,
    ".txt": f"{EVIL} needle {EVIL}\n(a) {EVIL}\n",
    ".btor": f"1 var 8 {EVIL}\n2 root 8 1\n",
    ".cnf": f"c {EVIL}\np cnf 1 2\n1 0\n-1 0\n",
    ".aag": f"aag 1 1 0 1 0\n2\n2\ni0 {EVIL}\nc\n{EVIL}\n",
    ".trace": f"init\n{EVIL}\n",
    ".bad.smt2": f"(assert {EVIL}",
}


@pytest.fixture
def hostile(tool: Tool) -> Tool:
    """A folder of hostile files, and a hostile solver and test."""
    for suffix, text in FILES.items():
        tool.write(NAME.format(suffix), text)
    said = shlex.quote(f"Error: {EVIL}")
    fails = f'grep -q -e needle "$1" || exit 0; echo {said}; echo {said} >&2; exit 3'
    tool.script(NAME.format("-solver"), fails)
    tool.script(NAME.format("-test"), f'echo {said} >&2; grep -q needle "$1"')
    tool.script("crash", f"echo {said} >&2; kill -SEGV $$")
    (tool.folder / "builds").mkdir()
    for each in "ab":
        # All others fail: the first version has another answer.
        tool.script(f"builds/{NAME.format(each)}", "exit 0" if each == "a" else fails)
    return tool


def shown(tool: Tool, line: str, term: str = "dumb") -> str:
    """Type a line on a terminal, where `@` is the hostile name; return what that gets."""
    words = [word.replace("@", NAME.format("")) for word in shlex.split(line)]
    ours, theirs = pty.openpty()
    environment = {**os.environ, **tool.environment, "TERM": term, "TMPDIR": str(tool.temporary)}
    process = subprocess.Popen(
        [*PROGRAM, *words], cwd=tool.folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    sent = b""
    while part := _read(ours):
        sent += part
    os.close(ours)
    process.wait()
    return sent.decode("utf-8", "surrogateescape")


def _read(side: int) -> bytes:
    try:
        return os.read(side, 1 << 16)
    except OSError:  # nobody has the other end any more
        return b""


def raw(text: str, keep: str = "\n\t") -> list[str]:
    """Return the characters that are no text, in some words."""
    found = re.finditer("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]", text)
    return [ascii(text[max(0, each.start() - 20) : each.end() + 20]) for each in found
            if each[0] not in keep]  # fmt: skip


LINES = [
    "smt2 @.smt2 --cmd ./@-solver",
    "smt2 @.smt2 --oracle ./@-test --jobs 2",
    "@.smt2 --cmd ./@-solver --exit-code 3 --also-interesting @others",
    "text @.txt --oracle ./@-test",
    "smt2 @.smt2 --cmd ./@-solver --match-err nothing",
    "smt2 @.smt2 --cmd true",
    "smt2 @.bad.smt2 --cmd ./@-solver",
    "smt2 @.bad.smt2 --check",
    "smt2 @.smt2 --check",
    "btor @.btor --check",
    "cnf @.cnf --check",
    "aiger @.aag --check",
    "trace @.trace --check",
    "trace @.trace",
    "replay @.trace",
    "isolate @.txt --baseline @.cnf --oracle ./@-test",
    "show @.btor",
    "show @.smt2",
    "show @.aag",
    "show @.cnf",
    "show @",
    "@",
    "smt2 @ --cmd ./@-solver",
    "smt2 @.smt2 --cmd @",
    "smt2 @.smt2 --strategy @ --oracle ./@-test",
    "smt2 @.smt2 --@ --oracle ./@-test",
    "smt2 @.smt2 --oracle ./@-test -o @/@",
    "convert @.btor @.out.smt2",
    "convert @.bad.smt2 @.btor2",
    "variant @.smt2 1",
    "generate smt2 --seed 1 -o @/@",
    "hunt smt2 --cmd ./crash --count 2 --seed 1 --no-reduce --out @bugs --junit @.xml",
    "hunt smt2 --cmd ./crash --count 2 --seeds @ --out bugs",
    "compare @.smt2 --oracle ./@-test --strategies ddmin --markdown @.md --tsv @.tsv",
    "bisect @.smt2 --builds builds --cmd '{solver}'",
]


@pytest.mark.parametrize("line", LINES)
def test_commands(hostile: Tool, line: str) -> None:
    text = shown(hostile, line)
    assert raw(text, keep="\r\n\t") == []
    assert "needs a shell" not in text
    check_files(hostile)


def check_files(tool: Tool) -> None:
    """Look at what people read; results and journals hold the bytes that they have to."""
    for path in tool.folder.rglob("*"):
        if path.suffix in (".html", ".md", ".xml", ".svg", ".tsv") and path.is_file():
            assert raw(path.read_text("utf-8", "surrogateescape")) == [], path


def test_reports(hostile: Tool) -> None:
    shown(hostile, "text @.txt --oracle ./@-test --report @.html")
    shown(hostile, "smt2 @.smt2 --cmd ./@-solver")
    assert "\\x1bc" in shown(hostile, "history @.reduced.txt")
    for line in (
        "history @.reduced.txt --diff 1",
        "history @.reduced.smt2 --diff 1",
        "history @.reduced.smt2 --restore 1 -o @.again",
        "report @.reduced.smt2 -o @.2.html",
        "report --issue @.reduced.smt2",
        "report --issue @.reduced.smt2 -o @.md",
        "smt2 @.smt2 --cmd ./@-solver",
    ):
        text = shown(hostile, line)
        assert raw(text, keep="\r\n\t") == [], line
        assert "Traceback" not in text
    check_files(hostile)
    # What is piped is exact: patches and scripts take it.
    piped = hostile("history", NAME.format(".reduced.txt"), "--diff", "1", stdout=subprocess.PIPE)
    assert "\x1bc" in piped.out


def test_the_live_block(hostile: Tool) -> None:
    text = shown(hostile, "smt2 @.smt2 --cmd ./@-solver", term="xterm-256color")
    assert "\x1b[" in text
    assert not any(each in text for each in ATTACKS)
    assert raw(STYLING.sub("", text), keep="\r\n\t") == []
