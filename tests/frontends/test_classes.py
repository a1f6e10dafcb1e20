"""Unification: what has to be the same, what is frozen, and what a pattern becomes."""

import pytest

from reducekit.frontends.classes import Classes, Pattern


def test_equal_places_are_one_class_and_change_together() -> None:
    classes = Classes()
    one, other, index = (classes.variable(value) for value in (8, 8, 4))
    classes.unify(("Array", index, one), ("Array", index, other))
    assert classes.find(one) == classes.find(other) != classes.find(index)
    number = classes.find(one)
    assert classes.instance(("Array", index, other), number, 1) == ("Array", 4, 1)
    assert classes.largest([one, other, index]) == [number, classes.find(index)]


@pytest.mark.parametrize(
    ("fixed", "loose", "frozen"),
    [
        ("Bool", False, True),
        ("Bool", True, False),
        (("Set", "Int"), True, True),
        ((("FloatingPoint", 8, 24),), True, True),
    ],
)
def test_what_equals_something_fixed_is_frozen(fixed: Pattern, loose: bool, frozen: bool) -> None:
    classes = Classes(loose=loose)
    pattern = ("BitVec", classes.variable(8))
    classes.unify(pattern, fixed)
    assert (classes.largest([pattern]) == []) == frozen


def test_variables_of_other_values_cannot_be_joined() -> None:
    classes = Classes()
    one, other = classes.variable(8), classes.variable(9)
    classes.unify(one, other)
    assert classes.largest([one, other]) == []


def test_a_constructor_without_arguments_is_its_name() -> None:
    assert Classes().instance(("Set", (("FloatingPoint", 8, 24),))) == (
        "Set",
        ("FloatingPoint", 8, 24),
    )


def test_a_deep_pattern_takes_no_recursion() -> None:
    classes = Classes()
    one: Pattern = classes.variable(1)
    other: Pattern = classes.variable(1)
    for _ in range(100_000):
        one, other = ("Set", one), ("Set", other)
    classes.unify(one, other)
    assert classes.find(0) == classes.find(1)
