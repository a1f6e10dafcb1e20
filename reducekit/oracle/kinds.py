"""The kinds of failure that can be kept: one class each, and the options that ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from reducekit.errors import UsageError
from reducekit.oracle.cost import Costly
from reducekit.oracle.criterion import Kind
from reducekit.oracle.disagreement import Disagreement
from reducekit.oracle.flips import Unstable
from reducekit.oracle.own import Own
from reducekit.oracle.printed import Pattern, Predicate, Test, WrongModel
from reducekit.oracle.slow import Slow

KINDS: tuple[type[Kind], ...] = (
    Test,
    Predicate,
    Disagreement,
    WrongModel,
    Slow,
    Costly,
    Unstable,
    Pattern,
    Own,
)


def kind_of(given: Mapping[str, Any], kinds: Iterable[type[Kind]] = KINDS) -> Kind:
    """Return the kind that the given options ask for: those whose value is not the default.

    Raises UsageError where no kind has them all, or where what asks for their kind is missing.
    """
    names = {kind: {each.name for each in fields(kind)} for kind in kinds}
    chosen = [name for name in given if any(name in own for own in names.values())]
    for kind, own in names.items():
        if own.issuperset(chosen) and not set(kind.asked_by).isdisjoint(chosen):
            return kind(**{name: given[name] for name in chosen})
    raise UsageError(_contradiction(chosen, names))


def _contradiction(chosen: Sequence[str], names: Mapping[type[Kind], set[str]]) -> str:
    """Return the error for options that no kind of failure combines."""
    for at, one in enumerate(chosen):
        for other in chosen[:at]:
            if not any({one, other} <= own for own in names.values()):
                return f"`{other}` and `{one}` are mutually exclusive: give one"
    kind = next((kind for kind, own in names.items() if own.issuperset(chosen)), None)
    if kind is None:
        return f"{', '.join(f'`{each}`' for each in chosen)} are mutually exclusive: give fewer"
    needless = next(each for each in reversed(chosen))
    return f"`{needless}` requires {' or '.join(f'`{each}`' for each in kind.asked_by)}"
