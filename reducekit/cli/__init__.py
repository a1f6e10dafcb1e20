"""The command line: `reducekit FORMAT INPUT --cmd CMD`."""

from __future__ import annotations

import os
import sys

_USAGE = 2
INTERRUPTED = 130
"""The exit code of what a signal has ended."""
NOTHING_YET = "reducekit: interrupted before there was a result; nothing was written"


def main() -> None:
    """Run the command line; every error a user can cause is one message and an exit code."""
    if "_REDUCEKIT_COMPLETE" in os.environ:
        from reducekit.cli.completion import complete

        sys.exit(complete(os.environ["_REDUCEKIT_COMPLETE"]))
    try:
        # Here, and not above: an import takes its time, and a Ctrl-C meanwhile wants an answer.
        from reducekit.cli.interrupts import Interrupts
        from reducekit.cli.streams import output_trouble, prepare, say

        output_open = prepare()
        interrupts = Interrupts()
        interrupts.install()
    except KeyboardInterrupt:
        # Without a clean-up, which the next Ctrl-C could interrupt: nothing has been done.
        try:
            os.write(2, f"{NOTHING_YET}\n".encode())
        finally:
            os._exit(INTERRUPTED)
    # From here on an early Ctrl-C is noted.
    from reducekit.cli.context import ProcessContext
    from reducekit.cli.group import invoke

    code = invoke(sys.argv[1:], ProcessContext(interrupts, output_open))
    trouble = output_trouble()
    if trouble is not None and not isinstance(trouble, BrokenPipeError):
        say(f"reducekit: standard output cannot be written: {trouble.strerror}")
        code = code or _USAGE
    interrupts.ignore()
    if interrupts.seen:
        # All is written and closed, and somebody waits: freeing millions of objects takes seconds.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
