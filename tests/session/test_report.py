"""The summary for people: exact numbers, aligned, and outputs that a terminal survives."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

from reducekit.reduction import Counts, Skip
from reducekit.run import Outcome
from reducekit.session.progress import Progress
from reducekit.session.report import (
    SCHEMA,
    FailureChanged,
    OtherFailure,
    Remaining,
    Report,
    Reproducer,
)
from reducekit.usage.messages import summary

SKIPPED = Counter({Skip.UNCHANGED: 4, Skip.KNOWN: 2, Skip.REFUTED: 1})
"""What changes nothing was never a candidate, so it is no cache hit."""


def report(
    stdout: bytes = b"sat\n",
    stopped: str | None = None,
    void: int = 0,
    changed: tuple[FailureChanged, ...] = (),
    others: tuple[OtherFailure, ...] = (),
) -> str:
    return summary(made(stdout, stopped, void, changed, others))


def made(
    stdout: bytes = b"sat\n",
    stopped: str | None = None,
    void: int = 0,
    changed: tuple[FailureChanged, ...] = (),
    others: tuple[OtherFailure, ...] = (),
) -> Report[bytes]:
    outcome = Outcome(None, 11, stdout, b"bad\x1b[2J\xff", None, 0.1)
    return Report(
        text=b"",
        input=Path("in.smt2"),
        output=Path("out.smt2"),
        before={"bytes": 1_234_567, "pushes": 0, "terms": 40},
        after={"bytes": 51, "pushes": 0, "terms": 10},
        counts=Counts(checks=1200, skipped=SKIPPED, runs=1200 + void, accepted=5),
        runs=1204,
        seconds=12.34,
        failure="signal SIGSEGV",
        reproducers=[
            Reproducer("./solver out.smt2", outcome),
            Reproducer("./other out.smt2", None),
        ],
        stopped=stopped,
        early=stopped is not None,
        verified=True,
        changed=changed,
        others=others,
    )


def test_the_text() -> None:
    assert (
        report()
        == """\
out.smt2
  bytes    1,234,567 -> 51  (0.00 %)
  terms           40 -> 10  (25.0 %)
  checks   1,200 (runs of commands in all: 1,204), cache hits: 3, 12.3 s
  failure  signal SIGSEGV

$ ./solver out.smt2
sat
bad\\x1b[2J\\xff
(signal SIGSEGV)
$ ./other out.smt2
(not run again)"""
    )


def test_the_report_for_programs() -> None:
    found = made(
        stopped="after 5 s",
        void=7,
        changed=(FailureChanged("A", "B", 1234, 7),),
        others=(
            OtherFailure("exit status 3", 12, 90, Path("others/a.smt2")),
            OtherFailure("exit status 4", 1, 5, None),
        ),
    )
    assert json.loads(found.json()) == {
        "schema": SCHEMA,
        "input": "in.smt2",
        "output": "out.smt2",
        "before": {"bytes": 1_234_567, "pushes": 0, "terms": 40},
        "after": {"bytes": 51, "pushes": 0, "terms": 10},
        "checks": 1200,
        "cache_hits": 3,
        "void": 7,
        "accepted": 5,
        "runs": 1204,
        "seconds": 12.34,
        "failure": "signal SIGSEGV",
        "see_again": ["./solver out.smt2", "./other out.smt2"],
        "stopped": "after 5 s",
        "done": False,
        "verified": True,
        "changed": [{"from": "A", "to": "B", "bytes": 1234, "step": 7}],
        "other_failures": [
            {"failure": "exit status 3", "count": 12, "bytes": 90, "file": "others/a.smt2"},
            {"failure": "exit status 4", "count": 1, "bytes": 5, "file": None},
        ],
    }
    assert "\n" not in found.json()
    nameless = replace(found, input=None, output=None, seconds=1.23456)
    told = json.loads(nameless.json())
    assert (told["input"], told["output"], told["seconds"]) == (None, None, 1.235)


def test_what_is_said_when_there_is_reason() -> None:
    assert (
        "  stopped  after 5 s; this is the best so far; run the same command again to continue\n"
        in report(stopped="after 5 s")
    )
    assert "cache hits: 3, unread: 7, 12.3 s\n" in report(void=7)


def test_other_failures() -> None:
    text = report(
        changed=(FailureChanged("A", "B", 1234, 7),),
        others=(
            OtherFailure("signal SIGSEGV, a\x1bb", 1200, 90, Path("others/a.smt2")),
            OtherFailure("exit status 3", 1, 5, None),
        ),
    )
    assert (
        """
  failure         signal SIGSEGV
  changed         the failure changed on the way: A -> B at 1,234 bytes (step 7)
  other failures  1,200 x signal SIGSEGV, a\\x1bb (90 bytes: others/a.smt2)
                  1 x exit status 3 (5 bytes)

$ """
        in text
    )
    many = report(others=tuple(OtherFailure(f"exit status {n}", 1, 5, None) for n in range(30)))
    assert "... 23 more\n" in many
    assert "exit status 29" not in many


def test_long_outputs_are_cut() -> None:
    text = report(b"x" * 10_000 + b"\n" * 5_000)
    assert len(text) < 1_000
    assert "... 4988 more lines" in text


def test_the_progress_line_fits() -> None:
    progress = Progress(1_000_000, 500_000, 12, 3, "terms", 2)
    assert progress.line().startswith("500,000 bytes (50.0 %), 12 checks (")
    assert ", 3 accepted, round 2: terms, " in progress.line()
    for width in range(1, 120):
        assert len(progress.line(width)) <= width


def test_in_a_notebook() -> None:
    text = "".join(f"(assert (< x {n}))\n" for n in range(50)).encode() + b"\x1b</pre>"
    shown = replace(made(), text=text, failure="<b>\x1b", stopped="after 9 checks")._repr_html_()
    parsed = ET.fromstring(f"<body>{shown}</body>")
    assert [each.tag for each in parsed] == ["p", "pre", "pre"]
    said, result, again = ("".join(each.itertext()) for each in parsed)
    assert said == (
        f"1,234,567 → {len(text):,} bytes: <b>\\x1b, 1,200 checks; stopped: after 9 checks"
    )
    assert result.splitlines()[0] == "(assert (< x 0))"
    assert result.splitlines()[-1] == "[11 more lines]"
    assert again.splitlines() == ["./solver out.smt2", "./other out.smt2"]


def test_what_is_left_is_named_with_its_line_and_its_instances() -> None:
    left = [
        Remaining("hyp", 7, 2),
        Remaining("axiom\x1b", 3, 3, 12, 4_012),
        Remaining("", None, 4, None, 20),
        Remaining("idle", 5, 5, 0, 0),
    ]
    text = summary(replace(made(), left=left))
    at = text.index("  left ")
    assert text[at:].splitlines()[:5] == [
        "  left     line 3: axiom\\x1b (instances: good 12, bad 4,012)",
        "           (no name) (instances: bad 20)",
        "           line 7: hyp",
        "           line 5: idle (instances: good 0, bad 0)",
        "",
    ]
    many = summary(replace(made(), left=[Remaining(f"a{n}", n, n) for n in range(50)]))
    assert "line 18: a18\n  ... 31 more\n" in many
    found = json.loads(replace(made(), left=left).json())["left"]
    assert found[1] == {"name": "axiom\x1b", "line": 3, "result_line": 3, "good": 12, "bad": 4012}
    assert "left" not in json.loads(made().json())
