"""Options of solvers, drawn for each script and written into it as `set-option` commands.

There, every program gets them, and they are reduced like the rest of the script (SMT-LIB 2.7,
section 4.1.7). Which options there are, and their values, is a text of lines `name = values`. The
folder `options` has those of some solvers, made by `python -m benchmarks.solver_options`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import NamedTuple

from reducekit.errors import UsageError

_MOST = 3
"""Options of a script, at most: more hide which of them matters."""
_LINE = re.compile(r"\s*:?([\w.@!+-]+)\s*=\s*(.*?)\s*\Z")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)\Z")
_LONGEST = 10_000
_VALUE = re.compile(r'[\w.@!+-]+\Z|"[^"]*"\Z')


class Option(NamedTuple):
    """An option of a solver, and the values to draw from."""

    name: str
    """Without its colon."""
    values: Sequence[str]


def known() -> list[str]:
    """Return the solvers whose options come with reducekit."""
    folder = files(__package__) / "options"
    return sorted(each.name.removesuffix(".txt") for each in folder.iterdir())


def read_options(named: str) -> list[Option]:
    """Return the options of a solver, or of a file. Raises UsageError for what is neither."""
    if named in known():
        return parse((files(__package__) / "options" / f"{named}.txt").read_text("utf-8"), named)
    try:
        text = Path(named).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"`solver_options`: cannot read {named} ({why}): give a file of lines `name = values`, "
            f"or one of {', '.join(known())}"
        ) from None
    return parse(text, named)


def parse(text: str, name: str) -> list[Option]:
    """Read lines `name = value value ...`, where `0..9` are values too, and # begins a comment.

    Raises UsageError with the number of a line that says something else.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        values = [] if match is None else _values(match[2])
        if match is None or not values:
            raise UsageError(
                f"`solver_options`: line {number} of {name} is not `name = values`, such as "
                "`sat.restart = luby ema` or `smt.random_seed = 0..9`"
            )
        found.append(Option(match[1], values))
    if not found:
        raise UsageError(f"`solver_options`: {name} has no options: give lines `name = values`")
    return found


def _values(text: str) -> list[str]:
    """Return the values that a line offers; none if one of them cannot be one."""
    values: list[str] = []
    for word in re.findall(r'"[^"]*"|\S+', text):
        if match := _RANGE.match(word):
            first, last = int(match[1]), int(match[2])
            if not 0 <= last - first < _LONGEST:
                return []
            values += map(str, range(first, last + 1))
        elif _VALUE.match(word):
            values.append(word)
        else:
            return []
    return values


def drawn(dice: Random, options: Sequence[Option]) -> bytes:
    """Return commands that set one to three options."""
    some = dice.sample(range(len(options)), min(len(options), dice.randint(1, _MOST)))
    lines = (f"(set-option :{options[at].name} {dice.choice(options[at].values)})" for at in some)
    return "".join(f"{line}\n" for line in lines).encode()
