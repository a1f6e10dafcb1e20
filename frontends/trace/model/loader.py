"""Reads model files, and says of each error in which table and key it is and what was expected."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from importlib.resources import files
from operator import or_
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import astuple

from reducekit.frontends.trace.language.text import FORMATS
from reducekit.frontends.trace.model.conditions import (
    KEYWORDS,
    Code,
    Kind,
    LanguageError,
    Name,
    Scope,
    Variable,
    compile_condition,
    compile_effect,
    compile_number,
)
from reducekit.frontends.trace.model.definition import (
    Argument,
    CallModel,
    Effect,
    Model,
    Next,
    OptionModel,
    Phase,
    Rule,
    Step,
    Type,
)
from reducekit.frontends.trace.model.sections import (
    CallTable,
    ContentTable,
    CounterTable,
    FlagTable,
    PhaseTable,
    StatesTable,
    StepTable,
    with_forbidden,
)
from reducekit.frontends.trace.model.structure import ModelError, Place, Words, shown, structured

T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WHOLE = re.compile(r"-?[0-9]+\Z")
_ARGUMENT = re.compile(r"(?:([A-Za-z_][A-Za-z0-9_]*)\s*:\s*)?([A-Za-z_][A-Za-z0-9_]*)(\*?)\Z")


def shipped() -> tuple[str, ...]:
    """Return the names of the models that are shipped, sorted."""
    folder = files("reducekit.frontends.trace") / "models"
    names = sorted(each.name for each in folder.iterdir())
    return tuple(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_model(name: str) -> Model:
    """Load a model: the name of a shipped one, or the path of a file (with a `/` or `.toml`).

    Raises ModelError if there is none, or if something in it cannot be used.
    """
    if "/" in name or name.endswith(".toml"):
        path = Path(name)
        try:
            return parse_model(path.read_bytes(), str(path), path.parent)
        except OSError as error:
            raise ModelError(f"{name}: cannot be read ({error.strerror})") from None
    if name not in shipped():
        raise ModelError(f"no model is called {name!r}; there are: {', '.join(shipped())}")
    return _load_shipped(name)


@cache
def _load_shipped(name: str) -> Model:
    found = files("reducekit.frontends.trace") / "models" / f"{name}.toml"
    return parse_model(found.read_bytes(), f"{name}.toml", None)


def parse_model(text: bytes, source: str = "model", folder: Path | None = None) -> Model:
    """Read a model; `source` names it in messages, `folder` is where its hooks file lies.

    Without a folder, hooks are refused. Raises ModelError.
    """
    try:
        content = tomllib.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelError(f"{source}: not a TOML file: {error}") from None
    place = Place(source)
    # Both are rewritten to what the file could have said at length, before anything is checked.
    content = with_forbidden(_spread(_extended(content, source), place), place)
    return _model(structured(content, ContentTable, place), place, folder)


def _spread(content: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return a model's content with each family of calls as calls."""
    calls = dict(structured(content.get("calls", {}), dict, place.inner("calls")))
    families = structured(content.get("families", []), list, place, "families")
    for number, family in enumerate(families):
        inner = place.inner(f"families[{number}]")
        keys = {**structured(family, dict, inner)}
        names = structured(keys.pop("names", []), Words, inner, "names")
        if not names:
            inner.fail("names", "expected the names of the calls")
        for name in names:
            if name in calls:
                inner.fail("names", f"expected calls that are described once, found {name!r}")
            calls[name] = {key: _of_one(name, key, value) for key, value in keys.items()}
    return {key: value for key, value in content.items() if key != "families"} | {"calls": calls}


def _of_one(name: str, key: str, value: Any) -> Any:
    """Return what a key of a family is for one call, which may differ from the `others`."""
    text = key in ("c", "smt")
    if isinstance(value, dict) and (text or "others" in value):
        value = value.get(name, value.get("others", ""))
    if not text or not isinstance(value, str):
        return value
    return value.replace("{call}", name).replace("{CALL}", name.removeprefix("bv").upper())


def _extended(content: dict[str, Any], source: str) -> dict[str, Any]:
    """Return a model's content on top of that of the shipped one it extends, if it does."""
    api = content.get("api")
    base = api.pop("extends", None) if isinstance(api, dict) else None
    if base is None:
        return content
    if base not in shipped():
        there = ", ".join(shipped())
        raise ModelError(f"{source}: [api] extends: expected one of {there}, found {shown(base)}")
    found = files("reducekit.frontends.trace") / "models" / f"{base}.toml"
    below = _extended(tomllib.loads(found.read_text("utf-8")), f"{base}.toml")
    # Tables are merged, at any depth; all else is replaced, lists of conditions too.
    work = [(below, content)]
    while work:
        old, new = work.pop()
        for key, value in new.items():
            if isinstance(value, dict) and isinstance(old.get(key), dict):
                work.append((old[key], value))
            else:
                old[key] = value
    return below


def _model(content: ContentTable, place: Place, folder: Path | None) -> Model:
    """Return the model of a file, whose texts are compiled; each may name what stands above it."""
    api = content.api
    place.among("api.formats", api.formats, FORMATS, "some of {}")
    hooks = _hooks(api.hooks, place, folder)
    types = {name: Type(name, *astuple(each)) for name, each in content.types.items()}
    if content.states is None:
        place.fail("states.names", "expected the names of the states")
    states = content.states
    sets = _sets(states, place.inner("states"))
    variables = _variables(content, types, hooks, place)
    handles = [each.name for each in types.values() if each.kind == "handle"]
    live = {name: len(variables) + number for number, name in enumerate(handles)}
    scope = Scope(variables, sets, frozenset(hooks))
    calls = {
        name: _call(name, each, types, live, scope, place.inner(f"calls.{name}"))
        for name, each in content.calls.items()
    }
    if not calls:
        place.fail("calls.", "expected at least one call")
    for call in calls.values():
        if call.pair:
            place.among(f"calls.{call.name}.pair", [call.pair], calls, "the name of a call")
    if content.options is not None:
        place.among("options.call", [content.options.call], calls, "the name of a call")
    place.among("api.without", api.without, calls, "the names of calls")
    phases = _phases(content.generate, calls, scope, place.inner("generate"))
    for name, signs in content.classify.items():
        if not signs:
            place.fail(f"classify.{name}", "expected a list of signs")
    return Model(
        api.name,
        api.title or api.name,
        api.formats,
        types,
        states.names,
        _mask(states.initial, "initial", sets, place.inner("states")),
        _mask(states.final or states.names, "final", sets, place.inner("states")),
        sets,
        variables,
        live,
        calls,
        content.options or OptionModel(probability=Fraction(0)),
        content.data,
        {name: phase.only(calls.keys() - api.without) for name, phase in phases.items()},
        tuple(content.classify.items()),
        hooks,
    )


def _hooks(file: str, place: Place, folder: Path | None) -> dict[str, Callable[..., int]]:
    if not file:
        return {}
    if folder is None or Path(file).name != file:
        place.fail("api.hooks", "expected the name of a Python file in the model's folder")
    path = folder / file
    # By its path: the folder of a model is not on the import path.
    spec = importlib.util.spec_from_file_location(f"reducekit_hooks_{path.stem}", path)
    if spec is None or spec.loader is None:
        place.fail("api.hooks", f"expected a Python file, found {file!r}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the file does wrong is an error of the model
        what = f"{file} cannot be loaded ({type(error).__name__}: {error})"
        place.fail("api.hooks", what)
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_")
    }


def _sets(states: StatesTable, place: Place) -> dict[str, int]:
    """Return the mask of each state and set of states by name, `any` included."""
    found: dict[str, int] = {}
    if not states.names:
        place.fail("names", "expected the names of the states")
    for number, name in enumerate(states.names):
        if not _NAME.match(name) or name in KEYWORDS or name in found:
            place.fail("names", f"expected names, each once, found {name!r}")
        found[name] = 1 << number
    found["any"] = (1 << len(states.names)) - 1
    for name, members in states.sets.items():
        if name in states.names or name in KEYWORDS:
            place.fail(f"sets.{name}", "expected a name that no state has")
        found[name] = _mask(members, f"sets.{name}", found, place)
    return found


def _mask(names: Sequence[str], key: str, sets: Mapping[str, int], place: Place) -> int:
    """Return the states that are named, a bit each."""
    if not names:
        place.fail(key, f"expected states or sets of states ({', '.join(sets)})")
    place.among(key, names, sets, "states or sets of states ({})")
    return reduce(or_, (sets[name] for name in names))


def _variables(
    content: ContentTable, types: Mapping[str, Type], hooks: Container[str], place: Place
) -> dict[str, Variable]:
    known = ["variable", "literal", *(t.name for t in types.values() if t.kind == "handle")]
    found: dict[str, Variable] = {}
    groups: dict[str, Mapping[str, CounterTable | FlagTable]] = {
        "counters": content.counters,
        "flags": content.flags,
    }
    for key, group in groups.items():
        for name, each in group.items():
            if name in KEYWORDS or name in found or name in hooks:
                place.fail(f"{key}.{name}", "expected a name that nothing else has")
            per = each.per
            if per:
                place.among(f"{key}.{name}.per", [per], known, "one of {}")
            if per in types and types[per].kind == "handle":
                per = f"handle:{types[per].negation}"
            found[name] = Variable(len(found), key == "flags", per, int(each.initial))
    return found


def _call(
    name: str,
    given: CallTable,
    types: Mapping[str, Type],
    live: Collection[str],
    scope: Scope,
    place: Place,
) -> CallModel:
    arguments = _arguments(given.args, types, scope, place)
    outcomes: dict[int, int] = {}
    result = None
    if isinstance(given.result, str):
        place.among("result", [given.result], types, "a type ({})")
        result = types[given.result]
    elif given.result is not None:
        for key, names in given.result.items():
            if not _WHOLE.match(key):
                place.fail(
                    f"result.{key}", "expected the name of a number, and the state it leads to"
                )
            outcomes[int(key)] = _mask(names, f"result.{key}", scope.states, place)
        if not outcomes:
            place.fail("result", "expected a type, or numbers with the states they lead to")
        result = Type("result", "int")
    if given.produces:
        place.among("produces", [given.produces], live, "a type of kind handle")
        if result is not None:
            place.fail("produces", "expected no 'result' besides")
        result = types[given.produces]
    handles = [each.name for each in arguments if each.type.kind == "handle"]
    place.among("releases", given.releases, handles, "arguments that are handles")
    before = replace(
        scope,
        names={
            each.name: Name(f"a_{number}", _kind(each.type), star=each.star)
            for number, each in enumerate(arguments)
        },
    )
    after = before
    if result is not None:
        after = replace(before, names={**before.names, "result": Name("r", _kind(result))})
    # Effects happen after the call, so only they can name its result.
    default = "live" if "live" in scope.states else "any"
    source = (default,) if given.source is None else given.source
    return CallModel(
        name,
        arguments,
        _mask(source, "from", scope.states, place),
        0 if given.to is None else _mask(given.to, "to", scope.states, place),
        result,
        outcomes,
        _rules(given.requires, "requires", before, place),
        _rules(given.careful, "careful", before, place),
        tuple(
            Effect(text, tuple(_compiled(compile_effect, text, f"effects[{number}]", after, place)))
            for number, text in enumerate(given.effects)
        ),
        given.role or ("define" if given.produces else "other"),
        given.group,
        _rule(given.end, "end", before, place),
        given.pair,
        given.produces,
        given.releases,
        given.rejected,
        given.smt,
        given.means,
        given.c,
    )


def _arguments(
    texts: Sequence[str], types: Mapping[str, Type], scope: Scope, place: Place
) -> tuple[Argument, ...]:
    found: dict[str, Argument] = {}
    for text in texts:
        match = _ARGUMENT.match(text)
        if match is None or match[2] not in types:
            known = ", ".join(types)
            place.fail(
                "args",
                f"expected 'type', 'name: type' or 'type*' with a type of {known}, found {text!r}",
            )
        name = match[1] or match[2]
        if name in KEYWORDS or name in scope.variables or name in found:
            place.fail("args", f"expected a name that nothing else has, found {name!r}")
        if match[3] and any(each.star for each in found.values()):
            place.fail("args", "expected at most one argument with '*'")
        found[name] = Argument(name, types[match[2]], bool(match[3]))
    return tuple(found.values())


def _kind(found: Type) -> Kind:
    return "number" if found.kind in ("int", "literal", "variable") else "word"


def _rules(value: Any, key: str, scope: Scope, place: Place) -> tuple[Rule, ...]:
    """Return conditions; each is a text, or a text and why it holds."""
    value = [value] if isinstance(value, str | dict) else value
    if not isinstance(value, list | tuple):
        place.fail(key, f"expected a list of conditions, found {shown(value)}")
    found: list[Rule] = []
    for number, each in enumerate(value):
        text, why = each, ""
        if isinstance(each, dict):
            text, why = each.get("is"), each.get("why", "")
            if set(each) - {"is", "why"} or not isinstance(why, str):
                what = f"expected {{is = ..., why = ...}}, found {shown(each)}"
                place.fail(f"{key}[{number}]", what)
        if not isinstance(text, str):
            place.fail(f"{key}[{number}]", f"expected a condition, found {shown(text)}")
        code = _compiled(compile_condition, text, f"{key}[{number}]", scope, place)
        found.append(Rule(text, why, code))
    return tuple(found)


def _rule(text: str | None, key: str, scope: Scope, place: Place) -> Rule | None:
    if text is None:
        return None
    return Rule(text, "", _compiled(compile_condition, text, key, scope, place))


def _number(value: int | str, key: str, scope: Scope, place: Place) -> Code:
    return _compiled(compile_number, str(value), key, scope, place)


def _compiled(
    compile_: Callable[[str, Scope], T], text: str, key: str, scope: Scope, place: Place
) -> T:
    try:
        return compile_(text, scope)
    except LanguageError as error:
        place.fail(key, str(error))


def _phases(
    given: Mapping[str, PhaseTable], calls: Mapping[str, CallModel], scope: Scope, place: Place
) -> dict[str, Phase]:
    found: dict[str, Phase] = {}
    for name, phase in given.items():
        following: list[Next] = []
        for number, after in enumerate(phase.next):
            inner = place.inner(f"{name}.next[{number}]")
            inner.among("to", [after.to], given, "the name of a phase")
            when = _rule(after.when, "when", scope, inner)
            following.append(Next(after.to, float(after.probability), when))
        steps = tuple(
            _step(step, calls, scope, place.inner(f"{name}.steps[{number}]"))
            for number, step in enumerate(phase.steps)
        )
        found[name] = Phase(name, steps, tuple(following))
    return found


def _step(given: StepTable, calls: Mapping[str, CallModel], scope: Scope, place: Place) -> Step:
    weights = {given.call: 1} if isinstance(given.call, str) else given.call
    weights.pop("", None)  # an action without a call
    place.among("call", weights, calls, "the name of a call")
    if given.action == "group":
        grouped = [name for name, call in calls.items() if call.group]
        place.among("call", weights, grouped, "a call that belongs to a group")
    times = given.times if isinstance(given.times, tuple) else (given.times, given.times)
    inner = replace(scope, names={"v": Name("v", "number")})
    return Step(
        given.action,
        tuple(weights.items()),
        float(given.probability),
        float(given.again),
        None
        if times[0] is None or times[1] is None
        else (
            _number(times[0], "times[0]", scope, place),
            _number(times[1], "times[1]", scope, place),
        ),
        None if given.share is None else (float(given.share[0]), float(given.share[1])),
        _rule(given.where, "where", inner, place),
        None if given.upto is None else _number(given.upto, "upto", scope, place),
        given.same,
        given.arguments,
        given.words,
    )
