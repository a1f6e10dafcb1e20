"""Counts the files that a candidate passes: how much code one follows to understand one check.

    python -m benchmarks.candidate_files

Reduces a small SMT-LIB script with a shell script as its test and a journal, and traces each call
from the moment that the scheduler proposes the first candidate until the first accepted one is
written to the output file.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from reducekit.search.scheduler import Scheduler
from reducekit.session import Options, Session
from reducekit.session.place.output import OutputFile

_SCRIPT = b"(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 0))\n(check-sat)\n(exit)\n"
_TEST = '#!/bin/sh\ngrep -q check-sat "$1"\n'
_HOME = str(Path(sys.modules["reducekit"].__path__[0]).resolve().parent)
# Not all below _HOME: an environment may be there, whose packages add callbacks of their own.
_FOLDERS = tuple(f"{_HOME}/{each}/" for each in ("reducekit", "frontends", "strategies"))


def passed_files() -> Counter[str]:
    """Return the calls in each file of the project, by its path below the project."""
    calls: Counter[str] = Counter()
    names: dict[str, str] = {}
    first, last = Scheduler.next.__code__, OutputFile.write.__code__

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and (calls or code is first) and code.co_filename[0] != "<":
            path = code.co_filename
            if path not in names:
                names[path] = str(Path(path).resolve())
            if names[path].startswith(_FOLDERS):
                calls[names[path].removeprefix(_HOME + "/")] += 1
            if code is last:
                sys.setprofile(None)

    with tempfile.TemporaryDirectory() as folder:
        source, test = Path(folder, "in.smt2"), Path(folder, "test.sh")
        source.write_bytes(_SCRIPT)
        test.write_text(_TEST)
        test.chmod(0o755)
        session = Session(Options(input=source, oracle=str(test), jobs=1))
        sys.setprofile(watch)
        try:
            session.run()
        finally:
            sys.setprofile(None)
    return calls


def main() -> None:
    """Print the files."""
    found = passed_files()
    print(*found, f"{len(found)} files", sep="\n")


if __name__ == "__main__":
    main()
