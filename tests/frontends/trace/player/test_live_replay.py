"""Traces that are played in pieces, against the real Lingeling inside python-sat."""

import signal
from collections.abc import Iterator

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.player import ReplayServer, find_library, read_fault
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.run import Limits
from tests.frontends.trace.endless import endless
from tests.frontends.trace.patches import resolve


def calls_of(text: str) -> tuple[Call, ...]:
    return tuple(read_trace(text.replace(";", "\n").encode(), "lgl").calls)


@pytest.fixture(scope="module")
def live() -> Iterator[LiveReplay]:
    with LiveReplay(find_library("lingeling")) as opened:
        yield opened


def test_results_come_at_once(live: LiveReplay) -> None:
    live.begin()
    assert list(live.play(calls_of("init;add 1;add 2;add 0;freeze 1"))) == [None] * 5
    assert list(live.play(calls_of("sat"))) == [10]
    assert list(live.play(calls_of("usable 1;usable 2;reusable 2"))) == [1, 0, 0]
    assert list(live.play(calls_of("add -1;add 0;sat;fixed 1"))) == [None, None, 10, -1]
    assert list(live.play(())) == []
    assert live.outcome is None
    outcome = live.finish()
    assert (outcome.kind, outcome.last_call) == ("ok", 12)
    assert [r for r in outcome.results if r is not None] == [10, 1, 0, 0, 10, -1]
    assert live.finish() is outcome


def test_a_broken_contract_ends_the_trace(live: LiveReplay) -> None:
    live.begin()
    live.play(calls_of("init;add 1;add 0;sat"))
    assert list(live.play(calls_of("deref 1;add 1;deref 1"))) == [1]
    assert live.outcome is not None
    assert (live.outcome.kind, live.outcome.last_call) == ("contract", 5)
    assert live.finish() is live.outcome
    live.begin()
    assert list(live.play(calls_of("init;maxvar"))) == [None, 0]


def test_new_options_in_later_pieces(live: LiveReplay) -> None:
    live.begin()
    live.play(calls_of("init;option verbose 0"))
    live.play(calls_of("option plain 1;option lkhd 2;add 1;add 0;sat"))
    assert live.finish().kind == "ok"


def test_a_call_that_cannot_be_played(live: LiveReplay) -> None:
    live.begin()
    calls = calls_of("init;add 1")
    live.play(calls)
    assert list(live.play([calls[1], Call("foo", ())])) == []
    assert live.outcome is not None
    assert (live.outcome.kind, live.outcome.reason.partition(":")[0]) == ("parse", "call 2")


def test_a_trace_that_hangs(live: LiveReplay) -> None:
    calls = calls_of(endless())
    live.begin(Limits(wall=2))
    assert len(live.play(calls)) == len(calls) - 1
    assert live.outcome is not None
    assert live.outcome.kind == "timeout"
    live.begin(Limits(wall=0.2))
    live.play(calls_of("init"))
    while live.outcome is None:  # the time between calls counts as well
        live.play(calls_of("maxvar"))
    assert live.outcome.kind == "timeout"


def test_what_was_played_replays_alike() -> None:
    library = find_library("lingeling")
    fault = read_fault("lglderef+1:abort")
    assert fault is not None
    patch = resolve(fault, library.path)
    pieces = [calls_of("init;add 1;add 0"), calls_of("sat;deref 1;release")]
    with LiveReplay(library, patch=patch) as live, ReplayServer(library, patch=patch) as server:
        live.begin()
        for piece in pieces:
            live.play(piece)
        played = live.finish()
        whole = server.replay([call for piece in pieces for call in piece])
    assert (played.signal, played.last_call) == (signal.SIGILL, 4)
    assert (whole.signal, whole.last_call) == (signal.SIGILL, 4)
    assert list(played.results) == list(whole.results)
