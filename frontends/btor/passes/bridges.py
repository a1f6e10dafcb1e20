"""Connects a line of a small graph to a line far below it, also of another width.

A failure may need some operator in between, whichever it is. Then no edge can be redirected to the
lower line, but a unary operator can replace everything in between.
"""

from __future__ import annotations

from collections.abc import Iterator

from reducekit.frontends.btor.model.dag import line_of
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.passes.shape import Shape, is_value, takes_amount


def bridged(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield graphs in which a line becomes a unary operator on a line that was below it.

    The operand is the one that keeps most lines: first among those of the line's sort, then
    among the others.
    """
    dag, width = shape.dag, shape.dag.width(line)
    if not width or not _is_operator(shape, line):
        return
    before = len(shape.live())
    best: dict[bool, tuple[int, Shape]] = {}
    for each in sorted(shape.below(line) - {line}):
        if not dag.width(each) or not is_value(dag, each):
            continue
        found = shape.as_operator(line, *_bridge(dag.width(each), width), each)
        left = len(found.live())
        same = dag.width(each) == width
        # Without the amount of a shift the line is shorter, be it needed elsewhere or not.
        goes = left < before or (same and takes_amount(dag, line))
        if goes and (same not in best or left > best[same][0]):
            best[same] = left, found
    for same in (True, False):
        if same in best and (text := best[same][1].text()) is not None:
            yield text


def _bridge(width: int, wanted: int) -> tuple[Op, tuple[int, ...]]:
    """Return the operator that makes one width of another, and its numbers."""
    if width == wanted:
        return Op.NOT, ()
    if width < wanted:
        return Op.UEXT, (wanted - width,)
    return (Op.REDOR, ()) if wanted == 1 else (Op.SLICE, (wanted - 1, 0))


def retyped(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield the graph in which a line has an operand of another width, which removes others."""
    if not _is_operator(shape, line):
        return
    before = len(shape.live())
    for each in sorted(shape.below(line) - {line}, reverse=True):
        found = shape.retyped(line, each)
        if found is not None and len(found.live()) < before and (text := found.text()) is not None:
            yield text
            return


def resized(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield graphs in which a variable below a line replaces it and gets its width."""
    dag, width = shape.dag, shape.dag.width(line)
    if not width or not _is_operator(shape, line):
        return
    live = shape.live() - {line}
    amounts = {line_of(shape.args[each][1]) for each in live if takes_amount(dag, each)}
    for each in sorted(shape.below(line) - amounts):
        if dag.op[each] == Op.INPUT and dag.width(each) not in (0, width):
            past, _ = shape.past(line, each)
            text = past.with_(each, (), dag.sort[line]).text()
            if text is not None:
                yield text


def _is_operator(shape: Shape, line: int) -> bool:
    return bool(shape.args[line]) and is_value(shape.dag, line) and line in shape.live()
