"""The pass over a script as a graph of terms, and over terms as written where the graph fails."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reducekit.change import Change
from reducekit.frontend import Pass
from reducekit.frontends.smt2.fingerprint import TOKEN
from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import LATE, RARE, Closing
from reducekit.frontends.smt2.graph.descent import Descent, Place, start
from reducekit.frontends.smt2.graph.functions import has_definitions, named_terms
from reducekit.frontends.smt2.graph.kicks import Ground, Kicking, Kicks
from reducekit.frontends.smt2.graph.listing import Listing, list_commands
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.moves import Material, Moves
from reducekit.frontends.smt2.graph.printing import Style, Unprintable
from reducekit.frontends.smt2.graph.restarts import Restart
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.passes.layout import tidy
from reducekit.frontends.smt2.passes.term_tree import TermPass
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import FixedSearch, Problem, Search
from reducekit.strategies.adaptive import adaptive

_TRIES, _FEW_TRIES = 20, 3
"""So many candidates are tried on a graph that does not show the failure itself; on one of more
than so many nodes only a few, since printing takes long."""
_LARGE = 5000
_MOST_KICKED = 2000
"""Scripts of more nodes are not kicked: most of what a random step does there is of no use."""
_MOST_NAMED = 1 << 15
"""Of scripts with more nodes, terms that `define-fun` names stay where they are: one term of all of
them takes seconds to print."""
_MOST = 1 << 17
"""Scripts of more nodes are searched as they are written: what takes most away from them needs no
graph, and reading and printing one takes seconds."""

IN_PLACE = "named terms in place"
"""The terms that `define-fun` names stand at their uses, where the script is smaller so."""


@dataclass(frozen=True, slots=True)
class Entry(Search):
    """The first steps: which way of printing still shows the failure. Then the descent begins.

    `styles` are the ways to try, with what they print: those that make the text
    smaller, and as the last one another that does not. If that holds, the descent
    goes on from there all the same, though the best text stays as it is until
    something smaller is found. If none holds, the descent goes on from `last`;
    if the text is printed like that already (`proved`), it needs no check.
    """

    material: Material
    view: ScriptView
    styles: Sequence[Printed]
    last: Printed
    proved: bool

    def propose(self) -> Change | None:
        """Return the script printed in the next style."""
        printed = self.styles[0]
        change = printed.listing.change(self._different(printed), printed.what)
        return replace(change, probe=not self._is_smaller(printed))

    def _is_smaller(self, printed: Printed) -> bool:
        return _is_smaller(printed.text, self.view.document.text)

    def after(self, ok: bool) -> Search:
        """Begin the descent with the style that holds."""
        if ok:
            printed = self.styles[0]
            kept = () if self._is_smaller(printed) else self._different(printed)
            return self._descent(printed, kept)
        if len(self.styles) > 1:
            return replace(self, styles=self.styles[1:])
        return self.without_style()

    def without_style(self) -> Search:
        """Begin the descent though no way of printing has been found to hold."""
        search = self._descent(self.last, self._different(self.last))
        tries = _TRIES if len(self.last.graph.shape) < _LARGE else _FEW_TRIES
        return search if self.proved else Unproved(search, self.view, tries)

    def _descent(self, printed: Printed, different: Iterable[int]) -> Descent:
        graph = printed.graph
        place = Place(printed.style, styled=Analysis(graph).total)
        if printed.style is not Style.AS_INPUT:
            graph = replace(graph, bound=frozenset())
        return start(graph, self.material, place, printed.listing, different)

    def _different(self, printed: Printed) -> list[int]:
        """Return the commands that the document shows in another way."""
        document, listing = self.view.document, printed.listing
        return [
            command
            for command, node in enumerate(listing.around.nodes)
            if listing.text(command) != document.source(node)
        ]


@dataclass(frozen=True, slots=True)
class Unproved(Search):
    """The search over a graph that may not show the failure itself, in any style.

    A part of it may: after the first success it is a search like any other.
    Otherwise the terms are searched as they are written.
    """

    search: Search
    view: ScriptView
    left: int

    def propose(self) -> Change | None:
        """Return the next candidate."""
        return self.search.propose()

    def after(self, ok: bool) -> Search:
        """Go on with the graph after a success, with the terms after too many failures."""
        search = self.search.after(ok)
        if ok:
            return search
        if self.left > 1 and search.propose() is not None:
            return Unproved(search, self.view, self.left - 1)
        tree = TermPass().problem(self.view)
        return search if tree is None else adaptive.start(tree)


class Printed(NamedTuple):
    """A graph in print."""

    graph: Graph
    style: Style
    listing: Listing
    text: bytes
    what: str


def styles_of(graph: Graph, text: bytes) -> list[Printed]:
    """Return the ways to print a graph, up to the first that does not make the text smaller."""
    found: list[Printed] = []
    for style in Style:
        try:
            listing = list_commands(graph, style)
        except Unprintable:
            continue
        found.append(Printed(graph, style, listing, listing.whole(), style.value))
        if not _is_smaller(found[-1].text, text):
            break
    return found


def _without_names(graph: Graph, material: Material, style: Style) -> tuple[Graph, Listing] | None:
    """Return the graph with the terms that `define-fun` names at their uses, and its listing.

    None where nothing is named, or it cannot be printed. The idea is that a chain of definitions,
    as hardware model checkers write it, is one term to search: what no longer counts in it goes
    with all that only it uses.
    """
    if len(graph.shape) > _MOST_NAMED or not has_definitions(graph):
        return None
    replaced, gone = named_terms(Moves(graph, material))
    if not replaced:
        return None
    # Each command that stays a root would be printed, with all that is below its name now.
    nothing = graph.add(graph.shapes.leaf(b""), (), None)
    roots = (nothing if at in gone else root for at, root in enumerate(graph.roots))
    graph = replace(graph, roots=tuple(roots)).rebuilt(replaced)
    try:
        listing = list_commands(graph, style)
    except Unprintable:
        return None
    commands = (None if at in gone else each for at, each in enumerate(listing.commands))
    return graph, replace(listing, commands=tuple(commands))


def _is_as(printed: bytes, text: bytes) -> bool:
    """Tell whether two scripts differ at most in the names of bound variables."""
    tokens, others = TOKEN.findall(printed), TOKEN.findall(text)
    if len(tokens) != len(others):
        return False
    names: dict[bytes, bytes] = {}
    back: dict[bytes, bytes] = {}
    return all(
        names.setdefault(one, other) == other and back.setdefault(other, one) == one
        for one, other in zip(tokens, others, strict=True)
    )


def _is_smaller(printed: bytes, text: bytes) -> bool:
    return (len(printed), printed) < (len(text), text)


def is_too_large(view: ScriptView) -> bool:
    """Tell whether a script has too many nodes to be read as a graph."""
    return len(view.document) > _MOST


class GraphPass:
    """The pass over all terms as one graph. It remembers the first script, for restarts."""

    name = "graph"

    def __init__(self) -> None:
        self.first: ScriptView | None = None

    def problem(self, view: ScriptView) -> Problem | None:
        """Return the search over the graph; of a script too large for one, over its terms."""
        if is_too_large(view):
            return TermPass().problem(view)
        laid_out, text = _laid_out(view), view.document.text
        graph = build(laid_out)
        if self.first is None and graph is not None:
            self.first = laid_out
        styles = [] if graph is None else styles_of(graph, text)
        if graph is None or not styles:
            return TermPass().problem(view)
        last = styles[-1]
        proved = _is_as(last.text, text)
        tried = styles[:-1] if proved and not _is_smaller(last.text, text) else styles
        material = Material(laid_out.terms)
        style = Style.SHORTEST
        found = _without_names(graph, material, style)
        if found is not None and _is_smaller(whole := found[1].whole(), text):
            tried = [Printed(found[0], style, found[1], whole, IN_PLACE), *tried]
        entry = Entry(material, view, tried, last, proved)
        return FixedSearch(entry if tried else entry.without_style())


def _laid_out(view: ScriptView) -> ScriptView:
    """Return a script with its blanks normalised: the same nodes, of which some are other text."""
    text = tidy(view.document)
    return view if text == view.document.text else ScriptView(parse(text))


class Kicked:
    """The pass of random steps beyond the local minimum, with thorough effort."""

    name = "kicks"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def problem(self, view: ScriptView) -> Problem | None:
        """Return the search; None for a script that is large, or not as a graph is printed."""
        if len(view.document) > _MOST_KICKED:
            return None
        found = _as_printed(view)
        if found is None:
            return None
        graph, printed = found
        size = len(printed.listing.whole())
        ground = Ground(graph, Material(view.terms), printed.listing, printed.style, size)
        return FixedSearch(Kicking(Kicks(ground, self.seed), size))


class Restarted:
    """The pass that starts again from the first graph in another order, with thorough effort."""

    def __init__(self, graph: GraphPass, number: int) -> None:
        self.name = f"restart {number}"
        self.graph = graph
        self.number = number

    def problem(self, view: ScriptView) -> Problem | None:
        """Return the search; None where the graph is not how the script is printed.

        Each new best script has a restart of its own.
        """
        first = self.graph.first
        found = _as_printed(view) if len(view.document) <= _MOST_KICKED else None
        graph = None if first is None or found is None else build(first)
        if first is None or found is None or graph is None:
            return None
        style = found[1].style
        if style is not Style.AS_INPUT:
            graph = replace(graph, bound=frozenset())
        material = Material(first.terms, crc32(view.document.text, self.number) | 1)
        best = Moves(found[0], Material(view.terms))
        in_place = None if named_terms(best)[0] else _without_names(graph, material, style)
        try:
            graph, listing = in_place or (graph, list_commands(graph, style))
        except Unprintable:
            return None
        place = Place(style, styled=Analysis(graph).total)
        return FixedSearch(Restart(start(graph, material, place, listing)))


@dataclass(frozen=True)
class _ClosingMoves:
    """A pass of closing moves and nothing else."""

    name: str
    moves: Sequence[tuple[str, Closing]]

    def problem(self, view: ScriptView) -> Problem | None:
        """Return the search; None for a script that is large, or not as a graph is printed."""
        found = _as_printed(view) if len(view.document) <= _LARGE else None
        if found is None:
            return None
        graph, printed = found
        place = Place(printed.style, only=self.moves)
        return FixedSearch(start(graph, Material(view.terms), place, printed.listing))


class Resorted(_ClosingMoves):
    """The pass that gives another sort to all terms that have to be of one sort together."""

    def __init__(self) -> None:
        super().__init__("sorts", LATE)


class Rare(_ClosingMoves):
    """The pass of moves that rarely help, with thorough effort."""

    def __init__(self) -> None:
        super().__init__("rare moves", RARE)


def _as_printed(view: ScriptView) -> tuple[Graph, Printed] | None:
    """Return the graph of a script with the way of printing that is that of the script."""
    graph = build(view)
    if graph is None:
        return None
    text = view.document.text
    for printed in styles_of(graph, text):
        if _is_as(printed.text, text):
            return graph, printed
    return None


@dataclass(frozen=True)
class AsWritten:
    """A pass over terms as they are written, for scripts that have to stay so.

    Elsewhere the moves on the graph include its changes.
    """

    inner: Pass

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self.inner.name

    def problem(self, view: ScriptView) -> Problem | None:
        """Return what there is to search; None where the text is how a graph is printed."""
        if not is_too_large(view) and _as_printed(view) is not None:
            return None
        return self.inner.problem(view)
