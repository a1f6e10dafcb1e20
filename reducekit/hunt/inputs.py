"""The sources of a hunt's inputs: a format's generator, another's with conversion, or files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.offers import Conversions, Generated, Generation, InputGenerator, made_by
from reducekit.run import Outcome
from reducekit.session.place.inputs import read_text

WITHOUT_END = 1 << 62  # a practically unlimited number of seeds


@dataclass(frozen=True, slots=True)
class Input:
    """An input to test: how to generate it again, and its name in a report."""

    text: bytes
    made_by: str
    which: str = ""
    number: int = 0  # its seed, or its index among the files of a folder


def own_generation(name: str) -> Generation | None:
    """Return the generator that a format itself brings along; None if it has none."""
    return registry.frontend_class(name).generation()


def generation_of(name: str) -> Generation | None:
    """Return the generator of a format; None if there is none.

    A format without a generator uses one whose inputs can be converted to it. So does a format
    whose own generator must be selected by an option, unless it is.
    """
    own = own_generation(name)
    if own is not None and not own.asked_by:
        return own
    other = _converted_generation(name)
    return _either(own, other) if own is not None and other is not None else own or other


def _converted_generation(name: str) -> Generation | None:
    for other in registry.names(registry.FRONTENDS):
        conversions = None if other == name else registry.frontend_class(other).conversions()
        if conversions is None:
            continue
        generation = own_generation(other)
        suffixes = [each.suffixes for each in conversions.writes if each.name == name]
        if generation is not None and suffixes:
            make = partial(_Converting, generation, conversions, name, (*suffixes[0], "")[0])
            # Of its other fields, none suits the inputs once they are converted.
            return Generation(
                make, generation.options, generation.help, generation.noun, generation.default_seed
            )
    return None


def _either(own: Generation, other: Generation) -> Generation:
    """Return a generator that is `own` if its option is given, otherwise `other`."""
    # Both may change files: those of the format itself are meant.
    common = {each.name for each in own.options} & {each.name for each in other.options}

    def make(values: Mapping[str, Any]) -> InputGenerator:
        asked = [name for name in own.asked_by if values[name] is not None]
        for option in other.options if asked else own.options:
            if option.name in common:
                continue
            if values[option.name] != option.default:
                raise UsageError(
                    f"`{option.name}` and `{asked[0]}` are mutually exclusive"
                    if asked
                    else f"`{option.name}` requires `{own.asked_by[0]}`"
                )
        return (own if asked else other).make(values)

    rare = (replace(each, rare=True) for each in other.options if each.name not in common)
    return replace(
        other,
        make=make,
        options=(*own.options, *rare),
        help=f"{other.help} {own.help}",
        changes=own.changes,
    )


def generating_formats() -> list[str]:
    """Return the formats for which `generation_of` has a generator."""
    return [name for name in registry.names(registry.FRONTENDS) if generation_of(name) is not None]


class _Converting(InputGenerator):
    def __init__(
        self,
        generation: Generation,
        conversions: Conversions,
        target: str,
        suffix: str,
        values: Mapping[str, Any],
    ) -> None:
        self._inner = inner = generation.make(values)
        self._conversions = conversions
        self._target = target
        self.suffix = suffix
        self.notes = inner.notes
        self.rules_broken = inner.rules_broken

    def generate(self, seed: int) -> Generated:
        made = self._inner.generate(seed)
        converted = self._conversions.convert(made.text, None, self._target)
        return Generated(converted.text, made.note)

    def words(self, seed: int) -> Sequence[str]:
        return self._inner.words(seed)

    def breaks_rules(self, outcome: Outcome) -> bool:
        return self._inner.breaks_rules(outcome)

    def close(self) -> None:
        self._inner.close()


def generated_input(name: str, generator: InputGenerator, seed: int) -> Input:
    """Generate the input of a seed."""
    text = generator.generate(seed).text
    return Input(text, made_by(name, generator.words(seed)), number=seed)


def files_in(folder: Path) -> list[Path]:
    """Return the files below a folder by name, without hidden ones. Raises UsageError."""
    if not os.path.isdir(folder):
        raise UsageError(f"the folder {folder} does not exist")
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise UsageError(f"the folder {folder} has no files")
    return found


def input_from(paths: Sequence[Path], number: int) -> Input:
    """Return the contents of a file, decompressed if necessary."""
    path = paths[number]
    return Input(read_text(path), f"a copy of {path}", str(path), number)
