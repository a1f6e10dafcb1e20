"""The options of random traces: which model, which library plays them, how large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from reducekit.frontends.trace.replay import Library, Patch, find_library, read_fault, resolve
from reducekit.offers import FormatOption

OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        "model",
        "The model of the API that the traces keep to.",
        default="lingeling",
        metavar="API|FILE",
    ),
    FormatOption(
        "fuzzed",
        "Set random options always, or never; default: as often as the model says.",
        "flag",
        spelled="options",
    ),
    FormatOption(
        "variables",
        "Variables at most to begin with; default: as the model says. 40 make traces of about "
        "500 calls.",
        "whole",
        metavar="N",
        least=1,
        most=100_000,
    ),
    FormatOption(
        "library", "The library that plays them; default: what is installed.", metavar="NAME|PATH"
    ),
    FormatOption(
        "fault",
        "Overwrite an instruction of the library, to have something to find: "
        "SYMBOL+OFFSET:abort or :delete, or a name in --faults.",
        metavar="FAULT",
    ),
    FormatOption("faults", "A list of faults (JSON).", metavar="FILE"),
    FormatOption(
        "feedback",
        "Play the calls while they are made, so that results steer what comes next; default: if "
        "there is a library.",
        "flag",
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
        """Gather them out of the values of all options."""
        return cls(**{each.name: values[each.name] for each in fields(cls)})

    def target(self, api: str) -> tuple[Library, Patch | None]:
        """Return what plays the calls of an API, and the fault in it. Raises UsageError."""
        library = find_library(api, self.library)
        fault = None if self.fault is None else read_fault(self.fault, self.faults)
        return library, None if fault is None else resolve(fault, library.path)

    def label(self, api: str) -> tuple[str, ...]:
        """Return what a bug in it is said to be in."""
        fault = () if self.fault is None else ("--fault", self.fault)
        return (self.library or api, *fault)

    @property
    def played_by(self) -> tuple[str, ...]:
        """The words that name the model and what plays a trace, for every command that does."""
        given = {
            "--model": self.model,
            "--library": self.library,
            "--fault": self.fault,
            "--faults": self.faults,
        }
        return tuple(word for name, value in given.items() if value for word in (name, value))

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make the trace of a seed again."""
        words = [*self.played_by]
        if self.fuzzed is not None:
            words.append("--options" if self.fuzzed else "--no-options")
        if self.variables is not None:
            words += ["--variables", str(self.variables)]
        return [*words, "--seed", str(seed)]
