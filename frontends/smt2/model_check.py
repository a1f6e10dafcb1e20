"""Checks that the model that a solver prints satisfies its script.

The test of `--wrong-model`: `python -m reducekit.frontends.smt2.model_check SOLVER [OPTION...]
[-- CHECKER [OPTION...]] FILE` asks the solver for a model of the script, substitutes its
definitions for the declarations, and evaluates each assertion. The exit code is 0 if one is false,
so the model is wrong. It is 1 if there is no model or it is correct, and 2 if that cannot be
decided; a line on stderr says why.

sexpdata reads the answer (`reducekit.oracle.responses`) and pySMT evaluates: Booleans, bit-vectors,
integers, reals, arrays of constants, and functions that the model defines. What it cannot evaluate,
such as floating-point numbers, `mod`, declared sorts and datatypes, the checker is asked about: the
model is wrong if the script with the model substituted is unsat. Without a checker those of z3 and
cvc5 are asked that are in PATH or next to Python, the solver itself last. Of several `check-sat`
the first one counts.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from reducekit.frontends import model_verdict
from reducekit.frontends.model_verdict import Finding
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.sorts import canonical
from reducekit.oracle.responses import (
    Answer,
    Definition,
    Error,
    Model,
    read_answers,
    read_responses,
)

MODULE = "reducekit.frontends.smt2.model_check"
_CHECKERS = {
    "z3": ("-T:10",),
    "cvc5": ("--lang=smt2", "--tlimit=10000", "--fp-exp", "--strings-exp", "--arrays-exp"),
}
"""The programs that are asked about models, with a limit of ten seconds."""
_UNSCOPED = (b"push", b"pop", b"reset", b"reset-assertions")
_DECLARES = (b"declare-fun", b"declare-const")
_ENDS = (b"check-sat", b"check-sat-assuming")
_LEFT_OUT = (b"set-info", b"set-option", b"set-logic", b"get-info", b"get-option", b"echo")
_QUANTIFIED = re.compile(rb"\(\s*(?:forall|exists)\b")
_ELEMENT = re.compile(r"\(as (@[^\s()|]+) ([^\s()|]+)\)")
"""How cvc5 writes an element of a declared sort."""
_DECLARED = re.compile(r"\(declare-fun (\S+) \(\) (\S+)\)")
"""How Z3 declares one in its model."""
_WORD = re.compile(r"\|[^|]*\||[^\s()|]+")


def question(text: bytes) -> bytes:
    """Return the script up to its first `check-sat`, asking for a model after it.

    Raises ParseError if the text is no script.
    """
    asked = [b"(set-option :produce-models true)"]
    for name, command in commands_of(text):
        if name == b"check-sat":
            break
        if name != b"exit":
            asked.append(command)
    return b"\n".join([*asked, b"(check-sat)", b"(get-model)", b""])


def judge(text: bytes, output: bytes, checkers: Sequence[Sequence[str]] = ()) -> Finding:
    """Evaluate the assertions of a script under the model in a solver's output.

    The `checkers` are asked in turn what cannot be evaluated. Raises ParseError if the text is no
    script.
    """
    responses = read_responses(output)
    if Answer("sat") not in responses:
        return Finding()
    model = next((each for each in responses if isinstance(each, Model)), None)
    if model is None:
        said = [each.message for each in responses if isinstance(each, Error)]
        return Finding(unknown=f"no model: {(*said, 'none printed')[0]}")
    script = with_model(text, model)
    unscoped = [name for name, _ in commands_of(script) if name in _UNSCOPED]
    if unscoped:
        found = Finding(unknown=f"{unscoped[0].decode()} before the first check-sat")
    else:
        found = _evaluated(script.decode("utf-8", "replace"))
    logic = b"HO_ALL" if b"(->" in script else b"ALL"  # cvc5 minds
    asked = b"(set-logic %s)\n%s\n(check-sat)\n" % (logic, script)
    for checker in checkers if found.unknown else ():
        answers = read_answers(model_verdict.printed(checker, asked, ".smt2"))
        if answers == (b"sat",):
            return Finding()
        name = Path(checker[0]).name
        if answers == (b"unsat",):
            return Finding(wrong=f"{name} refutes the assertions under the model")
        answered = answers[-1].decode() if answers else "no answer"
        found = Finding(unknown=f"{found.unknown}; {name}: {answered}")
    return found


def known_checkers(solver: str) -> list[tuple[str, ...]]:
    """Return the programs to ask about models of a solver, which comes last if it is one."""
    beside = Path(sys.executable).parent
    found = [
        (path, *options)
        for name, options in _CHECKERS.items()
        if (path := shutil.which(name) or shutil.which(name, path=str(beside))) is not None
    ]
    return sorted(found, key=lambda each: Path(each[0]).name in Path(solver).name)


def _evaluated(script: str) -> Finding:
    """Return the first false assertion; if there is none, the first one without a value."""
    from pysmt.environment import Environment
    from pysmt.exceptions import PysmtException
    from pysmt.smtlib.parser import SmtLibParser

    unknown = ""
    try:
        commands = SmtLibParser(environment=Environment()).get_script(io.StringIO(script))
        asserted = [each.args[0] for each in commands if each.name == "assert"]
        for number, term in enumerate(asserted, 1):
            value = term.simplify()
            if value.is_false():
                return Finding(wrong=f"assertion {number} is false under the model")
            if not value.is_true():
                unknown = unknown or f"assertion {number} has no value under the model"
    except (PysmtException, NotImplementedError, AssertionError, RecursionError) as error:
        return Finding(unknown=f"pySMT cannot evaluate it: {error or type(error).__name__}")
    return Finding(unknown=unknown)


def commands_of(text: bytes) -> list[tuple[bytes, bytes]]:
    """Return the name and the text of each command. Raises ParseError."""
    document = parse(text)
    return [(head_of(document, each), document.source(each)) for each in document.children(0)]


def with_model(text: bytes, model: Model) -> bytes:
    """Return a script up to its first check, with definitions where the model has them.

    The elements of declared sorts that the model names are declared, and differ. A definition that
    another one uses comes before it; what the script does not declare and no definition uses is
    left out, such as what Z3 says of division by zero. Raises ParseError.
    """
    # Elements of sorts become constants, which all solvers read.
    definitions = {
        _name(each.name): replace(
            each, value=_ELEMENT.sub(lambda match: _constant(match[1]), each.value)
        )
        for each in model.definitions
    }
    elements = _elements(model)
    found: list[bytes] = []
    done: set[str] = set()
    for name, command in commands_of(text):
        if name in _ENDS:
            break
        declared = ""
        if name in (*_DECLARES, b"declare-sort") and len(words := parse(command)) > 3:
            declared = _name(words.source(3).decode("utf-8", "replace"))
        if name in _DECLARES and declared in definitions:
            for each in _needed(declared, definitions, done):
                written = f"(define-fun {each.name} {each.parameters} {each.sort} {each.value})"
                found.append(written.encode())
            continue
        if name not in _LEFT_OUT:
            found.append(command)
        if name == b"declare-sort" and declared in elements:
            found += (f"(declare-fun {e} () {declared})".encode() for e in elements[declared])
    for names in elements.values():
        if names[1:]:
            found.append(b"(assert (distinct %s))" % " ".join(names).encode())
    if _QUANTIFIED.search(text):
        found += (b"(assert %s)" % each.encode() for each in model.rest if "(forall" in each[:8])
    return b"\n".join(found)


def _name(word: str) -> str:
    """Return the one spelling of a symbol."""
    return canonical(word.encode()).decode()


def _constant(element: str) -> str:
    return f"reducekit!{element[1:]}"


def _elements(model: Model) -> dict[str, list[str]]:
    """Return the elements of each declared sort that a model names."""
    found: dict[str, dict[str, None]] = {}
    for each in model.definitions:
        for element, sort in _ELEMENT.findall(each.value):
            found.setdefault(_name(sort), {})[_constant(element)] = None
    for entry in model.rest:
        if match := _DECLARED.fullmatch(entry):
            found.setdefault(_name(match[2]), {})[match[1]] = None
    return {sort: list(names) for sort, names in found.items()}


def _needed(
    name: str, definitions: Mapping[str, Definition], done: set[str]
) -> Iterator[Definition]:
    """Yield a definition and those it uses that are not `done`, each after those that it uses."""
    waiting, opened = [name], set[str]()
    while waiting:
        each = waiting[-1]
        if each in done:
            waiting.pop()
            continue
        inner = [word for word in map(_name, _WORD.findall(definitions[each].value))
                 if word in definitions and word not in opened | done]  # fmt: skip
        if each in opened or not inner:
            done.add(waiting.pop())
            yield definitions[each]
        else:
            waiting += inner
        opened.add(each)


def main(words: Sequence[str]) -> int:
    """Run the solver on the file, check its model, and return the exit code."""
    *program, path = words or ("",)
    at = program.index("--") if "--" in program else len(program)
    solver, checker = program[:at], program[at + 1 :]
    checkers = [checker] if checker else known_checkers(solver[0]) if solver else []
    return model_verdict.main([*solver, path], MODULE, partial(judge, checkers=checkers), question)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
