"""Options of solvers, drawn for each input and written into it, so that they are reduced with it.

A script of SMT-LIB sets them by `set-option` (SMT-LIB 2.7, section 4.1.7). Other formats have them
in comments, `c option --restart=false`, from where they get to `{options}` in the command
(`reducekit.oracle.command`). Which options there are, and their values, is a text of lines
`name = values`; the folder `options` has those of some solvers, made by
`python -m benchmarks.solver_options`. `name = values * 3` draws an option three times as often as
others; `forbid a=1 b=2` never sets these together.
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
_WEIGHT = re.compile(r"(.*?)\s\*\s*(\d+(?:\.\d+)?)\s*\Z")
_FORBID = re.compile(r"\s*forbid((?:\s+[^\s#]+)+)\s*\Z")
_LONGEST = 10_000
_VALUE = re.compile(r'[\w.@!+-]+\Z|"[^"]*"\Z')


class Option(NamedTuple):
    """An option of a solver, and the values to draw from."""

    name: str
    """Without its colon; empty if the values are whole words, such as -rwl0."""
    values: Sequence[str]


class Options(NamedTuple):
    """The options that are drawn from: how often each is, and what is never set together."""

    each: Sequence[Option] = ()
    weights: Sequence[float] = ()
    """One for each option, in order."""
    forbidden: Sequence[frozenset[tuple[str, str]]] = ()
    """Combinations of names and values; a name is empty as in `Option`."""


def known(format_name: str) -> list[str]:
    """Return the solvers of a format whose options come with reducekit."""
    folder = files(__package__) / "options" / format_name
    names = (each.name for each in folder.iterdir()) if folder.is_dir() else ()
    return sorted(name.removesuffix(".txt") for name in names)


def read_options(named: str | None, format_name: str) -> Options:
    """Return the options of a solver or of a file; none for None. Raises UsageError for others."""
    if named is None:
        return Options()
    shipped = known(format_name)
    if named in shipped:
        path = files(__package__) / "options" / format_name / f"{named}.txt"
        return parse(path.read_text("utf-8"), named)
    try:
        text = Path(named).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"`solver_options`: cannot read {named} ({why}): give a file of lines `name = values`"
            + (f", or one of {', '.join(shipped)}" if shipped else "")
        ) from None
    return parse(text, named)


def parse(text: str, name: str) -> Options:
    """Read lines `name = value value ...`, where `0..9` are values too, and # begins a comment.

    A line of words of a command, such as `-rwl0 -rwl1`, stands for one of them. A number after `*`
    is a weight. Raises UsageError with the number of a line that says something else.
    """
    found: list[Option] = []
    weights: list[float] = []
    forbidden: dict[int, frozenset[tuple[str, str]]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if match := _FORBID.match(line):
            forbidden[number] = frozenset(map(_setting, match[1].split()))
            continue
        weighted = _WEIGHT.match(line)
        option = _option(line if weighted is None else weighted[1])
        weight = 1.0 if weighted is None else float(weighted[2])
        if option is None or not weight:
            raise UsageError(
                f"`solver_options`: line {number} of {name} is not `name = values`, such as "
                "`sat.restart = luby ema` or `smt.random_seed = 0..9`"
            )
        found.append(option)
        weights.append(weight)
    if not found:
        raise UsageError(f"`solver_options`: {name} has no options: give lines `name = values`")
    settings = {(option.name, value) for option in found for value in option.values}
    for number, some in forbidden.items():
        for given in some - settings:
            raise UsageError(
                f"`solver_options`: line {number} of {name} forbids {'='.join(filter(None, given))}"
                ", which no line offers: write `forbid name=value name=value` with values above"
            )
    return Options(found, weights, [*forbidden.values()])


def _option(line: str) -> Option | None:
    """Return the option that a line without weight is about; None if it is about none."""
    if words := _WORDS.match(line):
        return Option("", words[1].split())
    match = _LINE.match(line)
    values = [] if match is None else _values(match[2])
    return None if match is None or not values else Option(match[1], values)


def _setting(word: str) -> tuple[str, str]:
    """Return the name and the value of `name=value`; the name of a word of a command is empty."""
    name, given, value = word.partition("=")
    return (name.removeprefix(":"), value) if given else ("", word)


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


def in_comments(seed: int, options: Options, begin: str = "") -> bytes:
    """Return lines with one to three options of a command: each is `begin` and the option."""
    lines = []
    for name, value in drawn(Random(f"options {seed}"), options):
        plain = value.strip('"')
        lines.append(f"{begin}option {name}={plain}\n" if name else f"{begin}option {plain}\n")
    return "".join(lines).encode()


def in_commands(dice: Random, options: Options) -> bytes:
    """Return commands of SMT-LIB that set one to three options."""
    lines = (f"(set-option :{name} {value})\n" for name, value in drawn(dice, options))
    return "".join(lines).encode()


def drawn(dice: Random, options: Options) -> list[tuple[str, str]]:
    """Return one to three options, each with one of its values; nothing is drawn of none.

    One that would complete a forbidden combination is left out.
    """
    if not options.each:
        return []
    count = min(len(options.each), dice.randint(1, _MOST))
    found: list[tuple[str, str]] = []
    for at in _some(dice, options.weights, count):
        name, values = options.each[at]
        more = [*found, (name, dice.choice(values))]
        if not any(each <= {*more} for each in options.forbidden):
            found = more
    return found


def _some(dice: Random, weights: Sequence[float], count: int) -> list[int]:
    """Return different indices, as often as the weights say; equal weights draw as ever."""
    if len({*weights}) == 1:
        return dice.sample(range(len(weights)), count)
    left = dict(enumerate(weights))
    some = []
    for _ in range(count):
        (at,) = dice.choices([*left], [*left.values()])
        some.append(at)
        del left[at]
    return some


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
