"""Where files are kept that can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(given: Path | None = None) -> Path:
    """Return where downloads, checkouts and builds are kept: by the XDG base directory spec."""
    if given is not None:
        return given.expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "reducekit"
