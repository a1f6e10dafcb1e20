"""Numbers are shortened by their digits, for few checks where none may go."""

import pytest

from reducekit.api import reduce
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.passes.spelling import Digits, Ends, numerals
from reducekit.search.problem import FixedSearch, Search
from tests.simulator import simulate

PI = b"31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253"


def walked(text: bytes, keep: tuple[bytes, ...]) -> tuple[bytes, list[bytes]]:
    """Return a text as the pass leaves it, and the candidates, for a failure that needs words."""
    view = Smt2().parse(text)
    problem = numerals.problem(view)
    tried: list[bytes] = []
    if problem is None:
        return text, tried
    assert isinstance(problem, FixedSearch)
    search: Search = problem.search
    edits: dict[int, tuple[bytes | int, ...]] = {}
    while (change := search.propose()) is not None:
        candidate = view.document.render({**edits, **dict(change.edits)})
        tried.append(candidate)
        ok = all(word in candidate for word in keep)
        if ok:
            edits |= dict(change.edits)
        search = search.after(ok)
    return view.document.render(edits), tried


@pytest.mark.parametrize(
    ("number", "needed", "left", "checks"),
    [
        (b"65536.0000123", b" 65536.", b"65536.0", 5),  # the fraction, then 2 and 1 at both ends
        (b"65536.5", b" 65536.5", b"65536.5", 5),
        (b"65536.0", b" 65536.0", b"65536.0", 4),
        (b"4294967296", b" 4294967296", b"4294967296", 6),
        (b"4294967296", b" 4", b"4", 4),
        (b"4294967296", b"96)", b"96", 5),
        (PI, b"", b"3", 7),
        (PI, PI, PI, 12),
        (PI, PI[30:34], PI[30:34], 15),
        (b"(_ bv18446744073709 64)", b"bv18", b"(_ bv18 64)", 5),
        (b"7.25", b"25)", b"7.25", 3),
        (b"0.125", b"0.", b"0.0", 1),
        (b"10000", b"1", b"1", 3),
        (b"99", b"", b"99", 0),
        (b"1.5", b"1.", b"1.0", 1),
        (b"#xffffffff", b"", b"#xffffffff", 0),
    ],
)
def test_the_number_that_is_left_and_what_it_costs(
    number: bytes, needed: bytes, left: bytes, checks: int
) -> None:
    text, tried = walked(b"(assert (= x %s))" % number, (needed,))
    assert text == b"(assert (= x %s))" % left
    assert len(tried) == checks, tried


@pytest.mark.parametrize("digits", [3, 10, 103, 1000, 100_000])
def test_a_number_of_which_nothing_may_go_costs_the_logarithm(digits: int) -> None:
    start = Ends((tuple(range(digits)),), (1,))
    found = simulate(lambda count: start, digits, lambda kept: len(kept) == digits)
    assert (len(found.left), found.runs) == (digits, 2 * (digits.bit_length() - 1))


def test_all_uses_of_a_number_stay_equal() -> None:
    text, tried = walked(b"(assert (= (+ x 12345) (+ y 12345)))", (b"x 12", b"y 12"))
    assert text == b"(assert (= (+ x 12) (+ y 12)))"
    assert all(each.count(b" " + each.split()[-1].rstrip(b")") + b")") == 2 for each in tried)


def test_what_is_no_number_is_left_alone() -> None:
    script = b"""(set-option :timeout 12345)
(declare-fun bv12345 () Bool)
(declare-fun f ((_ BitVec 12345)) Bool)
(assert (! bv12345 :weight 12345))
(assert (f ((_ zero_extend 12000) (_ bv1 345))))
(assert (= "12345" s))
"""
    assert walked(script, ()) == (script, [])


def test_a_reduction_ends_at_the_short_number() -> None:
    """The number of a real bug: 103 of 247 bytes were its digits."""

    text = b"(declare-const x Real)(assert (> x 65536.%s))(check-sat)" % PI
    found = reduce(text, lambda each: b" x 65536" in each and b"assert" in each, format=Smt2())
    assert b"65536)" in found.text
    assert PI[:2] not in found.text


def test_digits_know_their_numbers() -> None:
    view = Smt2().parse(b"(assert (= 123 4.56))")
    problem = numerals.problem(view)
    assert isinstance(problem, FixedSearch)
    items = problem.search.items  # type: ignore[attr-defined]
    assert isinstance(items, Digits)
    assert (items.owner, items.first) == ([0, 0, 0, 1, 1, 1], [0, 3])
    assert items.selector.groups == ((0, 1, 2), (4, 5))
