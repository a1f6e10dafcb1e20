"""However many candidates are in flight, the same are accepted in the same order."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from reducekit.change import Change, Edit
from reducekit.events import Accepted, Event
from reducekit.executors.inprocess import InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.oracle.limits import Limits
from reducekit.reduction import Reduction, Result
from reducekit.search.independent import Independent
from reducekit.search.problem import Strategy
from reducekit.search.speculation import Speculation
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.halving import halving
from reducekit.strategies.hdd import hdd

STRATEGIES = (adaptive, ddmin, halving, hdd)
TEXT = b"""(set-logic QF_LIA)
(declare-fun x () Int)
(declare-fun y () Int)
(declare-fun p (Int Int) Bool)
(push 1)
(assert (and (p x y) (< (+ x 1) (* 2 y)) (or (= x y) (p 3 (- y)))))
(assert (let ((a (+ x y))) (ite (< a 3) (p a a) (not (p a y)))))
(pop 1)
(assert (! (=> (p x x) (distinct x y 7)) :named n))
(check-sat)
(get-value (n (+ x 7)))
"""


def reduce(
    strategy: Strategy, width: int, interesting: Callable[[bytes], bool]
) -> tuple[Result, list[bytes]]:
    """Reduce TEXT with verdicts in reverse order; return the result and what was accepted."""
    steps: list[bytes] = []

    def listen(event: Event) -> None:
        if isinstance(event, Accepted):
            steps.append(event.text)

    executor = InProcess(interesting, jobs=width)
    reduction = Reduction(
        Smt2(), strategy, executor, lambda seconds: Limits(), width, listen=listen
    )
    result = reduction.run(TEXT, 0.0)
    assert executor.free == width
    return result, steps


def contains(*words: bytes) -> Callable[[bytes], bool]:
    return lambda text: all(word in text for word in words)


def whimsical(seed: int) -> Callable[[bytes], bool]:
    """An oracle without rhyme or reason, but always the same."""
    return lambda text: random.Random(text + bytes([seed])).random() < 0.3


ORACLES = {
    "get-value": contains(b"get-value"),
    "ite": contains(b"ite", b"check-sat"),
    "whim 1": whimsical(1),
    "whim 2": whimsical(2),
}


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_width_changes_nothing(strategy: Strategy, oracle: str) -> None:
    interesting = ORACLES[oracle]
    single, steps = reduce(strategy, 1, interesting)
    assert steps
    assert steps[-1] == single.text
    assert single.counts.void == 0
    for width in range(2, 17):
        result, same = reduce(strategy, width, interesting)
        assert same == steps
        assert result.text == single.text
        assert result.rounds == single.rounds
        assert result.counts.accepted == single.counts.accepted


def test_a_success_voids_what_was_proposed_behind_it() -> None:
    items = Independent([Change((Edit(each, ()),)) for each in range(8)])
    speculation = Speculation(halving.start(items))
    flight = [speculation.extend() for _ in range(4)]
    assert [len(change.edits) for change in flight if change] == [8, 4, 4, 2]
    assert speculation.settle(False) == 0
    assert speculation.settle(True) == 2
    change = speculation.extend()
    assert change is not None
    assert [edit.node for edit in change.edits] == [4, 5, 6, 7]


def test_the_end_is_seen_before_the_verdicts_are_in() -> None:
    speculation = Speculation(halving.start(Independent([Change((Edit(0, ()),))])))
    assert speculation.extend() is not None
    assert speculation.extend() is None
    assert speculation.settle(False) == 0
    assert speculation.extend() is None
