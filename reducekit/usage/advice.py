"""Puts messages of the engine into the words of the command line.

The engine names options as in Python, between backquotes, and says how a golden run failed. Which
command-line options help is added here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from reducekit.errors import OtherFormatError, ReducekitError
from reducekit.session.runs.golden import GoldenRunError, Problem

_SPELLED = {"command": "--cmd", "journal": "--no-journal", "output": "-o", "lenient": "--lenient"}
_OPTION = re.compile(r"`([a-z][a-z_]*)`")

ADVICE: Mapping[Problem, str] = {
    "passes": """\
Say what is wrong with it:
  --oracle CMD       CMD exits with 0 if the failure shows (an interestingness test)
  --match-out REGEX  the output matches (--match-err for stderr, --exit-code for the status)
  --reference CMD    another program gives the right answer
  --slower-than S    it takes too long""",
    "flaky": """\
Make the runs repeatable (a seed, one thread, a longer --timeout), or say with
--oracle, --exit-code, --match-out or --match-err what all have in common, or
with --repeat 2-of-5 how often it has to show.""",
    "rare": """\
Ask for fewer, or for more runs (such as --repeat 1-of-10), or say with --oracle,
--exit-code, --match-out or --match-err what the runs have in common.""",
}


def spelled(message: str) -> str:
    """Spell the options of a message as on the command line: `max_time` is --max-time."""
    return _OPTION.sub(lambda match: _SPELLED.get(match[1], option(match[1])), message)


def option(name: str) -> str:
    """Return how an option is spelled on the command line."""
    return "--" + name.replace("_", "-")


def explained(error: ReducekitError) -> str:
    """Return the whole message for an error, with its notes and advice."""
    lines = [spelled(str(error)), *map(spelled, getattr(error, "__notes__", ()))]
    if isinstance(error, OtherFormatError):
        named = shlex.quote(error.name)
        lines = [
            f"{str(error).partition(':')[0]}: reducekit {error.found} {named}",
            "(--lenient reduces it all the same, by lines and tokens)",
        ]
    if isinstance(error, GoldenRunError) and error.problem in ADVICE:
        lines += ["", ADVICE[error.problem]]
    return "\n".join(lines)
