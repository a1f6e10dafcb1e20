"""`reducekit history`: what it lists, restores and compares, and what it says when it cannot."""

import json
import os
import re
from pathlib import Path

import pytest

from reducekit.journal import Head, open_journal
from tests.cli.tool import Tool

pytestmark = pytest.mark.reduction

TEXTS = [b"(a)\n(b)\n(c)\n(d)\n", b"(a)\n(c)\n(d)\n", b"(a)\n(d)\n", b"(c)\n(d)\n\xff\x00"]


@pytest.fixture
def journal(tool: Tool) -> Path:
    """A journal beside an output: two steps, one of them given up, and another."""
    path = tool.folder / "out.smt2.journal"
    head = Head.of(
        TEXTS[0],
        version="1",
        frontend="smt2",
        strategy="adaptive",
        commands=["/bin/solver '{}'"],
        criterion="exit status 3, error: \x1b[2J",
        settings={"width": "4"},
    )
    tool.write("out.smt2", TEXTS[3])
    with open_journal(path, head, TEXTS[0], resume=False) as written:
        for number in range(1234):
            written.verdict(number.to_bytes(16, "big"), number < 3, 0.5)
        written.step(TEXTS[1], "remove (b)", "lines", seconds=0.25, checks=1)
        written.step(TEXTS[2], "remove \x1b(c)\n" + "x" * 200, "sweep", seconds=65, checks=7)
        written.rolled_back(TEXTS[1])
        written.step(TEXTS[3], "rotate", "sweep", seconds=2000.04, checks=1200)
        written.note("elapsed", "2001")
    return path


@pytest.mark.parametrize("name", ["out.smt2", "out.smt2.journal", "./out.smt2"])
def test_the_list(tool: Tool, journal: Path, name: str) -> None:
    done = tool("history", name)
    assert (done.code, done.err) == (0, "")
    pattern = rf"""out\.smt2\.journal
  input     16 bytes, sha256 [0-9a-f]{{32}}\.\.\.
  command   /bin/solver '\{{}}'
  failure   exit status 3, error: \\x1b\[2J
  strategy  adaptive, format smt2
  width     4
  verdicts  1,234, interesting: 3

  step  bytes  checks       time  pass   what
     0     16       0      0\.0 s         the input
     1     12       1      0\.2 s  lines  remove \(b\)
     2      8       7     65\.0 s  sweep  remove \\x1b\(c\)\\nx{{{100 - 16}}}\.\.\.
        back to step 1: step 2 did not fail every time
     3     10   1,200  2,000\.0 s  sweep  rotate

To restore one: reducekit history out\.smt2\.journal --restore 3 -o FILE; what .*: --diff 3
"""
    assert re.fullmatch(pattern, done.out), done.out


def test_the_list_for_programs(tool: Tool, journal: Path) -> None:
    done = tool("history", "out.smt2", "--json")
    assert (done.code, done.err) == (0, "")
    said = json.loads(done.out)
    assert done.out.count("\n") == 1
    assert said["schema"] == 1
    assert said["journal"] == "out.smt2.journal"
    assert said["head"]["commands"] == ["/bin/solver '{}'"]
    assert (said["verdicts"], said["interesting"], said["unread"]) == (1234, 3, 0)
    assert [step["bytes"] for step in said["steps"]] == list(map(len, TEXTS))
    assert said["steps"][3] == {
        "number": 3,
        "base": 1,
        "bytes": 10,
        "checks": 1200,
        "seconds": 2000.04,
        "pass": "sweep",
        "what": "rotate",
    }
    assert said["returns"] == [{"given_up": 2, "step": 1, "after": 3}]
    assert (said["current"], said["notes"]) == (3, {"elapsed": "2001"})


@pytest.mark.parametrize("number", range(4))
def test_every_step_is_restored(tool: Tool, journal: Path, number: int) -> None:
    done = tool("history", "out.smt2", "--restore", str(number), "-o", "back.smt2")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"back.smt2: step {number}, {len(TEXTS[number])} bytes\n"
    assert (tool.folder / "back.smt2").read_bytes() == TEXTS[number]


@pytest.mark.parametrize("to", [[], ["-o", "-"]])
def test_restoring_to_standard_output(tool: Tool, journal: Path, to: list[str]) -> None:
    with open(tool.folder / "printed", "wb") as printed:
        done = tool("history", "out.smt2", "--restore", "3", *to, stdout=printed)
    assert (done.code, done.err) == (0, "")
    assert (tool.folder / "printed").read_bytes() == TEXTS[3]


def test_the_difference_to_the_step_before(tool: Tool, journal: Path) -> None:
    done = tool("history", "out.smt2", "--diff", "1")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "--- step 0, 16 bytes\n+++ step 1, 12 bytes, lines: remove (b)\n"
        "@@ -1,4 +1,3 @@\n (a)\n-(b)\n (c)\n (d)\n"
    )
    with open(tool.folder / "printed", "wb") as printed:
        tool("history", "out.smt2", "--diff", "3", stdout=printed)
    assert (tool.folder / "printed").read_bytes() == (
        b"--- step 1, 12 bytes\n+++ step 3, 10 bytes, sweep: rotate\n"
        b"@@ -1,3 +1,3 @@\n-(a)\n (c)\n (d)\n+\xff\x00\n\\ No newline at end of file\n"
    )


@pytest.mark.slow
def test_the_journal_of_a_run_that_goes_on_and_was_killed(tool: Tool, journal: Path) -> None:
    data = journal.read_bytes()
    tool.write("cut.journal", data[:-7])
    done = tool.ok("history", "cut.journal", "--json")
    assert json.loads(done.out)["unread"] > 0
    done = tool("history", "cut.journal")
    assert "at the end: torn by a kill, or damaged\n" in done.out
    done = tool("history", "cut.journal", "--restore", "3", "-o", "back")
    assert (tool.folder / "back").read_bytes() == TEXTS[3]
    head = Head.of(
        b"x", version="", frontend="", strategy="", commands=[], criterion="", settings={}
    )
    with open_journal(tool.folder / "a b.journal", head, b"x", resume=False):
        done = tool("history", "a b")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(
        "     0      1       0  0.0 s        the input\n\n"
        "To restore one: reducekit history 'a b.journal' --restore 0 -o FILE\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("none.smt2", "there is no file none.smt2, and no journal none.smt2.journal"),
        ("none/x", "there is no file none/x, and no journal none/x.journal"),
        ("other", "other is not a reducekit journal\n(and there is no journal other."),
        (".", "the journal . is not a regular file"),
        ("/", "the journal / is not a regular file"),
        ("empty", "the journal empty ends before the input: it holds nothing yet"),
        ("torn", "the journal torn ends before the input: it holds nothing yet"),
        ("next", "the journal next was written by another version of reducekit"),
        ("bad", "the journal bad is damaged: its head cannot be read"),
        ("out.smt2 --restore 4 -o x", "the journal out.smt2.journal has no step 4: the steps are"),
        ("out.smt2 --restore 9", "has no step 9: the steps are 0 to 3"),
        ("out.smt2 --diff 99", "has no step 99: the steps are 0 to 3"),
        ("out.smt2 --diff 0", "Invalid value for '--diff'"),
        ("out.smt2 --restore -1", "Invalid value for '--restore'"),
        ("out.smt2 --restore x", "Invalid value for '--restore'"),
        ("out.smt2 --diff 1 --restore 2", "--restore and --diff are mutually exclusive"),
        ("out.smt2 --diff 1 --json", "--diff and --json are mutually exclusive"),
        ("out.smt2 -o x", "-o requires --restore N"),
        ("out.smt2 --restore 1 -o out.smt2.journal", "is the journal itself"),
        ("out.smt2 --restore 1 -o none/x", "the output none/x cannot be written: there is no fold"),
        ("out.smt2 --restore 1 -o .", "the output . is a directory"),
        ("", "Missing argument 'JOURNAL_OR_OUTPUT'"),
    ],
)
def test_what_cannot_be_done(tool: Tool, journal: Path, arguments: str, said: str) -> None:
    data = journal.read_bytes()
    tool.write("other", "(check-sat)\n")
    tool.write("empty", "")
    tool.write("torn", data[:100])
    tool.write("bad", data[:40] + b"?" + data[41:])
    tool.write("next", "reducekit journal 2\n")
    before = tool.files()
    done = tool("history", *arguments.split())
    assert done.code == 2
    assert (done.out == "") == ("--json" not in arguments)
    assert said in done.err
    assert "Traceback" not in done.err
    assert tool.files() == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_is_full_closed_or_not_read(
    tool: Tool, journal: Path, unbuffered: str
) -> None:
    tool.environment["PYTHONUNBUFFERED"] = unbuffered
    with open("/dev/full", "wb") as full:
        done = tool("history", "out.smt2", "--restore", "1", stdout=full)
    assert done.code == 2
    assert done.err.count("standard output cannot be written: No space left on device") == 1
    ours, theirs = os.pipe()
    os.close(ours)
    done = tool("history", "out.smt2", "--restore", "1", stdout=theirs)
    os.close(theirs)
    assert (done.code, done.err) == (0, "")
    before = ["sh", "-c", 'exec "$@" >&-', "sh"]
    done = tool("history", "out.smt2", before=before)
    assert (done.code, done.err.startswith("reducekit: standard output is closed")) == (2, True)
    done = tool("history", "out.smt2", "--restore", "1", "-o", "x", before=before)
    assert (done.code, done.err) == (0, "")
    assert (tool.folder / "x").read_bytes() == TEXTS[1]


def test_it_is_among_the_commands(tool: Tool) -> None:
    assert re.search(r"^  history +List, restore and compare", tool("--help").out, re.MULTILINE)
