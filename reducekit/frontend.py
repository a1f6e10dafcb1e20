"""What a format brings along: how to read it, what may be changed, what to count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from reducekit.document import Document
from reducekit.search.problem import Problem


class View(Protocol):
    """A parsed text, with whatever a frontend finds out about it."""

    @property
    def document(self) -> Document:
        """The text and its nodes."""


class Pass(Protocol):
    """One kind of change over a whole text. Says what may be changed; neither searches nor runs."""

    @property
    def name(self) -> str:
        """A short name, unique within the frontend."""

    def problem(self, view: Any) -> Problem | None:
        """Return what there is to search in a text of the frontend; None if nothing is."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order of passes.

    `prepare` brings the text into a normal form, in which it may stay as long
    as it was; each of its passes runs once. `once` are the quick ones that come
    first. `rounds` are repeated while any of them helps; in them, a change that
    was refuted is not tried again where nothing has changed. `closing` are the
    dearer ones, for the result of the rounds, and `sweep` those that are tried
    in full on the result of all; when one helps, the rounds go on. Without a
    `sweep`, it is the rounds. A `quick` schedule ends with what runs once, or,
    where nothing does, behind the closing passes, whether they helped or not.
    """

    rounds: Sequence[Pass]
    prepare: Sequence[Pass] = ()
    once: Sequence[Pass] = ()
    closing: Sequence[Pass] = ()
    sweep: Sequence[Pass] = ()
    quick: bool = False


def by_size(text: bytes) -> tuple[int, bytes]:
    """Return the key of the usual order of texts: fewer bytes first, then by bytes."""
    return len(text), text


class Frontend(Protocol):
    """A format."""

    @property
    def name(self) -> str:
        """The name of the format and of its command."""

    @property
    def suffix(self) -> str:
        """The usual ending of its files, with the dot."""

    @property
    def strict(self) -> bool:
        """Whether what the oracle's programs would refuse to read is mostly refused by `parse`.

        Then candidates that mix the changes of several passes are read before they run.
        """

    def parse(self, text: bytes) -> View:
        """Read a text. Raises ParseError with the place and what was expected."""

    def schedule(self, strategy: str) -> Schedule:
        """Return the passes for a strategy of that name."""

    def order(self, text: bytes) -> Any:
        """Return the key of a strict total order without infinite descent: smaller texts first.

        Only steps down are accepted, so every reduction ends, whatever the
        passes propose. It is called for every candidate.
        """

    def measure(self, view: Any) -> Mapping[str, int]:
        """Count what users of the format count, for the summary: bytes, commands, terms, ..."""


class Quick:
    """A frontend with quick schedules."""

    def __init__(self, frontend: Frontend) -> None:
        self._frontend = frontend
        self.name = frontend.name
        self.suffix = frontend.suffix
        self.strict = frontend.strict
        self.parse = frontend.parse
        self.order = frontend.order
        self.measure = frontend.measure

    def schedule(self, strategy: str) -> Schedule:
        """Return the quick schedule for a strategy of that name."""
        return replace(self._frontend.schedule(strategy), quick=True)
