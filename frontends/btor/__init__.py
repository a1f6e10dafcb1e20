"""The BTOR frontend: reads BTOR and BTOR2 files and says what may be changed in them.

`model` holds the graph of a file, the rules of all dialects, reader and writer. `generate`
makes random files, `convert` translates between dialects and SMT-LIB, `drawing` draws graphs.
`passes` are the changes a reduction tries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, total_ordering
from typing import Any

from reducekit.diagram import Diagram
from reducekit.errors import ReducekitError
from reducekit.format import FormatCheck, Pass, Schedule
from reducekit.frontends.btor.drawing.diagram import diagram
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView, view_of
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes import cuts, merges, spelling, transition_system, widths
from reducekit.frontends.btor.passes.cuts import FEW, Cut, References
from reducekit.frontends.btor.passes.line_graph import FRESH, SHARED, ZERO
from reducekit.frontends.btor.passes.node_removal import NodeRemoval
from reducekit.frontends.btor.passes.widths import Widths
from reducekit.frontends.btor.thesis_options import debugger_words
from reducekit.frontends.common import JudgesModels
from reducekit.offers import FormatOption
from reducekit.search.strategy import Passes

_LINE = re.compile(
    rb"^[1-9][0-9]* (?:sort|var|const[dh]?|array|input|state|zero|one) ", re.MULTILINE
)


_MANY = 5000
"""Of more lines the widths are not added up."""
_TWO_WIDTHS = frozenset({b"array", b"write", b"acond", b"anext", b"lambda"})


@total_ordering
class Size:
    """The size of a text: lines, then the sum of widths, then bytes.

    So no step adds a node, and none makes nodes wider without taking some away. Of a text
    with many lines the widths count as 0: two texts are only compared by their widths if
    they have the same number of lines. The widths of arrays are those of index and
    element together; of BTOR2 only those of the `sort` lines count.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.lines = text.count(b"\n")

    @cached_property
    def _rest(self) -> tuple[int, int]:
        widths = _widths(self.text) if self.lines <= _MANY else 0
        return widths, len(self.text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Size):
            return NotImplemented
        return self.lines == other.lines and self._rest == other._rest

    def __lt__(self, other: Size) -> bool:
        if self.lines != other.lines:
            return self.lines < other.lines
        return self._rest < other._rest

    def __hash__(self) -> int:
        return hash(self.lines)


def _widths(text: bytes) -> int:
    """Add up the widths in the headers of lines; other words count 0. Never fails."""
    total = 0
    for line in text.split(b"\n"):
        words = line.split(None, 5)
        if len(words) < 3:
            continue
        if words[1] == b"sort":
            found = words[3:4] if words[2] == b"bitvec" else []
        elif words[1] in _TWO_WIDTHS:
            found = words[2:4]
        else:
            found = words[2:3]
        total += sum(int(word) for word in found if word.isdigit() and len(word) < 12)
    return total


def thesis_schedule(*, simplify: bool) -> Schedule:
    """Return the one pass of the algorithms of the thesis, which runs once."""
    return Schedule(rounds=(), once=(cuts.Nodes(simplify=simplify),))


def own_schedule(*, simplify: bool) -> Schedule:
    """Return our passes, those first that take most away for the fewest checks.

    Short-cuts take away most of a graph in a few checks, and cuts to shared variables most of
    the rest. At width 1 sorts coincide, so widths are reduced before nodes are merged. Passes
    that only write the text in another way come before the rounds: after them, everything the
    rounds refuted would have to be refuted again for the new text. The same holds for node
    removal, whose candidates are whole texts. Operators are lowered once: of 1,200 such checks on
    smaller graphs 9 succeeded, and each success refutes the rounds again. The closing passes look
    for what all others miss.
    """
    everywhere, others = References(every=True), merges.Others(FEW)
    node_removal, transitions = NodeRemoval(FEW), transition_system.transitions
    unsigned = (merges.negations, merges.nots)
    rewriting = (spelling.literals, transition_system.symbols, spelling.spelling)
    once: tuple[Pass, ...] = (
        transition_system.options, cuts.cone, transition_system.properties, cuts.roots,
        transitions, cuts.short_cuts, widths.all_widths, Cut(SHARED, leaves=True), Widths(),
        merges.equal_nodes, everywhere, others,
        *unsigned, spelling.ranks, *rewriting, node_removal,
    )  # fmt: skip
    closing: tuple[Pass, ...] = (
        References(), Widths(), Widths("kept widths", keep=True),
        Cut(SHARED, leaves=True, last=True), Cut(FRESH, last=True), Cut(ZERO, last=True),
        transitions, transition_system.states, merges.leaves, merges.equal_nodes,
        transition_system.justice, merges.chains, *((spelling.simplified,) if simplify else ()),
        *unsigned, *rewriting, node_removal,
    )  # fmt: skip
    prepare = (spelling.next_last,)
    return Schedule(prepare=prepare, once=once, rounds=(everywhere, others), closing=closing)


class Btor(JudgesModels):
    """The frontend for BTOR and BTOR2 files.

    Without a dialect each file's own is detected. `simplify` says whether the algorithms of
    the thesis simplify each candidate; the default strategy does so as a step of its own.
    """

    name = "btor"
    title = "a BTOR or BTOR2 file"
    suffix = ".btor"
    suffixes = (".btor", ".btor2", ".btr")
    unit = "nodes"
    strict = True
    package = "reducekit.frontends.btor"
    generator, converter, inspector = "generate.generator", "convert.offer", "drawing.drawing"
    model_check = "reducekit.frontends.btor.model_check"
    options = (
        FormatOption(
            "dialect",
            "What INPUT is written in; default: detected.",
            kind="choice",
            choices=tuple(each.value for each in Dialect),
        ),
        FormatOption(
            "simplify",
            "Apply rules such as and(x, 0) = 0 to what has changed.",
            kind="flag",
            default=True,
        ),
    )

    def __init__(self, dialect: Dialect | str | None = None, *, simplify: bool = True) -> None:
        self.dialect = None if dialect is None else Dialect(dialect)
        self.simplify = simplify

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Look for a line that begins with a number and an operator."""
        return _LINE.search(text) is not None

    @classmethod
    def respelled(cls, words: Sequence[str]) -> Sequence[str]:
        """Take the options of the thesis' delta debugger."""
        return debugger_words(words)

    def parse(self, text: bytes) -> BtorView:
        return view_of(read(text, self.dialect, any_ending=True))

    def check(self, text: bytes) -> FormatCheck:
        """Count, where the rules are kept. Raises ParseError with the one that is broken."""
        read(text, self.dialect)
        return super().check(text)

    def schedule(self, passes: Passes) -> Schedule:
        """Return our passes, otherwise the one pass of the thesis' algorithms."""
        if passes == "own":
            return own_schedule(simplify=self.simplify)
        return thesis_schedule(simplify=self.simplify)

    def order(self, text: bytes) -> Any:
        return Size(text), text

    def fingerprint(self, text: bytes) -> bytes | None:
        """Return a small file without comments, numbered from 1: ids mean nothing."""
        if text.count(b"\n") > FEW:
            return None
        try:
            return canonical(read(text, self.dialect))
        except ReducekitError:  # of a program that proposes candidates
            return None

    def measure(self, view: BtorView) -> Mapping[str, int]:
        """Count bytes, lines, nodes (sorts and declarations of BTOR2 left out) and widths."""
        dag = view.dag
        counts = {
            "bytes": len(view.document.text),
            "lines": view.document.text.count(b"\n"),
            "nodes": sum(code <= Op.ROOT for code in dag.op),
        }
        counts["widths"] = sum(dag.width(line) for line in range(len(dag)))
        return counts

    def diagram(self, view: BtorView) -> Diagram:
        """Return the graph."""
        return diagram(view.dag)
