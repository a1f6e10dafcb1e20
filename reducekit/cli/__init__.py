"""The command line: `reducekit FORMAT INPUT --cmd CMD`."""

from __future__ import annotations

import os
import sys

from reducekit import NOTHING_YET

_USAGE = 2
INTERRUPTED = 130  # the exit code after a signal


def main() -> None:
    """Run the command line; every error that a user can cause is one message and an exit code."""
    if "_REDUCEKIT_COMPLETE" in os.environ:
        from reducekit.cli.about import complete

        sys.exit(complete(os.environ["_REDUCEKIT_COMPLETE"]))
    try:
        # Imported here, as imports take time and Ctrl-C must work meanwhile.
        from reducekit.runtime import loading

        with loading():
            from reducekit.cli.process import Interrupts, output_trouble, prepare, say

        output_open = prepare()
        interrupts = Interrupts()
        interrupts.install()
    except KeyboardInterrupt:
        # Without cleaning up, which another Ctrl-C could interrupt: nothing has been done yet.
        try:
            os.write(2, f"{NOTHING_YET}\n".encode())
        finally:
            os._exit(INTERRUPTED)
    # From here on, early signals are recorded.
    with loading():
        from reducekit.cli.group import invoke
        from reducekit.cli.process import ProcessContext

    code = invoke(sys.argv[1:], ProcessContext(interrupts, output_open))
    trouble = output_trouble()
    if trouble is not None and not isinstance(trouble, BrokenPipeError):
        say(f"reducekit: standard output cannot be written: {trouble.strerror}")
        code = code or _USAGE
    interrupts.ignore()
    if interrupts.seen:
        # Everything is written and closed, and freeing millions of objects would take seconds.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
