"""The names of cases, the commands of their tests, and the settings of their formats."""

from pathlib import Path

import pytest

from reducekit.compare.sessions import combinations, filled, frontend_with, labels_of
from reducekit.errors import UsageError
from reducekit.frontends.btor import Btor
from reducekit.session import Failure


def test_labels() -> None:
    def labels(*names: str) -> list[str]:
        return labels_of([Path(name) for name in names])

    assert labels("a/x.btor", "b/y.btor") == ["x", "y"]
    assert labels("a/input.btor", "b/input.btor2") == ["a", "b"]
    assert labels("a/x.btor", "b/x.btor") == ["a", "b"]
    assert labels("cases/ex1/input.btor") == ["ex1"]
    assert labels("a/x.btor", "a/x.smt2", "b/x.btor") == ["a/x.btor", "a/x.smt2", "b/x.btor"]
    with pytest.raises(UsageError):
        labels("a/x.btor", "a/x.btor")


def test_all_combinations_of_settings() -> None:
    """An option that the format lacks is left out."""
    both = ["simplify=on,off", "dialect=btor2"]
    assert combinations("btor", both) == [
        (("simplify", "on"), ("dialect", "btor2")),
        (("simplify", "off"), ("dialect", "btor2")),
    ]
    assert combinations("smt2", both) == [()]
    assert combinations("btor", []) == [()]


def test_a_setting_reaches_the_frontend() -> None:
    made = frontend_with("btor", (("simplify", "off"),))
    assert isinstance(made, Btor)
    assert not made.simplify


def test_the_places_of_a_command_are_filled_in() -> None:
    path = Path("a b/in.btor")
    line = filled(Failure(oracle="{dir}/{stem}.sh {}"), path)
    words = filled(Failure(command=["{dir}/{stem}.sh", "{}"], reference="x"), path)
    assert line.oracle == "'a b'/in.sh {}"
    assert words.command == ["a b/in.sh", "{}"]
    assert words.reference == "x"
