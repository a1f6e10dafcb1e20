"""Passes on a script as a graph of terms, which shares equal ones unless only the text fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reducekit.change import Change
from reducekit.format import pass_
from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import LATE, Closing
from reducekit.frontends.smt2.graph.descent import Descent, Place, start
from reducekit.frontends.smt2.graph.functions import has_definitions, named_terms
from reducekit.frontends.smt2.graph.listing import Listing, list_commands
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.printing import Style, Unprintable
from reducekit.frontends.smt2.graph.site import Material, Site
from reducekit.frontends.smt2.language.commands import tokens_of
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.spelling import tidy
from reducekit.search.problem import FixedSearch, Problem, Search

_TRIES, _FEW_TRIES = 20, 3
"""If the printed graph itself does not fail, the search gives up after `_TRIES` candidates; on a
graph of `_LARGE` nodes or more, which takes long to print, after `_FEW_TRIES`."""
_IN_VAIN = 1 << 20
"""Bytes of candidates that are not smaller than the script, after which the search over a graph
whose text is larger gives up. Printing them takes 0.2 s. Without this limit, the graph of
cvc5's fuzz25.smtv1.smt2 (16 KB) prints 2,500 candidates for 40 checks."""
_LARGE = 5000
_MOST_NAMED = 1 << 15
"""In scripts with more nodes, terms named by `define-fun` are not expanded: the resulting single
term takes seconds to print."""
_MOST = 1 << 17
"""Scripts with more nodes are searched in grains: building and printing a graph of all their terms
takes seconds for each candidate."""
_GRAINS, _FINE = 500, 16_000
"""Into how many parts a script is divided, if it is larger or its lets have to stay: at first, and
when nothing else helps. With 500, a candidate takes some 10 ms, whatever the size of the script."""

IN_PLACE = "named terms in place"
"""The style in which terms named by `define-fun` are expanded, if that makes the script smaller."""


@dataclass(frozen=True, slots=True)
class Entry(Search):
    """Finds a style of printing in which the script still fails, and then starts the descent.

    `styles` are the styles to try, with the printed script: those that make the text smaller,
    and last one that does not. If only that one fails, the descent still starts from it, but the
    best text does not change until something smaller is found. If none fails, the descent starts
    from `last`; if the script already has that style (`proved`), no check is needed.
    """

    material: Material
    view: ScriptView
    styles: Sequence[Printed]
    last: Printed
    proved: bool

    def propose(self) -> Change | None:
        printed = self.styles[0]
        change = printed.listing.change(_different(printed, self.view), printed.what)
        return change._replace(probe=not is_smaller(printed.text, self.view.document.text))

    def after(self, ok: bool) -> Search:
        """Start the descent with the first style that fails."""
        if not ok and len(self.styles) > 1:
            return replace(self, styles=self.styles[1:])
        if not ok:
            return self.without_style()
        printed = self.styles[0]
        if is_smaller(printed.text, self.view.document.text):
            return self._descent(printed, ())
        search = self._descent(printed, _different(printed, self.view))
        return Doubtful(search, self.view, _IN_VAIN, proved=True)

    def without_style(self) -> Search:
        """Start the descent although no style was found that fails."""
        search = self._descent(self.last, _different(self.last, self.view))
        if self.proved:
            return Doubtful(search, self.view, _IN_VAIN, proved=True)
        # The failure is in a let that the body does not use: dissolved, nothing is left to search.
        if search.propose() is None:
            return _as_written(self.view) or search
        tries = _TRIES if len(self.last.graph.shape) < _LARGE else _FEW_TRIES
        return Doubtful(search, self.view, tries, proved=False)

    def _descent(self, printed: Printed, different: Iterable[int]) -> Descent:
        graph = printed.graph
        place = Place(printed.style, styled=Analysis(graph).total)
        if printed.style is not Style.AS_INPUT:
            graph = replace(graph, bound=frozenset())
        return start(graph, self.material, place, printed.listing, different)


@dataclass(frozen=True, slots=True)
class Doubtful(Search):
    """The search over a graph that may not fail in any style, or whose text may be larger.

    A smaller graph may fail: after the first success this is an ordinary search. Without one, it
    gives up when nothing is `left`, and searches the graph with the lets of the script.
    """

    search: Descent
    view: ScriptView
    left: int
    """How many candidates to try, or, of a graph that fails (`proved`), how many bytes to print
    that are not smaller than the document."""
    proved: bool

    def propose(self) -> Change | None:
        return self.search.propose()

    def after(self, ok: bool) -> Search:
        """Continue with the graph after a success, with the script's lets after many failures."""
        search = self.search.after(ok)
        if ok:
            return search
        if self.proved:
            _, listing = search.current()
            text = b"" if listing is None else listing.whole()
            cost = 0 if is_smaller(text, self.view.document.text) else len(text)
        else:
            cost = 1 if search.propose() is not None else self.left
        if not cost or self.left > cost:
            return replace(self, search=search, left=self.left - cost)
        return _as_written(self.view) or search


def _as_written(view: ScriptView, grains: int = _GRAINS) -> Search | None:
    """Return the search over a graph with the lets of the script, if it can be printed."""
    # A small script term by term: a candidate costs little there, and grains would only hide terms.
    if len(view.document) <= _LARGE:
        grains = 0
    graph = build(view, as_written=True, grains=grains)
    try:
        listing = list_commands(graph, Style.AS_INPUT)
    except Unprintable:
        return None
    printed = Printed(graph, Style.AS_INPUT, listing, b"", "")
    place = Place(Style.AS_INPUT, styled=0 if grains else Analysis(graph).total)
    return start(graph, Material(view), place, listing, _different(printed, view))


def _different(printed: Printed, view: ScriptView) -> list[int]:
    listing = printed.listing
    return [
        command
        for command, node in enumerate(listing.around.nodes)
        if listing.text(command) != view.document.source(node)
    ]


class Printed(NamedTuple):
    """A printed graph."""

    graph: Graph
    style: Style
    listing: Listing
    text: bytes
    what: str


def styles_of(graph: Graph, text: bytes) -> list[Printed]:
    """Return a graph in each style, up to the first that does not make the text smaller."""
    # From the most compact to that of the input. The first that is no smaller ends the list, as
    # later ones are mostly larger still; it is kept for a failure that needs it.
    found: list[Printed] = []
    for style in Style:
        try:
            listing = list_commands(graph, style)
        except Unprintable:
            continue
        found.append(Printed(graph, style, listing, listing.whole(), style.value))
        if not is_smaller(found[-1].text, text):
            break
    return found


def without_names(graph: Graph, material: Material, style: Style) -> tuple[Graph, Listing] | None:
    """Return the graph with the terms named by `define-fun` expanded, and its listing.

    None if there are none, or if the graph cannot be printed. This turns a chain of definitions,
    as hardware model checkers write it, into one term to search, in which removing a term also
    removes everything that only it uses.
    """
    if len(graph.shape) > _MOST_NAMED or not has_definitions(graph):
        return None
    # Hardware model checkers name each wire by a define-fun. Removing such a wire takes its name,
    # all uses, and all wires that only it uses: a closure over commands. In one term it is a hoist.
    replaced, gone = named_terms(Site(graph, material))
    if not replaced:
        return None
    # A removed command must not remain a root: it would be printed, with the expanded terms.
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
    """Return whether two scripts differ at most by a renaming."""
    # A bijection of tokens, in both directions: two names of the script must not become one.
    tokens, others = tokens_of(printed), tokens_of(text)
    if len(tokens) != len(others):
        return False
    names: dict[bytes, bytes] = {}
    back: dict[bytes, bytes] = {}
    return all(
        names.setdefault(one, other) == other and back.setdefault(other, one) == one
        for one, other in zip(tokens, others, strict=True)
    )


def is_smaller(printed: bytes, text: bytes) -> bool:
    """Return whether a script precedes another one in the order of texts."""
    return (len(printed), printed) < (len(text), text)


@pass_("graph")
def graph_pass(view: ScriptView) -> Problem | None:
    """Replaces and simplifies terms, on a graph that shares equal ones."""
    if len(view.document) > _MOST:
        return _fixed(_as_written(view))
    # The graph comes from the script with normal blanks: text between terms is part of a shape,
    # and two shapes that differ only in blanks would keep equal terms apart.
    text, tidied = view.document.text, tidy(view.document)
    laid_out = view if tidied == text else ScriptView(parse(tidied))  # nodes keep their numbers
    graph = build(laid_out)
    styles = styles_of(graph, text)
    if not styles:
        return _fixed(_as_written(view))
    # Printing from a graph changes the text even if no term changes. A failure may depend on
    # that: on the order in which a solver reads terms, on names, on sharing. So before anything
    # is removed, the styles are tried, the most compact first; the first that fails is where
    # the descent starts.
    last = styles[-1]
    proved = _is_as(last.text, text)
    tried = styles[:-1] if proved and not is_smaller(last.text, text) else styles
    material = Material(laid_out)
    style = Style.SHORTEST
    found = without_names(graph, material, style)
    if found is not None and is_smaller(whole := found[1].whole(), text):
        tried = [Printed(found[0], style, found[1], whole, IN_PLACE), *tried]
    entry = Entry(material, view, tried, last, proved)
    return FixedSearch(entry if tried else entry.without_style())


@pass_("fine graph")
def fine_graph(view: ScriptView) -> Problem | None:
    """Searches a large script in finer grains, when nothing else makes it smaller."""
    # 32 times as many grains as at first (`_GRAINS`), and up to as many times the cost of a
    # candidate: only where the coarse search and all other passes have come to their end.
    if len(view.document) <= _LARGE or as_printed(view, _MOST) is not None:
        return None
    return _fixed(_as_written(view, _FINE))


def _fixed(search: Search | None) -> FixedSearch | None:
    return None if search is None else FixedSearch(search)


@pass_("sorts")
def resorted(view: ScriptView) -> Problem | None:
    """Changes the sort of all terms that must have the same one, together."""
    return closing_moves(view, LATE)


def closing_moves(view: ScriptView, moves: Sequence[tuple[str, Closing]]) -> Problem | None:
    """Return the search for these moves only; None for large scripts and other styles."""
    found = as_printed(view, _LARGE)
    if found is None:
        return None
    graph, printed = found
    place = Place(printed.style, only=moves)
    return FixedSearch(start(graph, Material(view), place, printed.listing))


def as_printed(view: ScriptView, most: int) -> tuple[Graph, Printed] | None:
    """Return the graph of a script, and the style that prints it like the script.

    None if no style does, or for a script of more than `most` nodes.
    """
    if len(view.document) > most:
        return None
    graph, text = build(view), view.document.text
    for printed in styles_of(graph, text):
        if _is_as(printed.text, text):
            return graph, printed
    return None
