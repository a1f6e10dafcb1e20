"""A format: how to read it, what may be changed in it, what to count.

`Format` is the class to inherit from: `parse` and `schedule` are all that it must have. A pass says
what may be changed in a text: `Pass` tells how to write one.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

from reducekit.change import Change
from reducekit.document import Document
from reducekit.hooks import Hooks
from reducekit.option import FormatOption
from reducekit.search.problem import Problem, independent
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from reducekit.offers import Inspection

Effort: TypeAlias = Literal["quick", "normal", "thorough"]  # how much is tried
Order: TypeAlias = Callable[[bytes], Any]  # returns the key of a text: see `Format.order`


class View(Protocol):
    """A parsed text, with whatever a format finds out about it."""

    @property
    def document(self) -> Document:
        """The text and its nodes."""


class Pass(Protocol):
    r"""One kind of change over a whole text. Says what may be changed; neither searches nor runs.

    How to write a pass
    ===================

    A reduction asks each pass what may be changed in the present text, searches that with an
    algorithm which knows nothing of the format, and runs the user's test on the candidates. A pass
    is only the first of these: a pure function from a parsed text (a `View`) to a list of changes.
    It runs nothing, sees no verdict, and keeps nothing between two texts. A small one is a few
    lines:

        @pass_("comments")
        def drop_comments(view: MyView) -> Iterator[Change]:
            '''Removes comments.'''
            for node in view.comments:
                yield Change((Edit(node, ()),), "drop comment")

    It appears in `reducekit passes FORMAT` and in `--only` once it stands in the format's
    `schedule`.

    1. Progress is the format's, not the pass's
    -------------------------------------------

    Only a text that is strictly smaller in `Format.order` is accepted, and that order has no
    infinite descent. So every reduction ends, whatever passes propose, in whatever order, and two
    passes that undo each other cannot go on for ever: one of the two steps is upward and is refused
    before it runs. Do not build a measure of progress into a pass. Do ask which step of the order a
    change makes smaller: a pass whose changes are all upward costs the rendering of each and gains
    nothing.

    Two exceptions are explicit. A pass in `Schedule.prepare` may make the text larger for a while
    (see `reduction/best.py`: it is a transaction that is rolled back if it does not pay). A change
    that is a `probe` is asked about and never accepted as it is.

    2. List changes; do not loop
    ----------------------------

    A loop "while something helps" in a pass would fix the algorithm, run one candidate at a time,
    and hide from the search what is still to come. A list leaves all three open:

    - The strategy groups the changes. Where 10 of 10,000 are needed, binary splitting takes in the
      order of 10 log2(1000) = 100 checks, a loop 10,000.
    - Several workers take different parts of it, and changes found side by side are merged
      (`search/merging.py`), since each is a set of edits to the same document.
    - The candidate after a failure is known before the verdict is, so it can run already.

    A change describes edits to the text as it was parsed, never to the result of another change of
    the list. What others have taken by then is passed to `Items.change` as `taken`. If a success
    opens up what was not there before, do not look for it: the text is parsed again, and the pass
    is asked again in the next round. So a single call need not reach a fixpoint.

    3. Carry along what the change needs
    ------------------------------------

    A candidate that the program under test cannot read is a check spent on nothing, and no search
    can guess what was missing. So a change leaves a valid text, alone and with any others of its
    list:

    - what requires it goes too: the users of a declaration, the `pop` of a `push`
      (`Closure.required`);
    - what has lost its purpose may go too: a declaration whose last user goes (`Closure.orphaned`);
      the search tries without it if the whole fails;
    - what counts others is updated: the header of a DIMACS file belongs to each removed clause.

    Independent changes need none of this: yield them. Where items require each other, return
    `Items` with their `close`. Where a change can only be tried if one further up failed, return a
    `Tree`: the subterms of a term that could go as a whole need not be looked at. `Graph` is a tree
    in which a node has several parents; `FixedSearch` is for the rare pass with an algorithm of its
    own.

    4. Cheap to ask, and the same each time
    ---------------------------------------

    `problem` is called for each new text, also where the pass finds nothing. List positions, and
    build a change in `Items.change` when it is needed: ten million edits fill the memory, ten
    million numbers do not. Never depend on time, on a `set`'s order, or on a global random
    generator: the same input has to give the same result on any machine, and `--resume` relies on
    it. Inputs nest a million deep: use a stack, not recursion.

    5. Order changes by what they save
    ----------------------------------

    Large before small, and backward where things are defined before they are used: users fall
    before what they use, so that nothing is refuted that would succeed later
    (`strategies/adaptive.py`). Put first, in the schedule, what takes away most for the fewest
    checks. Put last what considers single characters or pairs: there are few left then. A change
    that rewrites much of the text, such as renaming, belongs before the rounds: changes that were
    refuted are remembered by their surroundings (`reduction/skips.py`), and would all have to be
    refuted again.

    6. What makes a pass worth its place
    ------------------------------------

    It finds what no other pass finds on some input, or the same for fewer checks. Measure both
    (`python -m benchmarks.frozen`), on inputs for which it was not written: a pass that helps one
    of a hundred inputs still costs the others its refuted candidates in each sweep.
    """

    @property
    def name(self) -> str:
        """A short name, unique within the format."""

    def problem(self, view: Any) -> Problem | None:
        """Return what there is to search in a text of the format; None if nothing is."""


Found: TypeAlias = Problem | Iterable[Change] | None
"""What there is to search in a text: changes that are independent of each other, or a problem."""


class FunctionPass(NamedTuple):
    """A pass made of a function by `pass_` or `when`."""

    name: str
    help: str  # what it does; `reducekit passes` prints the first sentence
    find: Callable[[Any], Found]
    applies: Callable[[Any], bool]

    def problem(self, view: Any) -> Problem | None:
        """Return what the function finds."""
        found = self.find(view) if self.applies(view) else None
        return found if found is None or isinstance(found, Problem) else independent([*found])


def pass_(
    name: str, applies: Callable[[Any], bool] = lambda view: True
) -> Callable[[Callable[[Any], Found]], FunctionPass]:
    """Make a pass of the decorated function, for texts to which it `applies`.

    The function yields changes that can be made in any combination, or returns a `Problem` where
    some require others. Its docstring is the help.
    """
    return lambda find: FunctionPass(name, find.__doc__ or "", find, applies)


def when(applies: Callable[[Any], bool], *passes: Pass) -> tuple[Pass, ...]:
    """Return passes that find something only in texts to which they apply."""
    return tuple(FunctionPass(each.name, help_of(each), each.problem, applies) for each in passes)


def help_of(each: Pass) -> str:
    """Return what a pass says of itself: its help, or the docstring of its class."""
    return inspect.cleandoc(getattr(each, "help", type(each).__doc__) or "")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order of passes.

    `prepare` brings the text into a normal form, which may be as long; each of its passes runs
    once. `once` are quick passes that come first. `rounds` are repeated while one of them succeeds;
    they do not retry a refuted change where nothing has changed. `closing` are expensive ones, for
    the result of the rounds, and `sweep` tries all changes on the final result (default: those of
    the rounds); if one succeeds, the rounds restart, and next time passes over changed parts run
    first. Quick effort ends after `once`, or, without such, after the closing passes. `thorough`
    passes run with thorough effort only: they look beyond what is smaller at once; if one
    succeeds, the rounds restart.
    """

    rounds: Sequence[Pass]
    prepare: Sequence[Pass] = ()
    once: Sequence[Pass] = ()
    closing: Sequence[Pass] = ()
    sweep: Sequence[Pass] = ()
    thorough: Sequence[Pass] = ()
    effort: Effort = "normal"
    alone: frozenset[str] = frozenset()
    """Passes, by name, that begin only after all before them: they check candidates themselves."""
    vain: float = 1.0
    """The search ends when the last success is this share of all checks ago, and some dozen: the
    result may not be 1-minimal. Thorough effort goes on."""
    surely: frozenset[str] = frozenset()
    """Passes of the rounds, by name, that try everything on the result in any case."""
    enough: int = 0
    """A guess that no pass makes smaller is the result after this many checks; 0: as other texts.
    Thorough effort goes on."""
    drawn: frozenset[str] = frozenset()
    """Passes, by name, that draw candidates at random: one that found nothing is left out until the
    text is a good deal smaller."""

    def to_the_end(self) -> Schedule:
        """Return the schedule that does not end, nor leave out passes, for want of successes."""
        return replace(self, vain=1.0, enough=0, drawn=frozenset()) if self.vain < 1 else self


def by_size(text: bytes) -> tuple[int, bytes]:
    """Return the key of the usual order of texts: fewer bytes first, then by bytes."""
    return len(text), text


@dataclass(frozen=True, slots=True)
class FormatCheck:
    """What is wrong with a text by the rules of its format, and how it is described otherwise."""

    problems: Sequence[str]  # each with its place, such as `line 3: ...`
    summary: str  # such as `12 calls as the API allows them`
    notes: Sequence[str] = ()  # what breaks the rules but is taken by programs, as for the problems


class Format(Hooks, ABC):
    """A format: inherit, and write `parse` and `schedule`. All else has a default.

    `options` become keyword arguments of the class. Importing a format's module should be
    quick, for its name stands in the help of the command line: import what is slow inside the
    functions that need it.
    """

    name: str  # the name of the format and of its command
    title: ClassVar[str] = ""
    """What a file of the format is called, for the help: `an SMT-LIB v2 script`."""
    suffix: str = ""  # the usual suffix of its files, with the dot: candidates get it
    suffixes: ClassVar[tuple[str, ...]] = ()  # all usual suffixes, if there are several
    unit: ClassVar[str] = "bytes"
    """What sizes are counted in where reductions are compared: one of the names of `measure`."""
    header: ClassVar[str] = ""
    """How its files begin, as a regular expression: `lenient` keeps that where it is there."""
    strict: bool = False
    """Whether `parse` refuses most of what the oracle's programs would refuse to read.

    Then candidates that mix the changes of several passes are parsed before they run.
    """
    several: ClassVar[bool] = False
    """Whether `parse` reads several files as one text, as `reducekit.packed` has them."""
    baseline: bytes = b""
    """A text that must not fail: if the empty one does, everything would be reduced to nothing."""
    options: ClassVar[tuple[FormatOption, ...]] = ()
    """What its command offers besides the options of all formats."""
    help: ClassVar[str] = ""  # a paragraph for the help of its command
    examples: ClassVar[tuple[str, ...]] = ()
    """Two uses, for that help, where `INPUT --cmd CMD` is not the usual one."""
    inspected: ClassVar[tuple[str, ...]] = ()
    """Suffixes of other files that `inspect` reads, such as models."""

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Return whether a text looks like one of this format, by its first few lines."""
        return False

    @abstractmethod
    def parse(self, text: bytes) -> View:
        """Read a text. Raises ParseError with the place and what was expected."""

    @abstractmethod
    def schedule(self, passes: Passes) -> Schedule:
        """Return the passes of a kind; a format without them has others instead."""

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
        """Return whether a text keeps the rules of its format. Raises ParseError."""
        counts = self.measure(self.parse(text))
        return FormatCheck((), ", ".join(f"{count:,} {name}" for name, count in counts.items()))

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        """Look into a text in a notation of the format (None: to be detected), for `show`.

        Raises ParseError. By default, sizes are shown.
        """
        from reducekit.offers import Inspection

        parsed = cls()
        counts = parsed.measure(parsed.parse(text))
        return Inspection(lambda: [f"{count:,} {name}" for name, count in counts.items()])


Frontend = Format  # the name by which plug-ins may know it
