"""Takes functions out of a Dag: each `apply` becomes a copy of the body of its `lambda`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.builder import Builder
from reducekit.frontends.btor.model.dag import Dag, Function, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op


@dataclass(slots=True)
class _Frame:
    """A body that is being copied: its lines, how far it is, what params and lines became."""

    lines: Sequence[int]
    caller: _Frame | None = None
    apply: int = -1
    """The line of the caller that the body replaces."""
    result: int = -1
    """The reference to the body."""
    at: int = 0
    meaning: dict[int, int] = field(default_factory=dict)

    def find(self, reference: int) -> int:
        """Return what a reference became, here or in the frames around."""
        line = line_of(reference)
        frame: _Frame | None = self
        while frame is not None:
            if line in frame.meaning:
                found = frame.meaning[line]
                return found if reference >= 0 else ~found
            frame = frame.caller
        raise AssertionError(f"line {line} is not copied")


def inline(dag: Dag, largest: int = 1_000_000) -> Dag:
    """Return a Dag of dialect `btor1` that means the same and has no functions.

    Raises UsageError where a function is used as an array (written, compared, chosen by
    `acond`), and when `largest` lines do not do: nested functions may grow exponentially.
    """
    opened = open_lines(dag)
    cones: dict[int, list[int]] = {}
    builder = Builder(Dialect.BTOR1, dag.sorts)
    frames = [_Frame([line for line in range(len(dag)) if not opened[line]])]
    while frames:
        frame = frames[-1]
        if frame.at == len(frame.lines):
            frames.pop()
            if frame.caller is not None:
                frame.caller.meaning[frame.apply] = frame.find(frame.result)
            continue
        line = frame.lines[frame.at]
        frame.at += 1
        code = dag.op[line]
        if code in (Op.LAMBDA, Op.PARAM):
            continue
        arguments = dag.arguments(line)
        if code in (Op.APPLY, Op.READ) and dag.op[arguments[0]] == Op.LAMBDA:
            result = arguments[0]
            inner = {}
            for argument in arguments[1:]:
                parameter, body = dag.arguments(result)
                inner[parameter] = frame.find(argument)
                result = body
            if arguments[0] not in cones:
                cones[arguments[0]] = _open_cone(dag, opened, line_of(result))
            frames.append(_Frame(cones[arguments[0]], frame, line, result, meaning=inner))
            continue
        if any(isinstance(dag.sorts[dag.sort[line_of(each)]], Function) for each in arguments):
            raise UsageError(f"node {dag.ids[line]} uses a function as an array")
        if len(builder) >= largest:
            raise UsageError(f"without functions there are more than {largest:,} lines")
        frame.meaning[line] = builder.add(
            Op.READ if code == Op.APPLY else code,
            dag.sort[line],
            [frame.find(each) for each in arguments],
            dag.numbers.get(line, ()),
            dag.literals.get(line, b""),
            dag.symbols.get(line, b""),
        )
    return builder.dag()


def open_lines(dag: Dag) -> bytearray:
    """Mark (1) each line that depends on a `param` outside of its `lambda`."""
    params: list[frozenset[int]] = []
    none: frozenset[int] = frozenset()
    for line, code in enumerate(dag.op):
        free = none
        for each in dag.arguments(line):
            more = params[line_of(each)]
            if more and more is not free:
                free = free | more if free else more
        if code == Op.PARAM:
            free = frozenset((line,))
        elif code == Op.LAMBDA:
            free = free - {dag.arguments(line)[0]}
        params.append(free)
    return bytearray(map(bool, params))


def _open_cone(dag: Dag, opened: bytearray, top: int) -> list[int]:
    """Return the open lines that a line depends on, itself included, in file order."""
    seen: set[int] = set()
    stack = [top]
    while stack:
        line = stack.pop()
        if opened[line] and line not in seen:
            seen.add(line)
            if dag.op[line] != Op.LAMBDA:
                stack += map(line_of, dag.arguments(line))
    return sorted(seen)
