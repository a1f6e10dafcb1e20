"""A public method says what it does, unless it overrides one that says so.

What overrides says only what the base class does not: a reader has read that one. (Linters know
neither: they see one file, so D102 of ruff is off.)
"""

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

from tests.test_architecture import Module, project


class Class(NamedTuple):
    bases: tuple[str, ...]
    docs: Mapping[str, str | None]
    """Of its methods by name; None where one has none."""


def classes(modules: list[Module]) -> dict[str, list[Class]]:
    """Return all classes by name; a few names occur in several modules."""
    found: dict[str, list[Class]] = {}
    for module in modules:
        for node in ast.walk(ast.parse(module.source)):
            if isinstance(node, ast.ClassDef):
                bases = (ast.unparse(each).partition("[")[0] for each in node.bases)
                docs = {
                    each.name: ast.get_docstring(each)
                    for each in node.body
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                }
                one = Class(tuple(each.rpartition(".")[2] for each in bases), docs)
                found.setdefault(node.name, []).append(one)
    return found


def inherited(
    name: str, one: Class, method: str, known: Mapping[str, list[Class]]
) -> Iterator[str]:
    """Yield what the base classes of a class say of a method."""
    todo, seen = list(one.bases), {name}
    while todo:
        above = todo.pop()
        if above not in seen:
            seen.add(above)
            for base in known.get(above, ()):
                todo += base.bases
                if doc := base.docs.get(method):
                    yield doc


def faults(modules: list[Module]) -> list[str]:
    """Return what is wrong, in words."""
    known, found = classes(modules), []
    for name, same in known.items():
        for one in same:
            for method, doc in one.docs.items():
                said = list(inherited(name, one, method, known))
                if doc is not None and doc in said:
                    found.append(f"{name}.{method} repeats its base class")
                if doc is None and not said and name[0] != "_" and method[0] != "_":
                    found.append(f"{name}.{method} says nothing")
    return found


@pytest.mark.slow
def test_methods_say_what_their_base_class_does_not() -> None:
    assert faults(project()) == []


BASE = "class A:\n    def go(self):\n        'Go.'\n"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("class B(A):\n    def go(self):\n        'Go.'", "B.go repeats its base class"),
        ("class B(A[int]):\n    def stop(self): pass", "B.stop says nothing"),
        ("class B(A):\n    def go(self): pass", ""),
        ("class B(A):\n    def go(self):\n        'Go twice.'", ""),
        ("class _B(A):\n    def stop(self): pass", ""),
        ("class B(A): pass\nclass C(B, D):\n    def go(self): pass", ""),
    ],
)
def test_a_fault_is_found(source: str, fault: str) -> None:
    assert "".join(faults([Module("m", BASE + source)])) == fault
