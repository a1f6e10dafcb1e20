"""The small language of conditions and effects in model files: a few of Python's expressions.

The idea is that Python reads them and we only choose: `ast` parses a text, each node that is
not listed here is refused, and names are looked up in the model. The result is the text of a
Python expression, from which `reducekit.frontends.trace.model.machine` makes functions; nothing
from a model file reaches it but numbers, quoted words and names that were found. The language
itself is described in `docs/trace-models.md`.

    condition:  or, and, not, = != < <= > >=, + - * /, numbers, 'words', true, false,
                arguments, `result`, counters and flags (`open`, `frozen(lit)`),
                `state in NAME`, unanswered, min max abs length, functions of the hooks
    effect:     TARGET = EXPR | TARGET += EXPR | TARGET -= EXPR | clear NAME | clear all
                | goto STATE [or STATE ...], then [for V in FLAG | for V in LOW..HIGH],
                then [when CONDITION]
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["number", "truth", "word"]

_LONE_EQUALS = re.compile(r"'[^']*'|(?<![=!<>])=(?!=)")
_DEEPEST = 40
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "+"), ast.Sub: ("-", "-"), ast.Mult: ("*", "*"), ast.Div: ("/", "//"),
}  # fmt: skip
_CONSTANTS = {"true": "True", "false": "False"}
_FUNCTIONS = ("min", "max", "abs", "length")
KEYWORDS = frozenset(
    (
        *("or", "and", "not", "true", "false", "state", "in", "unanswered", "result"),
        *(*_FUNCTIONS, "when", "for", "clear", "goto", "all"),
    )
)
"""Names that a model may not give to anything of its own."""


class LanguageError(Exception):
    """A condition or effect that cannot be read; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A counter or flag: `slot` in the state of a machine.

    `per` is what it is counted by: `""` for one value in all, `"literal"`, `"variable"` (of a
    literal), or `"handle:..."` with the text that negates a handle and is left out (may be empty).
    """

    slot: int
    flag: bool
    per: str
    initial: int


@dataclass(frozen=True, slots=True)
class Name:
    """What an argument or a `for` variable is in the generated code."""

    code: str
    kind: Kind
    star: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean: variables, sets of states and hooks of the model, and local names."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)
    hooks: frozenset[str] = frozenset()
    names: Mapping[str, Name] = field(default_factory=dict)

    def lookup(self, name: str) -> Variable:
        """Return the counter or flag of a name. Raises LanguageError with the known names."""
        found = self.variables.get(name)
        if found is None:
            known = ", ".join([*self.names, *self.variables])
            raise LanguageError(f"unknown name {name!r}, expected one of: {known}")
        return found

    def mask(self, name: str) -> int:
        """Return the mask of a state or set of states. Raises LanguageError."""
        if name not in self.states:
            known = ", ".join(self.states)
            raise LanguageError(f"no state or set of states is called {name!r} (known: {known})")
        return self.states[name]


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled text: Python, its kind, and the names that occur in it."""

    text: str
    kind: Kind
    names: frozenset[str] = frozenset()


def compile_condition(text: str, scope: Scope) -> Code:
    """Compile a condition. Raises LanguageError with what was expected.

    The code refers to `d`, the list of the state's variables, to `m`, the
    machine, and to the code of `scope.names`. A name with a star is
    each of its values: then the condition has to hold for all.
    """
    code = compile_value(text, scope)
    if code.kind != "truth":
        raise LanguageError(f"expected a condition, found a {code.kind}: {text!r}")
    starred = sorted(name for name in code.names if name in scope.names and scope.names[name].star)
    if len(starred) > 1:
        raise LanguageError(f"only one list of arguments may occur in {text!r}")
    if starred:
        name = scope.names[starred[0]]
        return replace(code, text=f"all({code.text} for {name.code} in {name.code}s)")
    return code


def compile_value(text: str, scope: Scope, kind: Kind | None = None) -> Code:
    """Compile an expression of any kind, or of this one. Raises LanguageError."""
    node = parse(text)
    try:
        code = _compile(node, scope)
    except LanguageError as error:
        raise LanguageError(f"{error}, in {text!r}") from None
    if kind is not None and code.kind != kind:
        raise LanguageError(f"expected a {kind}, found a {code.kind}: {text!r}")
    return code


def compile_number(text: str, scope: Scope) -> Code:
    """Compile an expression for a number. Raises LanguageError."""
    return compile_value(text, scope, "number")


def compile_target(node: ast.expr, scope: Scope) -> tuple[str, Variable, Code]:
    """Compile `NAME` or `NAME(KEY)` of a counter or flag: its name, itself, the code of its key."""
    match node:
        case ast.Name(name):
            keys: list[ast.expr] = []
        case ast.Call(ast.Name(name), keys, []):
            pass
        case _:
            raise LanguageError(f"expected a counter or flag, found {_shown(node)}")
    variable = scope.lookup(name)
    if len(keys) != bool(variable.per):
        what = f"'{name}({variable.per.partition(':')[0]})'" if variable.per else repr(name)
        raise LanguageError(f"expected {what}, found {_shown(node)}")
    return name, variable, _key(keys[0], variable, scope) if keys else Code("", "number")


def parse(text: str) -> ast.expr:
    """Parse one expression, in which a lone `=` compares. Raises LanguageError."""
    # `=` compares, as in mathematics; words in quotes stay as they are.
    python = _LONE_EQUALS.sub(lambda found: "==" if found[0] == "=" else found[0], text.strip())
    # A word is written as it stands in a trace: one line, no escapes.
    if "\\" in python or "\n" in python:
        raise LanguageError(f"expected one line without '\\', found {text!r}")
    try:
        node = ast.parse(python, mode="eval").body
    except SyntaxError as error:
        rest = python[(error.offset or 1) - 1 :]
        where = f"before {rest[:20]!r}" if rest else "at the end"
        raise LanguageError(f"cannot be read: {error.msg} {where}, in {text!r}") from None
    except (ValueError, RecursionError, MemoryError):
        raise LanguageError(f"cannot be read: too deep, in {text[:40]!r}") from None
    # Level by level, as whoever wrote the file also chose how deep it is.
    level = [node]
    for _ in range(_DEEPEST):
        level = [
            each
            for parent in level
            for each in ast.iter_child_nodes(parent)
            if isinstance(each, ast.expr)
        ]
    if level:
        raise LanguageError(f"more than {_DEEPEST} levels deep: {text[:40]!r}")
    return node


# The depth of what was parsed is limited, so these may call each other.


def _compile(node: ast.expr, scope: Scope) -> Code:
    match node:
        # True is an int to Python; here it is not written so.
        case ast.Constant(int(value)) if type(value) is int:
            return Code(str(value), "number")
        case ast.Constant(str(value)):
            return Code(repr(value), "word")
        case ast.Name(name):
            return _name(name, node, scope)
        case ast.Call(ast.Name(name), arguments, []):
            return _call(name, node, arguments, scope)
        case ast.BoolOp(operator, operands):
            sign = "or" if isinstance(operator, ast.Or) else "and"
            codes = [_want("truth", each, f"next to {sign!r}", scope) for each in operands]
            return _joined(f" {sign} ", codes, "truth")
        case ast.UnaryOp(ast.Not(), operand):
            code = _want("truth", operand, "after 'not'", scope)
            return replace(code, text=f"(not {code.text})")
        case ast.UnaryOp(ast.USub(), operand):
            code = _want("number", operand, "after '-'", scope)
            return replace(code, text=f"(-{code.text})")
        case ast.BinOp(left, operator, right) if type(operator) in _ARITHMETIC:
            sign, python = _ARITHMETIC[type(operator)]
            codes = [_want("number", each, f"next to {sign!r}", scope) for each in (left, right)]
            # By a number only: so no condition can fail to have a value.
            if sign == "/" and not re.fullmatch(r"[1-9][0-9]*", codes[1].text):
                raise LanguageError("expected a number other than 0 after '/'")
            return _joined(f" {python} ", codes, "number")
        # The machine may be in several states: all of them have to be in the set.
        case ast.Compare(ast.Name("state"), [ast.In()], [ast.Name(name)]):
            return Code(f"(not m.mask & ~{scope.mask(name)})", "truth")
        case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARE:
            return _comparison(left, _COMPARE[type(operator)], right, scope)
    raise LanguageError(f"expected a value, found {_shown(node)}")


def _comparison(left: ast.expr, sign: str, right: ast.expr, scope: Scope) -> Code:
    codes = [_compile(left, scope), _compile(right, scope)]
    kinds = [code.kind for code in codes]
    if kinds[0] != kinds[1]:
        raise LanguageError(f"a {kinds[0]} is compared with a {kinds[1]}")
    # Words have no order that an API could mean.
    if kinds[0] != "number" and sign not in ("==", "!="):
        raise LanguageError("only numbers have an order")
    return _joined(f" {sign} ", codes, "truth")


def _name(name: str, node: ast.expr, scope: Scope) -> Code:
    if name in _CONSTANTS:
        return Code(_CONSTANTS[name], "truth")
    if name == "unanswered":
        if "result" not in scope.names:
            raise LanguageError("'unanswered' is for effects of calls that return something")
        return Code("(r is None)", "truth")
    local = scope.names.get(name)
    if local is not None:
        return Code(local.code, local.kind, frozenset((name,)))
    _, variable, _ = compile_target(node, scope)
    kind: Kind = "truth" if variable.flag else "number"
    return Code(f"d[{variable.slot}]", kind, frozenset((name,)))


def _call(name: str, node: ast.expr, arguments: list[ast.expr], scope: Scope) -> Code:
    """Return the code of a function, or of a counter or flag with its key."""
    if name in scope.hooks:
        return _joined(", ", [_compile(each, scope) for each in arguments], "number", f"h_{name}")
    if name == "length":
        return _length(arguments, scope)
    if name in _FUNCTIONS:
        codes = [_want("number", each, f"in {name!r}", scope) for each in arguments]
        if not codes or (name == "abs") != (len(codes) == 1):
            what = "one value" if name == "abs" else "two values or more"
            raise LanguageError(f"{name!r} takes {what}")
        return _joined(", ", codes, "number", name)
    _, variable, key = compile_target(node, scope)
    names = key.names | {name}
    if not variable.flag:
        return Code(f"d[{variable.slot}].get({key.text}, {variable.initial})", "number", names)
    # A flag is kept as the set of those for which it is not what it was at first.
    inside = "not in" if variable.initial else "in"
    return Code(f"({key.text} {inside} d[{variable.slot}])", "truth", names)


def _length(arguments: list[ast.expr], scope: Scope) -> Code:
    """Return the code for how many values a list of arguments has, or for the length of a value."""
    match arguments:
        case [ast.Name(name)] if name in scope.names and scope.names[name].star:
            return Code(f"len({scope.names[name].code}s)", "number")
        case [value]:
            code = _compile(value, scope)
            return Code(f"len(str({code.text}))", "number", code.names)
    raise LanguageError("'length' takes one value")


def _key(node: ast.expr, variable: Variable, scope: Scope) -> Code:
    """Return the code of the literal or handle that a counter is of."""
    if variable.per.startswith("handle:"):
        code = _want("word", node, "a handle", scope)
        negated = variable.per[len("handle:") :]
        return replace(code, text=f"{code.text}.replace({negated!r}, '', 1)") if negated else code
    code = _want("number", node, "a literal", scope)
    return replace(code, text=f"abs({code.text})") if variable.per == "variable" else code


def _want(kind: Kind, node: ast.expr, where: str, scope: Scope) -> Code:
    code = _compile(node, scope)
    if code.kind != kind:
        raise LanguageError(f"expected a {kind} {where}, found a {code.kind}")
    return code


def _joined(sign: str, codes: list[Code], kind: Kind, function: str = "") -> Code:
    text = sign.join(code.text for code in codes)
    return Code(f"{function}({text})", kind, frozenset().union(*(code.names for code in codes)))


def _shown(node: ast.expr) -> str:
    return repr(ast.unparse(node)[:40])


_ASSIGNMENT = re.compile(r"([^=]*?)\s*(=|\+=|-=)(?!=)\s*(.*)")
_DOMAIN = re.compile(r"([A-Za-z_]\w*)\s+in\s+(.*?)\s*(?:\.\.\s*(.*))?")


def compile_effect(text: str, scope: Scope) -> list[str]:
    """Compile an effect to lines of Python. Raises LanguageError with what was expected.

    An effect that mentions `result` happens only where the result is known.
    """
    head, loop, condition = _split(text, scope)
    inner = scope
    # From the outside in: the list of arguments, the loop, the condition, the statement.
    lines: list[str] = []
    indent = ""
    if loop is not None:
        variable, opening, flag = loop
        entity = Name("v_", "word" if flag and flag.per.startswith("handle:") else "number")
        inner = replace(scope, names={**scope.names, variable: entity})
        lines.append(opening)
        indent = "    "
    used: frozenset[str] = frozenset()
    if condition:
        code = compile_condition(condition, inner)
        used |= code.names
        lines.append(f"{indent}if {code.text}:")
        indent += "    "
    statement, names = _statement(head, inner)
    used |= names
    starred = sorted(name for name in used if name in inner.names and inner.names[name].star)
    if starred:
        if len(starred) > 1 or loop is not None:
            raise LanguageError(f"only one list of arguments, and no 'for', may occur in {text!r}")
        name = inner.names[starred[0]]
        lines = [f"for {name.code} in {name.code}s:", *("    " + line for line in lines)]
        indent += "    "
    lines += [indent + line for line in statement]
    # The bounds of a loop may name the result, too; they are compiled already.
    if "result" in used or (loop is not None and re.search("[^a-z_]r[^a-z_]", loop[1])):
        lines = ["if r is not None:", *("    " + line for line in lines)]
    return lines


def _split(text: str, scope: Scope) -> tuple[str, tuple[str, str, Variable | None] | None, str]:
    rest, _, condition = _part(text, "when")
    statement, looping, domain = _part(rest, "for")
    if not looping:
        return statement, None, condition
    found = _DOMAIN.fullmatch(domain)
    if found is None:
        raise LanguageError(f"expected 'for NAME in FLAG' or 'for NAME in LOW..HIGH', in {text!r}")
    variable, where, high = found.groups()
    flag = scope.variables.get(where)
    if high is None and flag is not None and flag.per:
        if not flag.flag or flag.initial:
            raise LanguageError(f"expected a flag that is false at first in {text!r}")
        # A copy: the statement may change the very flag that is looped over.
        return statement, (variable, f"for v_ in tuple(d[{flag.slot}]):", flag), condition
    if high is None:
        raise LanguageError(f"expected '..' and a number after {where!r}, in {text!r}")
    low, end = (compile_value(each, scope, "number").text for each in (where, high))
    return statement, (variable, f"for v_ in range({low}, {end} + 1):", None), condition


def _part(text: str, word: str) -> tuple[str, bool, str]:
    """Split a text at the first standalone keyword; a missing part is empty."""
    before, *after = re.split(rf"\b{word}\b", text, maxsplit=1)
    return before.strip(), bool(after), "".join(after).strip()


def _statement(text: str, scope: Scope) -> tuple[list[str], frozenset[str]]:
    """Compile the statement of an effect: its lines, and the names in it."""
    verb, _, rest = text.partition(" ")
    if verb == "goto":
        mask = 0
        for state in re.split(r"\bor\b", rest):
            mask |= scope.mask(state.strip())
        return [f"m.mask = {mask}"], frozenset()
    if verb == "clear" and rest.strip() == "all":
        return ["m.clear()"], frozenset()
    if verb == "clear":
        variable = scope.lookup(rest.strip())
        if variable.per:
            return [f"d[{variable.slot}].clear()"], frozenset()
        initial = bool(variable.initial) if variable.flag else variable.initial
        return [f"d[{variable.slot}] = {initial!r}"], frozenset()
    found = _ASSIGNMENT.fullmatch(text)
    if found is None:
        raise LanguageError(f"expected '=', '+=' or '-=', 'clear' or 'goto' in {text!r}")
    target, sign, value_text = found.groups()
    name, variable, key = compile_target(parse(target), scope)
    value = compile_value(value_text, scope)
    names = value.names | key.names | {name}
    if value.kind != ("truth" if variable.flag else "number"):
        what = "a condition" if variable.flag else "a number"
        raise LanguageError(f"expected {what} after {sign!r}, found a {value.kind} in {text!r}")
    if variable.flag:
        if sign != "=":
            raise LanguageError(f"expected '=' after the flag {name!r} in {text!r}")
        return _set_flag(variable, key.text, value.text), names
    slot = variable.slot
    if not variable.per:
        return [f"d[{slot}] {sign} {value.text}"], names
    # 0 is no variable: it has no counters, and setting them has no effect.
    old = "" if sign == "=" else f"d[{slot}].get(k_, {variable.initial}) {sign[0]} "
    return [f"k_ = {key.text}", f"if k_: d[{slot}][k_] = {old}{value.text}"], names


def _set_flag(variable: Variable, key: str, value: str) -> list[str]:
    """Return the lines that set a flag; 0 is no variable, and has no flags."""
    slot = variable.slot
    if not variable.per:
        return [f"d[{slot}] = {value}"]
    # A flag that is true at first is kept as the set of those for which it is false.
    add, discard = ("discard", "add") if variable.initial else ("add", "discard")
    if value in ("True", "False"):
        method = add if value == "True" else discard
        return [f"k_ = {key}", f"if k_: d[{slot}].{method}(k_)"]
    return [f"k_ = {key}", f"if k_: (d[{slot}].{add} if {value} else d[{slot}].{discard})(k_)"]
