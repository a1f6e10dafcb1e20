"""What the passes of a reduction are called and do, in words."""

from __future__ import annotations

from reducekit import registry
from reducekit.passes import Pass, help_of
from reducekit.reduction import STAGES


def described(name: str, strategy: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the stages of a format's schedule in words, each with its passes and what they do.

    A pass that stands several times in a stage is named once. Raises UsageError for unknown names.
    """
    schedule = registry.frontend(name).schedule(registry.strategy(strategy).passes)
    rows = []
    for stage, words in STAGES.items():
        passes = {each.name: _what(each) for each in getattr(schedule, stage)}
        if passes:
            rows.append((words, list(passes.items())))
    return rows


def _what(each: Pass) -> str:
    """Return the first sentence of what a pass says of itself."""
    said = help_of(each)
    first = " ".join(said.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    return first.removeprefix("The pass ").removeprefix("A pass ").removeprefix("that ")
