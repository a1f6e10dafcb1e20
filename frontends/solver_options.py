"""Options of solvers, drawn for each input and written into it, so that they are reduced with it.

A script of SMT-LIB sets them by `set-option` (SMT-LIB 2.7, section 4.1.7). Other formats have them
in comments, `c option --restart=false`, from where they get to `{options}` in the command
(`reducekit.oracle.command`). Which options there are, and their values, is a text of lines
`name = values`; the folder `options` has those of some solvers, made by
`python -m benchmarks.solver_options`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import NamedTuple

from reducekit.errors import UsageError
from reducekit.offers import FormatOption

_MOST = 3
"""Options of an input, at most: more hide which of them matters."""
_LINE = re.compile(r"\s*:?([\w.@!+-]+)\s*=\s*(.*?)\s*\Z")
_WORDS = re.compile(r"\s*(-[^\s=]+(?:\s+-[^\s=]+)*)\s*\Z")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)\Z")
_LONGEST = 10_000
_VALUE = re.compile(r'[\w.@!+-]+\Z|"[^"]*"\Z')


class Option(NamedTuple):
    """An option of a solver, and the values to draw from."""

    name: str
    """Without its colon; empty if the values are whole words, such as -rwl0."""
    values: Sequence[str]


def known(format_name: str) -> list[str]:
    """Return the solvers of a format whose options come with reducekit."""
    folder = files(__package__) / "options" / format_name
    if not folder.is_dir():
        return []
    return sorted(each.name.removesuffix(".txt") for each in folder.iterdir())


def read_options(named: str | None, format_name: str) -> list[Option]:
    """Return the options of a solver or of a file; none for None. Raises UsageError for others."""
    if named is None:
        return []
    shipped = known(format_name)
    if named in shipped:
        folder = files(__package__) / "options" / format_name
        return parse((folder / f"{named}.txt").read_text("utf-8"), named)
    try:
        text = Path(named).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"`solver_options`: cannot read {named} ({why}): give a file of lines `name = values`"
            + (f", or one of {', '.join(shipped)}" if shipped else "")
        ) from None
    return parse(text, named)


def parse(text: str, name: str) -> list[Option]:
    """Read lines `name = value value ...`, where `0..9` are values too, and # begins a comment.

    A line of words of a command, such as `-rwl0 -rwl1`, stands for one of them. Raises UsageError
    with the number of a line that says something else.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if words := _WORDS.match(line):
            found.append(Option("", words[1].split()))
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


def in_comments(seed: int, options: Sequence[Option], begin: str = "") -> bytes:
    """Return lines with one to three options of a command: each is `begin` and the option."""
    lines = []
    for name, value in drawn(Random(f"options {seed}"), options):
        plain = value.strip('"')
        lines.append(f"{begin}option {name}={plain}\n" if name else f"{begin}option {plain}\n")
    return "".join(lines).encode()


def in_commands(dice: Random, options: Sequence[Option]) -> bytes:
    """Return commands of SMT-LIB that set one to three options."""
    lines = (f"(set-option :{name} {value})\n" for name, value in drawn(dice, options))
    return "".join(lines).encode()


def drawn(dice: Random, options: Sequence[Option]) -> list[tuple[str, str]]:
    """Return one to three options, each with one of its values; nothing is drawn of none."""
    if not options:
        return []
    some = dice.sample(range(len(options)), min(len(options), dice.randint(1, _MOST)))
    return [(options[at].name, dice.choice(options[at].values)) for at in some]


def of_command(format_name: str) -> FormatOption:
    """Return the option of `generate` and `hunt` for options in comments."""
    shipped = "".join(f"{each}, or " for each in known(format_name))
    return FormatOption(
        "solver_options",
        "Draw one to three options of the solver for each file, as {options} in --cmd: "
        f"{shipped}a file of lines `name = values`.",
        metavar="WHICH",
        default=None,
        rare=True,
    )
