"""Writes the same in fewer bytes or in another order: constants, ids, blanks, `next` lines."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.builder import reordered
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.simplify import constant_value, simplify_dag
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.ranked_spellings import RankedSpellings, ranked_spellings
from reducekit.passes import pass_
from reducekit.search.problem import Items, independent

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
    return independent([Change((Edit(0, (text,)),), "written anew")])


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
        key = (len(here) + 1, here)
        found = {each for each in lines if (len(each), each.rstrip()) < key}
        texts[node] = sorted(found, key=lambda each: (len(each), each))
    return ranked_spellings(texts, "shorter literal")


def _bodies(dialect: Dialect, code: int, head: bytes, value: int, width: int) -> Sequence[bytes]:
    """Return other constants of a width, without id."""
    bodies = []
    if dialect is not Dialect.BTOR_2007:
        names = {Op.ONE: (b"zero",), Op.ONES: (b"one", b"zero")}
        bodies = [name + b" " + head for name in names.get(Op(code), (b"one", b"zero", b"ones"))]
    if code in (Op.ONE, Op.ONES):
        return bodies
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
