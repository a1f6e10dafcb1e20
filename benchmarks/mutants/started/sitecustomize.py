"""Imported by Python when a test starts a process: records which functions the process calls.

mutmut records only the calls in the test's own process; `hits.py` adds these. A process that is
killed records nothing.
"""

import atexit
import contextlib
import os
from importlib import import_module
from pathlib import Path
from typing import Any


def _write() -> None:
    state: Any = import_module("mutmut.state")
    reached: set[str] = state.state()._stats
    if reached:
        # A file that is not yet whole is not to be read.
        part = Path(os.environ["REDUCEKIT_MUTANT_HITS"], f"{os.getpid()}.part")
        part.write_text("\n".join(reached), "utf-8")
        part.replace(part.with_suffix(".hits"))


if os.environ.get("MUTANT_UNDER_TEST") == "stats" and "REDUCEKIT_MUTANT_HITS" in os.environ:
    # mutmut reads its configuration from the current folder when it notes the first function.
    with contextlib.chdir(Path(__file__).parents[3]):
        configuration: Any = import_module("mutmut.configuration")
        configuration.config()
    atexit.register(_write)
