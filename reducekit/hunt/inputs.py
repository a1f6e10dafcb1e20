"""Where the inputs of a hunt come from: a format's generator, another's by conversion, or files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.offers import Conversions, Generated, Generation, InputGenerator, made_by
from reducekit.oracle.outcome import Outcome
from reducekit.session.output import read_input
from reducekit.session.unpack import unpacked

WITHOUT_END = 1 << 62
"""As good as no end of the seeds."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input to test: how it is made again, and what to say of it when it shows a new bug."""

    text: bytes
    made_by: str
    which: str = ""


def generation_of(name: str) -> Generation | None:
    """Return the generator of a format; None if there is none.

    A format without its own takes another's whose inputs can be converted to it; one whose own has
    to be asked for takes that until it is.
    """
    own = registry.frontend_class(name).generation()
    if own is not None and not own.asked_by:
        return own
    other = _converted_generation(name)
    return _either(own, other) if own is not None and other is not None else own or other


def _converted_generation(name: str) -> Generation | None:
    """Return the first generator of another format whose inputs can be converted."""
    for other in registry.names(registry.FRONTENDS):
        frontend = registry.frontend_class(other)
        conversions = frontend.conversions()
        targets = () if conversions is None else [each.name for each in conversions.writes]
        if other == name or name not in targets:
            continue
        generation = frontend.generation()
        if generation is not None and conversions is not None:
            return _by_conversion(generation, conversions, name)
    return None


def _either(own: Generation, other: Generation) -> Generation:
    """Return a generator that is the one if its option asks for it, and else the other one."""

    def make(values: Mapping[str, Any]) -> InputGenerator:
        asked = values[own.asked_by] is not None
        for option in other.options if asked else own.options:
            if values[option.name] != option.default:
                goes = "does not go with" if asked else "goes with"
                raise UsageError(f"`{option.name}` {goes} `{own.asked_by}`")
        return (own if asked else other).make(values)

    return replace(
        other, make=make, options=(*other.options, *own.options), help=f"{other.help} {own.help}"
    )


def generating_formats() -> list[str]:
    """Return the names of the formats that `generation_of` knows a generator for."""
    return [name for name in registry.names(registry.FRONTENDS) if generation_of(name) is not None]


def _by_conversion(generation: Generation, conversions: Conversions, target: str) -> Generation:
    suffixes = next(each.suffixes for each in conversions.writes if each.name == target)

    def make(values: Mapping[str, Any]) -> InputGenerator:
        return _Converting(generation.make(values), conversions, target, (*suffixes, "")[0])

    return Generation(
        make, generation.options, generation.help, generation.noun, generation.default_seed
    )


class _Converting(InputGenerator):
    """Converts what another generator makes."""

    def __init__(
        self, inner: InputGenerator, conversions: Conversions, target: str, suffix: str
    ) -> None:
        self._inner = inner
        self._conversions = conversions
        self._target = target
        self.suffix = suffix
        self.notes = inner.notes
        self.rules_broken = inner.rules_broken

    def generate(self, seed: int) -> Generated:
        """Make the input of a seed, in the other format."""
        made = self._inner.generate(seed)
        converted = self._conversions.convert(made.text, None, self._target)
        return Generated(converted.text, made.note)

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make it again, which are the other's."""
        return self._inner.words(seed)

    def breaks_rules(self, outcome: Outcome) -> bool:
        """Ask the other."""
        return self._inner.breaks_rules(outcome)

    def close(self) -> None:
        """Close the other."""
        self._inner.close()


def generated_inputs(name: str, generator: InputGenerator, seeds: range) -> Iterator[Input]:
    """Yield the inputs of seeds."""
    for seed in seeds:
        yield Input(generator.generate(seed).text, made_by(name, generator.words(seed)))


def files_in(folder: Path) -> list[Path]:
    """Return the files below a folder, by their names; hidden ones are left out.

    Raises UsageError if there is no such folder, or nothing in it.
    """
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}")
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise UsageError(f"the folder {folder} has no files")
    return found


def inputs_from(paths: Sequence[Path]) -> Iterator[Input]:
    """Yield the contents of files, unpacked."""
    for path in paths:
        text = unpacked(read_input(path), str(path))
        yield Input(text, f"a copy of {path}", str(path))
