"""Long traces: the same candidates as short ones, in a small multiple of their size."""

import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

import reducekit
from reducekit.document import Patched
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.language.calls import LongTrace
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import find_model
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.batches import Skeleton, halves
from reducekit.frontends.trace.passes.drop import Begin, Units
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.strategies.adaptive import adaptive

_CALLS = 70_000


def trace(head: str = "", spelled: str = "add {}\n") -> bytes:
    lines = [head, "init\n", *(f"freeze {each}\n" for each in range(1, 100))]
    for each in range(_CALLS // 4):
        a, b, c = each % 97 + 1, each * 7 % 98 + 1, each * 13 % 99 + 1
        lines += [spelled.format(a), f"add -{b}\n", f"add {c}\n", "add 0\n"]
        if each % 1000 == 999:
            lines.append(f"assume {a}\nsat\nreturn 10\nderef {b}\nreturn -1\n")
    return "".join([*lines, "chkclone\n", "release\n"]).encode()


def candidates(view: TraceView, each: object) -> Iterator[bytes]:
    problem = each.problem(view)  # type: ignore[attr-defined]
    assert problem is not None
    search, base = adaptive.start(problem), Patched(view.document)
    for number in range(6):
        change = search.propose()
        if change is None:
            return
        yield base.render_with(dict(change.edits))
        if number % 3 == 2:
            base = base.with_(dict(change.edits))
        search = search.after(number % 3 == 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "each",
    [Begin(), Skeleton("all"), halves, Units("kinds", drop.kinds), Units("rounds", drop.rounds)],
    ids=lambda each: each.name,
)
def test_a_long_trace_has_the_candidates_of_a_short_one(each: object) -> None:
    for text in (trace(), trace(spelled=" add  {} \n")) if isinstance(each, Begin) else (trace(),):
        found = read_trace(text, "lgl")
        assert isinstance(found.calls, LongTrace)
        views: Sequence[TraceView] = [
            TraceView(replace(found, calls=calls), find_model(found))
            for calls in (found.calls, tuple(found.calls))
        ]
        assert len(views[0].document) > len(views[1].document)  # blocks of calls are nodes
        assert [*candidates(views[0], each)] == [*candidates(views[1], each)]


def test_the_first_line_of_a_long_trace_stays() -> None:
    head = "# reducekit: --model lingeling --library /nowhere/lib.so\n"
    view = Traces().parse(trace(head).replace(b"sat\n", b"sat\n# found\n"))
    assert view.trace.format == "words"
    for text in candidates(view, Skeleton("all")):
        assert text.startswith(head.encode())


@pytest.mark.slow
@pytest.mark.nightly
def test_a_long_trace_takes_a_small_multiple_of_its_size() -> None:
    text = trace()
    tracemalloc.start()
    try:
        report = reducekit.reduce(
            text, lambda each: b"chkclone" in each, format="trace", max_checks=3, width=1
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert b"chkclone" in report.text
    assert peak < 60 * len(text)
