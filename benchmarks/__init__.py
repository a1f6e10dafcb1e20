"""Benchmarks: each module runs as `python -m benchmarks.NAME` from the checkout."""

import subprocess
import sys
from types import TracebackType


def _with_stderr(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an error; of a program that failed, what it printed to stderr, too."""
    sys.__excepthook__(kind, error, trace)
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        said = error.stderr
        print(said if isinstance(said, str) else said.decode(errors="replace"), file=sys.stderr)


sys.excepthook = _with_stderr
