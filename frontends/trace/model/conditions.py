"""The small language of conditions in model files: reading and compiling it.

Its texts become the text of Python expressions and statements, from which
`reducekit.frontends.trace.model.machine` makes functions; nothing from a model file
reaches them but numbers, quoted words and names that were looked up here. The
language itself is described in `docs/trace-models.md`.

    condition:  or, and, not, = != < <= > >=, + - * /, numbers, 'words', true, false,
                arguments, `result`, counters and flags (`open`, `frozen(lit)`),
                `state in NAME`, unanswered, min max abs length, functions of the hooks
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

Kind = Literal["number", "truth", "word"]

_TOKEN = re.compile(
    r"\s*(?:([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|'([^']*)'|(\.\.|!=|<=|>=|\+=|-=|==|[-+*/(),=<>]))"
)
_DEEPEST = 40
_COMPARE = {"=": "==", "==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
KEYWORDS = frozenset(
    (
        *("or", "and", "not", "true", "false", "state", "in", "unanswered", "result"),
        *("min", "max", "abs", "length", "when", "for", "clear", "goto", "all"),
    )
)
"""Names that a model may not give to anything of its own."""


class LanguageError(Exception):
    """A condition or effect that cannot be read; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A counter or flag: `slot` in the state of a machine.

    `per` is what it is counted by: `""` for one value in all, `"literal"`,
    `"variable"` (of a literal), or `"handle:..."` with the text that negates
    a handle and is left out (may be empty).
    """

    slot: int
    flag: bool
    per: str
    initial: int
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    """What an argument or a `for` variable is in the generated code."""

    code: str
    kind: Kind
    entity: str = ""
    star: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean: variables, sets of states and hooks of the model, and local names."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)
    hooks: frozenset[str] = frozenset()
    names: Mapping[str, Name] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled text: Python, its kind, and the names that occur in it."""

    text: str
    kind: Kind
    names: frozenset[str]


class Reader:
    """Reads one condition or effect; `at` is the token that comes next."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.source = text
        self.scope = scope
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        self.depth = 0
        self.names: set[str] = set()
        position = 0
        end = len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise LanguageError(f"unexpected {text[position:].strip()[:20]!r} in {text!r}")
            number, name, word, sign = match.groups()
            if number is not None:
                self.tokens.append(("number", number))
            elif name is not None:
                self.tokens.append(("name", name))
            elif word is not None:
                self.tokens.append(("word", word))
            else:
                self.tokens.append(("sign", sign))
            position = match.end()
        self.tokens.append(("end", ""))

    def fail(self, expected: str) -> NoReturn:
        """Raise LanguageError with what was expected here."""
        kind, token = self.tokens[self.at]
        found = "the end" if kind == "end" else repr(token)
        raise LanguageError(f"expected {expected}, found {found} in {self.source!r}")

    def ahead(self, *wanted: str) -> bool:
        """Return whether one of these comes next."""
        kind, token = self.tokens[self.at]
        return kind in ("sign", "name") and token in wanted

    def take(self, *wanted: str) -> str | None:
        """Take the next token if it is one of these."""
        if not self.ahead(*wanted):
            return None
        self.at += 1
        return self.tokens[self.at - 1][1]

    def expect(self, wanted: str) -> None:
        """Take a token that has to come next."""
        if self.take(wanted) is None:
            self.fail(repr(wanted))

    def name(self, what: str) -> str:
        """Take a name that has to come next."""
        kind, token = self.tokens[self.at]
        if kind != "name" or token in KEYWORDS - {"result"}:
            self.fail(what)
        self.at += 1
        return token

    # A model is written by hand and the depth is limited, so these may call each other.

    def condition(self) -> Code:
        """Read alternatives."""
        left = self.conjunction()
        while self.take("or"):
            right = self.conjunction()
            left = self._truths("or", left, right)
        return left

    def conjunction(self) -> Code:
        """Read what is joined by `and`."""
        left = self.negation()
        while self.take("and"):
            left = self._truths("and", left, self.negation())
        return left

    def negation(self) -> Code:
        """Read what may stand behind `not`."""
        count = 0
        while self.take("not"):
            count += 1
        inner = self.comparison()
        if count:
            self._want(inner, "truth", "behind 'not'")
            return Code(f"(not {inner.text})" if count % 2 else inner.text, "truth", inner.names)
        return inner

    def comparison(self) -> Code:
        """Read one comparison, or a value."""
        left = self.sum()
        sign = self.take(*_COMPARE)
        if sign is None:
            return left
        right = self.sum()
        if left.kind != right.kind:
            raise LanguageError(f"a {left.kind} is compared with a {right.kind} in {self.source!r}")
        if left.kind != "number" and sign not in ("=", "==", "!="):
            raise LanguageError(f"only numbers have an order, in {self.source!r}")
        return Code(
            f"({left.text} {_COMPARE[sign]} {right.text})", "truth", left.names | right.names
        )

    def sum(self) -> Code:
        """Read sums and differences."""
        left = self.product()
        while (sign := self.take("+", "-")) is not None:
            left = self._numbers(sign, left, self.product())
        return left

    def product(self) -> Code:
        """Read products and quotients."""
        left = self.factor()
        while (sign := self.take("*", "/")) is not None:
            right = self.factor()
            if sign == "/" and not re.fullmatch(r"[1-9][0-9]*", right.text):
                raise LanguageError(f"expected a number other than 0 behind '/' in {self.source!r}")
            left = self._numbers("*" if sign == "*" else "//", left, right)
        return left

    def factor(self) -> Code:
        """Read what may stand behind `-`."""
        if self.take("-"):
            inner = self.factor_once()
            self._want(inner, "number", "behind '-'")
            return Code(f"(-{inner.text})", "number", inner.names)
        return self.factor_once()

    def factor_once(self) -> Code:
        """Read a single value."""
        kind, token = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            return Code(str(int(token)), "number", frozenset())
        if kind == "word":
            self.at += 1
            return Code(repr(token), "word", frozenset())
        if self.take("("):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise LanguageError(f"more than {_DEEPEST} parentheses deep: {self.source[:40]!r}")
            inner = self.condition()
            self.expect(")")
            self.depth -= 1
            return Code(f"({inner.text})", inner.kind, inner.names)
        if self.take("true"):
            return Code("True", "truth", frozenset())
        if self.take("false"):
            return Code("False", "truth", frozenset())
        if self.ahead("unanswered"):
            if "result" not in self.scope.names:
                self.fail("a value ('unanswered' is for effects of calls that return something)")
            self.at += 1
            return Code("(r is None)", "truth", frozenset())
        if self.take("state"):
            self.expect("in")
            mask = self.states()
            return Code(f"(not m.mask & ~{mask})", "truth", frozenset())
        if kind == "name" and (token in KEYWORDS - {"result"} or token in self.scope.hooks):
            return self.function()
        return self.variable()

    def states(self) -> int:
        """Read the name of a state or set of states; return its mask."""
        name = self.name("the name of a state or of a set of states")
        if name not in self.scope.states:
            known = ", ".join(self.scope.states)
            raise LanguageError(f"no state or set of states is called {name!r} (known: {known})")
        return self.scope.states[name]

    def function(self) -> Code:
        """Read the call of a function."""
        token = self.tokens[self.at][1]
        if token not in ("min", "max", "abs", "length") and token not in self.scope.hooks:
            self.fail("a value")
        self.at += 1
        self.expect("(")
        listed_name = self.scope.names.get(self.tokens[self.at][1])
        if token == "length" and listed_name is not None and listed_name.star:
            self.at += 1
            self.expect(")")
            return Code(f"len({listed_name.code}s)", "number", frozenset())
        inner = [self.sum()]
        while self.take(","):
            inner.append(self.sum())
        self.expect(")")
        names = frozenset().union(*(each.names for each in inner))
        listed = ", ".join(each.text for each in inner)
        if token in self.scope.hooks:
            return Code(f"h_{token}({listed})", "number", names)
        if token == "length":
            if len(inner) != 1:
                raise LanguageError(f"'length' takes one value, in {self.source!r}")
            return Code(f"len(str({listed}))", "number", names)
        for each in inner:
            self._want(each, "number", f"in {token!r}")
        if (token == "abs") != (len(inner) == 1):
            what = "one value" if token == "abs" else "two values or more"
            raise LanguageError(f"{token!r} takes {what}, in {self.source!r}")
        return Code(f"{token}({listed})", "number", names)

    def variable(self) -> Code:
        """Read an argument, counter or flag."""
        name = self.name("a value")
        self.names.add(name)
        local = self.scope.names.get(name)
        if local is not None:
            return Code(local.code, local.kind, frozenset((name,)))
        found = self.lookup(name)
        if not found.per:
            return Code(f"d[{found.slot}]", "truth" if found.flag else "number", frozenset((name,)))
        self.expect("(")
        key, names = self.key(found)
        self.expect(")")
        names |= {name}
        if not found.flag:
            return Code(f"d[{found.slot}].get({key}, {found.initial})", "number", names)
        inside = "not in" if found.initial else "in"
        return Code(f"({key} {inside} d[{found.slot}])", "truth", names)

    def lookup(self, name: str) -> Variable:
        """Return the counter or flag of a name."""
        found = self.scope.variables.get(name)
        if found is None:
            known = ", ".join([*self.scope.names, *self.scope.variables])
            raise LanguageError(
                f"unknown name {name!r} in {self.source!r}, expected one of: {known}"
            )
        return found

    def key(self, variable: Variable) -> tuple[str, frozenset[str]]:
        """Read the literal or handle that a counter is of; return its code, and its names."""
        inner = self.sum()
        if variable.per.startswith("handle:"):
            self._want(inner, "word", "a handle")
            negated = variable.per[len("handle:") :]
            text = f"{inner.text}.replace({negated!r}, '', 1)" if negated else inner.text
            return text, inner.names
        self._want(inner, "number", "a literal")
        text = f"abs({inner.text})" if variable.per == "variable" else inner.text
        return text, inner.names

    def _want(self, code: Code, kind: Kind, where: str) -> None:
        if code.kind != kind:
            raise LanguageError(
                f"expected a {kind} {where}, found a {code.kind} in {self.source!r}"
            )

    def _truths(self, sign: str, left: Code, right: Code) -> Code:
        for each in (left, right):
            self._want(each, "truth", f"beside {sign!r}")
        return Code(f"({left.text} {sign} {right.text})", "truth", left.names | right.names)

    def _numbers(self, sign: str, left: Code, right: Code) -> Code:
        for each in (left, right):
            self._want(each, "number", f"beside {sign!r}")
        return Code(f"({left.text} {sign} {right.text})", "number", left.names | right.names)

    def done(self) -> None:
        """Raise LanguageError unless all was read."""
        if self.tokens[self.at][0] != "end":
            self.fail("the end")


def compile_condition(text: str, scope: Scope) -> Code:
    """Compile a condition. Raises LanguageError with what was expected.

    The code refers to `d`, the list of the state's variables, to `m`, the
    machine, and to the code of `scope.names`. A name with a star stands for
    each of its values: then the condition has to hold for all.
    """
    reader = Reader(text, scope)
    code = reader.condition()
    reader.done()
    if code.kind != "truth":
        raise LanguageError(f"expected a condition, found a {code.kind}: {text!r}")
    starred = sorted(name for name in code.names if name in scope.names and scope.names[name].star)
    if len(starred) > 1:
        raise LanguageError(f"only one list of arguments may occur in {text!r}")
    if starred:
        name = scope.names[starred[0]]
        return Code(f"all({code.text} for {name.code} in {name.code}s)", "truth", code.names)
    return code


def compile_number(text: str, scope: Scope) -> Code:
    """Compile an expression for a number. Raises LanguageError with what was expected."""
    reader = Reader(text, scope)
    code = reader.sum()
    reader.done()
    if code.kind != "number":
        raise LanguageError(f"expected a number, found a {code.kind}: {text!r}")
    return code
