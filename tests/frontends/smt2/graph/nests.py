"""Random scripts whose binders nest and hide each other's names, and what a script means."""

import itertools
from random import Random
from typing import Any, NamedTuple

from reducekit.frontends.smt2.language.parser import parse

DECLARATIONS = b"""(declare-datatype L ((nil) (cons (hd Int) (tl L))))
(declare-fun p () Bool)
(declare-fun q () Bool)
(declare-fun i () Int)
(declare-fun j () Int)
(declare-fun l () L)
(declare-fun f (Int Bool) Bool)
"""
NAMES = ("x", "y", "z", "p", "i", "l")
"""Names of bound variables: few, and some of them declared, so that they hide each other."""
Scope = dict[str, str]


def script(seed: int, depth: int = 5) -> bytes:
    """Return a script of two asserts and a defined function."""
    random = Random(seed)
    scope = {"p": "Bool", "q": "Bool", "i": "Int", "j": "Int", "l": "L"}
    body = term(random, "Bool", {**scope, "x": "Int", "i": "Bool"}, depth - 2)
    lines = [f"(define-fun g ((x Int) (i Bool)) Bool {body})"]
    lines += [f"(assert {term(random, 'Bool', scope, depth)})" for _ in range(2)]
    lines.append(f"(assert (g {term(random, 'Int', scope, 2)} {term(random, 'Bool', scope, 2)}))")
    return DECLARATIONS + "\n".join((*lines, "(check-sat)\n")).encode()


def term(random: Random, sort: str, scope: Scope, depth: int) -> str:
    """Return a term of a sort over the variables of a scope."""
    if depth == 0 or random.random() < 0.1:
        known = [name for name, of in scope.items() if of == sort]
        literals = {"Bool": ["true"], "Int": ["0", "7"], "L": ["nil"]}[sort]
        return random.choice(known * 3 + literals)

    def below(sort: str, inner: Scope = scope) -> str:
        return term(random, sort, inner, depth - 1)

    form = random.randrange(5)
    if form == 0:
        bound = random.sample(NAMES, random.randrange(1, 3))
        sorts = [random.choice(("Bool", "Int", "L")) for _ in bound]
        values = " ".join(
            f"({name} {below(each)})" for name, each in zip(bound, sorts, strict=True)
        )
        inner = {**scope, **dict(zip(bound, sorts, strict=True))}
        return f"(let ({values}) {below(sort, inner)})"
    if form == 1:
        head, tail = random.sample(NAMES, 2)
        inner = {**scope, head: "Int", tail: "L"}
        other = random.choice(NAMES)
        last = f"({other} {below(sort, {**scope, other: 'L'})})"
        if random.random() < 0.5:
            last = f"(nil {below(sort)})"
        return f"(match {below('L')} (((cons {head} {tail}) {below(sort, inner)}) {last}))"
    if form == 2:
        return f"(ite {below('Bool')} {below(sort)} {below(sort)})"
    if sort == "Int":
        return f"(+ {below('Int')} {below('Int')})" if form == 3 else f"(hd {below('L')})"
    if sort == "L":
        return f"(cons {below('Int')} {below('L')})" if form == 3 else f"(tl {below('L')})"
    if form == 3:
        quantifier = random.choice(("forall", "exists"))
        bound = random.sample(NAMES, random.randrange(1, 3))
        inner = {**scope, **dict.fromkeys(bound, "Int")}
        variables = " ".join(f"({name} Int)" for name in bound)
        return f"({quantifier} ({variables}) {below('Bool', inner)})"
    choice = random.randrange(5)
    if choice == 0:
        name = random.choice(NAMES)
        inner = {**scope, name: "Int"}
        return f"(select (lambda (({name} Int)) {below('Bool', inner)}) {below('Int')})"
    if choice == 1:
        return f"(f {below('Int')} {below('Bool')})"
    if choice == 2:
        return f"(> {below('Int')} {below('Int')})"
    if choice == 3:
        return f"(not {below('Bool')})"
    return f"(and {below('Bool')} {below('Bool')} {below('Bool')})"


def meaning(text: bytes) -> list[Any]:
    """Return the commands with all lets written out and all bound variables by number.

    Two scripts mean the same if and only if this is equal. By substitution, and
    so for small scripts only: written apart from what it tests.
    """
    document = parse(text)

    def read(node: int) -> Any:
        if document.text[document.start[node]] != ord("("):
            return document.source(node).decode()
        return [read(child) for child in document.children(node)]

    return [command(read(node)) for node in document.children(0)]


def command(parts: Any) -> Any:
    """Return a command with its term expanded."""
    if parts[0] == "assert":
        return ("assert", numbered(expand(parts[1], {}), {}))
    if parts[0] == "define-fun":
        variables = [next(_UNIQUE) for _ in parts[2]]
        inner = {name: each for (name, _), each in zip(parts[2], variables, strict=True)}
        numbers = {each: number for number, each in enumerate(variables)}
        sorts = tuple(sort for _, sort in parts[2])
        return ("define-fun", parts[1], sorts, parts[3], numbered(expand(parts[4], inner), numbers))
    return repr(parts)


_UNIQUE = itertools.count()


def expand(parts: Any, scope: dict[str, Any]) -> Any:
    """Return a term without lets, in which each binder has variables (numbers) of its own."""
    if isinstance(parts, str):
        return scope.get(parts, parts)
    head = parts[0]
    if head == "let":
        values = {name: expand(value, scope) for name, value in parts[1]}
        return expand(parts[2], {**scope, **values})
    if head in ("forall", "exists", "lambda"):
        bound = {name: next(_UNIQUE) for name, _ in parts[1]}
        sorts = tuple(str(sort) for _, sort in parts[1])
        return Binder((head, sorts), tuple(bound.values()), expand(parts[2], {**scope, **bound}))
    if head == "match":
        cases = []
        for pattern, body in parts[2]:
            names = pattern[1:] if isinstance(pattern, list) else [pattern]
            names = [] if pattern == "nil" else names
            bound = {name: next(_UNIQUE) for name in names}
            shown = pattern[0] if isinstance(pattern, list) else pattern == "nil"
            cases.append(Binder(shown, tuple(bound.values()), expand(body, {**scope, **bound})))
        return ("match", expand(parts[1], scope), *cases)
    return tuple(expand(each, scope) for each in parts)


class Binder(NamedTuple):
    """Variables and the term that they are bound in."""

    head: Any
    bound: tuple[int, ...]
    body: Any


def numbered(parts: Any, numbers: dict[int, int]) -> Any:
    """Return an expanded term with each variable as the number of binders around its own."""
    if isinstance(parts, int) and not isinstance(parts, bool):
        return f"#{numbers[parts]}"
    if isinstance(parts, Binder):
        inner = {**numbers, **{each: len(numbers) + n for n, each in enumerate(parts.bound)}}
        return (parts.head, len(parts.bound), numbered(parts.body, inner))
    if isinstance(parts, tuple):
        return tuple(numbered(each, numbers) for each in parts)
    return parts
