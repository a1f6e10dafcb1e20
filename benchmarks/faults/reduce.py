"""Reduces the trace of a case, and notes its size after how many replays."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from benchmarks.faults.field import LIMITS, Case, is_of, shown
from reducekit.events import Accepted, Event, PassEnded
from reducekit.format import Effort
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.hunt.library_tests import Answers
from reducekit.frontends.trace.language.text import reader
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.batch import CrashCache, batching, ends_alike, small_traces
from reducekit.frontends.trace.player.checker import AnswerChecker
from reducekit.frontends.trace.player.contract import ContractExecutor
from reducekit.frontends.trace.player.replay_executor import ReplayExecutor, hangs_after
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.own import SameSignature, TimesOut
from reducekit.oracle.signature import signature
from reducekit.reduction import Budget, Reduction
from reducekit.registry import strategy
from reducekit.session.runs.run import limits_for

SHARES = (0.5, 0.1, 0.01)


@dataclass(slots=True)
class Reduced:
    """What became of a case: sizes, replays, seconds of CPU; replays and calls dropped, by pass.

    `until` says how many replays it took to 50, 10 and 1 % of the calls (None: never), `smallest`
    after how many there was a smaller trace than ever before, and its calls and options.
    """

    name: str
    calls: int
    settings: int
    runs: int
    cpu: float
    ended: bool
    fails: bool
    until: tuple[int | None, ...]
    text: bytes = b""
    passes: Counter[str] = field(default_factory=Counter)
    gains: Counter[str] = field(default_factory=Counter)
    smallest: Sequence[tuple[int, int]] = ()

    @property
    def size(self) -> int:
        """Return the calls and options that are left."""
        return self.calls + self.settings

    def runs_until(self, size: int) -> int:
        """Return after how many replays so few were left; all replays, if so few never were."""
        return next((runs for runs, left in self.smallest if left <= size), self.runs)


def reduce_case(
    case: Case,
    text: bytes,
    cap: float,
    by: str = "adaptive",
    *,
    effort: Effort = "normal",
    blind: bool = False,
) -> Reduced:
    """Reduce a trace for at most `cap` seconds; nothing ends of one that does not fail as noted.

    If `blind`, only the verdict on a trace is seen, as it is with an interpreter of the user's
    (`--cmd`): not in which call it ended, nor what calls returned; one trace is played at a time.
    """
    model, library = load_model(case.api), case.library
    form = model.formats[0]
    read = reader(form)
    begin = time.process_time()

    with ExitStack() as opened:
        patch = case.patch
        server = opened.enter_context(ReplayServer(library, patch=patch))
        batches = opened.enter_context(ReplayServer(library, patch=patch))
        calls = read(text)
        outcome = server.replay(calls, LIMITS)
        ends_so = case.kind == "wrong" or shown(outcome)[1] == case.end
        if not (ends_so and is_of(case, len(calls))):
            # A fault that corrupts memory may end in another way where it finds other memory.
            return Reduced(
                case.name, case.calls, case.settings, 0, time.process_time() - begin,
                ended=False, fails=False, until=(None,) * len(SHARES), text=text,
            )  # fmt: skip
        checker, many, hangs = None, None, None
        criterion: Criterion
        if case.kind == "wrong":
            criterion = Answers(case.end)
            reference = opened.enter_context(ReplayServer(find_library("ipasir", "cadical103")))
            checker = AnswerChecker(case.api, batches, reference, LIMITS)
            outcome = checker.judged(calls, outcome)
        elif case.kind == "hang":
            criterion = TimesOut(LIMITS.wall)
            hangs = hangs_after(calls, outcome, batches)
        else:
            criterion = SameSignature(signature(outcome.as_outcome()))
        cache = CrashCache(lambda text: (read(text), batches.replay(read(text), LIMITS)))
        cache.remember(text, calls, outcome)
        replays = ReplayExecutor(
            server,
            read,
            criterion,
            cache,
            proofs=not blind,
            model=None if blind else model,
            checker=checker,
            batch=None if blind else batching(model, outcome),
            hangs=hangs,
        )
        executor = ContractExecutor(replays, read, model) if blind else replays

        if not blind:
            many = small_traces(
                model, outcome, batches, cache, LIMITS, replays.count_run,
                lawful=True, checker=checker, hangs=hangs,
            )  # fmt: skip
        last_call = (lambda text: None) if blind else cache.last
        frontend = Traces(
            model, format=form, last=last_call, first_failing=many.first if many else None
        )
        passes: Counter[str] = Counter()
        gains: Counter[str] = Counter()
        size = [sum(frontend.order(text)[1:3])]
        until: dict[float, int] = {}
        smallest = [(0, size[0])]
        seen = [0]

        def listen(event: Event) -> None:
            if isinstance(event, PassEnded):
                passes[event.name] += replays.runs - seen[0]
                seen[0] = replays.runs
            if isinstance(event, Accepted):
                _, left, options, *_ = frontend.order(event.text)
                gains[event.pass_name] += size[0] - left - options
                size[0] = left + options
                if size[0] < smallest[-1][1]:
                    smallest.append((replays.runs, size[0]))
                for share in SHARES:
                    if left <= max(1.0, share * case.calls):
                        until.setdefault(share, replays.runs)

        reduction = Reduction(
            frontend,
            strategy(by),
            executor,
            partial(limits_for, criterion, LIMITS._replace(wall=None)),
            repeats=1,
            effort=effort,
            budget=Budget(seconds=cap),
            listen=listen,
        )
        with executor:
            result = reduction.run(text, outcome.seconds)
        _, count, settings, *_ = frontend.order(result.text)
        with ReplayServer(library, patch=patch) as fresh:
            last = fresh.replay(read(result.text), LIMITS)
        if checker is not None:
            last = checker.judged(read(result.text), last)
        fails = ends_alike(outcome, last)
    return Reduced(
        case.name, count, settings, replays.runs, time.process_time() - begin,
        result.stopped is None, fails, tuple(until.get(share) for share in SHARES),
        result.text, passes, gains, smallest,
    )  # fmt: skip
