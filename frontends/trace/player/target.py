"""What plays a trace, as options say it and as the first line of a trace names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from reducekit.frontends.trace.language.text import (
    HEAD_OPTIONS,
    head_line,
    head_options,
    options_to_play,
)
from reducekit.frontends.trace.player.faults import Patch, patch_of
from reducekit.frontends.trace.player.libraries import Library, find_library
from reducekit.offers import FormatOption

TARGET_OPTIONS = (
    FormatOption(
        "library", "Library that plays the calls (default: installed).", metavar="NAME|PATH"
    ),
    FormatOption(
        "fault",
        "Seed a fault into it: SYMBOL+OFFSET:abort or :delete, =HEX for the bytes expected "
        "there; or a name in --faults.",
        metavar="FAULT",
        rare=True,
    ),
    FormatOption("faults", "A list of faults (JSON).", metavar="FILE", rare=True),
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a trace is played against: a library, perhaps with a fault seeded into it, by name.

    `check_returns`: a result that is not as the trace says is a failure too.
    """

    model: str | None = None
    library: str | None = None
    fault: str | None = None
    faults: str | None = None
    check_returns: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Gather it out of the values of all options."""
        names = [each.name for each in fields(cls)]
        return cls(**{name: values[name] for name in names if name in values})

    def named(self, head: bytes) -> Self:
        """Return it with what a trace names where this says nothing. Raises UsageError."""
        if self.library is None:
            found = options_to_play(head)
        else:  # a fault is one of a library
            found = {"model": head_options(head).get("model", "")}
        given: dict[str, Any] = {
            name: getattr(self, name) or found.get(name) or None for name in HEAD_OPTIONS
        }
        return replace(self, **given)

    def opened(self, api: str) -> tuple[Library, Patch | None]:
        """Return what plays the calls of an API, and the fault in it. Raises UsageError."""
        library = find_library(api, self.library)
        return library, patch_of(library.path, self.fault, self.faults)

    def head(self, form: str) -> bytes:
        """Return the line of a trace that names this; nothing in a format without such lines."""
        return head_line(form, {name: getattr(self, name) for name in HEAD_OPTIONS})

    @property
    def played_by(self) -> tuple[str, ...]:
        """The options that name the model and what plays a trace, for each command that does."""
        given = [(name, getattr(self, name)) for name in HEAD_OPTIONS]
        return tuple(word for name, value in given if value for word in (f"--{name}", value))
