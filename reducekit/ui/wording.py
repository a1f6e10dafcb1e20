"""Puts messages of the engine into the words of the page, where options have labels."""

from __future__ import annotations

import re

from reducekit.errors import ReducekitError

LABELS = {
    "command": "Program",
    "reference": "Other program",
    "match_out": "Output matches",
    "match_err": "Error output matches",
    "exit_code": "Exit status",
    "slower_than": "Seconds, at least",
    "cost": "Counter",
    "at_least": "At least",
    "times": "Times as many",
    "unstable": "Variants",
    "jobs": "Jobs",
    "timeout": "Seconds for a run",
    "memory": "Megabytes for a run",
    "max_time": "Stop after seconds",
    "max_checks": "Stop after checks",
    "until": "Stop at bytes",
    "stdin": "feed the file to standard input",
    "lenient": "reduce by lines what does not parse",
}
"""What the fields of options are called on the page."""
_OPTION = re.compile(r"`([a-z_]+)`")
_LONG = re.compile(r"--[a-z][a-z-]*")


def label(option: str) -> str:
    """Return what the field of an option of the command line is called on the page."""
    return LABELS["command"] if option == "--cmd" else option.removeprefix("--")


def labelled(words: str) -> str:
    """Return the help of the command line in the words of the page."""
    return _LONG.sub(lambda match: f"“{label(match[0])}”", words)


def worded(error: ReducekitError) -> str:
    """Return the message of an error with its notes."""
    lines = [str(error), *getattr(error, "__notes__", ())]
    return _OPTION.sub(
        lambda match: f"“{LABELS[match[1]]}”" if match[1] in LABELS else match[0], "\n".join(lines)
    )
