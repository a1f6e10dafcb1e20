"""Mutants of any text: parts of its tree dropped, repeated, swapped, or put in place of others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from reducekit.change import Template
from reducekit.errors import UsageError
from reducekit.frontends import mutation
from reducekit.frontends.text.passes import Elements
from reducekit.frontends.text.tree import Kind
from reducekit.frontends.text.view import TextView
from reducekit.offers import Generated, Generation, InputGenerator, words_of

_OPTIONS = mutation.OPTIONS[:1]
_FIXED = frozenset((Kind.COMMENT, Kind.OPEN, Kind.CLOSE, Kind.SEPARATOR))
_MORE = 0.5  # how often another change follows


class Seed(NamedTuple):
    """A text, and lists of nodes that can stand in each other's place."""

    view: TextView
    alike: Mapping[Hashable, Sequence[int]]


def seed_of(view: TextView) -> Seed | None:
    """Return a text as a seed; None if nothing of it can be changed."""
    text = view.document.text
    document, kind, alike = view.document, view.kind, dict[Hashable, list[int]]()
    for node in range(1, len(kind)):
        if kind[node] not in _FIXED:
            # What is next to a node tells statements from arguments, and types from names.
            after = document.stop[node] % len(kind)
            rule = text[document.start[node]] if kind[node] == Kind.GROUP else view.rule[node]
            inside = view.is_round(document.parent[node])
            key = kind[node], rule, kind[node - 1], kind[after], inside, view.is_round(after)
            alike.setdefault(key, []).append(node)
    return Seed(view, alike) if alike else None


def changed(dice: Random, seed: Seed, other: Seed | None) -> bytes | None:
    """Return a changed seed, perhaps with parts of another one; None if it is one of them."""
    edits: dict[int, Template] = {}
    while not edits or dice.random() < _MORE:
        edits |= _change(dice, seed, other or seed)
    text = seed.view.document.render(edits)
    return None if text in (each and each.view.document.text for each in (seed, other)) else text


def _change(dice: Random, seed: Seed, other: Seed) -> Mapping[int, Template]:
    """Return the edits of one change."""
    view, document = seed.view, seed.view.document
    key = dice.choice([*seed.alike])
    twins, others = seed.alike[key], other.alike.get(key)
    node, twin = dice.choice(twins), dice.choice(twins)
    above, last, source = document.parent[node], document.stop[node], document.source(node)
    beside = document.children(above) if view.kind[above] == Kind.GROUP else ()
    separator = next((document.source(e) for e in beside if view.kind[e] == Kind.SEPARATOR), b"")
    # Half of an expression is not one: only items, and what separators set apart, come and go.
    way = dice.randrange(4 if separator or view.kind[node] == Kind.ITEM else 2)
    if way == 3:
        elements = Elements(view, above)
        gone = frozenset((elements.elements.index(node),))
        return dict(elements.change(gone, frozenset()).edits)
    if way == 2:
        margin = document.text[: document.start[node]].rpartition(b"\n")[2]
        return {node: (source, separator, b" " if margin.strip() else b"\n" + margin, source)}
    if way == 1 and (last <= twin or document.stop[twin] <= node):
        return {node: (document.source(twin),), twin: (source,)}
    within = [each for each in twins if node < each < last]
    if within and way == 0:
        return {node: (dice.choice(within),)}
    new = other.view.document.source(dice.choice(others)) if others else document.source(twin)
    return {node: (new,)}


class MutantGenerator(InputGenerator):
    """Makes mutants of the files of a folder, those of the most frequent suffix."""

    well_formed, unruly = False, True

    def __init__(self, read: Callable[[bytes, str], TextView], values: Mapping[str, Any]) -> None:
        self._values = values
        if values["mutate"] is None:
            raise UsageError("`mutate` is missing: the file or folder of texts to change")
        self._mutants = mutation.Mutants(
            Path(values["mutate"]),
            None,
            "texts",
            lambda text: seed_of(read(text, self.suffix)),
            changed,
        )
        self.files = self._mutants.files
        self.suffix = self.files[0].suffix

    def generate(self, seed: int) -> Generated:
        """Make the mutant of a seed. Raises UsageError if no file can be changed."""
        return Generated(self._mutants.mutant(Random(f"mutant {seed}")))

    def words(self, seed: int) -> Sequence[str]:
        return ["--seed", str(seed), *words_of(_OPTIONS, self._values)]


def generation_of(read: Callable[[bytes, str], TextView]) -> Generation:
    """Return what makes mutants; `read` parses a text from a file of that suffix."""
    return Generation(
        lambda values: MutantGenerator(read, values),
        _OPTIONS,
        "Changes files of any language by their structure: parts are dropped, repeated, swapped, "
        "or put in place of others of their kind. Files of the most frequent suffix are changed.",
        asked_by=("mutate",),
        changes="mutate",
    )
