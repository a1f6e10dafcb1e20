"""Runs a model: which call is allowed now, and what it leads to.

A `Machine` is the state of a model: the set of states it may be in, its
counters and flags. It is the same for the checker, the reducer's filter and the
generator. A filter asks it millions of times, so the rules of each call are
compiled to two Python functions (about 500,000 calls a second on one core).

Where a result that steers the state is unknown, the machine is in several
states at once. A call is allowed if it is in one of them; once it was made,
only those are left. So nothing is refused that may be right.

The functions take the machine `m`, whose `data` they call `d`, and the arguments `a` of the call;
the result is `r`. Their text is made of names and numbers that were looked up when the model was
read, and of quoted words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.definition import Argument, CallModel, Model, Rule, Type

_NAMED = 24  # names that a message lists, and characters of a name that it shows


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a call is not allowed.

    `rule` is short and the same for all calls that break it: a condition of the model as written
    there, `from ...` for the states, `unknown call`, or what an argument has to be. `malformed`
    says that it is no call of the API at all (unknown, wrong arguments), so that no interpreter
    could read it; otherwise it breaks the API's contract.
    """

    rule: str
    message: str
    malformed: bool = False


class Machine:
    """The state of a model, at first before any call.

    `mask` has a bit for each state that the machine may be in.
    """

    __slots__ = ("_rules", "data", "mask", "model")

    def __init__(self, model: Model) -> None:
        self.model = model
        self.mask = model.initial
        self._rules = compiled(model)
        self.data: list[Any] = [
            (set() if each.flag else {})
            if each.per
            else (bool(each.initial) if each.flag else each.initial)
            for each in model.variables.values()
        ]
        self.data.extend({} for _ in model.live)

    def copy(self) -> Machine:
        """Return a machine in the same state."""
        other = Machine.__new__(Machine)
        other.model, other.mask, other._rules = self.model, self.mask, self._rules
        # Sets and dictionaries hold no objects of their own, so a copy of each is deep enough.
        other.data = [each.copy() if isinstance(each, (set, dict)) else each for each in self.data]
        return other

    def clear(self) -> None:
        """Go back to where the machine was at first."""
        self.mask = self.model.initial
        for slot, each in enumerate(self.model.variables.values()):
            if each.per:
                self.data[slot].clear()
            else:
                self.data[slot] = bool(each.initial) if each.flag else each.initial
        for slot in self.model.live.values():
            self.data[slot].clear()

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states that the machine may be in."""
        return tuple(
            name for number, name in enumerate(self.model.states) if self.mask >> number & 1
        )

    def value(self, name: str, key: Value = 0) -> int:
        """Return a counter or flag (as 0 or 1), for a literal or handle where it has one for each.

        Raises KeyError for a name that the model does not have.
        """
        variable = self.model.variables[name]
        if not variable.per:
            return int(self.data[variable.slot])
        if variable.per == "variable":
            key = abs(int(key))
        elif variable.per.startswith("handle:") and len(variable.per) > len("handle:"):
            key = str(key).replace(variable.per[len("handle:") :], "", 1)
        if variable.flag:
            # The set holds those for which the flag is not what it was at first.
            return int((key in self.data[variable.slot]) != bool(variable.initial))
        return int(self.data[variable.slot].get(key, variable.initial))

    def allowed(self, call: Call) -> Violation | None:
        """Return why the call must not be made now, None if it may. Changes nothing."""
        rules = self._rules.get(call.name)
        if rules is None:
            known = tuple(name for name, each in self.model.calls.items() if not each.rejected)
            return _unknown(call.name, self.model.title, known)
        number = rules.allow(self, call.arguments)
        return None if not number else self._violation(call, rules.faults[number - 1])

    def careful(self, call: Call) -> Violation | None:
        """Return which rule for generators forbids a call that is allowed, None if none does."""
        rules = self._rules[call.name]
        number = rules.careful(self, call.arguments)
        return None if not number else self._violation(call, rules.faults[number - 1])

    def after(self, call: Call, result: Value | None = None) -> None:
        """Go on to the state after an allowed call.

        `result` is what it returned, by default what was recorded; None if that is unknown. For a
        call that is not allowed, the outcome is undefined, but nothing is raised.
        """
        if result is None:
            result = call.result
        # An unknown call changes nothing: `allowed` refuses it.
        rules = self._rules.get(call.name)
        if rules is not None:
            rules.after(self, call.arguments, result)

    def make(self, call: Call) -> Violation | None:
        """Make a call with its recorded result if it is allowed; return why it is not."""
        rules = self._rules.get(call.name)
        if rules is None:
            return self.allowed(call)  # which says what else may be meant
        # In one function, as this is what a filter does millions of times.
        number = rules.make(self, call.arguments, call.result)
        return None if not number else self._violation(call, rules.faults[number - 1])

    def ends_group(self, call: Call) -> bool:
        """Return whether a call is the last of its group, as the 0 of a clause is.

        One that lacks its arguments, in a text that only a command can read, ends nothing.
        """
        rules = self._rules[call.name]
        try:
            return rules.end is not None and rules.end(self, call.arguments)
        except IndexError:
            return False

    def _violation(self, call: Call, fault: Fault) -> Violation:
        if fault.rule.startswith("from "):
            here = " or ".join(self.states)
            return Violation(fault.rule, f"'{call}' is {fault.why}, but the state is {here}")
        return Violation(fault.rule, f"'{call}': {fault.why}", fault.malformed)


@lru_cache(maxsize=1024)  # a trace that only a command can read asks for the same again and again
def _unknown(name: str, title: str, known: tuple[str, ...]) -> Violation:
    near = get_close_matches(name, known, 3)
    some = near or known[:_NAMED]
    listed = ", ".join(some) + (", ..." if len(some) < len(known) else "")
    return Violation(
        "unknown call",
        f"expected a call of {title} ({listed}), found '{name[:_NAMED]}'",
        malformed=True,
    )


# The first argument of each is a machine, which is defined in terms of these.
_Allow = Callable[[Any, tuple[Value, ...]], int]
_After = Callable[[Any, tuple[Value, ...], Any], None]
_Make = Callable[[Any, tuple[Value, ...], Any], int]
_Holds = Callable[[Any, tuple[Value, ...]], bool]


@dataclass(frozen=True, slots=True)
class Fault:
    """What the number that an allow function returns means."""

    rule: str
    why: str
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class Compiled:
    """The functions of a call; `faults[n - 1]` explains the number n.

    `make` is `allow`, followed by `after` if it allows the call.
    `refuses` is what a generator asks: `allow`, then `careful`.
    """

    allow: _Allow
    after: _After
    make: _Make
    careful: _Allow
    refuses: _Allow
    end: _Holds | None
    faults: tuple[Fault, ...]


@lru_cache(maxsize=16)
def compiled(model: Model) -> dict[str, Compiled]:
    """Return the functions of each call of a model."""
    names: dict[str, Any] = {f"h_{name}": hook for name, hook in model.hooks.items()}
    names |= {f"n_{name}": each.names for name, each in model.types.items()}
    # A `return` line that belongs to no call: whoever replays compares it with the result before.
    stray = CallModel("return", (Argument("result", Type("result", "word")),), model.sets["any"])
    result: dict[str, Compiled] = {}
    for call in (stray, *model.calls.values()):
        faults: list[Fault] = []
        allow = _allow(call, model, faults)
        careful = _rules(call.careful, call, faults)
        after, effects = _after(call, model), [*_result(call), *_effects(call, model)]
        end = [] if call.end is None else [f"return {call.end.code.text}"]
        head = _head(call.arguments)
        source = "\n".join(
            [
                *_function("allow(m, a)", [*allow, "return 0"]),
                *_function("careful(m, a)", head + careful + ["return 0"]),
                *_function("refuses(m, a)", [*allow, *careful, "return 0"]),
                *_function("after(m, a, r)", after),
                *_function("make(m, a, r)", [*allow, *effects, "return 0"]),
                *_function("end(m, a)", head + end),
            ]
        )
        # The text was made here, of names and numbers that were looked up when the model was read.
        space = dict(names)
        exec(compile(source, f"<{model.name}: {call.name}>", "exec"), space)
        result[call.name] = Compiled(
            space["allow"], space["after"], space["make"], space["careful"], space["refuses"],
            space["end"] if end else None, tuple(faults),
        )  # fmt: skip
    return result


def _function(head: str, body: list[str]) -> list[str]:
    return [f"def {head}:", *("    " + line for line in ["d = m.data", *body])]


def _head(arguments: tuple[Argument, ...]) -> list[str]:
    """Return the lines that take the arguments apart: `a_0`, `a_1`, ..., and `a_1s` for a list."""
    # At most one argument is a list, so those after it are counted from the end.
    star = next((number for number, each in enumerate(arguments) if each.star), len(arguments))
    after = len(arguments) - star - 1
    lines = [f"a_{number} = a[{number}]" for number in range(star)]
    if star < len(arguments):
        lines.append(
            f"a_{star}s = a[{star}:len(a) - {after}]" if after else f"a_{star}s = a[{star}:]"
        )
        lines += [f"a_{star + number} = a[{number - after - 1}]" for number in range(1, after + 1)]
    return lines


def _allow(call: CallModel, model: Model, faults: list[Fault]) -> list[str]:
    def number(rule: str, why: str, malformed: bool = False) -> int:
        faults.append(Fault(rule, why, malformed))
        return len(faults)

    if call.rejected:
        return [f"return {number('rejected', call.rejected, True)}"]
    arguments = call.arguments
    count = sum(not each.star for each in arguments)
    shapes = (each.name.upper() + ("..." if each.star else "") for each in arguments)
    shape = " ".join([call.name, *shapes])
    sign = "<" if count < len(arguments) else "!="
    wanted = (
        f"expected '{shape}' ({count} argument{'s' * (count != 1)}{' or more' * (sign == '<')})"
    )
    lines = [f"if len(a) {sign} {count}: return {number('arguments', wanted, True)}"]
    lines += _head(arguments)
    # What makes it no call at all comes first, then the state, then ranges: the first fault is the
    # one that is named, and a range is of no interest in a state that has no such call.
    for position, each in enumerate(arguments):
        check = _malformed(each, f"a_{position}")
        if check is not None:
            kind = "a handle" if each.type.kind == "handle" else "a number"
            what = f"expected {kind} as '{each.name}'"
            lines.append(_each(each, position, check, number(what, what, True)))
    if call.source != model.sets["any"]:
        allowed = _states(call.source, model)
        why = f"allowed in {allowed} only"
        lines.append(f"if not m.mask & {call.source}: return {number(f'from {allowed}', why)}")
    for position, each in enumerate(arguments):
        for check, rule, why in _ranges(each, f"a_{position}", model):
            lines.append(_each(each, position, check, number(rule, why)))
    return lines + _rules(call.requires, call, faults)


def _rules(rules: tuple[Rule, ...], call: CallModel, faults: list[Fault]) -> list[str]:
    lines: list[str] = []
    for rule in rules:
        faults.append(Fault(rule.text, rule.why or f"requires {rule.text}"))
        lines.append(f"if not {rule.code.text}: return {len(faults)}")
    return lines


def _each(argument: Argument, position: int, check: str, number: int) -> str:
    """Return the line that refuses an argument, or any of a list, for which `check` holds."""
    name = f"a_{position}"
    if argument.star:
        return f"if any({check} for {name} in {name}s): return {number}"
    return f"if {check}: return {number}"


def _malformed(argument: Argument, name: str) -> str | None:
    kind = argument.type.kind
    if kind in ("int", "literal", "variable"):
        return f"{name}.__class__ is not int"
    if kind == "handle" and argument.type.names is None:
        return f"{name}.__class__ is not str"
    return None


def _ranges(argument: Argument, name: str, model: Model) -> list[tuple[str, str, str]]:
    """Return what to refuse of the values of a type: condition, rule, why."""
    found = argument.type
    shown = argument.name
    if found.kind == "handle":
        key = _handle(name, found.negation)
        check = f"d[{model.live[found.name]}].get({key}, 0) <= 0"
        if found.names is not None:
            check = f"{name} in n_{found.name} and {check}"
        if found.values:
            check = f"({check} and {name} not in {found.values!r})"
        return [
            (check, f"live({shown})", f"no call returned this {found.name}, or it was released")
        ]
    if found.kind == "choice":
        listed = ", ".join(found.values)
        return [(f"{name} not in {found.values!r}", f"{shown} in {listed}", f"expected {listed}")]
    checks: list[tuple[str, str, str]] = []
    if found.kind == "literal" and not found.zero:
        checks.append((f"not {name}", f"{shown} != 0", "0 is no literal"))
    if found.kind == "variable":
        least = 0 if found.zero else 1
        checks.append((f"{name} < {least}", f"{shown} >= {least}", "expected a variable"))
    if found.low is not None:
        rule = f"{shown} >= {found.low}"
        checks.append((f"{name} < {found.low}", rule, f"expected a number of at least {found.low}"))
    if found.high is not None:
        rule = f"{shown} <= {found.high}"
        checks.append(
            (f"{name} > {found.high}", rule, f"expected a number of at most {found.high}")
        )
    return checks


def _after(call: CallModel, model: Model) -> list[str]:
    count = sum(not each.star for each in call.arguments)
    lines = [f"if len(a) < {count}: return"] if count else []
    lines += _head(call.arguments)
    # What is not of its type has no effect; `allow` refuses it.
    for position, each in enumerate(call.arguments):
        name = f"a_{position}"
        check = _malformed(each, name)
        if check is not None and each.star:
            lines.append(f"if any({check} for {name} in {name}s): return")
        elif check is not None:
            lines.append(f"if {check}: return")
    return lines + _result(call) + _effects(call, model)


def _result(call: CallModel) -> list[str]:
    """Return the lines that ignore a result that is not of its type."""
    if call.result is None:
        return ["r = None"]
    if call.result.kind in ("int", "literal", "variable"):
        return ["if r.__class__ is not int: r = None"]
    return ["if r is not None: r = str(r)"]


def _effects(call: CallModel, model: Model) -> list[str]:
    """Return the lines of what a call does, its arguments being what they have to be."""
    lines: list[str] = []
    if call.source != model.sets["any"]:
        # That it was made rules out all states that do not allow it. None is left after a call
        # that breaks the contract: then it is in one of those that do.
        lines.append(f"m.mask = m.mask & {call.source} or {call.source}")
    for name in call.releases:
        position, argument = next(
            (number, each) for number, each in enumerate(call.arguments) if each.name == name
        )
        key = _handle(f"a_{position}", argument.type.negation)
        slot = model.live[argument.type.name]
        # Below 0 for one that nobody made; once it is made, counting begins at 1.
        lines.append(f"k_ = {key}; d[{slot}][k_] = d[{slot}].get(k_, 0) - 1")
    for effect in call.effects:
        lines += effect.lines
    if call.produces:
        slot, made = model.live[call.produces], model.types[call.produces]
        key = _handle("r", made.negation)
        # A solver may return the same handle again, and then wants it released as often.
        lines.append(
            f"if r is not None: k_ = {key}; d[{slot}][k_] = max(d[{slot}].get(k_, 0), 0) + 1"
            if made.names is None
            else f"if r is not None: d[{slot}].update(dict.fromkeys(r.split(), 1))"
        )
    if call.outcomes:
        # An unknown result may have led to any of the states.
        every = 0
        for mask in call.outcomes.values():
            every |= mask
        lines.append(f"m.mask = {dict(call.outcomes)!r}.get(r, {every})")
    elif call.target:
        lines.append(f"m.mask = {call.target}")
    return lines


def _handle(name: str, negation: str) -> str:
    return f"{name}.replace({negation!r}, '', 1)" if negation else name


def _states(mask: int, model: Model) -> str:
    for name, each in model.sets.items():
        if each == mask:
            return f"'{name}'"
    return ", ".join(f"'{n}'" for k, n in enumerate(model.states) if mask >> k & 1)
