"""Tests random traces by a library: crashes, wrong models, answers that another solver refutes.

The trace is played while it is made, so most tests cost one replay.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.executors.executor import Executor
from reducekit.executors.own import OwnReduction, OwnTests, Tested, Testing
from reducekit.format import Format
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.hunt.generator import options_of
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import print_trace, read_trace, reader
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player import Library, Patch, ReplayOutcome, ReplayServer, batch
from reducekit.frontends.trace.player.checker import Reference, Wrong, checker_of, reference_for
from reducekit.frontends.trace.player.contract import was_lawful
from reducekit.frontends.trace.player.live_tester import LiveTester
from reducekit.frontends.trace.player.replay_executor import ReplayExecutor
from reducekit.frontends.trace.player.target import fitted, subject_of
from reducekit.offers import KILLED, FormatOption
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Oracle
from reducekit.oracle.own import SameSignature
from reducekit.oracle.signature import Signature, signature
from reducekit.run import Closing, Limits, Outcome

_PATIENCE = 1000  # checks in a row without success that end a reduction
_OUTPUT = 1 << 20  # bytes that a replay may print
_TRIES = 3  # of a trace whose replay is killed from outside
_DIED = ("signal", "exit", "output")
CALLS, BROKEN, CHECKED = "calls", "contract violations", "answers checked"
"""What is counted."""


@dataclass(frozen=True, slots=True)
class System:
    """The system under test: its model, and its library, perhaps with a fault.

    `reference` checks answers; None: they are not checked.
    """

    model: Model
    library: Library
    patch: Patch | None
    reference: Reference | None
    limits: Limits
    options: bool | None = None
    variables: int | None = None
    head: bytes = b""
    """The line of a trace that names what plays it."""


@dataclass(frozen=True, slots=True)
class Ends(Criterion):
    """Ends with this signature. `call` is where it did so first: it tells bugs apart, no more."""

    expected: Signature
    call: str
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return SameSignature(self.expected).judge(outcomes)

    def describe(self) -> str:
        return f"{self.expected.describe()} in '{self.call}'"


@dataclass(frozen=True, slots=True)
class Answers(Criterion):
    """Gives a wrong answer of this kind."""

    wrong: str
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return outcomes[0].stderr == self.wrong.encode()

    def describe(self) -> str:
        return self.wrong


class LibraryTester(Closing):
    """Makes and plays traces of a system; use it in a `with`."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._tester = LiveTester(
            Generator(system.model, options=system.options, variables=system.variables),
            system.library,
            patch=system.patch,
            reference=system.reference,
            limits=system.limits,
        )

    def close(self) -> None:
        self._tester.close()

    def test(self, seed: int) -> Tested:
        """Make the trace of a seed, play it, and check its answers.

        Raises UsageError if the library cannot play it: it has not all of the model's calls.
        """
        for _ in range(_TRIES):
            trial = self._tester.run(seed)
            if not _killed(trial.outcome):
                break
        made = trial.made
        found = self._judged(made.calls, trial.outcome, trial.wrong, checked=trial.checked)
        if found.criterion is None:
            return replace(found, seed=seed)
        text = self._system.head + print_trace(made.recorded(), self._system.model.formats[0])
        return replace(found, seed=seed, text=text, preceding=trial.company)

    def test_text(self, text: bytes) -> Tested:
        """Play a trace, and check its answers. Raises ParseError or UsageError."""
        calls = read_trace(text, self._system.model.formats[0]).calls
        for _ in range(_TRIES):
            outcome, found = self._tester.replay(calls)
            if not _killed(outcome):
                break
        wrong = found if isinstance(found, Wrong) else None
        checked = found != "unknown"
        if outcome.kind in _DIED:  # as a trace that was made until it died
            calls = calls[: outcome.last_call + 1]
        return replace(self._judged(calls, outcome, wrong, checked=checked), text=text)

    def _judged(
        self, calls: Sequence[Call], outcome: ReplayOutcome, wrong: Wrong | None, *, checked: bool
    ) -> Tested:
        model = self._system.model
        if outcome.kind == "parse":
            raise UsageError(
                f"the library {self._system.library.path} cannot play traces of {model.name}: "
                f"{outcome.reason}"
            )
        counts = {CALLS: len(calls), CHECKED: int(checked)}
        if _killed(outcome):
            return Tested(counts={**counts, KILLED: 1})
        failed = wrong is not None or outcome.kind in _DIED
        if outcome.kind == "contract" or (failed and not was_lawful(model, calls, outcome)):
            # A library need not notice what it forbids: nothing that follows is its fault.
            return Tested(counts={**counts, BROKEN: 1})
        criterion: Ends | Answers | None = None
        if outcome.kind in _DIED:
            last = calls[-1].name if calls else ""
            criterion = Ends(signature(outcome.as_outcome()), last)
        elif wrong is not None:
            criterion = Answers(wrong.describe())
        late = outcome.kind == "timeout"
        return Tested(criterion=criterion, timed_out=late, counts=counts)


def _killed(outcome: ReplayOutcome) -> bool:
    """Return whether something other than our own limits killed a replay."""
    return outcome.kind == "signal" and outcome.signal == signal.SIGKILL


def reduction(
    traces: Callable[..., Format], system: System, criterion: Criterion, text: bytes
) -> OwnReduction:
    """Return how a trace is reduced that shows a bug.

    As by `own_oracle`, candidates share a replay where they can, and small ones always do.
    """
    model = system.model
    read = reader(model.formats[0])
    crashes = batch.CrashCache()
    small: list[batch.BatchReplay] = []  # of the executor that was opened last

    def opened(oracle: Oracle, jobs: int) -> Executor:
        with ExitStack() as stack:
            server = stack.enter_context(
                ReplayServer(system.library, jobs=jobs, patch=system.patch)
            )
            other = stack.enter_context(ReplayServer(system.library, patch=system.patch))
            checker = None
            if isinstance(criterion, Answers) and system.reference is not None:
                api = system.library.interface.api
                checker = checker_of(api, system.reference, other, system.limits, stack)
            ending = other.replay(read(text), system.limits)
            if checker is not None:
                ending = checker.judged(read(text), ending)
            found = batch.small_traces(
                model,
                ending,
                other,
                crashes,
                system.limits,
                lambda: executor.count_run(),
                lawful=True,
                checker=checker,
            )
            small[:] = [] if found is None else [found]
            executor = ReplayExecutor(
                server,
                read,
                oracle.criterion,
                crashes,
                proofs=True,
                model=model,
                checker=checker,
                batch=batch.batching(model, ending) if jobs == 1 else None,
                opened=stack.pop_all(),
            )
            return executor

    def first_failing(traces: Sequence[Sequence[Call]]) -> int | None:
        return small[-1].first(traces) if small else None

    died = isinstance(criterion, Ends) and criterion.expected.limit is None
    sharing = batch.release_of(model) is not None and (died or isinstance(criterion, Answers))
    return OwnReduction(
        traces(model, last=crashes.last, first_failing=first_failing if sharing else None),
        opened,
        _PATIENCE,
        lambda text: len(read(text)),
        "calls",
    )


def own_tests(traces: Callable[..., Format], values: Mapping[str, Any], limits: Limits) -> OwnTests:
    """Return how traces are tested by a library. Raises UsageError."""
    compare, no_compare = values["compare"], values["no_compare"]
    if no_compare and compare is not None:
        raise UsageError("`compare` names a solver, `no_compare` wants none")
    if values["feedback"] is False:
        raise UsageError(
            "`no_feedback` is for `command`: a library plays traces while they are made"
        )
    options, model = options_of(values)
    library, patch = options.opened(model.name)
    model = fitted(model, library)
    notes = [library.note] if library.note else []
    reference: Reference | None = None
    try:
        if not no_compare:
            reference = reference_for(model.name, options.library, compare)
            if reference is None and compare is not None:
                raise UsageError(
                    f"answers of {model.name} cannot be checked: `compare` is of no use"
                )
    except UsageError as error:
        if compare is not None:
            raise
        notes.append(f"answers are not checked: {error}")
    system = System(
        model,
        library,
        patch,
        reference,
        limits._replace(cpu=limits.wall, output=_OUTPUT),
        options.fuzzed,
        options.variables,
        options.head(model.formats[0]),
    )
    return OwnTests(
        label=options.label(model.name),
        command=Command(("reducekit", "replay", *options.played_by)),
        suffix=".trace",
        limits=system.limits,
        open=partial(LibraryTester, system),
        words=options.words,
        reduction=partial(reduction, traces, system),
        summary=_summary,
        libraries=(Path(library.path),),
        subject=partial(subject_of, library, options.library or model.name),
        notes=tuple(notes),
    )


def _summary(counts: Mapping[str, int], inputs: int, seconds: float) -> tuple[str, ...]:
    broken = counts.get(BROKEN, 0)
    share = broken / inputs if inputs else 0.0
    return (
        f"{counts.get(CALLS, 0):,} calls, {inputs / max(seconds, 0.001):,.0f} traces a second; "
        f"{broken:,} broke the contract ({share:.1%}), {counts.get(CHECKED, 0):,} had their "
        "answers checked",
    )


def testing(traces: Callable[..., Format]) -> Testing:
    """Return the tests by a library; `traces` makes the frontend that reduces what fails."""
    return Testing(
        partial(own_tests, traces),
        (
            FormatOption(
                "compare",
                "Solver that checks answers; of SMT a command (default: a CaDiCaL; z3 or cvc5).",
                metavar="ENGINE|CMD",
            ),
            FormatOption(
                "no_compare", "Do not check answers; look for crashes only.", "flag", default=False
            ),
        ),
        "Without --cmd, traces are played against a library; its models are checked against the "
        "clauses, other answers by another solver (of SMT: z3 or cvc5).",
        (
            "reducekit hunt trace --count 20",
            "reducekit hunt trace --model ipasir --library ./own.so --count 20",
        ),
        4_096_000_000,
    )
