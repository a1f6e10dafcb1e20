"""API traces: formats, models of APIs, replays, and what may be changed in a trace."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

from reducekit.diagram import Diagram
from reducekit.errors import ParseError, UsageError
from reducekit.executors.executor import Executor
from reducekit.executors.own import OracleRequest, OwnOracle, Testing
from reducekit.format import FormatCheck, Schedule
from reducekit.frontends.common import Offering
from reducekit.frontends.trace.language.calls import Trace, marks, plain
from reducekit.frontends.trace.language.text import FORMATS, read_trace, unpack
from reducekit.frontends.trace.model.chart import diagram
from reducekit.frontends.trace.model.check import find_model, problems
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.own_oracle import in_words, replay_oracle
from reducekit.frontends.trace.passes.drop import used_variables
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.schedule import (
    OPTION_MODES,
    careful_schedule,
    own_schedule,
    paper_schedule,
)
from reducekit.frontends.trace.passes.view import FirstFailing, TraceView
from reducekit.frontends.trace.player.contract import ContractExecutor, may_be_lawful, without_slips
from reducekit.frontends.trace.player.target import TARGET_OPTIONS, Target
from reducekit.offers import FormatOption, Inspection, Playing
from reducekit.oracle.criterion import Oracle
from reducekit.search.strategy import Passes
from reducekit.text import without_mark

__all__ = ["Traces"]


_PLAYED_BY = {"mobical": "cadical"}
"""Models that pass over calls which the library refuses, with those that do not."""
_UNANSWERED = ("solve", "simplify", "lookahead", "val")
"""Calls of mobical's format for whose result 0 it passes over calls that may not be allowed.

It writes 0 for an answer that it does not know, and for a value that it did not ask for.
"""
_SHOWN = 20
"""Calls that break the contract, of all that `--check` finds."""
_FIRST_CALL = re.compile(
    rb"(?:# reducekit: .*\n)?(?:[0-9]+ )?"
    rb"(?:init|new|ipasir_init|boolector_new|set-murxla-options)\b"
)


class Traces(Offering):
    """The frontend for API traces.

    `model` is their model, or its name, and `format` their format, by default those of the first
    trace that is read. `options` says which options are reduced. `library`, `fault`, `faults` and
    `check_returns` say what they are replayed against where no command is given. `last` returns the
    index of the call in which the replay of a text ended, if that is known. `keeps_result`: the
    failure is what the last call returned, so that only what changes no answer is dropped.
    `first_failing` plays many small traces at a time (see `TraceView`).
    """

    package = __package__
    generator, converter = "hunt.generator", "conversions"
    name = "trace"
    title = "a trace of API calls"
    help = (
        "Without --cmd, the library of the API replays the trace; with --cmd, an interpreter of "
        "traces such as lgluntrace or mobical does."
    )
    examples = (
        "reducekit trace in.trace",
        "reducekit trace in.trace --cmd ./lgluntrace -o small.trace",
    )
    suffix = ".trace"
    suffixes = (".trace", ".mobical", ".ipasir")
    inspected = (".toml",)
    unit = "calls"
    options = (
        FormatOption(
            "model", "The model of the API (default: that of the trace).", metavar="NAME|FILE"
        ),
        FormatOption(
            "options",
            "Solver options to reduce: none, those that the trace sets, or all.",
            kind="choice",
            choices=OPTION_MODES,
            default="all",
        ),
        FormatOption(
            "keep_calls",
            "Keep these calls, by name or role: init,release.",
            metavar="NAMES",
            rare=True,
        ),
        *TARGET_OPTIONS,
        FormatOption(
            "check_returns",
            "Results that differ from the trace are failures, too.",
            kind="flag",
            default=False,
            rare=True,
        ),
    )

    def __init__(
        self,
        model: Model | str | None = None,
        *,
        options: OptionMode = "all",
        keep_calls: str | None = None,
        library: str | None = None,
        fault: str | None = None,
        faults: str | None = None,
        check_returns: bool = False,
        format: str | None = None,  # noqa: A002 - as everywhere in this package
        last: Callable[[bytes], int | None] = lambda text: None,
        keeps_result: bool = False,
        first_failing: FirstFailing | None = None,
    ) -> None:
        self._model = load_model(model) if isinstance(model, str) else model
        name = model if isinstance(model, str) else None
        self._target = Target(name, library, fault, faults, check_returns)
        self._options: OptionMode = options
        self._keep_calls = keep_calls
        self._kept_before = 0
        """Calls of `keep_calls` in the first trace that was read."""
        self._format = format
        self._last = last
        self._keeps_result = keeps_result
        self._first_failing = first_failing
        self._lawful: bool | None = None
        """Whether the first trace that was read may keep to the contract."""

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Look for the first calls that most traces begin with."""
        return _FIRST_CALL.match(without_mark(text)) is not None

    def parse(self, text: bytes) -> TraceView:
        trace = read_trace(text, self._format)
        if self._model is None:
            self._model = find_model(trace)
        if self._format is None:
            self._format = trace.format
        if self._lawful is None:
            self._lawful = may_be_lawful(self._model, plain(trace.calls))
            self._kept_before = self._kept_in(text)
        return TraceView(
            trace,
            self._model,
            lambda: self._last(text),
            keeps_result=self._keeps_result,
            first_failing=self._first_failing,
            lawful=self._lawful,
            keep=self._names_to_keep,
        )

    def check(self, text: bytes) -> FormatCheck:
        """Say which calls the API does not allow, as a replay would."""
        trace, model = self._read(text)
        strict = _PLAYED_BY.get(model.name) if self._model is None else None
        if strict is not None and not any(
            call.result == 0 and call.name in _UNANSWERED for call in trace.calls
        ):
            model = load_model(strict)
        found = problems(trace, model)
        shown = [str(problem) for problem in islice(found, _SHOWN)]
        more = sum(1 for _ in found)
        if more:
            shown.append(f"and {more:,} more calls that the contract does not allow")
        return FormatCheck(shown, f"{in_words(trace.calls)} as {model.title} allows them")

    def own_oracle(self, request: OracleRequest) -> OwnOracle:
        """Replay the trace against the library of its API; candidates are replayed there."""
        trace, model = self._read(request.text)

        frontend_of = partial(
            Traces, model, options=self._options, keep_calls=self._keep_calls, format=trace.format
        )
        return replay_oracle(request, self._target, trace, model, frontend_of)

    def opener(
        self, opener: Callable[[Oracle, int], Executor], text: bytes
    ) -> Callable[[Oracle, int], Executor]:
        """Keep the command from traces that break the contract of the API: that is no failure."""
        for name in ("library", "fault", "check_returns"):
            if getattr(self._target, name):
                raise UsageError(f"`{name}` is for replays against a library, not for a command")
        try:
            trace, model = self._read(text)
        except ParseError:
            return opener
        lawful = may_be_lawful(model, plain(trace.calls))

        def guarded(oracle: Oracle, jobs: int) -> Executor:
            judged = without_slips(oracle.criterion, model.classify, lawful=lawful)
            executor = opener(oracle._replace(criterion=judged), jobs)
            if not lawful or judged is oracle.criterion:
                return executor
            return ContractExecutor(
                executor, lambda text: read_trace(text, trace.format).calls, model
            )

        return guarded

    def _read(self, text: bytes) -> tuple[Trace, Model]:
        """Return a trace and its model. Raises ParseError if a line is no call, UsageError."""
        trace = read_trace(text, self._format)
        model = find_model(trace) if self._model is None else self._model
        deque(problems(trace, model), maxlen=0)  # a ParseError is for the caller
        return trace, model

    def schedule(self, passes: Passes) -> Schedule:
        """Return our passes, otherwise those of lglddtrace; where a result counts, careful ones."""
        if self._keeps_result:
            return careful_schedule(self._options)
        if passes == "own":
            return own_schedule(self._options)
        return paper_schedule(self._options)

    def order(self, text: bytes) -> Any:
        """Return the key: fewer calls, then fewer options, then fewer bytes.

        A trace without calls that stay is above all that have them.
        """
        text = unpack(text)
        lost = max(0, self._kept_before - self._kept_in(text))
        options = sum(1 for _ in self._option_lines.finditer(text))
        lines = sum(1 for _ in self._lines.finditer(text))
        return lost, lines - options, options, len(text), text

    def measure(self, view: TraceView) -> Mapping[str, int]:
        """Count calls without options and `return` lines, options, clauses, variables and bytes."""
        options = len(view.options)
        results = marks(view.calls, lambda call: call.name == "return").count(1)
        return {
            "calls": len(view.calls) - options - results,
            "options": options,
            "clauses": len(view.groups),
            "variables": len(used_variables(view)),
            "bytes": len(view.document.text),
        }

    @classmethod
    def testing(cls) -> Testing:
        found: Testing = cls._from("hunt.library_tests", "testing")(cls)
        return found

    @classmethod
    def playing(cls) -> Playing:
        found: Playing = cls._from("playing", "PLAYING")
        return found

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        found: Inspection = cls._from("inspection", "inspect")(text, notation, path)
        return found

    @classmethod
    def named(cls, name: str) -> Inspection | None:
        found: Inspection | None = cls._from("inspection", "named")(name)
        return found

    def diagram(self, view: TraceView) -> Diagram:
        """Return the calls as a timeline, with the chart of states."""
        return diagram(view.trace, view.model)

    @cached_property
    def _lines(self) -> re.Pattern[bytes]:
        """Finds the lines that are calls, `return` lines left out."""
        syntax = FORMATS[self._format or "lgl"]
        other = rb"return[ \t]|" if syntax.result_line else b""
        comment = re.escape(syntax.comment) + rb"|" if syntax.comment else b""
        return re.compile(rb"^[ \t]*(?!" + other + comment + rb"[ \t\r\n])[^ \t\r\n]", re.MULTILINE)

    @cached_property
    def _names_to_keep(self) -> frozenset[str]:
        """The names of the calls that stay. Raises UsageError for a name that no call has."""
        if self._keep_calls is None or self._model is None:
            return frozenset()
        calls, found = self._model.calls, set[str]()
        for each in filter(None, self._keep_calls.replace(",", " ").split()):
            names = {name for name, call in calls.items() if each in (name, call.role)}
            if not names:
                title = self._model.title
                raise UsageError(f"`keep_calls`: {title} has no call and no role {each!r}")
            found |= names
        return frozenset(found)

    def _kept_in(self, text: bytes) -> int:
        if not self._names_to_keep:
            return 0
        return sum(1 for _ in self._lines_of(*self._names_to_keep).finditer(text))

    @cached_property
    def _option_lines(self) -> re.Pattern[bytes]:
        name = "" if self._model is None else self._model.options.call
        return self._lines_of(name) if name else re.compile(rb"(?!)")

    @staticmethod
    def _lines_of(*names: str) -> re.Pattern[bytes]:
        """Return what finds the lines that are one of these calls."""
        some = "|".join(map(re.escape, sorted(names)))
        pattern = rf"^[ \t]*(?:[0-9]+[ \t]+)?(?:{some})(?=[ \t\r\n]|\Z)"
        return re.compile(pattern.encode(), re.MULTILINE)
