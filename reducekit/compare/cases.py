"""The files that algorithms are compared on: each fails, and each may have its own test."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from reducekit import registry
from reducekit.compare.runs import Settings
from reducekit.compare.shared_oracle import SharedOracle
from reducekit.errors import NotInterestingError, UsageError
from reducekit.executors.executor import Guard
from reducekit.frontend import Effort, FormatOption, Frontend
from reducekit.session import Failure, Options, Session
from reducekit.session.cluster import Cluster
from reducekit.session.options import Words
from reducekit.session.place.inputs import naming, read_text
from reducekit.session.runs.openers import opener_of

_ON_OFF = {"on": True, "off": False}


@dataclass(frozen=True, slots=True)
class Case:
    """A file that fails, and what all sessions on it share."""

    label: str
    format: str
    options: Options
    """The options of its sessions, without the algorithm and the settings of the format."""

    @property
    def text(self) -> bytes:
        """The text to reduce."""
        assert isinstance(self.options.input, bytes)
        return self.options.input

    def options_for(self, strategy: str, settings: Settings, checks: int | None) -> Options:
        """Return the options of a session; `NAME:quick` is the strategy with quick effort."""
        name, _, given = strategy.partition(":")
        efforts: dict[str, Effort] = {each: each for each in get_args(Effort)}
        return replace(
            self.options,
            strategy=name,
            effort=efforts.get(given, "normal"),
            format=frontend_with(self.format, settings),
            max_checks=checks,
        )


def open_case(
    path: Path,
    label: str,
    format_name: str,
    settings: Collection[Settings],
    failure: Failure,
    guard: Guard,
    cluster: Cluster | None = None,
) -> Case:
    """Read a file and make sure that it fails, by a session without any check.

    It is parsed with every combination of settings. Checks run on the `cluster`, if given. Raises
    UsageError, ParseError or NotInterestingError.
    """
    text = read_text(path)
    with guard.allowed(), naming(str(path)):
        for each in settings:
            frontend_with(format_name, each).parse(text)
    failure = filled(failure, path)
    chosen = {field.name: getattr(failure, field.name) for field in fields(Failure)}
    options = Options(
        input=text,
        name=str(path),
        format=format_name,
        journal=False,
        patience=None,
        cluster=cluster,
        **chosen,
    )
    shared = SharedOracle(opener_of(options, registry.frontend(format_name).suffix, guard))
    options = replace(options, opener=shared.open, cluster=None)
    try:
        report = Session(replace(options, max_checks=0), guard=guard).run()
    except NotInterestingError as error:
        error.args = (f"{path}: {error}", *error.args[1:])
        raise
    if report.interrupted:
        raise KeyboardInterrupt
    return Case(label, format_name, options)


def labels_of(files: Sequence[Path]) -> list[str]:
    """Return short names for files: without suffixes, or those of their folders, or whole paths.

    A file called `input` is named after its folder. Raises UsageError for duplicate files.
    """
    folders = [path.absolute().parent.name for path in files]
    stems = [path.stem for path in files]
    short = [
        folder if stem == "input" and folder else stem
        for stem, folder in zip(stems, folders, strict=True)
    ]
    for labels in (short, folders, [str(path) for path in files]):
        if len(set(labels)) == len(files) and all(labels):
            return labels
    raise UsageError("a file is given twice")


def combinations(format_name: str, settings: Sequence[str]) -> list[Settings]:
    """Return all combinations of the values of `NAME=VALUE,VALUE` for options of a format.

    If an option is given twice, the last one counts; options that the format lacks are left out.
    Raises UsageError for an option that no format has, and for an invalid value.
    """
    declared = {option.name: option for option in registry.frontend_class(format_name).options}
    wanted: dict[str, list[str]] = {}
    for each in settings:
        spelled, equals, values = each.partition("=")
        name = spelled.replace("-", "_")
        if not equals or not values:
            raise UsageError(f"expected NAME=VALUE or NAME=VALUE,VALUE, not {each!r}")
        if name in declared:
            wanted[name] = values.split(",")
        else:
            _refuse_unknown(name)
    found: list[Settings] = [()]
    for name, chosen in wanted.items():
        for value in chosen:
            _value(declared[name], value)
        found = [(*before, (name, value)) for value in chosen for before in found]
    return found


def _refuse_unknown(name: str) -> None:
    """Raise UsageError if no format has an option of that name."""
    known = {
        option.name
        for each in registry.names(registry.FRONTENDS)
        for option in registry.frontend_class(each).options
    }
    if name not in known:
        close = get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"unknown format option {name!r}: {', '.join(sorted(known))}{hint}")


def frontend_with(format_name: str, settings: Settings) -> Frontend:
    """Return a new frontend with these settings: some frontends remember what they have seen."""
    declared = {option.name: option for option in registry.frontend_class(format_name).options}
    values = {name: _value(declared[name], value) for name, value in settings}
    return registry.frontend(format_name, **values)


def _value(option: FormatOption, value: str) -> str | bool:
    """Convert the value of an option for a frontend. Raises UsageError."""
    allowed = tuple(_ON_OFF) if option.kind == "flag" else option.choices
    if allowed and value not in allowed:
        raise UsageError(f"{option.name} must be {' or '.join(allowed)}, not {value!r}")
    return _ON_OFF[value] if option.kind == "flag" else value


def filled(failure: Failure, path: Path) -> Failure:
    """Fill the folder and the name of a file into the placeholders of its commands."""
    places = {"{dir}": str(path.parent), "{stem}": path.stem}

    def fill(command: Words) -> Words:
        if isinstance(command, str):
            return _replaced(command, {key: shlex.quote(each) for key, each in places.items()})
        return [_replaced(word, places) for word in command]

    return failure.with_commands(fill)


def _replaced(text: str, places: Mapping[str, str]) -> str:
    for place, value in places.items():
        text = text.replace(place, value)
    return text
