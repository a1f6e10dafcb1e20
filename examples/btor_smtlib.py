"""Any SMT-LIB solver on BTOR and BTOR2 files: converts the file and becomes the solver.

usage: python examples/btor_smtlib.py SOLVER [OPTION]... FILE

    reducekit btor in.btor --cmd boolector --reference 'python examples/btor_smtlib.py z3'

What the solver prints and how it ends is its own doing. A file that cannot be read or has no
counterpart in SMT-LIB is an error with exit status 1. The converted file is removed if the
solver returns; if it has to be killed, it lies in TMPDIR.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from reducekit.errors import ReducekitError
from reducekit.frontends.btor.convert.to_smtlib import to_smtlib
from reducekit.frontends.btor.model.reader import read

USAGE = "usage: btor_smtlib.py SOLVER [OPTION]... FILE"


def main(arguments: list[str]) -> int:
    """Convert, run the solver, and end as it did; return the exit status."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    if len(arguments) < 2:
        return complain(USAGE)
    *command, path = arguments
    try:
        script = to_smtlib(read(Path(path).read_bytes()))
    except OSError as error:
        return complain(f"error: {path}: {error.strerror}")
    except ReducekitError as error:
        return complain(f"error: {error}")
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "converted.smt2"
        converted.write_bytes(script)
        try:
            status = subprocess.run([*command, str(converted)]).returncode
        except OSError as error:
            return complain(f"error: {command[0]}: {error.strerror}")
    if status < 0:
        # Without a handler of ours in the way, and without a core file of this process.
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def complain(message: str) -> int:
    """Report an error; return its exit status."""
    print(message, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
