"""Programs in Python, which load a library by ctypes."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from reducekit.frontends.trace.player.answers import SAT, UNSAT
from reducekit.frontends.trace.player.outcome import MISMATCH
from reducekit.frontends.trace.programs.statements import (
    ANSWER,
    METHOD,
    SOLVER,
    Code,
    FinalAnswer,
    Statement,
    joined,
    numbers,
)

_TYPES = {"int": "number", "str": "string", "word": "string"}
_RESULTS = {"int": "number", "bool": "truth", "ptr": "pointer", "handle": "pointer"}
_SPECIAL = {"C1": "make", "D1": "delete"}


def python_program(code: Code, path: str) -> Iterator[str]:
    """Yield the lines of a program that loads the library at a path."""
    yield f'"""API calls of {code.title}: python THIS_FILE.py"""'
    yield from ("", "import ctypes", "import os", "import sys", "import sysconfig", "")
    yield f"library = ctypes.CDLL({_located(path)})"
    yield "number, truth, long = ctypes.c_int, ctypes.c_bool, ctypes.c_long"
    yield "string, pointer = ctypes.c_char_p, ctypes.c_void_p"
    yield from ("", "", "def function(symbol, result, *types):", "    found = library[symbol]")
    yield "    found.restype, found.argtypes = result, types"
    yield from ("    return found", "", "")
    for symbol, step in code.steps.items():
        types = [_type(word) for word in step.arguments if word != "skip"]
        result = "pointer" if step.stores else _RESULTS.get(step.result, "None")
        yield f'{_name(symbol)} = function("{symbol}", {", ".join([result, *types])})'
    yield from (f"{variable} = None" for variable in (SOLVER, *code.handles))
    yield ""
    yield from _lines(code.begin)
    if code.last is not None and code.value is not None:
        yield from _check(code.last, _call(code.value))
    yield from _lines(code.end)


def _located(path: str) -> str:
    """Return an expression for the path of a library, wherever Python's packages are."""
    packages = sysconfig.get_path("platlib")
    if Path(path).is_relative_to(packages):
        inside = str(Path(path).relative_to(packages))
        return f'os.path.join(sysconfig.get_path("platlib"), {inside!r})'
    return repr(path)


def _type(word: str) -> str:
    if word.startswith("'"):
        return "string"
    return _TYPES.get(word, "long" if word == "#" or word.lstrip("-").isdigit() else "pointer")


def _name(function: str) -> str:
    method = METHOD.fullmatch(function)
    return function if method is None else f"solver_{_SPECIAL.get(method[2], method[3])}"


def _call(statement: Statement) -> str:
    start = f"{statement.target} = " if statement.target else ""
    return f"{start}{_name(statement.step.function)}({', '.join(statement.arguments)})"


def _lines(body: Sequence[Sequence[Statement]]) -> Iterator[str]:
    calls = (
        (each.step.function, _call(each) + ";", each.arguments[-1:] == ("0",))
        for each in chain.from_iterable(body)
    )
    return (line.rstrip(";") for line in joined(calls, ""))


def _check(last: FinalAnswer, value: str) -> Iterator[str]:
    if last.expected is not None:
        said = f"wrong answer: expected {last.expected}, found"
        yield f"if {ANSWER} not in (0, {last.expected}):"
        yield f'    print("{said}", {ANSWER}, file=sys.stderr)'
        yield f"    sys.exit({MISMATCH})"
    if last.expected == UNSAT or not last.formula:
        return
    yield from ("formula = [", *numbers(last.formula, "    "), "]")
    yield "clause, satisfied = [], False"
    yield f"for literal in formula if {ANSWER} == {SAT} else []:"
    yield from ("    clause.append(literal)", "    if literal:")
    yield f"        value = {value}"
    yield "        satisfied |= value > 0 if literal > 0 else value < 0"
    yield from ("    elif satisfied:", "        clause, satisfied = [], False", "    else:")
    yield '        said = "wrong answer: the model does not satisfy clause"'
    yield "        print(said, *clause, file=sys.stderr)"
    yield f"        sys.exit({MISMATCH})"
