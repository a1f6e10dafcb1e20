"""What is like a refuted text is not run, unless what fingerprints leave out matters."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from reducekit.executors.executor import InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.commands import fingerprint
from reducekit.journal import digest
from reducekit.reduction import Reduction, Result
from reducekit.reduction.skips import Fingerprints
from reducekit.run import Limits
from reducekit.strategies.adaptive import adaptive

TEXT = b"""(declare-fun first () (_ BitVec 8))
(declare-fun second () (_ BitVec 8))
(declare-fun third () (_ BitVec 8))
(assert (bvult (bvadd first second) (bvmul second third)))
(assert (= (bvurem first (bvsub second third)) (bvadd third (bvmul first second))))
(assert (distinct first (bvadd second third) (bvurem third second)))
(check-sat)
"""


class Plain(Smt2):
    """Without fingerprints."""

    def fingerprint(self, text: bytes) -> bytes | None:
        return None


Oracle = Callable[[bytes], bool]


def has_operators(text: bytes) -> bool:
    """Say yes whatever the names are."""
    return re.search(rb"\(bvurem (?!\w+ \w+\)).*\(bvmul (\w+) (?!\1)", text) is not None


def run(oracle: Oracle, frontend: Smt2, width: int = 1) -> tuple[Result, list[bytes]]:
    asked: list[bytes] = []

    def ask(text: bytes) -> bool:
        asked.append(text)
        return oracle(text)

    made = Reduction(frontend, adaptive, InProcess(ask, width), lambda seconds: Limits(), width)
    return made.run(TEXT, 0.0), asked


def refuted_twice(oracle: Oracle, asked: list[bytes]) -> int:
    """Return how many runs would have been saved."""
    counts = Counter(fingerprint(text) for text in asked if not oracle(text))
    return counts.total() - len(counts)


def test_what_is_like_a_refuted_text_is_not_run() -> None:
    plain, asked = run(has_operators, Plain())
    saved = refuted_twice(has_operators, asked)
    assert saved > 0
    result, fewer = run(has_operators, Smt2())
    assert refuted_twice(has_operators, fewer) == 0
    assert result.text == plain.text
    assert len(fewer) == len(asked) - saved


@pytest.mark.parametrize("name", [b"first", b"second", b"third"])
def test_where_the_failure_is_about_a_name_every_text_is_run(name: bytes) -> None:
    def oracle(text: bytes) -> bool:
        return name in text and has_operators(text)

    result, asked = run(oracle, Smt2())
    assert result.text == run(oracle, Plain())[0].text
    assert refuted_twice(oracle, asked) > 0


@pytest.mark.parametrize("width", [2, 5])
def test_the_result_depends_on_the_width_alone(width: int) -> None:
    result, _ = run(has_operators, Smt2(), width)
    again, _ = run(has_operators, Smt2(), width)
    assert result.text == again.text
    assert result.counts.checks == again.counts.checks


@pytest.mark.parametrize("width", [1, 2, 5])
def test_what_a_journal_knows_is_taken_alike(width: int) -> None:
    """And what the earlier run had begun and cancelled is not begun again."""
    whole, asked = run(has_operators, Smt2(), width)
    executor = InProcess(has_operators, width)
    resumed = Reduction(Smt2(), adaptive, executor, lambda seconds: Limits(), width=width)
    resumed.restore({digest(text): (has_operators(text), 0.0) for text in asked})
    result = resumed.run(TEXT, 0.0)
    assert result.text == whole.text
    assert result.counts.runs == 0
    assert result.counts.checks == result.counts.replayed == whole.counts.checks


def test_a_refuted_text_like_the_best_one_ends_it() -> None:
    known = Fingerprints(lambda text: text.lower())
    known.refute(b"a", b"B")
    assert b"a" in known
    known.refute(b"b", b"B")
    assert b"a" not in known
    assert known.of(b"A") is None
    known.refute(b"c", b"B")
    assert b"c" not in known
