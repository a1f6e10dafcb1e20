"""Other failures than the one to keep: told apart, counted, noticed where they creep in."""

from dataclasses import replace

import pytest

from reducekit.oracle.compared import Disagree, SlowerThan
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.own import SameSignature
from reducekit.oracle.printed import ExitZero, Matches
from reducekit.oracle.signature import Signature, signature
from reducekit.run import Outcome
from reducekit.session.runs.slippage import Captured, SlippageTracker, captured
from reducekit.session.runs.slippage import _ends as ends

SEGV = Outcome(None, 11, b"", b"", None, 0.1)
ABORT = Outcome(None, 6, b"", b"a.c:7: Assertion `x' failed.\n", None, 0.1)
SAT = Outcome(0, None, b"sat\n", b"", None, 0.1)
ASSERTED = Signature(None, 6, None, b"a.c: Assertion `x' failed.")


def complaint(name: str) -> Outcome:
    text = f'(error "line 3 column 7: unknown constant {name}")\n'
    return Outcome(1, None, text.encode(), b"", None, 0.1)


def watching(golden: Outcome = SEGV, criterion: Criterion | None = None) -> SlippageTracker:
    return SlippageTracker((golden,), criterion or SameSignature(signature(golden)))


def test_another_failure_is_counted_and_its_smallest_text_kept() -> None:
    kept: list[tuple[Signature, bytes]] = []
    seen = replace_keep(watching(), kept)
    for text in (b"four", b"two", b"three", b"1", b"x"):
        seen.see(text, False, (ABORT,))
    seen.see(b"", False, (SAT,))
    (met,) = seen.met
    assert (met.signature, met.count, met.size, met.complaint) == (ASSERTED, 5, 1, False)
    assert kept == [(ASSERTED, b"four"), (ASSERTED, b"two"), (ASSERTED, b"1")]


def replace_keep(seen: SlippageTracker, kept: list[tuple[Signature, bytes]]) -> SlippageTracker:
    return replace(seen, keep=lambda found, text: kept.append((found, text)))


@pytest.mark.parametrize(
    "outcome",
    [
        SAT,
        SEGV,  # the failure itself, where the criterion wants more than the signature
        Outcome(0, None, b"", b"", None, 0.1),
        Outcome(10, None, b"s SATISFIABLE\n", b"", None, 0.1),
        Outcome(
            0, None, b"sat\n(model\n" + b"(define-fun error () Int 5)\n" * 400 + b")", b"", None, 1
        ),
    ],
)
def test_what_is_ordinary_is_not_counted(outcome: Outcome) -> None:
    seen = watching()
    for _ in range(3):
        seen.see(b"text", False, (outcome,))
    seen.see(b"text", False, ())
    assert seen.met == []


def test_a_timeout_is_a_failure_of_its_own() -> None:
    seen = watching()
    for size in (3, 2):
        seen.see(b"x" * size, False, (Outcome(None, 9, b"cut of", b"", "time", 5.0),))
    (met,) = seen.met
    assert met.signature == Signature(None, None, "time", None)
    assert (met.count, met.size) == (2, 2)


def test_complaints_are_one_whatever_they_name() -> None:
    seen = watching()
    for name in ("x1", "|a b|", "needle"):
        text = f"(declare-fun f () Bool)(assert (f {name}))".encode()
        seen.see(text, False, (complaint(name),))
    seen.see(b"(assert (and unknown x))", False, (complaint("y"),))
    seen.see(b"", False, (ABORT,))
    crash, *complaints = seen.met
    assert (crash.signature, crash.complaint) == (ASSERTED, False)
    assert all(met.complaint for met in complaints)
    lines = {met.signature.line: met.count for met in complaints}
    assert lines[b'(error "line N column N: unknown constant *")'] == 3


def test_the_reference_may_fail_as_it_likes() -> None:
    seen = watching(SAT, Disagree((b"sat", b"unsat")))
    seen.see(b"", False, (SAT, SEGV))
    assert seen.met == []
    seen.see(b"", False, (SEGV,))
    assert [met.signature for met in seen.met] == [signature(SEGV)]


def test_ignored_streams_are_ignored() -> None:
    seen = watching(SEGV, SameSignature(signature(SEGV), err=False))
    seen.see(b"", False, (ABORT,))
    assert [met.signature for met in seen.met] == [Signature(None, 6, None, None)]


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Outcome(1, None, b"", b"", None, 0.1), False),
        (Outcome(1, None, b"error: no\n", b"", None, 0.1), False),
        (Outcome(139, None, b"", b"", None, 0.1), True),
        (Outcome(None, 11, b"", b"", None, 0.1), True),
        (Outcome(1, None, b"", b"a.c:7: Assertion `x' failed.\n", None, 0.1), True),
        (Outcome(None, 9, b"", b"", "time", 0.1), True),
    ],
)
def test_a_test_says_no_with_1(outcome: Outcome, counts: bool) -> None:
    seen = watching(Outcome(0, None, b"", b"", None, 0.1), captured(ExitZero()))
    seen.see(b"", False, (outcome,))
    assert bool(seen.met) == counts


def test_drift() -> None:
    golden = Outcome(1, None, b"", b"a.c:7: Assertion `x' failed.\nbad\n", None, 0.1)
    other = golden._replace(stderr=b"b.c:9: Assertion `y' failed.\nbad\n")
    seen = watching(golden, Matches(exit_code=1, err=()))
    assert not seen.criterion.captures
    seen.see(b"abc", True, (other._replace(stderr=b""),))
    seen.accept(b"abc")
    assert seen.slippages == []  # the outputs are not looked at, so not compared

    seen = watching(golden, captured(Matches(exit_code=1)))
    for text, outcome in ((b"12345", golden), (b"1234", other), (b"123", other), (b"12", golden)):
        seen.see(text + b"not accepted", True, (golden,))
        seen.see(text, True, (outcome,))
        seen.accept(text)
    first, second = signature(golden), signature(other)
    assert [(d.before, d.after, d.size, d.step) for d in seen.slippages] == [
        (first, second, 4, 2),
        (second, first, 2, 4),
    ]
    seen.go_back(b"123")
    assert [drift.step for drift in seen.slippages] == [2]
    seen.go_back(b"the input itself")
    assert seen.slippages == []
    assert seen.met == []


def test_what_was_not_seen_does_not_drift() -> None:
    seen = watching(SEGV, Matches(exit_code=-11))
    seen.accept(b"from a journal")
    assert seen.slippages == []


def test_capturing() -> None:
    same = SameSignature(signature(SEGV), out=False, err=False)
    assert captured(same) is same
    for criterion in (ExitZero(), SlowerThan(2.0), Matches(exit_code=3)):
        found = captured(criterion)
        assert isinstance(found, Captured)
        assert found.captures
        assert found.wall == criterion.wall
        assert found.describe() == criterion.describe()
        for outcome in (SAT, SEGV, SAT._replace(status=3), SAT._replace(seconds=3.0)):
            assert found.judge((outcome,)) == criterion.judge((outcome,))


def test_no_end_of_kinds_is_bounded() -> None:
    seen = watching()
    for number in range(1000):
        line = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        seen.see(b"", False, (ABORT._replace(stderr=f"Assertion `{line}' failed".encode()),))
    assert 100 < len(seen.met) < 1000


@pytest.mark.parametrize(
    ("text", "size", "left"),
    [
        (b"one\ntwo\n", 8, b"one\ntwo\n"),
        (b"one\ntwo\nthree\nfour\n", 12, b"one\nfour\n"),
        (b"one\n" + b"-" * 20, 12, b"one\n" + b"-" * 6),
        (b"-" * 20 + b"\nend\n", 12, b"-" * 6 + b"end\n"),
        (b"0123456789abcdef", 8, b"0123cdef"),
    ],
)
def test_the_ends_of_a_long_text_are_whole_lines(text: bytes, size: int, left: bytes) -> None:
    assert ends(text, size) == left
