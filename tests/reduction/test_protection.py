"""Protected text stays in every candidate, and the search is as short as without it."""

import random
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.executors.executor import InProcess
from reducekit.format import Frontend
from reducekit.frontends.btor import Btor
from reducekit.frontends.cnf import Cnf
from reducekit.frontends.smt2 import Smt2
from reducekit.reduction import Protection, Reduction, Result
from reducekit.run import Limits
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.probdd import probdd
from reducekit.strategies.thesis import hdd
from tests.lines import Lines

STRATEGIES = (adaptive, ddmin, hdd, probdd)
every = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)


def protection(text: bytes, *patterns: bytes) -> Protection:
    return Protection.of(text, [re.compile(each, re.MULTILINE) for each in patterns])


def reduce(
    frontend: Frontend,
    text: bytes,
    interesting: Callable[[bytes], bool],
    patterns: Sequence[bytes] = (),
    strategy: Strategy = adaptive,
    width: int = 1,
) -> Result:
    reduction = Reduction(
        frontend,
        strategy,
        InProcess(interesting, width),
        lambda seconds: Limits(),
        width=width,
        protection=protection(text, *patterns),
    )
    return reduction.run(text, 0.0)


def test_what_is_protected() -> None:
    text = b"one two\nthree two\none\n"
    assert protection(text, b"^one$", b"two").texts == (b"two", b"two", b"one")
    assert protection(text, b"e t", b"three", b"x*").texts == (b"e t", b"three t")
    found = protection(text, b"two|one")
    assert found.keeps(text)
    assert found.keeps(b"onetwotwoone")
    assert not found.keeps(b"one two\none")
    assert not found.keeps(b"one one two two")
    assert protection(b"aaa", b"aa").keeps(b"aa")
    assert not protection(b"aaaa", b"aa").keeps(b"aaa")


@given(st.lists(st.sampled_from([b"a", b"ab", b"ba"]), max_size=6), st.binary(max_size=12))
def test_a_text_keeps_what_it_holds_in_order(parts: list[bytes], noise: bytes) -> None:
    found = Protection((), tuple(parts))
    assert found.keeps(noise.join((b"", *parts, b"")))
    without = b"".join(parts)[:-1]
    assert not parts or not found.keeps(without)


LINES = b"".join(
    b"keep  %d\n" % number if number % 20 == 10 else b"line %d (x y)\n" % number
    for number in range(400)
)


@every
def test_no_candidate_drops_protected_text(strategy: Strategy) -> None:
    asked: list[bytes] = []

    def interesting(text: bytes) -> bool:
        asked.append(text)
        return b"377" in text and b"42" in text

    result = reduce(Lines(), LINES, interesting, [b"^keep.*", b"x"], strategy)
    assert asked
    kept = protection(LINES, b"^keep.*", b"x")
    assert all(map(kept.keeps, asked))
    assert result.text.count(b"x") == LINES.count(b"x")
    assert re.findall(rb"keep  [0-9]+", result.text) == re.findall(rb"keep  [0-9]+", LINES)


def test_protected_lines_cost_no_checks() -> None:
    """What stays is left out of each run of lines, so runs are as long as without it."""

    def needed(text: bytes) -> bool:
        return b"377" in text and b"42" in text

    plain = reduce(Lines(), LINES, needed)
    result = reduce(Lines(), LINES, needed, [b"^keep.*"])
    assert result.counts.checks <= plain.counts.checks + 4
    assert result.text.count(b"\n") == 22


def test_a_protected_match_stays_where_it_is() -> None:
    """Elsewhere the same bytes are no match, and may go."""
    text = b"append\nend\nappend\n"
    result = reduce(Lines(), text, lambda text: True, [b"^end$"])
    assert result.text.strip() == b"end"


SCRIPT = b"""(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
(push 1)
(assert (and (= a 1)  (> b 2)))
(assert (or (< c 3) (> c 5)))
(pop 1)
(check-sat)
"""


def test_what_protected_text_needs_stays_in_a_script() -> None:
    asked: list[bytes] = []

    def interesting(text: bytes) -> bool:
        asked.append(text)
        return b"check-sat" in text

    result = reduce(Smt2(), SCRIPT, interesting, [rb"\(assert \(and.*", b"check"])
    assert b"(assert (and (= a 1)  (> b 2)))" in result.text
    assert b"declare-const a" in result.text or b"declare-fun a" in result.text
    assert b"(< c 3)" not in result.text
    assert all(b"(= a 1)  (> b 2)" in each for each in asked)


@pytest.mark.parametrize(
    ("frontend", "text", "pattern"),
    [
        (Smt2(), SCRIPT, rb"\(> c 5\)"),
        (Btor(), b"1 var 8\n2 var 8\n3 add 8 1 2\n4 eq 1 3 1\n5 root 1 4\n", b"^2 var.*"),
        (Cnf(), b"c keep\np cnf 3 3\n1 -2 0\n2 3 0\n-1 -3 0\n", b"^2 3 0"),
    ],
    ids=["smt2", "btor", "cnf"],
)
@every
@pytest.mark.parametrize("width", [1, 4])
def test_any_format_keeps_it(
    frontend: Frontend, text: bytes, pattern: bytes, strategy: Strategy, width: int
) -> None:
    """Two answers in three are yes, by the bytes of the text: so anything else may go."""
    kept = protection(text, pattern)

    def interesting(candidate: bytes) -> bool:
        assert kept.keeps(candidate)
        return candidate == text or random.Random(candidate).random() < 0.67

    result = reduce(frontend, text, interesting, [pattern], strategy, width)
    assert kept.keeps(result.text)
    # The published algorithms number the lines of BTOR anew, all at once.
    assert len(result.text) < len(text) or (strategy.passes, frontend.name) == ("classic", "btor")
