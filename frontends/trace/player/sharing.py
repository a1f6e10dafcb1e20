"""Which traces can share a process, one after the other, and how long that may take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player.batch import BatchReplay, cpu_of_many, ends_alike
from reducekit.frontends.trace.player.checker import Checker
from reducekit.frontends.trace.player.contract import was_lawful
from reducekit.frontends.trace.player.crash_cache import ENDED, CrashCache
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.oracle.limits import Limits

BATCH_SECONDS = 10.0
"""Of wall time, for many small traces at a time, which take some 50 ms."""


@dataclass(frozen=True, slots=True)
class Batching:
    """How traces share a process, one after the other, each with a solver of its own.

    The idea is that most candidates of a reduction do not fail, and that a process costs more
    than a short trace. It dies of the first trace that fails: those before it have passed, by
    one replay in all, and what comes after it is mostly not needed any more. `begins` are the
    names of the calls that make a solver, `release` takes it down; `ending` is how a replay
    that fails as wanted ends.
    """

    begins: frozenset[str]
    release: Call
    ending: ReplayOutcome

    def wanted(self, outcome: ReplayOutcome) -> bool:
        """Return whether a replay ended as one that fails as wanted."""
        return ends_alike(self.ending, outcome)

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of a replay of many traces. One that hangs keeps the limit of one.

        As all of them are no longer than a recorded trace, none of which takes as long.
        """
        if self.ending.kind == "timeout":
            return limits
        return replace(
            limits,
            wall=None if limits.wall is None else limits.wall + BATCH_SECONDS,
            cpu=cpu_of_many(self.ending),
        )


def batching(model: Model, ending: ReplayOutcome) -> Batching | None:
    """Return how traces of a model share a process; None if they cannot.

    That is where the failure is not the way in which a replay ends, or where a solver cannot
    be made anew: no call makes it, or takes it down.
    """
    release = release_of(model)
    if ending.kind not in ENDED or release is None:
        return None
    if any(call.produces for call in model.calls.values()):
        return None
    return Batching(frozenset(_named(model, "init")), release, ending)


def small_traces(
    model: Model,
    ending: ReplayOutcome,
    server: ReplayServer,
    crashes: CrashCache,
    limits: Limits,
    count: Callable[[], None],
    *,
    lawful: bool,
    checker: Checker | None = None,
    hangs: float | None = None,
) -> BatchReplay | None:
    """Return what finds the first of many small traces that ends as `ending`; None if none can.

    Each replay is told to `count`. With `lawful`, a trace that breaks the contract, given what its
    calls return, is passed over. `checker` tells wrong answers; `hangs` is after how many seconds
    of CPU a trace hangs, if that is the failure.
    """
    release = release_of(model)
    if ending.kind not in ENDED or release is None:
        return None
    cpu = cpu_of_many(ending) if hangs is None else hangs
    limits = replace(limits, wall=BATCH_SECONDS, cpu=cpu)

    def replay(calls: Sequence[Call]) -> ReplayOutcome:
        count()
        outcome = server.replay(calls, limits)
        return outcome if checker is None else checker.judged(calls, outcome)

    def kept(calls: Sequence[Call], outcome: ReplayOutcome) -> bool:
        return not lawful or was_lawful(model, calls, outcome)

    return BatchReplay(
        replay, release, ending, server.playable, crashes.prove, crashes.trust, kept, crashes.passed
    )


def release_of(model: Model) -> Call | None:
    """Return the call that takes a solver down; None where none can be made anew after it."""
    releases = _named(model, "release")
    if len(releases) != 1 or model.calls[releases[0]].arguments or not _named(model, "init"):
        return None
    return Call(releases[0], ())


def _named(model: Model, role: str) -> list[str]:
    return [name for name, call in model.calls.items() if call.role == role]
