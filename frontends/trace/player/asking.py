"""Asks a library in a process of its own: it may crash, print, or not load at all."""

from __future__ import annotations

import subprocess
import sys

_SECONDS = 10


def answer(program: str, *arguments: str) -> bytes:
    """Return what a Python program prints, given arguments; nothing if it fails."""
    try:
        done = subprocess.run(
            [sys.executable, "-IS", "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout
