"""Strategies that are said to search a file as another one check the same texts as that one."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from reducekit import registry
from reducekit.executors.executor import InProcess
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.ui.catalogue import likenesses
from tests.strategies.test_everywhere import CASES, FRONTENDS, fresh


def alike(name: str) -> dict[str, str]:
    return dict(likenesses(fresh(name), CASES[name].text))


def checked(name: str, strategy: str) -> list[bytes]:
    """Return the texts that a reduction checks, in their order."""
    case, found = CASES[name], list[bytes]()

    def check(text: bytes) -> bool:
        found.append(text)
        return all(word in text for word in case.needed)

    reduction = Reduction(
        fresh(name), registry.strategy(strategy), InProcess(check), lambda seconds: Limits(), 1
    )
    reduction.run(case.text, 0.0)
    return found


class Known(NamedTuple):
    format: str
    strategies: tuple[str, ...]


@pytest.mark.parametrize(
    "known",
    [
        Known("btor", ("perses", "vulcan")),
        Known("cnf", ("combine", "hdd", "hdd*", "hdd+", "perses")),
        Known("text", ("hdd",)),
        Known("trace", ("hdd",)),
    ],
    ids=lambda known: known.format,
)
def test_who_has_no_idea_of_its_own_for_a_format_is_ddmin(known: Known) -> None:
    found = {name for name, other in alike(known.format).items() if other == "ddmin"}
    assert found == set(known.strategies)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_alike_is_who_checks_the_same_texts(frontend: str) -> None:
    found = alike(frontend)
    assert registry.DEFAULT not in found
    for strategy, other in found.items():
        assert checked(frontend, strategy) == checked(frontend, other), strategy


def test_who_has_an_idea_of_its_own_is_not_alike() -> None:
    assert not {"adaptive", "perses", "vulcan", "hdd", "bfs"} & alike("smt2").keys()
