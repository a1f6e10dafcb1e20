"""Prints a Dag: byte for byte as it was read, or in canonical form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, Function, Sort, parts_of
from reducekit.frontends.btor.model.operators import Dialect, Op, spelling


def write(dag: Dag) -> bytes:
    """Return the text that was read, comments and blanks included; canonical if it was built."""
    return canonical(dag) if dag.text is None else dag.text


def _extras(dag: Dag, line: int) -> Iterator[bytes]:
    """Yield the words of a line after its operands."""
    yield from (b"%d" % number for number in dag.numbers.get(line, ()))
    if line in dag.literals:
        yield dag.literals[line]
    if line in dag.symbols:
        yield dag.symbols[line]


def canonical(dag: Dag, renumber: bool = True) -> bytes:
    """Return a line for each line, words one space apart, no comments, a final newline.

    Renumbered, the lines count from 1; in BTOR2 each sort is declared once, right before
    the first line that uses it, and not if none does. Otherwise ids and `sort` lines are the
    Dag's own.
    Raises UsageError if the dialect has no such operator, or if ids are to stay and a
    BTOR2 line has no `sort` line to name.
    """
    if dag.dialect is Dialect.BTOR_2007 and dag.text is None:
        raise UsageError("btor-2007 is read only: convert to btor-old or a later dialect")
    ids: list[bytes] = []
    out: list[bytes] = []
    last = 0
    declared: dict[int, bytes] = {}
    offset, args, sorts = dag.offset, dag.args, dag.sorts
    names: dict[tuple[int, bool], tuple[bytes, str]] = {}
    for line, code in enumerate(dag.op):
        sort = dag.sort[line]
        if code == Op.SORT:
            if renumber:
                ids.append(b"")
                continue
            ident = b"%d" % dag.ids[line]
            text = _sort_text(sorts[sort], [ids[each] for each in dag.arguments(line)])
            out.append(b" ".join((ident, text, *_extras(dag, line))))
            ids.append(ident)
            continue
        key = (code, sort >= 0 and isinstance(sorts[sort], Array))
        if key not in names:
            names[key] = _spelling(dag.dialect, *key)
        name, header = names[key]
        if header == "s" and not renumber:
            where = dag.sort_line[line]
            if where < 0:
                raise UsageError(f"node {dag.ids[line]} has no sort line: renumber")
            shown = ids[where]
        elif header == "s":
            if sort not in declared:
                last = _declare(dag, sort, declared, out, last)
            shown = declared[sort]
        elif header == "-":
            shown = b""
        elif header == "c":
            shown = b"%d" % (offset[line + 1] - offset[line])
        else:
            shown = _widths(dag, line, header)
        last += 1
        ident = b"%d" % (last if renumber else dag.ids[line])
        ids.append(ident)
        words = [ident, name, shown] if shown else [ident, name]
        for each in args[offset[line] : offset[line + 1]]:
            words.append(ids[each] if each >= 0 else b"-" + ids[~each])  # noqa: PERF401
        out.append(b" ".join((*words, *_extras(dag, line))))
    out.append(b"")
    return b"\n".join(out)


def _spelling(dialect: Dialect, code: int, on_array: bool) -> tuple[bytes, str]:
    row = spelling(dialect, code, on_array)
    if row is None:
        what = Op(code).name.lower() + (" on arrays" if on_array else "")
        raise UsageError(f"{dialect.value} has no {what}")
    return row.name, row.header


def _widths(dag: Dag, line: int, header: str) -> bytes:
    """Return the widths that head a line of BTOR1."""
    sorts = dag.sorts
    if dag.op[line] == Op.ROOT:
        first = dag.args[dag.offset[line]]
        return b"%d" % dag.width(first if first >= 0 else ~first)
    sort = sorts[dag.sort[line]]
    if isinstance(sort, BitVec):
        return b"%d" % sort.width
    if isinstance(sort, Function):
        return b"%d %d" % (_width(sorts[sort.result]), _width(sorts[sort.parameters[0]]))
    element, index = _width(sorts[sort.element]), _width(sorts[sort.index])
    return b"%d" % element if header == "w" else b"%d %d" % (element, index)


def _width(sort: Sort) -> int:
    if not isinstance(sort, BitVec):
        raise UsageError("BTOR1 has no arrays of arrays")
    return sort.width


def _sort_text(sort: Sort, names: Sequence[bytes]) -> bytes:
    """Return what follows the id in a `sort` line; `names` are the ids of its parts."""
    if isinstance(sort, BitVec):
        return b"sort bitvec %d" % sort.width
    return b"sort array %s %s" % (names[0], names[1])


def _declare(dag: Dag, sort: int, declared: dict[int, bytes], out: list[bytes], last: int) -> int:
    """Print the lines of a sort and of the sorts that it is made of; return the last id."""
    stack = [sort]
    while stack:
        top = stack[-1]
        found = dag.sorts[top]
        if top in declared:
            stack.pop()
            continue
        if isinstance(found, Function):
            raise UsageError("BTOR2 has no functions")
        # The element first, as the parts are put on a stack.
        missing = [each for each in reversed(parts_of(found)) if each not in declared]
        if missing:
            stack += missing
            continue
        stack.pop()
        last += 1
        declared[top] = b"%d" % last
        names = [declared[each] for each in parts_of(found)]
        out.append(b"%d %s" % (last, _sort_text(found, names)))
    return last
