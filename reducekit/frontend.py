"""A format: how to read it, what may be changed, what to count.

`Frontend` is what a format has to be; the rest has a default or is optional. What a format can do
besides being reduced (make random inputs, convert, draw, check by itself) is an offer: a Protocol
in `offers` or `own_checks`. A frontend makes an offer by having its methods, and whoever needs the
offer looks it up: `isinstance(frontend, Draws)`, `issubclass(found, Generates)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from reducekit.offers import FormatOption as FormatOption
from reducekit.passes import Pass as Pass
from reducekit.passes import View as View
from reducekit.search.strategy import Passes

Effort: TypeAlias = Literal["quick", "normal", "thorough"]
"""How much is tried."""
Order: TypeAlias = Callable[[bytes], Any]
"""Returns the key of a text: see `Frontend.order`."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order of passes.

    `prepare` brings the text into a normal form, in which it may stay as long
    as it was; each of its passes runs once. `once` are the quick ones that come
    first. `rounds` are repeated while any of them helps; in them, a change that
    was refuted is not tried again where nothing has changed. `closing` are the
    expensive ones, for the result of the rounds, and `sweep` those that are tried
    in full on the result of all; when one helps, the rounds go on, and the next time
    those come first of which anything has changed. Without a `sweep`, it is the
    rounds. With quick effort a schedule ends with what runs once, or, where nothing
    does, after the closing passes, whether they helped or not. Only with thorough
    effort, `thorough` are the ones that look beyond what is smaller right away; when
    one helps, the rounds go on.
    """

    rounds: Sequence[Pass]
    prepare: Sequence[Pass] = ()
    once: Sequence[Pass] = ()
    closing: Sequence[Pass] = ()
    sweep: Sequence[Pass] = ()
    thorough: Sequence[Pass] = ()
    effort: Effort = "normal"
    alone: frozenset[str] = frozenset()
    """The names of passes that are not begun before those before them have ended.

    Such a pass checks candidates by itself to say what there is to search.
    """
    drawn: frozenset[str] = frozenset()
    """The names of passes that draw their candidates at random.

    There are always others to draw: one that found nothing is left out until the text is a good
    deal smaller.
    """


def by_size(text: bytes) -> tuple[int, bytes]:
    """Return the key of the usual order of texts: fewer bytes first, then by bytes."""
    return len(text), text


@dataclass(frozen=True, slots=True)
class FormatCheck:
    """What is wrong with a text by the rules of its format, and how it is described otherwise."""

    problems: Sequence[str]
    """Each with its place, such as `line 3: ...`."""
    summary: str
    """Such as `12 calls as the API allows them`."""
    notes: Sequence[str] = ()
    """What breaks the rules but is taken by programs, as for the problems."""


class Frontend(ABC):
    """A format: inherit, and write `parse` and `schedule`. All else has a default.

    `options` become keyword arguments of the class. Importing a frontend's module should be
    quick, for its name stands in the help of the command line: import what is slow inside the
    functions that need it.
    """

    name: str
    """The name of the format and of its command."""
    title: ClassVar[str] = ""
    """What a file of the format is called, for the help: `an SMT-LIB v2 script`."""
    suffix: str = ""
    """The usual suffix of its files, with the dot: candidates get it."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """All usual suffixes, if there are several."""
    unit: ClassVar[str] = "bytes"
    """What sizes are counted in where reductions are compared: one of the names of `measure`."""
    strict: bool = False
    """Whether `parse` refuses most of what the oracle's programs would refuse to read.

    Then candidates that mix the changes of several passes are parsed before they run.
    """
    baseline: bytes = b""
    """A text that must not fail: if the empty one does, everything would be reduced to nothing."""
    options: ClassVar[tuple[FormatOption, ...]] = ()
    """What its command offers besides the options of all formats."""
    help: ClassVar[str] = ""
    """A paragraph for the help of its command."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Two uses, for that help, where `INPUT --cmd CMD` is not the usual one."""
    inspected: ClassVar[tuple[str, ...]] = ()
    """Suffixes of other files that `inspect` reads, such as models."""

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Say whether a text looks like one of this format, by its first few lines."""
        return False

    @abstractmethod
    def parse(self, text: bytes) -> View:
        """Read a text. Raises ParseError with the place and what was expected."""

    @abstractmethod
    def schedule(self, passes: Passes) -> Schedule:
        """Return the passes of a kind; a frontend without such has others instead."""

    def order(self, text: bytes) -> Any:
        """Return the key of a strict total order without infinite descent: smaller texts first.

        Only steps down are accepted, so every reduction ends, whatever the passes propose. It is
        called for every candidate. A key is a tuple that ends with the text itself: where all
        before that is equal, `--prefer` decides.
        """
        return by_size(text)

    def measure(self, view: Any) -> Mapping[str, int]:
        """Count what users of the format count, for the summary: bytes, commands, terms, ..."""
        return {"bytes": len(view.document.text)}

    def check(self, text: bytes) -> FormatCheck:
        """Say whether a text keeps the rules of its format. Raises ParseError if it is none."""
        counts = self.measure(self.parse(text))
        return FormatCheck((), ", ".join(f"{count:,} {name}" for name, count in counts.items()))
