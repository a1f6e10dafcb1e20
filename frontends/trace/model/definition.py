"""The declarative model of a solver's API, as plain data.

One TOML file a solver API says which calls there are and what they take, in which states they may
be made, what they require, what they change and return; which options there are; what random input
looks like; and how to tell the outcomes of a run apart. The generator, the checker, the reducer's
filter, the replayer and the documentation all use it. The language of the file is described in
`docs/trace-models.md`; `reducekit.frontends.trace.model.loader` reads it,
`reducekit.frontends.trace.model.machine` runs it. Shipped models lie in `models/`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from signal import Signals
from typing import Annotated, Any, Literal, Self

from msgspec import Meta, field

from reducekit.frontends.trace.model.conditions import Code, Variable
from reducekit.frontends.trace.model.structure import Names, Range, Section, is_whole, shown

Action = Literal["call", "options", "clauses", "group"]
Positive = Annotated[int, Meta(ge=1)]
TypeKind = Literal["int", "literal", "variable", "word", "choice", "handle"]
Role = Literal[
    "init", "release", "option", "clause", "assume", "solve", "query", "hint", "define", "other"
]
"""What a call is for: `query` changes nothing, `hint` changes no answer, `define` makes a handle,
`solve` ends a round."""


@dataclass(frozen=True, slots=True)
class Type:
    """What an argument may be.

    - `int`: a number in `low .. high` (None: no bound).
    - `literal`: a number other than 0 whose absolute value is a variable; 0 too with `zero`.
    - `variable`: a number of at least 1 (0 with `zero`).
    - `word`: any word; with `values` (kind `choice`) one of these.
    - `handle`: a word that a call returned and that was not released yet, or
      one of `values`. `negation` is what in the word says that the handle is
      negated; it is left out to tell which handle it is. With `names`, only
      these are handles, each of the sort that is given, and all else is allowed.
    """

    name: str
    kind: TypeKind
    low: int | None = None
    high: int | None = None
    zero: bool = False
    values: tuple[str, ...] = ()
    negation: str = ""
    names: Mapping[str, str] | None = dataclasses.field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call; one with `star` takes any number of values."""

    name: str
    type: Type
    star: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition: as written, why it holds (for messages), compiled."""

    text: str
    why: str
    code: Code


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect: as written, compiled to lines of Python."""

    text: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallModel:
    """What is known of one call of the API."""

    name: str
    arguments: tuple[Argument, ...] = ()
    # The states that it may be made in, a bit each, and the state that it leads to; 0 if it stays.
    source: int = 0
    target: int = 0
    # The type of what it returns, None for nothing, and the state that each result leads to.
    result: Type | None = None
    outcomes: Mapping[int, int] = dataclasses.field(default_factory=dict)
    # Conditions that the API insists on, and those that a generator keeps to as well, as it
    # cannot know better.
    requires: tuple[Rule, ...] = ()
    careful: tuple[Rule, ...] = ()
    effects: tuple[Effect, ...] = ()
    role: Role = "other"
    # Calls of a group belong together up to the one for which `end` holds, as the literals of a
    # clause up to its 0.
    group: str = ""
    end: Rule | None = None
    # The call that takes this one back (freeze: melt), for the same first argument.
    pair: str = ""
    # The type of the handle that is returned; the arguments whose handle is given back.
    produces: str = ""
    releases: tuple[str, ...] = ()
    # Why no trace may hold the call, empty if it may.
    rejected: str = ""
    # The call in SMT-LIB, with `{name}` for its arguments; empty if there is none.
    smt: str = ""
    # What calls with this purpose are called in all APIs of SAT solvers.
    means: str = ""
    # What it does in the solver's library (`reducekit.frontends.trace.player.prototypes`).
    c: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """A numeric option: its default, least and greatest value."""

    name: str
    default: int
    low: int
    high: int


class Options(dict[str, Option]):
    """Options by name, each as [default, least, most]."""

    expected = "a table"

    @classmethod
    def read(cls, value: Any) -> Self | None:
        """Return a table of a file, None if it is not one. Raises ValueError for a bad row."""
        if not isinstance(value, dict):
            return None
        found = cls()
        for name, row in value.items():
            if not isinstance(row, list) or len(row) != 3 or not all(map(is_whole, row)):
                raise ValueError(f"{name}: expected [default, least, most], found {shown(row)}")
            if not row[1] <= row[0] <= row[2]:
                raise ValueError(f"{name}: expected least <= default <= most, found {shown(row)}")
            found[name] = Option(name, *row)
        return found


class Preset(Section, frozen=True):
    """Options that are set together, with a probability."""

    probability: Fraction = Fraction(1)
    values: dict[str, int] = field(name="set", default_factory=dict)


class OptionModel(Section, frozen=True):
    """The options of the solver, and how a generator sets them."""

    # The call that sets one; its arguments of kind word and int are the name and the value.
    # Empty if there is none.
    call: str = ""
    # All options, in the order of the solver.
    table: Options = field(default_factory=Options)
    # Whether the solver refuses unknown names and values out of range, rather than ignore them.
    strict: bool = False
    # Of setting options at all.
    probability: Fraction = Fraction(1, 2)
    # Presets that are taken instead of fuzzing, and presets that are added to it.
    # Options in a preset are not fuzzed: they are what it is about.
    instead: tuple[Preset, ...] = ()
    besides: tuple[Preset, ...] = ()
    # One option in m is touched, m uniform between these two; an option with a weight as many
    # times as often as those without.
    touch: Range = Range((1, 1))
    weights: dict[str, Annotated[float, Meta(ge=0)]] = field(default_factory=dict)
    # How often a touched option gets a value next to its least one, however far the default is
    # away: so limits and intervals become small, and what is seldom done, often.
    lowered: Fraction = Fraction(0)
    # Options that are not fuzzed.
    exclude: Names = Names()
    # What `reducekit.frontends.trace.model.sections` makes rules of.
    forbid: tuple[Any, ...] = ()
    # Narrower ranges for fuzzing; options that are only lowered (-1) or raised (1).
    limits: dict[str, Range] = field(default_factory=dict)
    fixed_direction: dict[str, Literal[-1, 1]] = field(name="direction", default_factory=dict)
    # Options that set others, so that their place among the rest matters.
    meta: Names = Names()

    def __post_init__(self) -> None:
        presets = {"instead": self.instead, "besides": self.besides}
        named: dict[str, Mapping[str, object]] = {
            f"{key}[{number}].set": each.values
            for key, some in presets.items()
            for number, each in enumerate(some)
        }
        named |= {"limits": self.limits, "direction": self.fixed_direction, "weights": self.weights}
        for key, names in named.items():
            for name in names.keys() - self.table.keys():
                raise ValueError(f"{key}.{name}: expected the name of an option")
        for key in ("exclude", "meta"):
            for name in getattr(self, key) - self.table.keys():
                raise ValueError(f"{key}: expected names of options, found {name!r}")
        if self.touch[0] < 1:
            raise ValueError("touch: expected numbers of at least 1")


class Kind(Section, frozen=True):
    """Clauses of a kind that a round may have, with a probability.

    `ratios` are clauses per 100 variables by their length, `variables` a range.
    """

    probability: Fraction = Fraction(0)
    ratios: dict[Positive, Positive] = field(default_factory=dict)
    variables: Range = Range((1, 1))

    def __post_init__(self) -> None:
        if self.variables[0] < 1:
            raise ValueError("variables: expected at least one variable")


class DataModel(Section, frozen=True):
    """Random clauses."""

    # The number n of variables, and x: there are n * x / 100 clauses.
    variables: Range
    ratio: Range
    # A clause is closed after its k-th literal with the k-th probability, the last for all further.
    close: tuple[Fraction, ...]
    # Each increment multiplies the number of clauses by x / 100, and brings new variables.
    growth: Range = Range((100, 100))
    fresh: Range = Range((0, 0))
    # Traces that begin with variables in another range.
    few: Kind = Kind()
    # Rounds whose clauses all have one length, with a ratio for each: at the threshold between
    # satisfiable and not (Mertens, Mezard, Zecchina 2006) formulas are hardest.
    uniform: Kind = Kind()
    # How often a clause is replaced by those of an exclusive or, of a gate, or of a constraint that
    # counts: what a solver looks for when it simplifies.
    structured: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.close or not self.close[-1]:
            raise ValueError("close: expected probabilities, the last one greater than 0")
        if self.variables[0] < 1 or self.ratio[0] < 0:
            raise ValueError("variables: expected at least one variable, and a ratio of at least 0")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a generator's phase."""

    # `options` and `clauses` set options and add clauses as the models of these say; `group` makes
    # a call of a group for each literal of a random clause, and one that ends the group.
    action: Action
    # Names and weights of the calls, one of which is made.
    calls: tuple[tuple[str, int], ...] = ()
    # Of taking the step, and of repeating it each time.
    probability: float = 1
    again: float = 0
    # How often it is taken, between these two expressions.
    times: tuple[Code, Code] | None = None
    # Taken for a share between these two of the variables for which `where` holds (all without
    # it), each once, in random order.
    share: tuple[float, float] | None = None
    where: Rule | None = None
    # The greatest variable, known or not, that literals are chosen from, signs at random.
    upto: Code | None = None
    # Takes the arguments of the step before.
    same: bool = False
    # Ranges of numeric arguments by name; choices for the others.
    arguments: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def only(self, names: Container[str]) -> Step | None:
        """Return the step with these calls only; None if it has no others."""
        if not self.calls:
            return self
        calls = tuple((name, weight) for name, weight in self.calls if name in names)
        return replace(self, calls=calls) if calls else None


@dataclass(frozen=True, slots=True)
class Next:
    """Where a phase leads to: the first one for which `when` holds and the dice fall so."""

    phase: str
    probability: float = 1
    when: Rule | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    """A state of the generator: steps in order, then the next phase; the end if there is none."""

    name: str
    steps: tuple[Step, ...]
    following: tuple[Next, ...]

    def only(self, names: Container[str]) -> Phase:
        """Return the phase without other calls than these."""
        steps = (step.only(names) for step in self.steps)
        return replace(self, steps=tuple(step for step in steps if step is not None))


class Sign(Section, frozen=True):
    """One way to tell an outcome: all that is given has to fit.

    `exit` is an exit status, `signal` a name such as SIGABRT; `stderr` and
    `stdout` are regular expressions that are searched for.
    """

    exit: int | None = None
    signal: str | None = None
    stderr: str | None = None
    stdout: str | None = None

    def __post_init__(self) -> None:
        if self.signal is not None and self.signal not in Signals.__members__:
            raise ValueError(f"signal: expected a signal such as SIGABRT, found {self.signal!r}")
        for key in ("stderr", "stdout"):
            try:
                re.compile(getattr(self, key) or "")
            except re.error as error:
                raise ValueError(f"{key}: expected a regular expression ({error})") from None
        if (self.exit, self.signal, self.stderr, self.stdout) == (None,) * 4:
            raise ValueError("expected some of exit, signal, stderr, stdout")


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model; immutable, and hashed by its id, as it holds dictionaries."""

    name: str
    title: str
    formats: tuple[str, ...]
    types: Mapping[str, Type]
    # State k is bit k of a mask; the sets of states are masks too, with each state for itself.
    states: tuple[str, ...]
    initial: int
    final: int
    sets: Mapping[str, int]
    # Counters and flags by name, then the slots that count the handles of each handle type.
    variables: Mapping[str, Variable]
    live: Mapping[str, int]
    calls: Mapping[str, CallModel]
    options: OptionModel
    data: DataModel | None
    phases: Mapping[str, Phase]
    # The outcomes in order, each with its signs: the first that fits is it.
    classify: tuple[tuple[str, tuple[Sign, ...]], ...]
    hooks: Mapping[str, Callable[..., int]]
