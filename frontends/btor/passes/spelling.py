"""Writes the same in fewer bytes or another order: constants, ids, blanks, `next`, operators.

Operators become ones of lower rank with the same sorts. Ranks are a strict order on names: by
length, then alphabetical. So every step makes the text smaller in the order by bytes, and steps
cannot form a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.btor.model.dag import Array, Dag, constant_value, line_of, reordered
from reducekit.frontends.btor.model.operators import (
    CONSTANTS,
    DECLARATIONS,
    Dialect,
    Op,
    Operator,
    spellings,
)
from reducekit.frontends.btor.model.simplify import simplify_dag
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.common.items import Alternatives
from reducekit.search.problem import Items, Selection, independent


class RankedSpellings(Alternatives):
    """Texts that can replace nodes of the document, each node's from the least one on.

    The items of the least texts come last, so that a search from the back begins with them,
    all nodes at once. Weights are ranks: how many texts of the node are as great or greater.
    """

    def __init__(self, texts: Mapping[int, Sequence[bytes]], what: str) -> None:
        self.what = what
        found = [
            (rank, node, text) for node, each in texts.items() for rank, text in enumerate(each)
        ]
        # The greatest ranks first, so that the least texts of all nodes are the last items.
        found.sort(key=lambda step: (-step[0], step[1]))
        super().__init__(node for _, node, _ in found)
        self.steps = found
        self.weights: Sequence[int] = [len(texts[node]) - rank for rank, node, _ in found]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the least text that is chosen of each node. (A lesser one is not taken yet.)"""
        least = {self.steps[item][1]: self.steps[item][2] for item in sorted(chosen)}
        return Change(tuple(Edit(node, (text,)) for node, text in least.items()), self.what)


def _ranked(texts: Mapping[int, Sequence[bytes]], what: str) -> RankedSpellings | None:
    """Return the items, None if there are none."""
    texts = {node: each for node, each in texts.items() if each}
    return RankedSpellings(texts, what) if texts else None


# Lines; the rules are tried on each of them.
_MOST = 20_000


@pass_("spelling")
def spelling(view: BtorView) -> Items | None:
    """Renumbers the lines from 1 and removes comments."""
    return _whole(view, view.dag)


@pass_("simplify")
def simplified(view: BtorView) -> Items | None:
    """Applies all simplification rules everywhere, in one step."""
    # One change, if a rule applies; None for very many lines.
    dag = view.dag
    if len(dag) > _MOST or dag.dialect is Dialect.BTOR_2007:
        return None
    simple = simplify_dag(dag)
    return _whole(view, simple) if len(simple) < len(dag) else None


def _whole(view: BtorView, dag: Dag) -> Items | None:
    if dag.dialect is Dialect.BTOR_2007 and dag.text is None:
        return None
    text = canonical(dag) + view.options
    if text == view.document.text:
        return None
    return independent([Change((Edit(0, (text,)),), "rewritten")])


_WIDE = 10_000  # bits; Python refuses to print that many decimal digits


@pass_("literals")
def literals(view: BtorView) -> RankedSpellings | None:
    """Shortens constants: to `zero`, `one`, `ones`, or fewer digits."""
    dag, document = view.dag, view.document
    texts = {}
    for line in dag.lines_of(Op.CONST, Op.CONSTD, Op.CONSTH, Op.ONE, Op.ONES):
        value = constant_value(dag, line)
        assert value is not None
        node = view.line_nodes[line]
        here = b" ".join(document.source(each) for each in range(node + 1, document.stop[node]))
        head = document.source(view.header_node(line))
        bodies = _bodies(dag.dialect, dag.op[line], head, value, dag.width(line))
        lines = [b"%s %s\n" % (view.ids[line], each) for each in bodies]
        # Shorter, or as long and earlier in the alphabet: the order by bytes.
        key = (len(here) + 1, here)
        found = {each for each in lines if (len(each), each.rstrip()) < key}
        texts[node] = sorted(found, key=lambda each: (len(each), each))
    return _ranked(texts, "shorter literal")


def _bodies(dialect: Dialect, code: int, head: bytes, value: int, width: int) -> Sequence[bytes]:
    """Return other constants of a width, without id."""
    bodies = []
    if dialect is not Dialect.BTOR_2007:
        names = {Op.ONE: (b"zero",), Op.ONES: (b"one", b"zero")}
        bodies = [name + b" " + head for name in names.get(Op(code), (b"one", b"zero", b"ones"))]
    if code in (Op.ONE, Op.ONES):
        return bodies
    # Decimal first, as it is shortest; a small number may do where a large one does.
    if width < _WIDE:
        bodies.append(b"constd %s %d" % (head, value))
        if value > 9:
            bodies.append(b"constd %s %d" % (head, value % 8))
    bodies.append(b"consth %s %x" % (head, value))
    if width < 8:
        bodies.append(b"const %s %s" % (head, format(value, f"0{width}b").encode()))
    return bodies


@pass_("next last")
def next_last(view: BtorView) -> Items | None:
    """Moves all `next` lines to the end of the file."""
    dag = view.dag
    first = next(dag.lines_of(Op.NEXT), len(dag))
    rest = range(first, len(dag))
    if dag.dialect is Dialect.BTOR_2007 or all(dag.op[line] >= Op.ROOT for line in rest):
        return None
    order = [line for line, code in enumerate(dag.op) if code not in (Op.NEXT, Op.SORT)]
    text = canonical(reordered(dag, [*order, *dag.lines_of(Op.NEXT)])) + view.options
    return independent([Change((Edit(0, (text,)),), "next last")])


_FIXED = frozenset({*CONSTANTS, *DECLARATIONS, Op.INPUT, Op.STATE, Op.PARAM, Op.ROOT, Op.PROXY})
_SEVERAL = 2
_READ_ONLY = (b"ne", Dialect.BTOR2)  # a spelling that only btor2tools takes


def _rank(row: Operator) -> tuple[int, bytes]:
    return len(row.name), row.name


@pass_("ranks")
def ranks(view: BtorView) -> RankedSpellings | None:
    """Replaces operators by simpler ones with the same sorts."""
    dag = view.dag

    def kind(reference: int) -> str:
        """Return the kind of an operand, which decides which operators accept it."""
        line = line_of(reference)
        if isinstance(dag.sorts[dag.sort[line]], Array):
            return "array"
        return "bit" if dag.width(line) == 1 else "vector"

    texts = {}
    for line, code in enumerate(dag.op):
        if code not in _FIXED:
            node = view.line_nodes[line] + 2
            shape = tuple(map(kind, dag.arguments(line)))
            name = view.document.source(node)
            texts[node] = _lower(dag.dialect, name, shape, dag.width(line) == 1)
    return _ranked(texts, "lower operator")


@cache
def _lower(dialect: Dialect, name: bytes, shape: tuple[str, ...], bit: bool) -> Sequence[bytes]:
    """Return lower operators for an operator with operands of such kinds, the lowest first.

    Operators are exchanged within a pattern of sorts; where all is one bit, between them.
    """
    rows = spellings(dialect)
    own = rows[name]
    # Where all is one bit, an `and` may become an `eq`: patterns need not be the same.
    bits = bit and all(each == "bit" for each in shape)
    found = [
        other
        for other in rows.values()
        if _rank(other) < _rank(own)
        and len(other.operands) == len(own.operands)
        and other.code not in _FIXED
        and (other.name, dialect) != _READ_ONLY
        and (_alike(own, other, shape) or (bits and _takes_bits(own) and _takes_bits(other)))
    ]
    return [each.name for each in sorted(found, key=_rank)[:_SEVERAL]]


def _alike(own: Operator, other: Operator, shape: tuple[str, ...]) -> bool:
    """Return whether two operators have the same operand and result sorts."""
    if (own.header, own.numbers, own.result) != (other.header, other.numbers, other.result):
        return False
    return own.operands == other.operands or (
        # An equality of vectors is a comparison.
        shape == ("vector", "vector") and {own.operands, other.operands} == {("S", "S"), ("n", "n")}
    )


def _takes_bits(row: Operator) -> bool:
    """Return whether operands and result may all have one bit."""
    return not row.numbers and row.result in ("1", "n") and {*row.operands} <= {"1", "n", "S"}
