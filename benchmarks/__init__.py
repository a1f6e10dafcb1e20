"""Benchmarks: each module runs as `python -m benchmarks.NAME` from the checkout."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

Row = TypeVar("Row")


def _with_stderr(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an error; of a program that failed, what it printed to stderr, too."""
    sys.__excepthook__(kind, error, trace)
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        said = error.stderr
        print(said if isinstance(said, str) else said.decode(errors="replace"), file=sys.stderr)


sys.excepthook = _with_stderr


def publish(text: str, out: Path | None) -> None:
    """Write a table into a file, or to standard output if there is none."""
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


def row_of(kind: type[Row], values: Mapping[str, str]) -> Row:
    """Return a row of a table as a dataclass; what is not in the table has its default."""
    return msgspec.convert(values, kind, strict=False)
