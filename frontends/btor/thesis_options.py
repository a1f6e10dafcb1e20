"""The options of the thesis' programs, its generator and its delta debugger, in our words.

A. Vida, Random Test Case Generation and Delta Debugging for Bit-Vector Logic with Arrays
(Linz 2008), appendix A.2. Its generator takes `-vars 10` and `-vars=10`, `-cnf` and
`-cnf=false`; its debugger `[-timeout N] [-interval N] [-ALGORITHM] [-exe COMMAND] IN OUT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

STRATEGIES: Mapping[str, str] = MappingProxyType(
    {
        "lw": "lw", "bfs": "bfs", "ddmin": "ddmin", "hdd": "hdd", "hddplus": "hdd+",
        "hddstar": "hdd*", "cref": "changeref", "cbref": "changeref+",
    }
)  # fmt: skip
"""The algorithms of the debugger, each with its name here."""
_SAME = ["vars", "arrays", "writes", "minwidth", "maxwidth", "arrmaxwidth", "dag", "clauses"]
GENERATOR_NUMBERS: Mapping[str, str] = MappingProxyType(
    {"s": "--seed", "n": "--nodes", "d": "--depth", **{name: f"--{name}" for name in _SAME}}
)
"""The generator's options with a number."""
GENERATOR_FLAGS: Mapping[str, str] = MappingProxyType(
    {name: f"--{name}" for name in ("cnf", "cnfonly", "all", "noarrays")}
)
"""The generator's options that are on or off; ours are off unless they are given."""

_VALUES = {"timeout": "--timeout", "exe": "--cmd"}  # of the debugger
_DIALECTS = {"": "btor1", "true": "btor1", "false": "btor-old"}  # of -newformat


def generator_words(words: Sequence[str]) -> list[str]:
    """Return a command line of the thesis' generator as one of `reducekit generate btor`.

    Other options stay as they are, so both ways of writing may be mixed.
    """
    out: list[str] = []
    for word in words:
        name, given, value = word.removeprefix("-").partition("=")
        truth = value in _DIALECTS
        if not _is_old(word):
            out.append(word)
        elif name in GENERATOR_NUMBERS:
            out += [GENERATOR_NUMBERS[name], value] if given else [GENERATOR_NUMBERS[name]]
        elif name in GENERATOR_FLAGS and truth:
            out += [] if value == "false" else [GENERATOR_FLAGS[name]]
        elif name == "newformat" and truth:
            out += ["--dialect", _DIALECTS[value]]
        else:
            out.append(word)
    return out


def debugger_words(words: Sequence[str]) -> list[str]:
    """Return a command line of the thesis' delta debugger as one of `reducekit btor`.

    `-interval`, how often it looked whether the solver still runs, has no counterpart: we are
    notified at once. Other options, and what follows `--`, stay as they are.
    """
    out: list[str] = []
    left = iter(words)
    for word in left:
        name, given, value = word.removeprefix("-").partition("=")
        if word == "--":
            return [*out, word, *left]
        if not _is_old(word):
            out.append(word)
        elif name in STRATEGIES and not given:
            out += ["--strategy", STRATEGIES[name]]
        elif name in _VALUES:
            out += [_VALUES[name], *_value(value, given, left)]
        elif name == "interval":
            _value(value, given, left)
        elif name == "newformat" and value in _DIALECTS:
            out += ["--dialect", _DIALECTS[value]]
        else:
            out.append(word)
    return out


def _is_old(word: str) -> bool:
    """Return whether a word is written as the thesis does: one dash and a name."""
    return word[:1] == "-" and word[1:2].isalpha()


def _value(value: str, given: str, left: Iterator[str]) -> list[str]:
    """Return the value of an option: after `=`, or the next word if there is one."""
    return [value] if given else [each for each in (next(left, None),) if each is not None]
