"""API traces: formats, models of APIs, replays, and what may be changed in a trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from reducekit.frontend import Schedule
from reducekit.frontends.trace.check import find_model
from reducekit.frontends.trace.formats import FORMATS, read_trace, unpack
from reducekit.frontends.trace.model import Model
from reducekit.frontends.trace.passes.drop import mentions
from reducekit.frontends.trace.passes.lglddtrace import paper_schedule
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.schedule import careful_schedule, own_schedule
from reducekit.frontends.trace.view import FirstFailing, TraceView

__all__ = ["Traces"]


class Traces:
    """The frontend for API traces.

    `model` is the model they go by and `format` their format, by default those
    of the first trace that is read. `options` says which options are reduced.
    `last` returns the index of the call in which the replay of a text ended, if
    that is known. `keeps_result`: the failure is what the last call
    returned, so that only what changes no answer is dropped. `first_failing`
    plays many small traces at a time (see `TraceView`).
    """

    name = "trace"
    suffix = ".trace"
    strict = False

    def __init__(
        self,
        model: Model | None = None,
        *,
        options: OptionMode = "all",
        format: str | None = None,  # noqa: A002 - as everywhere in this package
        last: Callable[[bytes], int | None] = lambda text: None,
        keeps_result: bool = False,
        first_failing: FirstFailing | None = None,
    ) -> None:
        self._model = model
        self._options = options
        self._format = format
        self._last = last
        self._keeps_result = keeps_result
        self._first_failing = first_failing

    def parse(self, text: bytes) -> TraceView:
        """Read a trace. Raises ParseError with the place and what was expected."""
        trace = read_trace(text, self._format)
        if self._model is None:
            self._model = find_model(trace)
        if self._format is None:
            self._format = trace.format
        return TraceView(
            trace,
            self._model,
            lambda: self._last(text),
            keeps_result=self._keeps_result,
            first_failing=self._first_failing,
        )

    def schedule(self, strategy: str) -> Schedule:
        """Return our passes, or those of lglddtrace for the strategy of that name."""
        if strategy == "lglddtrace":
            return paper_schedule(self._options)
        if self._keeps_result:
            return careful_schedule(self._options)
        return own_schedule(self._options)

    def order(self, text: bytes) -> Any:
        """Return the key: fewer calls, then fewer options, then fewer bytes."""
        text = unpack(text)
        options = len(self._option_lines.findall(text))
        return len(self._lines.findall(text)) - options, options, len(text), text

    def measure(self, view: TraceView) -> Mapping[str, int]:
        """Count calls without options and `return` lines, options, clauses, variables and bytes."""
        options = len(view.options)
        results = sum(call.name == "return" for call in view.calls)
        return {
            "calls": len(view.calls) - options - results,
            "options": options,
            "clauses": len(view.groups),
            "variables": len({variable for _, variable in mentions(view)}),
            "bytes": len(view.document.text),
        }

    @cached_property
    def _lines(self) -> re.Pattern[bytes]:
        """Finds the lines that are calls, `return` lines left out."""
        syntax = FORMATS[self._format or "lgl"]
        other = rb"return[ \t]|" if syntax.result_line else b""
        comment = re.escape(syntax.comment) + rb"|" if syntax.comment else b""
        return re.compile(rb"^[ \t]*(?!" + other + comment + rb"[ \t\r\n])[^ \t\r\n]", re.MULTILINE)

    @cached_property
    def _option_lines(self) -> re.Pattern[bytes]:
        """Finds the lines that set an option."""
        name = "" if self._model is None else self._model.options.call
        if not name:
            return re.compile(rb"(?!)")
        return re.compile(rb"^[ \t]*(?:[0-9]+[ \t]+)?" + name.encode() + rb"[ \t]", re.MULTILINE)
