"""What a bug report says of a library: its name, what it calls itself, and which file it is."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from reducekit.frontends.trace.player.asking import answer
from reducekit.frontends.trace.player.libraries import Library
from reducekit.own_checks import Subject

_SIGNATURE = re.compile(rb"\0([a-z]+_signature)\0")
"""`ipasir_signature`, as the IPASIR header declares it, and its like: `ccadical_signature`."""
_ASK = """
import ctypes, sys
function = getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])
function.restype = ctypes.c_char_p
sys.stdout.buffer.write(function())
"""
_LONGEST = 200  # characters


def subject_of(library: Library, choice: str) -> Subject:
    """Describe a library; `choice` is the path or the engine by which it was found."""
    name = os.path.basename(choice)
    try:
        content = Path(library.path).read_bytes()
    except OSError:
        return Subject(name, "")
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    file = f"{os.path.basename(library.path)}: {len(content):,} bytes, md5 {digest}"
    said = [_answer(library.path, each.decode()) for each in set(_SIGNATURE.findall(content))]
    return Subject(name, "; ".join([*sorted(filter(None, said)), file]))


def _answer(path: str, function: str) -> str:
    """Call a function that returns a string."""
    said = answer(_ASK, path, function)[:_LONGEST].decode("utf-8", "backslashreplace").strip()
    return f"{said} ({function}())" if said else ""
