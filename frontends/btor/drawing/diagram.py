"""A BTOR file as a face draws it: a node a line, with its sort, and edges to its operands."""

from __future__ import annotations

from functools import cache

from reducekit.diagram import Diagram, Kind, Node
from reducekit.frontends.btor.model.dag import ROOTS, Array, Dag, SortTable, line_of
from reducekit.frontends.btor.model.operators import Op, spelling
from reducekit.frontends.btor.model.rules import describe

_ROOTS = frozenset(map(int, ROOTS))
_LEAVES = frozenset({Op.INPUT, Op.STATE, Op.PARAM})
_CONSTANTS = frozenset({Op.CONST, Op.CONSTD, Op.CONSTH, Op.ZERO, Op.ONE, Op.ONES})


def diagram(dag: Dag) -> Diagram:
    """Return the lines of a file that was read, but for the sorts of BTOR2.

    A label is the id, the operator and what else the line says besides its operands.
    """
    table = SortTable(dag.sorts)
    said = cache(lambda sort: describe(table, sort) if sort >= 0 else "")
    names = cache(lambda code, on_array: _name(dag, code, on_array))
    place = [-1] * len(dag)
    nodes: list[Node] = []
    for line, code in enumerate(dag.op):
        if code == Op.SORT:
            continue
        sort = dag.sort[line]
        on_array = sort >= 0 and isinstance(dag.sorts[sort], Array)
        words = [str(dag.ids[line]), names(code, on_array)]
        words += map(str, dag.numbers.get(line, ()))
        words += [each[line].decode("utf-8", "backslashreplace")
                  for each in (dag.literals, dag.symbols) if line in each]  # fmt: skip
        edges = [
            _with_sign(place[line_of(each)], each)
            for each in dag.arguments(line)
            if place[line_of(each)] >= 0
        ]
        place[line] = len(nodes)
        nodes.append(
            Node(" ".join(words), said(sort), kind_of(code), dag.start[line], dag.end[line], edges)
        )
    return Diagram("graph", nodes)


def kind_of(code: int) -> Kind:
    """Return what a line with this operator is to a picture."""
    if code in _ROOTS:
        return "root"
    if code in _LEAVES:
        return "leaf"
    return "constant" if code in _CONSTANTS else "inner"


def _name(dag: Dag, code: int, on_array: bool) -> str:
    row = spelling(dag.dialect, code, on_array)
    return (row.name if row else b"").decode() or Op(code).name.lower()


def _with_sign(node: int, reference: int) -> int:
    return node if reference >= 0 else ~node
