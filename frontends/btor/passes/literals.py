"""Shortens constants: to zero, one, all ones, or the same value in fewer digits."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.simplify import constant_value
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.ranked_spellings import RankedSpellings, ranked_spellings
from reducekit.passes import pass_

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
