"""Checks the answers of an SMT solver in a trace: another one is asked the same as a script."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from reducekit.errors import UsageError
from reducekit.executors.local import LocalExecutor
from reducekit.frontends.trace.formats.smt2 import to_smt2
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player.checker import Checked, Checker, Kind, Wrong
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import failure_line

_SECONDS = 2.0
"""For a script. Hardly any random one needs more; what is hard for both solvers tells nothing."""
_KINDS: dict[tuple[str, bytes], Kind] = {("sat", b"unsat"): "sat", ("unsat", b"sat"): "unsat"}
"""What is wrong, by the answer in the trace and that of the other solver."""
_UNKNOWN = b"unknown"


class SmtAnswerChecker(Checker):
    """Checks answers of traces of `model` by a command that takes a script of SMT-LIB.

    The other solver is believed; what it does not answer in two seconds is not checked, nor is a
    trace with a call that SMT-LIB has nothing like. The stack closes what runs the command.
    """

    def __init__(self, model: Model, command: Command, limits: Limits, stack: ExitStack) -> None:
        super().__init__(next(name for name, each in model.calls.items() if each.role == "init"))
        self._model = model
        self._states = {1 << bit: state for bit, state in enumerate(model.states)}
        self._name = os.path.basename(command.words[0])
        self._limits = replace(limits, wall=2 * _SECONDS, cpu=_SECONDS)
        oracle = Oracle((command,), Everything(1))
        self._executor = stack.enter_context(LocalExecutor(oracle, 1, ".smt2"))

    def check(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Checked:
        solves = self._solves(calls, results)
        others = self._by_other(calls) if solves else ()
        for (index, answer), other in zip(solves, others, strict=False):
            if kind := _KINDS.get((answer, other)):
                return Wrong(kind, index, f"{self._name} answers {other.decode()}")
        return None if len(others) == len(solves) and _UNKNOWN not in others else "unknown"

    def _solves(
        self, calls: Sequence[Call], results: Sequence[Value | None]
    ) -> Sequence[tuple[int, str]]:
        """Return the index of each solve, and its answer."""
        known = self._model.calls
        return [
            (index, self._states.get(known[call.name].outcomes.get(int(result or 0), 0), ""))
            for index, (call, result) in enumerate(zip(calls, results, strict=False))
            if call.name in known and known[call.name].role == "solve"
        ]

    def _by_other(self, calls: Sequence[Call]) -> Sequence[bytes]:
        """Return the answers of the other solver, as far as it has any."""
        try:
            script, _ = to_smt2(calls, self._model)
        except UsageError:
            return ()
        self._executor.submit(0, script, self._limits)
        (finished,) = self._executor.wait()
        (outcome,) = finished.outcomes
        if failure_line(outcome.stdout, outcome.stderr) is not None:
            return ()
        return read_answers(outcome.stdout)
