"""Rejects candidates that violate the API's contract: that is never the failure wanted."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reducekit.errors import ParseError
from reducekit.executors.executor import Executor, Finished
from reducekit.frontends.trace.language.calls import Call, with_result
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.definition import Model, Sign
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.oracle.criterion import Criterion, innermost
from reducekit.oracle.own import SameSignature
from reducekit.oracle.printed import Matches
from reducekit.run import Limits, Outcome

_UNLAWFUL = ("contract", "parse")
_Table = Iterable[tuple[str, Iterable[Sign]]]


def classified(table: Iterable[tuple[str, Iterable[Sign]]], outcome: Outcome) -> str | None:
    """Return the name of the first entry with a sign that fits; None if none has."""
    for name, signs in table:
        if any(_fits(sign, outcome) for sign in signs):
            return name
    return None


def _fits(sign: Sign, outcome: Outcome) -> bool:
    """Return whether an outcome has all that the sign gives."""
    number = outcome.signal
    # A shell ends with 128 and the number of the signal that ended its command.
    if sign.signal is not None:
        wanted = signal.Signals[sign.signal]
        if number != wanted and outcome.status != 128 + wanted:
            return False
    if sign.exit is not None and sign.exit != outcome.status:
        return False
    streams = ((sign.stdout, outcome.stdout), (sign.stderr, outcome.stderr))
    return all(
        pattern is None or re.search(pattern.encode(), text) is not None
        for pattern, text in streams
    )


def without_slips(criterion: Criterion, table: _Table, *, lawful: bool = True) -> Criterion:
    """Return a criterion that rejects runs which end by a wrong use of the API.

    An exit status or signal alone may mean a crash or a broken contract. If the input itself
    fails with such a message, or the user gives a pattern or an exit status for it, that failure
    is wanted, and the criterion is returned as it is; likewise if the user gives a failure and
    the input is not `lawful`.
    """
    # What other criteria add to the user's does not change what is asked for.
    asked = innermost(criterion)
    wanted = isinstance(asked, Matches) and bool(asked.out or asked.err or not lawful)
    if isinstance(asked, SameSignature):
        end, line = asked.expected, asked.expected.line or b""
        outcome = Outcome(end.status, end.signal, line, line, end.limit, 0.0)
        wanted = classified(table, outcome) in _UNLAWFUL
    elif isinstance(asked, Matches) and asked.exit_code is not None and not wanted:
        outcome = Outcome(asked.exit_code, None, b"", b"", None, 0.0)
        wanted = classified(table, outcome) in _UNLAWFUL
    return criterion if wanted else ContractCriterion(criterion, table)


@dataclass(frozen=True, slots=True)
class ContractCriterion(Criterion):
    """Another criterion, for runs that did not end by a wrong use of the API.

    `table` is the `[classify]` table of the API's model.
    """

    inner: Criterion
    table: _Table
    captures: bool = True

    @property
    def wall(self) -> float | None:
        return self.inner.wall

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Refuse what the table says is a broken contract, or no trace at all."""
        if any(classified(self.table, outcome) in _UNLAWFUL for outcome in outcomes):
            return False
        return self.inner.judge(outcomes)

    def describe(self) -> str:
        return self.inner.describe()


class ContractExecutor(Executor):
    """Checks traces by another executor, but for those that break the contract of the API.

    These are not interesting, without a run. For interpreters that do not report results: only
    what no results allow is known to be broken. `runs` counts the commands that were run. The
    other executor is closed with this one.
    """

    def __init__(
        self, inner: Executor, read: Callable[[bytes], Sequence[Call]], model: Model
    ) -> None:
        self._inner = inner
        self._read = read
        self._model = model
        self._refused: list[Finished] = []
        self.runs = 0

    @property
    def free(self) -> int:
        return self._inner.free - len(self._refused)

    def build_on(self, text: bytes) -> None:
        self._inner.build_on(text)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        # What cannot be read is for the interpreter to refuse: it may know more than we do.
        try:
            lawful = may_be_lawful(self._model, self._read(text))
        except ParseError:
            lawful = True
        if lawful:
            self._inner.submit(ticket, text, limits)
            self.runs += 1
        else:
            self._refused.append(Finished(ticket, interesting=False, outcomes=()))

    def wait(self, timeout: float | None = None) -> list[Finished]:
        # Without waiting where something is known already.
        refused, self._refused = self._refused, []
        finished = self._inner.wait(0 if refused else timeout)
        self.runs += sum(len(each.outcomes) - 1 for each in finished)
        return refused + finished

    def cancel(self, ticket: int) -> None:
        self._refused = [done for done in self._refused if done.ticket != ticket]
        self._inner.cancel(ticket)

    def close(self) -> None:
        self._refused.clear()
        self._inner.close()


def may_be_lawful(model: Model, calls: Iterable[Call]) -> bool:
    """Return whether a model allows all calls, whatever they return.

    The results in the file may be outdated, except the names of handles.
    """
    # Results of other calls are left out, so that the model allows what any of them would.
    makes = {name for name, known in model.calls.items() if known.produces}
    blind = (
        call if call.result is None or call.name in makes else with_result(call, None)
        for call in calls
        if call.name != "return"
    )
    return first_violation(blind, model) is None


def was_lawful(model: Model, calls: Sequence[Call], outcome: ReplayOutcome) -> bool:
    """Return whether a model allows all calls that a replay started, given their results.

    Without results a model is in all states that any result leads to, and allows what one of
    them does, such as asking for a core after a `sat` that turns out to be satisfiable.
    """
    # Only calls that began can be to blame: what follows was never seen by the library.
    machine = Machine(model)
    for index, call in enumerate(calls[: outcome.last_call + 1]):
        if call.name == "return":
            continue
        if machine.allowed(call) is not None:
            return False
        known = model.calls[call.name]
        found = outcome.results[index] if index < len(outcome.results) else None
        # A handle is an address, which the model knows by its name.
        machine.after(call, None if known.produces else found)
    return True
