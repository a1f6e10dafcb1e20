"""The propagator that replays connect to CaDiCaL: C code, compiled when it is first needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from reducekit.folders import cache_folder

SOURCE = Path(__file__).with_name("propagator.c")
_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-shared", "-fPIC", "-O2", "-x", "c", "-")
_SECONDS = 60.0


@cache
def compiled() -> str | None:
    """Return the path of the library with the propagator; None where it cannot be made.

    That needs a C compiler, and a cache folder that can be written.
    """
    source = SOURCE.read_bytes()
    folder = cache_folder()
    version = blake2b(source, digest_size=8).hexdigest()
    path = folder / f"propagator-{os.uname().machine}-{version}.so"
    if path.is_file():
        return str(path)
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        folder.mkdir(parents=True, exist_ok=True)
        # In a folder of its own first: another process may be looking for it.
        with tempfile.TemporaryDirectory(dir=folder) as name:
            made = Path(name, path.name)
            words = [compiler, *_FLAGS, "-o", str(made)]
            subprocess.run(words, input=source, check=True, capture_output=True, timeout=_SECONDS)
            made.replace(path)
        return str(path)
    return None
