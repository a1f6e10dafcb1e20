"""The tables of a model file, as they are written; `loader` makes a model of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from msgspec import Meta, field

from reducekit.frontends.trace.model.definition import (
    Action,
    DataModel,
    OptionModel,
    Positive,
    Role,
    Sign,
    TypeKind,
)
from reducekit.frontends.trace.model.structure import Range, Section, Words

Named = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z")]
CallName = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_.:-]*\Z")]


class ApiTable(Section, frozen=True):
    """Which API a model is of."""

    name: str
    title: str = ""
    formats: Words = Words(("words",))
    hooks: str = ""
    extends: str = ""  # was taken care of before
    without: Words = Words()


class TypeTable(Section, frozen=True):
    """What an argument may be."""

    kind: TypeKind
    min: int | None = None
    max: int | None = None
    zero: bool = False
    values: Words = Words()
    negation: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a choice of nothing."""
        if self.kind == "choice" and not self.values:
            raise ValueError("values: expected the words that may be chosen from")


class StatesTable(Section, frozen=True):
    """The states and sets of states."""

    names: Words
    initial: Words
    sets: dict[Named, Words] = field(default_factory=dict)
    final: Words | None = None


class CounterTable(Section, frozen=True):
    """A counter."""

    per: str = ""
    initial: int = 0


class FlagTable(Section, frozen=True):
    """A flag."""

    per: str = ""
    initial: bool = False


class CallTable(Section, frozen=True):
    """A call."""

    args: Words = Words()
    # `from` is a keyword of Python; by default, the call is allowed in the set `live`.
    source: Words | None = field(name="from", default=None)
    to: Words | None = None
    result: str | dict[str, Words] | None = None
    requires: Any = ()
    careful: Any = ()
    effects: Words = Words()
    role: Role = "other"
    group: str = ""
    end: str | None = None
    pair: str = ""
    produces: str = ""
    releases: Words = Words()
    rejected: str = ""
    smt: str = ""
    means: str = ""
    c: str = ""


class StepTable(Section, frozen=True):
    """A step of a phase."""

    action: Action = "call"
    call: str | dict[str, Positive] = ""
    probability: Fraction = Fraction(1)
    again: Fraction = Fraction(0)
    # A number or an expression, once or as [least, most].
    times: int | str | tuple[int | str, int | str] | None = None
    share: tuple[Fraction, Fraction] | None = None
    where: str | None = None
    upto: int | str | None = None
    same: bool = False
    arguments: dict[Named, Range] = field(default_factory=dict)
    words: dict[Named, Words] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for a step that makes nothing, or that has no end."""
        if (self.action in ("call", "group")) != bool(self.call):
            raise ValueError("call: expected the name of a call, or names with weights")
        if self.again == 1:
            raise ValueError("again: expected a probability below 1, for the generator has to end")


class NextTable(Section, frozen=True):
    """What may follow a phase."""

    to: str
    probability: Fraction = Fraction(1)
    when: str | None = None


class PhaseTable(Section, frozen=True):
    """A state of the generator."""

    steps: tuple[StepTable, ...] = ()
    next: tuple[NextTable, ...] = ()


class ContentTable(Section, frozen=True):
    """A model file."""

    api: ApiTable
    types: dict[Named, TypeTable] = field(default_factory=dict)
    states: StatesTable | None = None
    counters: dict[Named, CounterTable] = field(default_factory=dict)
    flags: dict[Named, FlagTable] = field(default_factory=dict)
    calls: dict[CallName, CallTable] = field(default_factory=dict)
    families: tuple[Any, ...] = ()  # each is among the calls by now
    options: OptionModel | None = None
    data: DataModel | None = None
    generate: dict[Named, PhaseTable] = field(default_factory=dict)
    classify: dict[Named, tuple[Sign, ...]] = field(default_factory=dict)
