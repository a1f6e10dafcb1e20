"""Contract tests for plug-ins: what the engine relies on, checked in your own tests.

    from reducekit.testing import check_frontend, check_strategy

    def test_notes() -> None:
        check_frontend(Notes, [b"a = 1\\nb = a\\n"])

    def test_from_the_end() -> None:
        check_strategy(from_the_end)

Both raise AssertionError with what is wrong. They run no program and no reduction.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from random import Random

from reducekit.change import Change, Edit, Template
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.format import Format, Pass, Schedule, View
from reducekit.search.problem import (
    KINDS,
    NOTHING,
    FixedSearch,
    Graph,
    IndependentChanges,
    Items,
    Move,
    Problem,
    Search,
    Selection,
    Substitute,
    Tree,
    independent,
)
from reducekit.search.strategy import Passes, Strategy

_KINDS: tuple[Passes, ...] = ("own", "classic", "tree", "syntax", "exhaustive")
_MOST = 500  # changes of a pass that are looked at
_DAMAGED = 200  # damaged texts that are parsed, of each text
_LONGEST = 10_000  # proposals to a search over a dozen items


def check_frontend(
    make: Callable[[], Format], texts: Iterable[bytes], growing: Collection[str] = ()
) -> None:
    """Check a format on valid texts that show what there is in it. Raises AssertionError.

    - A text and its `Document` are the same bytes; nodes lie within their parents.
    - `parse` raises nothing but ParseError, whatever the bytes.
    - `order` tells different texts apart.
    - Passes are deterministic, and each change leaves a text that can be parsed.
    - Of the changes of a pass some are smaller in the order, but in `prepare`, for probes, and in
      the passes named as `growing`.
    """
    known, smaller = [*texts], dict[str, bool]()
    for text in known:
        frontend = make()
        view = frontend.parse(text)
        _check_document(view, text)
        for another in {*known} - {text}:
            key, others = frontend.order(text), frontend.order(another)
            assert (key < others) != (others < key), f"{text[:80]!r} and {another[:80]!r} are equal"
        assert all(count >= 0 for count in frontend.measure(view).values()), "negative counts"
        frontend.check(text)
        _check_damaged(make, text)
        for kind in _KINDS:
            plan, again = frontend.schedule(kind), make()
            same = again.parse(text)
            for each, other in zip(_passes(plan), _passes(again.schedule(kind)), strict=True):
                found = _check_pass(frontend, each, view, other.problem(same))
                if each not in plan.prepare and found is not None:
                    smaller[each.name] = smaller.get(each.name, False) or found
    useless = {name for name, found in smaller.items() if not found}.difference(growing)
    assert not useless, f"no change is smaller in the order, in these passes: {sorted(useless)}"


def _check_document(view: View, text: bytes) -> None:
    document = view.document
    assert document.render({}) == text, f"the document is not the text {text[:80]!r}"
    start, end, stop = document.start, document.end, document.stop
    assert len(start) == len(end) == len(stop), "start, end and stop differ in length"
    assert (start[0], end[0], stop[0]) == (0, len(text), len(stop)), "node 0 is not the whole text"
    for node, parent in enumerate(document.parent):
        assert node < stop[node] <= len(stop), f"stop[{node}] = {stop[node]} is not above {node}"
        if node:
            within = start[parent] <= start[node] <= end[node] <= end[parent]
            within = within and stop[node] <= stop[parent]
            assert within, f"node {node} is not within its parent {parent}"


def _check_damaged(make: Callable[[], Format], text: bytes) -> None:
    dice = Random(0)
    for _ in range(_DAMAGED):
        at, size = dice.randrange(len(text) + 1), dice.choice((0, 0, 1, 9))
        added = dice.choice(
            (b"", b"(", b"\\", b'"', b"\0", b"\xff", b"-1", b"\n", dice.randbytes(2))
        )
        with suppress(ParseError):
            make().parse(text[:at] + added + text[at + size :])
    for short in (b"", text[: len(text) // 2], make().baseline):
        with suppress(ParseError):
            make().parse(short)


def _passes(plan: Schedule) -> list[Pass]:
    return [*plan.prepare, *plan.once, *plan.rounds, *plan.closing, *plan.sweep, *plan.thorough]


def _check_pass(frontend: Format, each: Pass, view: View, again: Problem | None) -> bool | None:
    """Return whether a change is smaller; None if there are no changes."""
    found = [*islice(changes_of(each.problem(view)), _MOST)]
    assert found == [*islice(changes_of(again), _MOST)], f"pass {each.name!r} is not deterministic"
    text, smaller, document = view.document.text, False, view.document
    for change in found:
        where = f"pass {each.name!r}, {change.what!r}"
        assert all(0 <= edit.node < len(document) for edit in change.edits), f"{where}: no node"
        after = document.render(dict(change.edits))
        try:
            frontend.parse(after)
        except ParseError as error:
            raise AssertionError(f"{where}: {error} in {after[:200]!r} of {text[:200]!r}") from None
        smaller = smaller or change.probe or frontend.order(after) < frontend.order(text)
    return smaller if found else None


def changes_of(problem: Problem | None) -> Iterator[Change]:
    """Yield changes that a search may begin with: each item or move alone, and all items."""
    match problem:
        case Items():
            count = len(problem.weights)
            singles = (frozenset((item,)) for item in range(count))
            for some in (*singles, *([frozenset(range(count))] if count > 1 else [])):
                closure = problem.close(some, NOTHING)
                change = problem.change(some | closure.required, NOTHING)
                yield from [change] if change.edits else []
        case Tree():
            todo = [*problem.roots]
            for node in todo:
                yield from (move.change for move in problem.moves(node))
                yield from changes_of(problem.parts(node))
                todo += problem.children(node, NOTHING) if len(todo) < _MOST else ()
        case Graph():
            steps = (Substitute((n,), kind) for n in problem.nodes() for kind in range(KINDS))
            yield from (found.change for step in steps if (found := problem.apply(step)))
        case FixedSearch():
            search = problem.search
            while (proposed := search.propose()) is not None:
                yield from [proposed] if proposed.edits else []
                search = search.after(False)


_WORDS = Document(
    b"abcdefghijkl", array("i", [0, *range(12)]), array("i", [12, *range(1, 13)]),
    array("i", [13, *range(2, 14)]),
)  # fmt: skip
_NESTED = Document(
    b"(a (b (c) (d)) (e (f) (g (h))))",
    array("i", [0, 0, 3, 6, 10, 15, 18, 22, 25]), array("i", [31, 31, 14, 9, 13, 30, 21, 29, 28]),
    array("i", [9, 9, 5, 4, 5, 9, 7, 9, 9]),
)  # fmt: skip


class _Nested(Tree):
    roots: Sequence[int] = (1,)

    def weight(self, node: int) -> int:
        return _NESTED.stop[node] - node

    def moves(self, node: int) -> Sequence[Move]:
        below = self.children(node, NOTHING)
        hoists = [Move(Change((Edit(node, (each,)),)), (each,)) for each in below]
        return [Move(Change((Edit(node, ()),)), ()), *hoists]

    def parts(self, node: int) -> Items | None:
        return independent([Change((Edit(each, ()),)) for each in self.children(node, NOTHING)])

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        below = enumerate(_NESTED.children(node))
        return [each for at, each in below if at not in dropped]


def check_strategy(strategy: Strategy) -> None:
    """Check a strategy on a dozen independent items, and on a small tree. Raises AssertionError.

    Searches end, are immutable and deterministic, and drop something that may go.
    """
    items = IndependentChanges([Change((Edit(node, ()),)) for node in range(1, 13)])
    for document, problem in ((_WORDS, items), (_NESTED, _Nested())):
        left = {}
        for needed in (b"a", b"d", b"afh", b"bg"):
            left[needed] = _searched(strategy.start(problem), document, needed)
            again = _searched(strategy.start(problem), document, needed)
            assert left[needed] == again, f"{strategy.name} is not deterministic"
        assert {*left.values()} != {document.text}, f"{strategy.name} drops nothing: {left}"


def _searched(search: Search, document: Document, needed: bytes) -> bytes:
    """Return what a search leaves of a text that has to keep some words."""
    edits: dict[int, Template] = {}
    for _ in range(_LONGEST):
        change = search.propose()
        if change is None:
            return document.render(edits)
        text = document.render({**edits, **dict(change.edits)})
        ok = bool(change.edits) and all(word in text for word in needed)
        after = search.after(ok)
        search.after(not ok)
        assert search.propose() == change, "after() changes the search that it is called of"
        edits |= dict(change.edits) if ok else {}
        search = after
    raise AssertionError(f"the search does not end in {_LONGEST} proposals")
