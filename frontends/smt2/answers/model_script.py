"""Substitutes a model for the declarations of a script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.sorts import canonical
from reducekit.oracle.responses import Definition, Model

_DECLARES = (b"declare-fun", b"declare-const")
_ENDS = (b"check-sat", b"check-sat-assuming")
_LEFT_OUT = (b"set-info", b"set-option", b"set-logic", b"get-info", b"get-option", b"echo")
_QUANTIFIED = re.compile(rb"\(\s*(?:forall|exists)\b")
_ELEMENT = re.compile(r"\(as (@[^\s()|]+) ([^\s()|]+)\)")
"""How cvc5 writes an element of a declared sort."""
_DECLARED = re.compile(r"\(declare-fun (\S+) \(\) (\S+)\)")
"""How Z3 declares one in its model."""
_WORD = re.compile(r"\|[^|]*\||[^\s()|]+")


def commands_of(text: bytes) -> list[tuple[bytes, bytes]]:
    """Return the name and the text of each command. Raises ParseError."""
    document = parse(text)
    return [
        (
            document.source(node + 1) if document.stop[node] > node + 1 else b"",
            document.source(node),
        )
        for node in document.children(0)
    ]


def with_model(text: bytes, model: Model) -> bytes:
    """Return a script up to its first check, with definitions where the model has them.

    The elements of declared sorts that the model names are declared, and differ. A definition that
    another one uses comes before it; what the script does not declare and no definition uses is
    left out, such as what Z3 says of division by zero. Raises ParseError.
    """
    definitions = {_name(each.name): _plain(each) for each in model.definitions}
    elements = _elements(model)
    found: list[bytes] = []
    done: set[str] = set()
    for name, command in commands_of(text):
        if name in _ENDS:
            break
        declared = _declared(command) if name in _DECLARES or name == b"declare-sort" else ""
        if name in _DECLARES and declared in definitions:
            found += (_written(each) for each in _needed(declared, definitions, done))
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


def _declared(command: bytes) -> str:
    document = parse(command)
    return _name(document.source(3).decode("utf-8", "replace")) if len(document) > 3 else ""


def _name(word: str) -> str:
    """Return the one spelling of a symbol."""
    return canonical(word.encode()).decode()


def _plain(each: Definition) -> Definition:
    """Return a definition with the elements of sorts as constants, which all solvers read."""
    value = _ELEMENT.sub(lambda match: _constant(match[1]), each.value)
    return Definition(each.name, each.parameters, each.sort, value)


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


def _written(each: Definition) -> bytes:
    return f"(define-fun {each.name} {each.parameters} {each.sort} {each.value})".encode()


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
