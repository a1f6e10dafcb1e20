"""Presets of the generators, which the page offers: each names options that there are."""

import pytest

from reducekit import registry
from reducekit.hunt.inputs import own_generation
from reducekit.offers import with_defaults

PRESETS = [
    (name, words)
    for name in registry.names(registry.FRONTENDS)
    if (generation := own_generation(name)) is not None
    for words in generation.presets
]


@pytest.mark.parametrize(("name", "words"), PRESETS)
def test_presets_can_be_generated(name: str, words: str) -> None:
    generation = own_generation(name)
    assert generation is not None
    preset = generation.presets[words]
    assert preset.keys() <= {each.name for each in generation.options}
    usual = with_defaults(generation.options, {})
    assert all(preset[each] != usual[each] for each in preset)
    with generation.make({**usual, **preset, "seed": 1}) as generator:
        assert generator.generate(1).text
