"""Programs in C and C++."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from reducekit.frontends.trace.player.answers import SAT, UNSAT
from reducekit.frontends.trace.player.outcome import MISMATCH
from reducekit.frontends.trace.player.prototypes import HELPS, Step
from reducekit.frontends.trace.programs.statements import (
    ANSWER,
    KEPT,
    METHOD,
    SOLVER,
    Code,
    FinalAnswer,
    Statement,
    joined,
    numbers,
)

_ROOM = "calloc"
"""Makes room for what C++ makes by itself."""
_TYPES = {
    "int": "int", "str": "const char *", "word": "const char *", "handle*": "void *const *",
    "#": "long",
}  # fmt: skip
_RESULTS = {"": "void", "int": "int", "bool": "bool", "ptr": "void *", "handle": "void *"}
_MANGLED = {
    "i": "int", "b": "bool", "PKc": "const char *", "RSt6vectorIiSaIiEE": "std::vector<int> &",
}  # fmt: skip
_VECTOR = "RSt6vectorIiSaIiEE"


def c_program(code: Code, *, cpp: bool, helper: str = "") -> Iterator[str]:
    """Yield the lines of a program; `helper` are functions that come before, with their header."""
    steps = code.steps
    methods = {name: match for name in steps if (match := METHOD.fullmatch(name))}
    functions = [
        step
        for name, step in steps.items()
        if name not in (*methods, _ROOM) and not name.startswith(HELPS)
    ]
    compiler, suffix = ("c++", "cpp") if cpp else ("cc", "c")
    yield f"// API calls of {code.title}: {compiler} THIS_FILE.{suffix} LIBRARY && ./a.out"
    if any(step.result == "bool" for step in functions):
        yield "#include <stdbool.h>"
    if code.last is not None:
        yield from ("#include <stdio.h>", "#include <stdlib.h>")
    if any(word.startswith("&") for step in functions for word in step.arguments):
        yield "#include <unistd.h>"
    if cpp and any(
        word.startswith(("handle*", "[")) for step in functions for word in step.arguments
    ):
        yield "#include <initializer_list>"
    if helper:
        yield from helper.splitlines()
    elif methods:
        yield from _class(steps, methods)
    if functions:
        yield from ("", *(['extern "C" {'] if cpp else []))
        for step in functions:
            types = ", ".join(_type(word) for word in step.arguments if word != "skip")
            result = "void *" if step.stores else _RESULTS[step.result]
            yield f"{_typed(result, step.function)}({types or 'void'});"
        yield from ["}"] if cpp else []
    yield from ("", "int main(void) {")
    kind = next((f"{match[1]}::Solver" for match in methods.values()), "void")
    yield f"    {kind} *{SOLVER} = 0;"
    yield from (f"    void *{handle} = 0;" for handle in code.handles)
    if any(each.target == KEPT and each.step.function != _ROOM for each in chain(*code.body)):
        yield f"    void *{KEPT} = 0;"
    if code.last is not None:
        yield f"    int {ANSWER} = 0;"
    yield from _lines(code.begin)
    if code.last is not None and code.value is not None:
        yield from _check(code.last, _call(code.value).rstrip(";"))
    yield from _lines(code.end)
    yield from ("    return 0;", "}")


def _lines(body: Sequence[Sequence[Statement]]) -> Iterator[str]:
    return joined(chain.from_iterable(map(_texts, body)), "    ")


def _texts(statements: Sequence[Statement]) -> Iterator[tuple[str, str, bool]]:
    texts = [_call(each) for each in statements if each.step.function != _ROOM]
    if any(_VECTOR in each.step.function for each in statements):
        texts = [f"{{ std::vector<int> {KEPT};", *texts, "}"]
    if texts:
        ends = statements[-1].arguments[-1:] == ("0",)
        yield statements[-1].step.function, " ".join(texts), ends


def _call(statement: Statement) -> str:
    function, target = statement.step.function, statement.target
    method = METHOD.fullmatch(function)
    start = f"{target} = " if target else ""
    if method is None:
        return f"{start}{function}({', '.join(statement.arguments)});"
    if method[2] == "C1":
        return f"{SOLVER} = new {method[1]}::Solver;"
    if method[2] == "D1":
        return f"delete {SOLVER};"
    # What comes before the object is room for what the method returns.
    arguments = statement.arguments[statement.arguments.index(SOLVER) + 1 :]
    return f"{start}{SOLVER}->{method[3]}({', '.join(arguments)});"


def _type(word: str) -> str:
    if word.startswith("'"):
        return "const char *"
    if word.startswith("["):
        return "const unsigned *"
    return _TYPES.get(word, "long" if word.lstrip("-").isdigit() else "void *")


def _typed(kind: str, name: str) -> str:
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}"


def _class(steps: Mapping[str, Step], methods: Mapping[str, re.Match[str]]) -> Iterator[str]:
    """Declare the methods that are called, for where the solver's own header is not found."""
    namespace = next(match[1] for match in methods.values())
    yield from ("#include <vector>", '#if __has_include("cadical.hpp")', '#include "cadical.hpp"')
    value = f"_ZN{len(namespace)}{namespace}6Solver3valEi"
    if value in methods:
        # From 2.2 on it has another argument. Whichever the library has not is null.
        yield from ("#else", 'extern "C" {')
        yield f'int val_(void *, int) __asm__("{value}") __attribute__((weak));'
        yield f'int val__(void *, int, bool) __asm__("{value}b") __attribute__((weak));'
        yield from ("}", f"namespace {namespace} {{")
    else:
        yield from ("#else", f"namespace {namespace} {{")
    objects = [name for name in methods if steps[name].arguments[:1] == ("%",)]
    if objects:
        yield "struct Object { char room[64]; ~Object() {} };"
    yield from ("class Solver {", "    char room[65536];", "", "public:")
    for name, match in methods.items():
        types = ", ".join(_MANGLED[each] for each in re.findall(f"PKc|{_VECTOR}|[ib]", match[4]))
        if match[2]:
            yield f"    {'~' if match[2] == 'D1' else ''}Solver();"
            continue
        if name == value:
            yield "    int any_val(int literal) {"
            yield "        return val_ ? val_(this, literal) : val__(this, literal, true);"
            yield "    }"
            continue
        returned = "Object" if name in objects else _RESULTS[steps[name].result]
        const = " const" if name.startswith("_ZNK") else ""
        yield f"    {_typed(returned, match[3])}({types}){const};"
    yield from ("};", "}")
    yield from ["#define val any_val"] if value in methods else []
    yield "#endif"


def _check(last: FinalAnswer, value: str) -> Iterator[str]:
    """Yield the check of the last answer: that of another solver, and the model."""
    if last.expected is not None:
        said = f"wrong answer: expected {last.expected}, found %d\\n"
        yield f"    if ({ANSWER} && {ANSWER} != {last.expected}) {{"
        yield f'        fprintf(stderr, "{said}", {ANSWER});'
        yield from (f"        return {MISMATCH};", "    }")
    if last.expected == UNSAT or not last.formula:
        return
    yield "    static const int formula[] = {"
    yield from numbers(last.formula, " " * 8)
    yield from ("    };", "    int begin = 0, satisfied = 0;")
    yield f"    for (int i = 0; {ANSWER} == {SAT} && i < {len(last.formula)}; i++) {{"
    yield "        int literal = formula[i];"
    yield "        if (literal) {"
    yield f"            int value = {value};"
    yield "            satisfied |= literal > 0 ? value > 0 : value < 0;"
    yield "        } else if (satisfied) {"
    yield "            begin = i + 1, satisfied = 0;"
    yield "        } else {"
    yield '            fprintf(stderr, "wrong answer: the model does not satisfy clause");'
    yield '            for (; begin <= i; begin++) fprintf(stderr, " %d", formula[begin]);'
    yield '            fprintf(stderr, "\\n");'
    yield f"            return {MISMATCH};"
    yield from ("        }", "    }")
