"""What concerns this process: its version, its Python, its cache, its collector of cycles."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

__version__ = "0.1.0"


def cache_folder(given: Path | None = None) -> Path:
    """Return where files are kept that can be made again: by the XDG base directory spec."""
    if given is not None:
        return given.expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "reducekit"


def own_python(*words: str) -> list[str]:
    """Return the command that runs this Python with these words, as `-m MODULE`.

    It imports nothing from the current folder (`-P`): with `-m` and `-c` that would come first,
    and a file `pickle.py` next to an input would run instead of Python's.
    """
    return [sys.executable, "-P", *words]


# Python's collector of reference cycles looks at all objects again and again as their number grows.
# Of a million nested terms that took half of a reduction's time, and a signal waits until a look is
# over: seconds. So only new objects are looked at while a text is searched, and all of them when
# another text takes its place, where few are left.
_NEVER = 2**31 - 1
_MANY = 100  # looks at new objects; about 700,000 objects


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Look at no objects while modules are loaded, nor later at what they made: it stays."""
    gc.disable()  # the looks take a tenth of the time to start
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def only_new() -> Iterator[None]:
    """Look only at new objects within."""
    first, second, third = gc.get_threshold()
    gc.set_threshold(first, second, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(first, second, third)


def collect() -> None:
    """Look at all objects, if many were made since the last time."""
    if gc.get_count()[2] >= _MANY:
        gc.collect()
