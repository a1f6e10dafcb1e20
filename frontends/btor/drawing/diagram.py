"""A BTOR file as a face draws it: a node a line, with its sort, and edges to its operands."""

from __future__ import annotations

from functools import cache

from reducekit.diagram import Diagram, Kind, Node
from reducekit.frontends.btor.model.dag import ROOTS, Array, Dag, SortTable, line_of, moved
from reducekit.frontends.btor.model.operators import CONSTANTS, Op, spelling
from reducekit.frontends.btor.model.rules import describe

_ROOTS = frozenset(map(int, ROOTS))
_LEAVES = frozenset({Op.INPUT, Op.STATE, Op.PARAM})


def diagram(dag: Dag) -> Diagram:
    """Return the lines of a file that was read, but for the sorts of BTOR2.

    A label is the id, the operator and the other words of the line, but not its operands.
    """
    table = SortTable(dag.sorts)
    said = cache(lambda sort: describe(table, sort) if sort >= 0 else "")
    place = [-1] * len(dag)
    nodes: list[Node] = []
    for line, code in enumerate(dag.op):
        if code == Op.SORT:
            continue
        sort = dag.sort[line]
        words = [str(dag.ids[line]), name_of(dag, line)]
        words += map(str, dag.numbers.get(line, ()))
        words += [each[line].decode("utf-8", "backslashreplace")
                  for each in (dag.literals, dag.symbols) if line in each]  # fmt: skip
        edges = [moved(each, place) for each in dag.arguments(line) if place[line_of(each)] >= 0]
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
    return "constant" if code in CONSTANTS else "inner"


def name_of(dag: Dag, line: int) -> str:
    """Return the name of a line's operator in the file's dialect, or that of its code."""
    code, sort = dag.op[line], dag.sort[line]
    row = spelling(dag.dialect, code, sort >= 0 and isinstance(dag.sorts[sort], Array))
    return (row.name.decode() if row else "") or Op(code).name.lower()
