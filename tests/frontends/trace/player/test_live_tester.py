"""LiveTester: traces that are made and played, and their answers checked."""

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import find_library
from reducekit.frontends.trace.player.answers import rounds_of
from reducekit.frontends.trace.player.live_tester import LiveTester
from reducekit.frontends.trace.player.target import fitted

OTHER = "cadical153"


@pytest.mark.parametrize("api", ["lingeling", "cadical", "ipasir"])
def test_answers_of_a_sound_library_are_right(api: str) -> None:
    library, reference = find_library(api), find_library("ipasir", OTHER)
    generator = Generator(fitted(load_model(api), library), variables=40)
    answers = set()
    with LiveTester(generator, library, reference=reference) as trials:
        for seed in range(30):
            trial = trials.run(seed)
            assert (trial.outcome.kind, trial.checked, trial.wrong) == ("ok", True, None)
            rounds = rounds_of(trial.made.calls, trial.outcome.results, api)[1]
            answers |= {each.answer for each in rounds}
    assert answers == {10, 20}


def test_the_same_seeds_give_the_same_bytes() -> None:
    """Whatever was made before, in another process that plays, and with answers checked or not."""
    generator, library = Generator(load_model("lingeling")), find_library("lingeling")
    made = []
    for seeds, reference in (((5, 1, 2), None), ((2, 5, 1), find_library("ipasir", OTHER))):
        with LiveTester(generator, library, reference=reference) as trials:
            found = {seed: trials.run(seed) for seed in seeds}
        assert {each.checked for each in found.values()} == {reference is not None}
        made.append(
            {seed: print_trace(each.made.recorded(), "lgl") for seed, each in found.items()}
        )
    assert made[0] == made[1]
    assert len(set(made[0].values())) == 3
