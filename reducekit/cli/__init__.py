"""The command line: `reducekit FORMAT INPUT --cmd CMD`."""

from __future__ import annotations

import sys

from reducekit.cli.interrupts import Interrupts
from reducekit.cli.streams import output_trouble, prepare, say

_USAGE = 2


def main() -> None:
    """Run the command line; every error a user can cause is one message and an exit code."""
    output_open = prepare()
    interrupts = Interrupts()
    interrupts.install()
    # From here on an early Ctrl-C is noted, so only now what takes its time.
    from reducekit.cli.group import Surroundings, invoke

    code = invoke(sys.argv[1:], Surroundings(interrupts, output_open))
    trouble = output_trouble()
    if trouble is not None and not isinstance(trouble, BrokenPipeError):
        say(f"reducekit: standard output cannot be written: {trouble.strerror}")
        code = code or _USAGE
    interrupts.ignore()
    sys.exit(code)
