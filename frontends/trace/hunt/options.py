"""The options of random traces: which model, which library plays them, how large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from reducekit.frontends.trace.language.text import HEAD_OPTIONS, head_line
from reducekit.frontends.trace.player import (
    Library,
    Patch,
    api_of,
    find_library,
    read_fault,
    resolve,
)
from reducekit.offers import FormatOption

_USUAL = "lingeling"
OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        "model",
        "The model of the API (default: the library's, else lingeling).",
        metavar="API|FILE",
    ),
    FormatOption(
        "fuzzed",
        "Always or never set random options (default: as often as the model says).",
        "flag",
        spelled="options",
    ),
    FormatOption(
        "variables",
        "Initial number of variables; 40 make traces of about 500 calls (default: by the model).",
        "whole",
        metavar="N",
        least=1,
        most=100_000,
    ),
    FormatOption(
        "library", "The library that plays them (default: an installed one).", metavar="NAME|PATH"
    ),
    FormatOption(
        "fault",
        "Seed a fault into the library: SYMBOL+OFFSET:abort or :delete, or a name in --faults.",
        metavar="FAULT",
        rare=True,
    ),
    FormatOption("faults", "A list of faults (JSON).", metavar="FILE", rare=True),
    FormatOption(
        "feedback",
        "Play calls while generating, so that results steer the rest (default: if there is a "
        "library).",
        "flag",
        rare=True,
    ),
)


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The values of `OPTIONS`, but for the feedback."""

    model: str
    fuzzed: bool | None
    variables: int | None
    library: str | None
    fault: str | None
    faults: str | None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TraceOptions:
        """Gather them out of the values of all options. Raises UsageError."""
        given = {each.name: values[each.name] for each in fields(cls)}
        if given["model"] is None:
            library = given["library"]
            given["model"] = _USUAL if library is None else api_of(library)
        return cls(**given)

    def target(self, api: str) -> tuple[Library, Patch | None]:
        """Return what plays the calls of an API, and the fault in it. Raises UsageError."""
        library = find_library(api, self.library)
        fault = None if self.fault is None else read_fault(self.fault, self.faults)
        return library, None if fault is None else resolve(fault, library.path)

    def label(self, api: str) -> tuple[str, ...]:
        """Return what a bug in it is said to be in."""
        fault = () if self.fault is None else ("--fault", self.fault)
        return (self.library or api, *fault)

    def head(self, form: str) -> bytes:
        """Return the line of a trace that names what plays it."""
        return head_line(form, asdict(self))

    @property
    def played_by(self) -> tuple[str, ...]:
        """The words that name the model and what plays a trace, for every command that does."""
        given = {f"--{name}": value for name, value in asdict(self).items() if name in HEAD_OPTIONS}
        return tuple(word for name, value in given.items() if value for word in (name, value))

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make the trace of a seed again."""
        words = [*self.played_by]
        if self.fuzzed is not None:
            words.append("--options" if self.fuzzed else "--no-options")
        if self.variables is not None:
            words += ["--variables", str(self.variables)]
        return [*words, "--seed", str(seed)]
