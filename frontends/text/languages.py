"""Which tree-sitter grammars are installed, and which of them reads a file.

A grammar is a package `tree_sitter_NAME`, or an entry point of another one; none is downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from reducekit.errors import UsageError

if TYPE_CHECKING:
    from tree_sitter import Parser

LANGUAGES = "reducekit.languages"
"""The entry points of grammars in other packages: functions that return a tree-sitter language."""
_PACKAGE = "tree_sitter_"
_OF_SUFFIX: Mapping[str, str] = {
    ".adb": "ada", ".ads": "ada", ".agda": "agda", ".bash": "bash", ".c": "c", ".cc": "cpp",
    ".cpp": "cpp", ".cs": "c_sharp", ".css": "css", ".cxx": "cpp", ".f90": "fortran", ".go": "go",
    ".h": "c", ".hpp": "cpp", ".hs": "haskell", ".html": "html", ".i": "c", ".ii": "cpp",
    ".java": "java", ".jl": "julia", ".js": "javascript", ".json": "json", ".ll": "llvm",
    ".lp": "clingo", ".mjs": "javascript", ".ml": "ocaml", ".mlir": "mlir", ".php": "php",
    ".py": "python", ".rb": "ruby", ".rs": "rust", ".scala": "scala", ".sh": "bash",
    ".sol": "solidity", ".sql": "sql", ".sv": "systemverilog", ".svh": "systemverilog",
    ".ts": "typescript", ".v": "systemverilog", ".vhd": "vhdl", ".vhdl": "vhdl",
}  # fmt: skip
"""The names of grammars by the suffixes of files."""


def installed() -> list[str]:
    """Return the names of the grammars that are installed."""
    found = [each.name for each in iter_modules() if each.name.startswith(_PACKAGE)]
    names = {each.removeprefix(_PACKAGE) for each in found} | {*entry_points(group=LANGUAGES).names}
    return sorted(each for each in names if language(each) is not None)


def parser_for(suffix: str, name: str | None = None) -> tuple[Parser | None, str | None]:
    """Return the parser of a language, by default that of files of a suffix.

    If none is installed for the suffix but could be, the second is what to type. Raises UsageError
    for a name, with those that are installed.
    """
    wanted = _OF_SUFFIX.get(suffix.lower()) if name is None else name.lower().replace("-", "_")
    if wanted is None:
        return None, None
    found = language(wanted)
    if found is not None:
        from tree_sitter import Parser

        return Parser(found), None
    install = f"pip install tree-sitter tree-sitter-{wanted.replace('_', '-')}"
    if name is None:
        return None, (
            f"no grammar for {suffix} files is installed: {install} for smaller results in fewer "
            "checks"
        )
    known = ", ".join(installed()) or "none"
    raise UsageError(
        f"no grammar {name!r} is installed: choose a `language` of these: {known}; or {install}"
    )


@cache
def language(name: str) -> Any:
    """Return the tree-sitter language of a grammar; None if it is not installed."""
    try:
        from tree_sitter import Language

        for offered in entry_points(group=LANGUAGES, name=name):
            return Language(offered.load()())
        module = import_module(_PACKAGE + name)
        make = getattr(module, "language", None) or getattr(module, f"language_{name}")
        return Language(make())
    except (ImportError, AttributeError, ValueError):  # the last: of another tree-sitter
        return None
