"""Checks that the model that a solver prints satisfies its script, without another solver.

A test for `--oracle`: `python -m reducekit.frontends.smt2.model_check SOLVER [OPTION...] FILE`
asks the solver for a model of the script, substitutes its definitions for the declarations, and
evaluates each assertion. The exit code is 0 if one is false, so the model is wrong. It is 1 if
there is no model or it is correct, and 2 if that cannot be decided; a line on stderr says why.

sexpdata reads the answer (`reducekit.oracle.responses`) and pySMT evaluates: Booleans, bit-vectors,
integers, reals, arrays of constants, and functions that the model defines. Of several `check-sat`
the first one counts.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from reducekit.frontends import model_test
from reducekit.frontends.model_test import Finding
from reducekit.frontends.smt2.parser import parse
from reducekit.oracle.responses import Answer, Definition, Error, Model, read_responses

_DECLARES = (b"declare-fun", b"declare-const")
_LEFT_OUT = (b"set-info", b"set-option", b"set-logic", b"get-info", b"get-option", b"echo")
_UNSCOPED = (b"push", b"pop", b"reset", b"reset-assertions")


def question(text: bytes) -> bytes:
    """Return the script up to its first `check-sat`, asking for a model after it.

    Raises ParseError if the text is no script.
    """
    asked = [b"(set-option :produce-models true)"]
    for name, command in _commands(text):
        if name == b"check-sat":
            break
        if name != b"exit":
            asked.append(command)
    return b"\n".join([*asked, b"(check-sat)", b"(get-model)", b""])


def judge(text: bytes, output: bytes) -> Finding:
    """Evaluate the assertions of a script under the model in a solver's output.

    Raises ParseError if the text is no script.
    """
    responses = read_responses(output)
    if Answer("sat") not in responses:
        return Finding()
    models = [each for each in responses if isinstance(each, Model)]
    if not models:
        said = [each.message for each in responses if isinstance(each, Error)]
        return Finding(unknown=f"no model: {(*said, 'none printed')[0]}")
    definitions = {each.name: each for each in models[0].definitions}
    script = [_definition(each).encode() for each in _callees_first(definitions)]
    for name, command in _commands(text):
        if name == b"check-sat":
            break
        if name in _UNSCOPED:
            return Finding(unknown=f"{name.decode()} before the first check-sat")
        declared = name in _DECLARES and _declared(command) in definitions
        if not declared and name not in _LEFT_OUT:
            script.append(command)
    return _evaluated(b"\n".join(script).decode("utf-8", "replace"))


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


def _commands(text: bytes) -> list[tuple[bytes, bytes]]:
    """Return the name and the text of each command."""
    document = parse(text)
    return [
        (
            document.source(node + 1) if document.stop[node] > node + 1 else b"",
            document.source(node),
        )
        for node in document.children(0)
    ]


def _declared(command: bytes) -> str:
    document = parse(command)
    return document.source(3).decode("utf-8", "replace") if len(document) > 3 else ""


def _definition(each: Definition) -> str:
    return f"(define-fun {each.name} {each.parameters} {each.sort} {each.value})"


def _callees_first(definitions: dict[str, Definition]) -> list[Definition]:
    """Return the definitions of a model so that each comes after those that it uses."""
    found: dict[str, Definition] = {}
    waiting = list(reversed(definitions.values()))
    opened: set[str] = set()
    while waiting:
        each = waiting[-1]
        words = each.value.replace("(", " ").replace(")", " ").split()
        inner = [definitions[w] for w in words if w in definitions and w not in opened]
        if each.name in opened or not inner:
            found.setdefault(each.name, waiting.pop())
        else:
            waiting += inner
        opened.add(each.name)
    return list(found.values())


def main(words: Sequence[str]) -> int:
    """Run the solver on the file, check its model, and return the exit code."""
    return model_test.main(words, "reducekit.frontends.smt2.model_check", judge, question)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
