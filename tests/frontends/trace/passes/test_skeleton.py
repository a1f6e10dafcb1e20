"""The first step: what little of a long trace is enough."""

from collections.abc import Callable, Sequence

import pytest

from reducekit.change import Template
from reducekit.document import Patched
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.passes.batches import Skeleton, halves
from reducekit.frontends.trace.passes.drop import random_drops
from reducekit.frontends.trace.passes.items import Substitutions
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.search.problem import FixedSearch, Search

LINGELING = load_model("lingeling")
Fails = Callable[[list[str]], bool]


def view_of(lines: Sequence[str], fails: Fails | None, played: list[int]) -> TraceView:
    def first_failing(traces: Sequence[Sequence[Call]]) -> int | None:
        assert fails is not None
        played.append(sum(map(len, traces)))
        for number, calls in enumerate(traces):
            if fails([str(call) for call in calls]):
                return number
        return None

    trace = read_trace("".join(line + "\n" for line in lines).encode(), "lgl")
    return TraceView(trace, LINGELING, first_failing=None if fails is None else first_failing)


CLAUSES = [line for each in range(1, 200) for line in (f"add {each}", f"add -{each + 1}", "add 0")]
LONG = [
    "init", "option elim 0", "option block 0", "freeze 1", *CLAUSES, "sat", "setphase 1",
    *CLAUSES[:30], "sat",
]  # fmt: skip


@pytest.mark.parametrize(
    ("fails", "left"),
    [
        (lambda calls: calls[-1] == "sat", ["init", "sat"]),
        (lambda calls: "freeze 1" in calls, None),
        (
            lambda calls: "option elim 0" in calls,
            ["init", "option elim 0", "option block 0", "sat"],
        ),
        (
            lambda calls: "add 1" in calls and calls[-1] == "sat",
            ["init", "add 1", "add -2", "add 0", "sat"],
        ),
    ],
)
def test_a_small_part_is_found_in_a_few_replays(fails: Fails, left: list[str] | None) -> None:
    played: list[int] = []
    view = view_of(LONG, fails, played)
    found = Skeleton("all").problem(view)
    assert found is not None
    (move,) = found.moves(0)
    calls = read_trace(Patched(view.document).render_with(dict(move.change.edits)), "lgl").calls
    assert first_violation(calls, LINGELING) is None
    assert fails([str(call) for call in calls])
    assert len(calls) < 12
    if left is not None:
        assert [str(call) for call in calls] == left
    assert len(played) <= 2
    assert max(played) <= 20_000


def test_nothing_is_tried_of_a_short_trace() -> None:
    played: list[int] = []
    view = view_of([*LONG[:4], "sat"], lambda calls: True, played)
    assert Skeleton("all").problem(view) is None
    assert not played


def test_options_stay_where_they_are_not_to_be_reduced() -> None:
    view = view_of(LONG, lambda calls: True, [])
    found = Skeleton("none").problem(view)
    assert found is not None
    (move,) = found.moves(0)
    text = Patched(view.document).render_with(dict(move.change.edits))
    assert [str(call) for call in read_trace(text, "lgl").calls] == [*LONG[:3], "sat"]


def test_an_interpreter_that_plays_one_at_a_time_gets_a_few_parts() -> None:
    found = Skeleton("all").problem(view_of(LONG, None, []))
    assert found is not None
    assert len(found.roots) == 1
    (place,) = found.places
    assert 3 <= len(place) <= 12


def test_halves_and_smaller_parts_go_with_what_needs_them() -> None:
    long = [*LONG[:4], *CLAUSES, *LONG[4:]]
    blind = halves.problem(view_of(long, None, []))
    assert isinstance(blind, Substitutions)
    assert len(blind.moves(0)) == 6  # each of them costs a run of its own
    view = view_of(long, lambda calls: False, [])
    found = halves.problem(view)
    assert isinstance(found, Substitutions)
    moves = found.moves(0)
    sizes = []
    for move in moves:
        text = Patched(view.document).render_with(dict(move.change.edits))
        calls = read_trace(text, "lgl").calls
        assert first_violation(calls, LINGELING) is None
        kept = [str(call) for call in calls]
        assert kept[:3] == LONG[:3]
        assert kept[-1] == LONG[-1]
        sizes.append(round(len(calls) / len(long), 1))
    assert sizes[:2] == [0.5, 0.5]
    assert {*sizes[2:6]} <= {0.7, 0.8}
    assert {*sizes[6:]} <= {0.8, 0.9}
    assert len(sizes) == 14
    assert halves.problem(view_of(LONG, None, [])) is None


def test_many_calls_go_at_a_time_drawn_at_random() -> None:
    long = [*LONG[:4], *CLAUSES, "sat"]
    assert random_drops.problem(view_of(long, None, [])) is None  # each costs a run of its own
    view = view_of(long, lambda calls: False, [])
    found = random_drops.problem(view)
    assert isinstance(found, FixedSearch)
    search: Search = found.search
    sizes: list[int] = []
    kept: list[str] = []
    edits: dict[int, Template] = {}
    while (change := search.propose()) is not None and len(sizes) < 50:
        lucky = len(sizes) % 20 == 19
        if lucky:
            edits.update(change.edits)
            calls = read_trace(Patched(view.document).render_with(edits), "lgl").calls
            assert first_violation(calls, LINGELING) is None
            kept = [str(call) for call in calls]
        sizes.append(len(change.edits))
        search = search.after(lucky)
    assert kept[:3] == long[:3]
    assert kept[-1] == long[-1]
    assert max(sizes[:20]) > len(long) // 3
    assert len(kept) < len(long) // 2
