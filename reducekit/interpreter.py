"""Starts Python for work of our own."""

from __future__ import annotations

import sys


def own_python(*words: str) -> list[str]:
    """Return the command that runs this Python with these words, as `-m MODULE`.

    It imports nothing from the current folder (`-P`): with `-m` and `-c` that would come first,
    and a file `pickle.py` beside an input would run instead of Python's.
    """
    return [sys.executable, "-P", *words]
