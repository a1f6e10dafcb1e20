"""Gives Shrink Ray the grammars that are installed as packages `tree_sitter_*`.

The package of this name downloads grammars when it runs.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any

_PREFIX = "tree_sitter_"


def get_language(name: str) -> Any:
    """Return the grammar of a language. Raises ModuleNotFoundError if it is not installed."""
    return importlib.import_module("tree_sitter").Language(
        importlib.import_module(_PREFIX + name).language()
    )


def downloaded_languages() -> list[str]:
    """Return the languages that have a grammar."""
    names = (each.name for each in pkgutil.iter_modules() if each.name.startswith(_PREFIX))
    return [name.removeprefix(_PREFIX) for name in names]


def download(names: Sequence[str]) -> None:
    """Refuse: a language without a package has no grammar."""
    raise OSError(f"not installed: {', '.join(names)}")
