"""The declarative model of a solver's API, as plain data.

One TOML file a solver API says which calls there are and what they take, in
which states they may be made, what they require, what they change and return;
which options there are; what random input looks like; and how to tell the
outcomes of a run apart. The generator, the checker, the reducer's filter, the
replayer and the documentation all go by it. The language of the file is
described in `docs/trace-models.md`; `reducekit.frontends.trace.model.loader` reads
it, `reducekit.frontends.trace.model.machine` runs it. Shipped models lie in `models/`.
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
from reducekit.frontends.trace.model.structure import (
    Names,
    Range,
    Section,
    is_whole,
    shown,
)

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
    """An argument of a call; one with `star` stands for any number of values."""

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
    """What is known of one call of the API.

    - `source`: the states that it may be made in, a bit each; `target`: the
      state that it leads to, 0 if it stays.
    - `result`: the type of what it returns, None for nothing; `outcomes`: the
      state each result leads to.
    - `requires`: conditions that the API insists on; `careful`: conditions
      that a generator keeps to besides, as it cannot know better.
    - `group`, `end`: calls of a group belong together up to the one for which
      `end` holds, as the literals of a clause up to its 0.
    - `pair`: the call that takes this one back (freeze: melt), for the same
      first argument.
    - `produces`: the type of the handle that is returned; `releases`: the
      names of the arguments whose handle is given back.
    - `rejected`: why no trace may hold the call, empty if it may.
    - `smt`: the call in SMT-LIB, with `{name}` for its arguments; empty if there is none.
    - `means`: what calls with this purpose are called in all APIs of SAT solvers.
    - `c`: what the call does in the solver's library, as C calls
      (`reducekit.frontends.trace.player.prototypes`).
    """

    name: str
    arguments: tuple[Argument, ...] = ()
    source: int = 0
    target: int = 0
    result: Type | None = None
    outcomes: Mapping[int, int] = dataclasses.field(default_factory=dict)
    requires: tuple[Rule, ...] = ()
    careful: tuple[Rule, ...] = ()
    effects: tuple[Effect, ...] = ()
    role: Role = "other"
    group: str = ""
    end: Rule | None = None
    pair: str = ""
    produces: str = ""
    releases: tuple[str, ...] = ()
    rejected: str = ""
    smt: str = ""
    means: str = ""
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
    """The options of the solver, and how a generator sets them.

    - `call`: the name of the call that sets one; its arguments of kind word
      and int are the name and the value. Empty if there is none.
    - `table`: all options, in the order of the solver.
    - `strict`: whether the solver refuses unknown names and values out of
      range, rather than passing over them.
    - `probability`: of setting options at all; `instead`: presets that are
      taken instead of fuzzing, `besides`: presets that are added to it.
    - `touch`: one option in m is touched, m uniform between these two.
    - `weights`: how many times as often an option is touched as those without a weight.
    - `lowered`: how often a touched option gets a value next to its least one, however far
      the default is away: so limits and intervals become small, and what is seldom done, often.
    - `exclude`: options that are not fuzzed. `limits`: narrower ranges for
      fuzzing. `fixed_direction`: options that are only lowered (-1) or raised (1).
    - `meta`: options that set others, so that their place among the rest matters.
    - `forbid`: what `reducekit.frontends.trace.model.forbidden` makes rules of.
    """

    call: str = ""
    table: Options = field(default_factory=Options)
    strict: bool = False
    probability: Fraction = Fraction(1, 2)
    instead: tuple[Preset, ...] = ()
    besides: tuple[Preset, ...] = ()
    touch: Range = Range((1, 1))
    weights: dict[str, Annotated[float, Meta(ge=0)]] = field(default_factory=dict)
    lowered: Fraction = Fraction(0)
    exclude: Names = Names()
    forbid: tuple[Any, ...] = ()
    limits: dict[str, Range] = field(default_factory=dict)
    fixed_direction: dict[str, Literal[-1, 1]] = field(name="direction", default_factory=dict)
    meta: Names = Names()

    def __post_init__(self) -> None:
        """Raise ValueError for an option that there is not, and for what cannot be touched."""
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
        """Raise ValueError if there may be no variable."""
        if self.variables[0] < 1:
            raise ValueError("variables: expected at least one variable")


class DataModel(Section, frozen=True):
    """Random clauses: n variables in `variables`, n * x / 100 clauses with x in `ratio`.

    A clause is closed after its k-th literal with probability `close[k - 1]`,
    the last one for all further. Each increment multiplies the number of
    clauses by x / 100 with x in `growth` and brings `fresh` new variables.

    - `few`: traces that begin with variables in another range.
    - `uniform`: rounds whose clauses all have one length, with a ratio for each: at the
      threshold between satisfiable and not (Mertens, Mezard, Zecchina 2006) formulas are hardest.
    - `structured`: a clause gives way to the clauses of an exclusive or, of a gate, or of a
      constraint that counts: what a solver looks for when it simplifies.
    """

    variables: Range
    ratio: Range
    close: tuple[Fraction, ...]
    growth: Range = Range((100, 100))
    fresh: Range = Range((0, 0))
    few: Kind = Kind()
    uniform: Kind = Kind()
    structured: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Raise ValueError if nothing could be made, or a clause would have no end."""
        if not self.close or not self.close[-1]:
            raise ValueError("close: expected probabilities, the last one greater than 0")
        if self.variables[0] < 1 or self.ratio[0] < 0:
            raise ValueError("variables: expected at least one variable, and a ratio of at least 0")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a generator's phase.

    - `action`: `call`, or `options` or `clauses`, which set options and add
      clauses as the option and data models say, or `group`: one call of a group for each
      literal of a random clause, and one that ends the group.
    - `calls`: names and weights of the calls, one of which is made.
    - `probability`: of taking the step; `again`: of repeating it each time.
    - `times`: how often it is taken, between these two expressions.
    - `share`: taken for a share between these two of the variables for which
      `where` holds (all without it), each once, in random order.
    - `where`: a condition on the variable `v` that literals are chosen by;
      `upto`: an expression for the greatest variable, known or not, that they
      are chosen from, signs at random.
    - `same`: takes the arguments of the step before.
    - `arguments`: ranges of numeric arguments by name; `words`: choices for the others.
    """

    action: Action
    calls: tuple[tuple[str, int], ...] = ()
    probability: Fraction = Fraction(1)
    again: Fraction = Fraction(0)
    times: tuple[Code, Code] | None = None
    share: tuple[Fraction, Fraction] | None = None
    where: Rule | None = None
    upto: Code | None = None
    same: bool = False
    arguments: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def only(self, names: Container[str]) -> Step | None:
        """Return the step without other calls than these; None if there is none left."""
        if not self.calls:
            return self
        calls = tuple((name, weight) for name, weight in self.calls if name in names)
        return replace(self, calls=calls) if calls else None


@dataclass(frozen=True, slots=True)
class Next:
    """Where a phase leads to: the first one for which `when` holds and the dice fall so."""

    phase: str
    probability: Fraction = Fraction(1)
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
        """Raise ValueError for what nothing fits."""
        if self.signal is not None and self.signal not in Signals.__members__:
            raise ValueError(f"signal: expected a signal such as SIGABRT, found {self.signal!r}")
        for key in ("stderr", "stdout"):
            try:
                re.compile(getattr(self, key) or "")
            except re.error as error:
                raise ValueError(f"{key}: expected a regular expression ({error})") from None
        if (self.exit, self.signal, self.stderr, self.stdout) == (None,) * 4:
            raise ValueError("expected some of exit, signal, stderr, stdout")


@dataclass(frozen=True, slots=True)
class Model:
    """A model; immutable.

    `states` are the names of the states, state k being bit k of a mask; `sets`
    also has the sets of states, by mask. `variables` are counters and flags by
    name, `live` the slots that count the handles of each handle type.
    `classify` are the outcomes in order, each with its signs.
    """

    name: str
    title: str
    formats: tuple[str, ...]
    types: Mapping[str, Type]
    states: tuple[str, ...]
    initial: int
    final: int
    sets: Mapping[str, int]
    variables: Mapping[str, Variable]
    live: Mapping[str, int]
    calls: Mapping[str, CallModel]
    options: OptionModel
    data: DataModel | None
    phases: Mapping[str, Phase]
    classify: tuple[tuple[str, tuple[Sign, ...]], ...]
    hooks: Mapping[str, Callable[..., int]]
