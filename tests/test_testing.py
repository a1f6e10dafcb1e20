"""The contract tests for plug-ins: ours pass them, and a fault of each kind does not."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from reducekit import registry
from reducekit.change import Change, Edit
from reducekit.errors import ParseError
from reducekit.format import Frontend, Pass, Schedule, pass_
from reducekit.search.problem import NOTHING, Items, Search
from reducekit.search.strategy import Passes, Strategy
from reducekit.strategies.ddmin import over_items as ddmin
from reducekit.strategies.levels import level_by_level
from reducekit.testing import check_frontend, check_strategy
from tests.lines import Lines, LinesView
from tests.strategies.test_everywhere import CASES, FRONTENDS, STRATEGIES, fresh

MORE = {"cnf": [b"p cnf 9 2\n1 9 0\n-9 8 0\n"]}
GROWING = {"smt2": ["assert: Ints to variables"]}
"""A variable for a literal: it brings a declaration, until another change drops the old ones."""


@pytest.mark.parametrize("name", FRONTENDS)
def test_our_formats_keep_the_contract(name: str) -> None:
    texts = [CASES[name].text, *MORE.get(name, ())]
    check_frontend(partial(fresh, name), texts, GROWING.get(name, ()))


@pytest.mark.parametrize("name", [each for each in STRATEGIES if each != "lw"])
def test_our_strategies_keep_the_contract(name: str) -> None:
    """But lw, which only takes whole layers."""
    check_strategy(registry.strategy(name))


NUMBERS = count()


@pass_("words")
def changing(view: LinesView) -> Iterator[Change]:
    yield Change((Edit(view.lines[next(NUMBERS) % 2], ()),), "drop")


@pass_("words")
def growing(view: LinesView) -> Iterator[Change]:
    yield Change((Edit(view.lines[0], (b"more and more words, more than there were\n",)),), "grow")


@pass_("words")
def beyond(view: LinesView) -> Iterator[Change]:
    yield Change((Edit(len(view.document), ()),), "drop")


@pass_("words")
def dropping(view: LinesView) -> Iterator[Change]:
    yield Change((Edit(view.lines[0], ()),), "drop")


def with_pass(found: Pass, **more: object) -> Callable[[], Frontend]:
    """Return a format of texts with one pass, and other faults."""

    def schedule(self: Frontend, passes: Passes) -> Schedule:
        return Schedule(rounds=(found,))

    return type("Faulty", (Lines,), {"schedule": schedule, **more})


def picky(self: Frontend, text: bytes) -> LinesView:
    if not text.startswith(b"one"):
        raise ParseError("expected `one`", text, 0)
    return Lines.parse(self, text)  # type: ignore[arg-type]


def careless(self: Frontend, text: bytes) -> LinesView:
    text.decode()
    return Lines.parse(self, text)  # type: ignore[arg-type]


def misread(self: Frontend, text: bytes) -> LinesView:
    view = Lines.parse(self, text)  # type: ignore[arg-type]
    view.document.stop[1] = 1
    return view


def shorter(self: Frontend, text: bytes) -> LinesView:
    return Lines.parse(self, text.strip())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (with_pass(changing), "pass 'words' is not deterministic"),
        (with_pass(growing), "no change is smaller in the order, in these passes: .'words'"),
        (with_pass(beyond), "pass 'words', 'drop': no node"),
        (with_pass(dropping, parse=picky), "pass 'words', 'drop': .* column 1: expected `one`"),
        (with_pass(dropping, parse=misread), r"stop.1. = 1 is not above 1"),
        (with_pass(dropping, parse=shorter), "the document is not the text"),
        (with_pass(dropping, order=lambda self, text: len(text)), "are equal"),
    ],
)
def test_faults_of_formats(make: Callable[[], Frontend], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_frontend(make, [b"one two\nthree\n", b"one six\nthree\n"])


def test_what_parse_raises_is_a_parse_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        check_frontend(with_pass(dropping, parse=careless), [b"one two\nthree\n"])


def test_a_pass_that_says_that_it_grows() -> None:
    check_frontend(with_pass(growing), [b"one\n"], growing=["words"])


class Forgetful(Search):
    """Changes itself, or never ends."""

    def __init__(self, items: Items, *, left: int, ends: bool = True) -> None:
        self.items, self.left, self.ends = items, left, ends

    def propose(self) -> Change | None:
        return self.items.change({self.left - 1}, NOTHING) if self.left else None

    def after(self, ok: bool) -> Search:
        self.left -= self.ends
        return self


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        (partial(Forgetful, left=12), "after.. changes the search"),
        (partial(Forgetful, left=12, ends=False), "does not end in 10000 proposals"),
        (partial(Forgetful, left=0), "faulty drops nothing"),
    ],
)
def test_faults_of_strategies(faulty: Callable[[Items], Search], said: str) -> None:
    strategy = Strategy("faulty", ddmin, lambda tree: level_by_level(tree, ddmin))
    check_strategy(strategy)
    with pytest.raises(AssertionError, match=said):
        check_strategy(replace(strategy, items=faulty))
