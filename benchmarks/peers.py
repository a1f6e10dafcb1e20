"""Other reducers, as command lines for the benchmarks: those of them that are in PATH.

    python -m benchmarks.peers cvise|shrinkray INPUT OUTPUT ORACLE

ddSMT writes to an output file. C-Vise and Shrink Ray edit their input in place, so each runs on a
copy in a temporary folder. Shrink Ray's language model is switched off.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_OURS = f"{shlex.quote(sys.executable)} -m benchmarks.peers"
_PLACES = "{input} {output} {oracle}"
COMMANDS = {
    "ddsmt": f"ddsmt -j1 {_PLACES}",
    "cvise": f"{_OURS} cvise {_PLACES}",
    "shrinkray": f"{_OURS} shrinkray {_PLACES}",
}
_IN_PLACE: dict[str, Callable[[str, str], list[str]]] = {
    "cvise": lambda test, file: [
        *("cvise", "--n=1", "--timeout=60", *([] if file.endswith(".c") else ["--not-c"])),
        *(test, file),
    ],
    "shrinkray": lambda test, file: [
        *("shrinkray", "--ui=basic", "--parallelism=1", "--timeout=60", "--input-type=arg"),
        *("--trivial-is-not-error", "--no-llm", test, file),
    ],
}

ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parent / "stand_in")}
"""Gives Shrink Ray its grammars."""


def installed() -> list[str]:
    """Return `NAME=COMMAND` of each that is in PATH."""
    return [f"{name}={line}" for name, line in COMMANDS.items() if shutil.which(name)]


def reduce_in_place(name: str, source: Path, output: Path, oracle: Path) -> None:
    """Run a reducer on a copy of a file. Writes the result whatever the reducer says."""
    with tempfile.TemporaryDirectory() as folder:
        file, test = Path(folder) / source.name, Path(folder) / "test.sh"
        shutil.copyfile(source, file)
        # C-Vise gives no argument: the candidate is in the folder where the test runs.
        test.write_text(
            f'#!/bin/sh\nexec {shlex.quote(str(oracle.resolve()))} "${{1:-{file.name}}}"\n',
            encoding="utf-8",
        )
        test.chmod(0o755)
        environment = {**os.environ, **ENVIRONMENT}
        words = _IN_PLACE[name](str(test), file.name)
        with suppress(KeyboardInterrupt):  # who measures stops it: what it has by then counts
            subprocess.run(
                words, cwd=folder, stdout=subprocess.DEVNULL, env=environment, check=False
            )
        shutil.copyfile(file, output)


def main() -> None:
    """Run one on a copy."""
    if len(sys.argv) != 5 or sys.argv[1] not in _IN_PLACE:
        sys.exit(__doc__)
    name, *paths = sys.argv[1:]
    reduce_in_place(name, *map(Path, paths))


if __name__ == "__main__":
    main()
