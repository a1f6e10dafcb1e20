"""The text that passes and is nearest to the result, of formats that compare the two."""

from __future__ import annotations

from pathlib import Path

from reducekit.errors import UsageError
from reducekit.frontend import Frontend
from reducekit.offers import Compares
from reducekit.session.earlier import put_aside
from reducekit.session.output import write_file


def compared(frontend: Frontend, passing: bytes) -> Frontend:
    """Return the frontend that compares with that text, if it compares at all."""
    if not isinstance(frontend, Compares):
        return frontend
    found = frontend.beside(passing)
    assert isinstance(found, Frontend)
    return found


def passing_path(output: Path) -> Path:
    """Return where the passing text goes: beside the result."""
    return output.with_name(f"{output.stem}.passing{output.suffix}")


def write_passing(output: Path, text: bytes, *, resumed: bool) -> str:
    """Write the passing text beside the result; say where it is, or why not.

    What another run has left there is kept under a numbered name; what the `resumed` one has left
    is replaced, as its result is.
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
