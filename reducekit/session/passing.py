"""The passing text closest to the result, for formats that compare the two."""

from __future__ import annotations

from pathlib import Path

from reducekit.errors import UsageError
from reducekit.frontend import Frontend
from reducekit.offers import Compares
from reducekit.session.earlier import put_aside
from reducekit.session.output import write_file


def compared(frontend: Frontend, passing: bytes) -> Frontend:
    """Return the frontend that compares with the passing text; None if it does not compare."""
    if not isinstance(frontend, Compares):
        return frontend
    found = frontend.beside(passing)
    assert isinstance(found, Frontend)
    return found


def passing_path(output: Path) -> Path:
    """Return the path of the passing text: next to the result."""
    return output.with_name(f"{output.stem}.passing{output.suffix}")


def write_passing(output: Path, text: bytes, *, resumed: bool) -> str:
    """Write the passing text next to the result; return a message with its path, or the error.

    A file of another run is renamed; that of the `resumed` run is replaced, as its result is.
    """
    path = passing_path(output)
    try:
        if not (path.is_file() and path.read_bytes() == text):
            if not resumed:
                put_aside(path)
            write_file(path, text)
    except (OSError, UsageError) as error:
        return f"the file that passes was not written: {error}"
    return f"the nearest file that passes is {path}"
