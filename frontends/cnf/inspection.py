"""What a file of clauses is made of, for `show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reducekit.frontends.cnf.reader import View, problems
from reducekit.offers import Inspection


def inspect(text: bytes, notation: str | None) -> Inspection:
    """Look into a file. Raises ParseError."""
    view = View(text)
    return Inspection(lambda: _lines(view))


def _lines(view: View) -> Iterator[str]:
    yield (
        f"{view.format}: {view.clauses:,} clauses, {len(view.literals):,} literals, "
        f"{len(view.variables):,} variables"
    )
    sizes = Counter(
        view.first[at + 1] - view.first[at] for at in range(len(view)) if view.counts(at)
    )
    if sizes:
        yield "clauses by length: " + ", ".join(f"{n}: {sizes[n]:,}" for n in sorted(sizes))
    prefixes = Counter(view.prefixes)
    for prefix, what in ((b"h", "hard clauses"), (b"a", "lines with a"), (b"e", "lines with e")):
        if prefixes[prefix]:
            yield f"{what}: {prefixes[prefix]:,}"
    used = set(view.literals)
    pure = sum(-each not in used for each in used)
    if pure:
        yield f"variables of one sign only: {pure:,}"
    parts = _components(view)
    if len(parts) > 1:
        yield f"independent parts: {len(parts):,}; variables of the largest: {max(parts):,}"
    yield from problems(view)


def _components(view: View) -> list[int]:
    """Return the number of variables of each part that shares none with the others."""
    parent: dict[int, int] = {each: each for each in view.variables}

    def top(variable: int) -> int:
        while parent[variable] != variable:
            parent[variable] = variable = parent[parent[variable]]
        return variable

    for at in range(len(view)):
        literals = view.literals[view.first[at] : view.first[at + 1]]
        if view.counts(at) and literals:
            first = top(abs(literals[0]))
            for each in literals[1:]:
                parent[top(abs(each))] = first
    return list(Counter(map(top, view.variables)).values())
