"""Sort rules: how the sort of an application follows from the sorts of its arguments.

A rule takes the list of the arguments' sorts, None where one is unknown, and returns the sort of
the application; None if it is unknown or the arguments do not fit. Arguments of unknown sort are
assumed to fit: `(and x y)` is Bool whatever x is. A rule never raises and does not change the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import maxsize
from typing import TypeAlias

from reducekit.frontends.smt2.language.sorts import (
    Sort,
    compound,
    is_open,
    match,
    substitute,
    variables,
)

Sorts: TypeAlias = "list[Sort | None]"
Rule: TypeAlias = "Callable[[Sorts], Sort | None]"

SETS = ("Set", "FiniteSet")
"""The sorts of sets: cvc5's, which is an array of Bool in Z3, and the finite sets of Z3."""


def join(first: Sort | None, second: Sort | None) -> tuple[bool, Sort | None]:
    """Return whether two terms can be the sides of an equality, and their common sort.

    Int and Real mix (theory Reals_Ints); a lambda is an array to one solver
    and a function to another.
    """
    if first == second or not second:  # a parameter whose sort is not known has the sort ""
        return True, first
    if not first:
        return True, second
    if isinstance(first, str) and isinstance(second, str):
        return (True, "Real") if {first, second} == {"Int", "Real"} else (False, None)
    if first[0] in ("Array", "->") and second[0] in ("Array", "->") and first[1:] == second[1:]:
        return True, first
    if first[0] in SETS and second[0] in SETS and first[1:] == second[1:]:
        return True, first  # Z3 makes both kinds of sets with the same operators
    if ("Set", *second[1:-1]) == first and second[-1] == "Bool":
        return True, first  # a set is an array of Bool in Z3
    if ("Set", *first[1:-1]) == second and first[-1] == "Bool":
        return True, second
    return False, None


def common(sorts: Sorts) -> tuple[bool, Sort | None]:
    """Join the sorts of a non-empty list."""
    result = sorts[0]
    if sorts.count(result) == len(sorts):
        return True, result
    for sort in sorts:
        fits, result = join(result, sort)
        if not fits:
            return False, None
    return True, result


def unknown(_: Sorts) -> Sort | None:
    """Return None: the rule of operators without a rule."""
    return None


def tested(sorts: Sorts) -> Sort | None:
    """Type the test of a datatype's value: (is-c t), ((_ is c) t)."""
    return "Bool" if len(sorts) == 1 else None


def every(argument: Sort, result: Sort, least: int = 1) -> Rule:
    """Make the rule of an operator with any number of arguments, at least `least`, of one sort."""
    mixed = argument == "Real"  # with Ints

    def rule(sorts: Sorts) -> Sort | None:
        count = len(sorts)
        if count < least:
            return None
        if sorts.count(argument) == count:
            return result
        known = sorts.count(argument) + sorts.count(None)
        return result if known + (sorts.count("Int") if mixed else 0) == count else None

    return rule


def alike(lead: Sort | None, pattern: Sort, result: Sort, least: int, most: int) -> Rule:
    """Make the rule of an operator whose arguments have one sort, which fits a pattern.

    If the result is the pattern, it has that sort, too. An argument of the sort `lead` comes first.
    """
    head = pattern[0] if isinstance(pattern, tuple) else ""
    returned = result == pattern

    def rule(sorts: Sorts) -> Sort | None:
        if lead is not None:
            if sorts and sorts[0] != lead and sorts[0] is not None:
                return None
            sorts = sorts[1:]
        count = len(sorts)
        if count < least or count > most:
            return None
        sort = sorts[0]
        if sort is None or sorts.count(sort) != count:
            fits, sort = common(sorts)
            if not fits:
                return None
            if sort is None:
                return None if returned else result
        if head and (sort.__class__ is not tuple or sort[0] != head) and not _like(head, sort):
            return None
        return sort if returned else result

    return rule


def _like(head: object, sort: Sort) -> bool:
    """Return whether a sort is one by another name: arrays of Bool are sets, strings sequences."""
    if head == "Set":
        return isinstance(sort, tuple) and (sort[0] in SETS or sort[-1] == "Bool")
    return head == "Seq" and sort == "String"


def ranked(
    parameters: tuple[Sort, ...], result: Sort, optional: int = 0, repeats: bool = False
) -> Rule:
    """Make the rule of an operator of a rank, as the table has it (`operators.Signature`)."""
    count, last = len(parameters), parameters[-1]
    if repeats and not is_open(last):
        return every(last, result, count - optional)
    start = count - 1
    while start and parameters[start - 1] == last:
        start -= 1
    known = result == last or not is_open(result)
    several = repeats or start < count - 1 or result == last
    if is_open(last) and known and several and start < 2 and not is_open(parameters[:start]):
        least = count - optional - start
        most = maxsize if repeats else least
        return alike(parameters[0] if start else None, last, result, least, most)
    full = function(parameters, result)
    if not optional:
        return full
    short = function(parameters[:-1], result)
    return lambda sorts: short(sorts) if len(sorts) < count else full(sorts)


def first_of(rules: Sequence[Rule]) -> Rule:
    """Make the rule of an operator of several ranks: unknown where an unknown sort decides."""
    if len(rules) == 1:
        return rules[0]

    def rule(sorts: Sorts) -> Sort | None:
        if None in sorts:
            found = {each(sorts) for each in rules} - {None}
            return found.pop() if len(found) == 1 else None
        for each in rules:
            result = each(sorts)
            if result is not None:
                return result
        return None

    return rule


def function(parameters: tuple[Sort, ...], result: Sort | None, partial: bool = False) -> Rule:
    """Make the rule of a function of this rank, which may hold sort variables.

    If `partial`, fewer arguments than parameters give a function, and more
    are given to the result (higher-order logic).
    """
    expected: Sorts = list(parameters)
    if is_open(parameters) or is_open(result):
        return _polymorphic(parameters, result)

    def rule(sorts: Sorts) -> Sort | None:
        if sorts == expected:
            return result
        count = len(sorts)
        if count != len(expected) and not (partial and count):
            return None
        if count > len(expected):
            return apply_value([result, *sorts[len(expected) :]])
        for sort, parameter in zip(sorts, expected, strict=False):
            if (
                sort != parameter
                and parameter is not None
                and not (parameter == "Real" and sort == "Int")
                and not join(parameter, sort)[0]
            ):
                return None
        return result if count == len(expected) else compound("->", *expected[count:], result)

    return rule


def _polymorphic(parameters: tuple[Sort, ...], result: Sort | None) -> Rule:
    needed = variables(result)

    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) != len(parameters) or result is None:
            return None
        bindings: dict[str, Sort | int] = {}
        for parameter, sort in zip(parameters, sorts, strict=True):
            if sort is not None and not match(parameter, sort, bindings):
                return None
        return substitute(result, bindings) if needed <= bindings.keys() else None

    return rule


def apply_value(sorts: Sorts) -> Sort | None:
    """Apply the first to the others: an array in Z3 `(a i)`, a function `(f x)`, `(@ f x)`."""
    head = sorts[0] if sorts else None
    if not isinstance(head, tuple):
        return None
    given = len(sorts) - 1
    if head[0] == "Array" and given == len(head) - 2:
        return head[-1]  # type: ignore[return-value]  # arrays hold sorts
    if head[0] == "Set" and given == 1:
        return "Bool"
    if head[0] == "->" and 0 < given < len(head) - 1:
        if given == len(head) - 2:
            return head[-1]  # type: ignore[return-value]
        return ("->", *head[given + 1 :])
    return None
