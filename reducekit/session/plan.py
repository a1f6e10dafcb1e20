"""Descriptions of the passes of a reduction."""

from __future__ import annotations

from reducekit import registry
from reducekit.passes import Pass, help_of
from reducekit.reduction import STAGES


def described(name: str, strategy: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the stages of a format's schedule: in words, with their passes and what those do.

    A pass that occurs several times in a stage is listed once. Raises UsageError for unknown names.
    """
    schedule = registry.frontend(name).schedule(registry.strategy(strategy).passes)
    rows = []
    for stage, words in STAGES.items():
        passes = {each.name: _what(each) for each in getattr(schedule, stage)}
        if passes:
            rows.append((words, list(passes.items())))
    return rows


def _what(each: Pass) -> str:
    """Return the first sentence of a pass's description."""
    said = help_of(each)
    first = " ".join(said.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    return first.removeprefix("The pass ").removeprefix("A pass ").removeprefix("that ")
