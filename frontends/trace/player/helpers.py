"""Helpers of a replay: code that is compiled when it is first needed, and questions to a library.

In C, the loop that plays a trace, and the propagator that replays connect to CaDiCaL. In C++, what
MiniSat has only in its header.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from reducekit.runtime import cache_folder

_COMPILERS = {".c": ("cc", "gcc", "clang"), ".cpp": ("c++", "g++", "clang++")}
_LANGUAGES = {".c": "c", ".cpp": "c++"}
_FLAGS = ("-shared", "-fPIC", "-O2")
_HEADERS = 4  # folders above a library where its headers may be: MiniSat's build makes three
_SECONDS = 60.0
_ASKING = 10.0  # seconds for a question


def text_of(name: str) -> str:
    """Return the text of a helper; nothing if it cannot be part of a program that is linked."""
    source = Path(__file__).with_name(name)
    return source.read_text("utf-8") if source.suffix == ".cpp" else ""


@cache
def compiled(name: str, library: str) -> str | None:
    """Return the path of the helper for a library that is compiled from a file of this folder.

    One in C++ includes headers of the library, which may be in the folders above, and is linked
    with it. None if the helper cannot be made: that needs a compiler, the headers, and a cache
    folder that can be written.
    """
    source = Path(__file__).with_name(name)
    content = source.read_bytes()
    folder = cache_folder()
    words = [*_FLAGS, "-x", _LANGUAGES[source.suffix], "-"]
    version = blake2b(content, digest_size=8)
    if source.suffix == ".cpp":
        words += _linked(library)
        version.update(b"\0".join([*map(os.fsencode, words), Path(library).read_bytes()]))
    # By its content: another version of this program makes another file.
    path = folder / f"{source.stem}-{os.uname().machine}-{version.hexdigest()}.so"
    if path.is_file():
        return str(path)
    compiler = next(filter(None, map(shutil.which, _COMPILERS[source.suffix])), None)
    if compiler is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        folder.mkdir(parents=True, exist_ok=True)
        # In a folder of its own first: another process may be looking for it.
        with tempfile.TemporaryDirectory(dir=folder) as room:
            made = Path(room, path.name)
            command = [compiler, "-o", str(made), *words]
            subprocess.run(
                command, input=content, check=True, capture_output=True, timeout=_SECONDS
            )
            made.replace(path)
        return str(path)
    return None


def _linked(library: str) -> list[str]:
    """Return the words that have a compiler find the headers of a library, and link with it."""
    above = Path(library).resolve().parents[:_HEADERS]
    headers = [str(folder) for each in above for folder in (each, each / "include")]
    where = str(Path(library).parent)
    return [*(f"-I{each}" for each in headers), "-x", "none", library, f"-Wl,-rpath,{where}"]


def answer(program: str, *arguments: str) -> str:
    """Return what a Python program prints, given arguments; nothing if it fails.

    A library is asked in a process of its own: it may crash, print, or not load at all.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-IS", "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ASKING,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "backslashreplace")
