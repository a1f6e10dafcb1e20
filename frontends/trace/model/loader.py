"""Reads model files, and says of each error in which table and key it is and what was expected."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from reducekit.frontends.trace.language.text import FORMATS
from reducekit.frontends.trace.model.conditions import KEYWORDS, Kind, Name, Scope, Variable
from reducekit.frontends.trace.model.definition import (
    ROLES,
    Argument,
    CallModel,
    Model,
    ModelError,
    Type,
)
from reducekit.frontends.trace.model.forbidden import with_forbidden
from reducekit.frontends.trace.model.rules import read_effects, read_rule, read_rules
from reducekit.frontends.trace.model.sections import (
    read_classify,
    read_data,
    read_options,
    read_phases,
)
from reducekit.frontends.trace.model.tables import Table, shown

_KINDS = ("int", "literal", "variable", "word", "choice", "handle")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CALL = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*\Z")
_ARGUMENT = re.compile(r"(?:([A-Za-z_][A-Za-z0-9_]*)\s*:\s*)?([A-Za-z_][A-Za-z0-9_]*)(\*?)\Z")


def shipped() -> tuple[str, ...]:
    """Return the names of the models that are shipped, sorted."""
    folder = files("reducekit.frontends.trace") / "models"
    return tuple(
        sorted(
            each.name.removesuffix(".toml")
            for each in folder.iterdir()
            if each.name.endswith(".toml")
        )
    )


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
    content = with_forbidden(_spread(_extended(content, source), source), source)
    return _Loader(Table(source, "", content), folder).model()


def _spread(content: dict[str, Any], source: str) -> dict[str, Any]:
    """Return a model's content with each family of calls as calls."""
    if "families" not in content:
        return content
    calls = dict(Table(source, "calls", content.get("calls", {})).content)
    for family in Table(source, "", content).tables("families"):
        names = family.words("names")
        if not names:
            family.fail("names", "expected the names of the calls")
        for name in names:
            if name in calls:
                family.fail("names", f"expected calls that are described once, found {name!r}")
            calls[name] = {key: value for key, value in family.content.items() if key != "names"}
    return {key: value for key, value in content.items() if key != "families"} | {"calls": calls}


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
    # Tables are merged, at any depth; all else is replaced.
    work = [(below, content)]
    while work:
        old, new = work.pop()
        for key, value in new.items():
            if isinstance(value, dict) and isinstance(old.get(key), dict):
                work.append((old[key], value))
            else:
                old[key] = value
    return below


class _Loader:
    """Builds a model, table by table; later tables look up names in the earlier ones."""

    def __init__(self, top: Table, folder: Path | None) -> None:
        self.top = top
        self.folder = folder
        self.types: dict[str, Type] = {}
        self.states: tuple[str, ...] = ()
        self.sets: dict[str, int] = {}
        self.variables: dict[str, Variable] = {}
        self.live: dict[str, int] = {}
        self.hooks: dict[str, Callable[..., int]] = {}
        self.scope = Scope()

    def model(self) -> Model:
        top = self.top
        api = top.table("api")
        name = api.text("name")
        title = api.text("title", name)
        formats = api.words("formats", ("words",))
        for each in formats:
            if each not in FORMATS:
                api.fail("formats", f"expected some of {', '.join(FORMATS)}, found {each!r}")
        self.read_hooks(api)
        without = api.words("without")
        api.done("name, title, formats, hooks, extends, without")
        self.read_types(top.table("types"))
        initial, final = self.read_states(top.table("states"))
        self.read_variables(top)
        self.scope = Scope(self.variables, self.sets, frozenset(self.hooks))
        calls = self.read_calls(top.table("calls"))
        options = read_options(top.table("options"), calls)
        data = read_data(top)
        for each in without:
            if each not in calls:
                api.fail("without", f"expected the names of calls, found {each!r}")
        generated = calls.keys() - without
        phases = {
            phase: found.only(generated)
            for phase, found in read_phases(top.table("generate"), calls, self.scope).items()
        }
        classify = read_classify(top.table("classify"))
        top.done(
            "api, types, states, counters, flags, calls, families, options, data, generate, "
            "classify"
        )
        return Model(
            name,
            title,
            formats,
            self.types,
            self.states,
            initial,
            final,
            self.sets,
            self.variables,
            self.live,
            calls,
            options,
            data,
            phases,
            classify,
            self.hooks,
        )

    def read_hooks(self, api: Table) -> None:
        file = api.text("hooks", "")
        if not file:
            return
        if self.folder is None or Path(file).name != file:
            api.fail("hooks", "expected the name of a Python file in the model's folder")
        path = self.folder / file
        spec = importlib.util.spec_from_file_location(f"reducekit_hooks_{path.stem}", path)
        if spec is None or spec.loader is None:
            api.fail("hooks", f"expected a Python file, found {file!r}")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # whatever the file does wrong is told, not thrown
            api.fail("hooks", f"{file} cannot be loaded ({type(error).__name__}: {error})")
        self.hooks = {
            name: value
            for name, value in vars(module).items()
            if callable(value) and not name.startswith("_")
        }

    def read_types(self, table: Table) -> None:
        for name in table.each(_NAME, "a type"):
            each = table.table(name)
            kind = each.text("kind")
            if kind not in _KINDS:
                each.fail("kind", f"expected one of {', '.join(_KINDS)}, found {kind!r}")
            values = each.words("values")
            if kind == "choice" and not values:
                each.fail("values", "expected the words that may be chosen from")
            self.types[name] = Type(
                name,
                kind,  # type: ignore[arg-type]  # it is one of the kinds
                each.number("min"),
                each.number("max"),
                each.flag("zero"),
                values,
                each.text("negation", ""),
            )
            each.done("kind, min, max, zero, values, negation")

    def read_states(self, table: Table) -> tuple[int, int]:
        self.states = table.words("names")
        if not self.states:
            table.fail("names", "expected the names of the states")
        for number, name in enumerate(self.states):
            if not _NAME.match(name) or name in KEYWORDS or name in self.sets:
                table.fail("names", f"expected names, each once, found {name!r}")
            self.sets[name] = 1 << number
        self.sets["any"] = (1 << len(self.states)) - 1
        sets = table.table("sets")
        for name in sets.each(_NAME, "a set of states"):
            if name in self.states or name in KEYWORDS:
                sets.fail(name, "expected a name that no state has")
            self.sets[name] = self.mask(sets, name)
        initial = self.mask(table, "initial")
        final = self.mask(table, "final", self.states)
        table.done("names, sets, initial, final")
        return initial, final

    def mask(self, table: Table, key: str, default: Sequence[str] = ()) -> int:
        mask = 0
        for name in table.words(key, default):
            if name not in self.sets:
                known = ", ".join(self.sets)
                table.fail(key, f"expected states or sets of states ({known}), found {shown(name)}")
            mask |= self.sets[name]
        if not mask:
            table.fail(key, f"expected states or sets of states ({', '.join(self.sets)})")
        return mask

    def read_variables(self, top: Table) -> None:
        handles = [each.name for each in self.types.values() if each.kind == "handle"]
        for key in ("counters", "flags"):
            table = top.table(key)
            for name in table.each(_NAME, f"one of the {key}"):
                if name in KEYWORDS or name in self.variables or name in self.hooks:
                    table.fail(name, "expected a name that nothing else has")
                each = table.table(name)
                per = each.text("per", "")
                if per and per not in ("variable", "literal", *handles):
                    known = ", ".join(["variable", "literal", *handles])
                    each.fail("per", f"expected one of {known}, found {per!r}")
                entity = per if per in handles else ""
                if entity:
                    per = f"handle:{self.types[entity].negation}"
                initial = (
                    int(each.flag("initial")) if key == "flags" else each.number("initial", 0) or 0
                )
                each.done("per, initial")
                slot = len(self.variables)
                self.variables[name] = Variable(slot, key == "flags", per, initial, entity)
        for number, name in enumerate(handles):
            self.live[name] = len(self.variables) + number

    def read_calls(self, table: Table) -> dict[str, CallModel]:
        calls = {
            name: self.read_call(name, table.table(name)) for name in table.each(_CALL, "a call")
        }
        if not calls:
            table.fail("", "expected at least one call")
        for call in calls.values():
            if call.pair and call.pair not in calls:
                table.fail(call.name, f"pair: expected the name of a call, found {call.pair!r}")
        return calls

    def read_call(self, name: str, table: Table) -> CallModel:
        arguments = self.read_arguments(table)
        default = ("live",) if "live" in self.sets else ("any",)
        role = table.text("role", "other")
        if role not in ROLES:
            table.fail("role", f"expected one of {', '.join(ROLES)}, found {role!r}")
        result, outcomes = self.read_result(table)
        produces = table.text("produces", "")
        if produces:
            if produces not in self.live:
                table.fail("produces", f"expected a type of kind handle, found {produces!r}")
            if result is not None:
                table.fail("produces", "expected no 'result' besides")
            result = self.types[produces]
        releases = table.words("releases")
        handles = [each.name for each in arguments if each.type.kind == "handle"]
        for each in releases:
            if each not in handles:
                table.fail("releases", f"expected arguments that are handles, found {each!r}")
        local = {
            each.name: Name(f"a_{number}", _kind(each.type), star=each.star)
            for number, each in enumerate(arguments)
        }
        scope = replace(self.scope, names=local)
        after = local if result is None else {**local, "result": Name("r", _kind(result))}
        call = CallModel(
            name,
            arguments,
            self.mask(table, "from", default),
            self.mask(table, "to") if "to" in table.content else 0,
            result,
            outcomes,
            read_rules(table, "requires", scope),
            read_rules(table, "careful", scope),
            read_effects(table, replace(self.scope, names=after)),
            role,
            table.text("group", ""),
            read_rule(table, "end", scope),
            table.text("pair", ""),
            produces,
            releases,
            table.text("rejected", ""),
            table.text("smt", ""),
        )
        table.done(
            "args, from, to, result, requires, careful, effects, role, group, end, pair, "
            "produces, releases, rejected, smt"
        )
        return call

    def read_arguments(self, table: Table) -> tuple[Argument, ...]:
        found: list[Argument] = []
        for text in table.words("args"):
            match = _ARGUMENT.match(text)
            if match is None or match[2] not in self.types:
                known = ", ".join(self.types)
                table.fail(
                    "args",
                    f"expected 'type', 'name: type' or 'type*' with a type of {known}, "
                    f"found {text!r}",
                )
            name = match[1] or match[2]
            if name in KEYWORDS or name in self.variables or name in (a.name for a in found):
                table.fail("args", f"expected a name that nothing else has, found {name!r}")
            if match[3] and any(each.star for each in found):
                table.fail("args", "expected at most one argument with '*'")
            found.append(Argument(name, self.types[match[2]], bool(match[3])))
        return tuple(found)

    def read_result(self, table: Table) -> tuple[Type | None, dict[int, int]]:
        value = table.take("result")
        if value is None:
            return None, {}
        if isinstance(value, str):
            if value not in self.types:
                table.fail("result", f"expected a type ({', '.join(self.types)}), found {value!r}")
            return self.types[value], {}
        inner = Table(table.source, f"{table.path}.result", value)
        outcomes: dict[int, int] = {}
        for key in inner.each(re.compile(r"-?[0-9]+\Z"), "a number, and the state it leads to"):
            outcomes[int(key)] = self.mask(inner, key)
        if not outcomes:
            table.fail("result", "expected a type, or numbers with the states they lead to")
        return Type("result", "int"), outcomes


def _kind(found: Type) -> Kind:
    return "number" if found.kind in ("int", "literal", "variable") else "word"
