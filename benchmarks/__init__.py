"""Benchmarks: each module runs as `python -m benchmarks.NAME` from the checkout."""

from __future__ import annotations

import sys
from pathlib import Path


def publish(text: str, out: Path | None) -> None:
    """Write a table into a file, or to standard output if there is none."""
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")
