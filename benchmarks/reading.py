"""Counts the lines that one reads to add a pass, a format, a strategy or a kind of failure.

    python -m benchmarks.reading

The lists are those of docs/extending.md: whole files, `FILE:CLASS` for one class, or
`FILE:CLASS.METHOD` for a class as far as that method.
"""

import ast
import re
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
PAGE = HOME / "docs" / "extending.md"
MOST = {"A pass": 350, "A format": 450, "A tree": 450, "A strategy": 350, "A kind of failure": 300}
"""What there may be to read, in lines with blank ones, comments and docstrings."""


def sections() -> dict[str, str]:
    """Return the text below each heading of the page that is in `MOST`."""
    parts = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name in MOST}


def to_read(section: str) -> dict[str, int]:
    """Return the lines of each file, or class, that a section tells to read."""
    listed = re.search(r"^Read (.*?)\.\n\n", section, re.MULTILINE | re.DOTALL)
    names = re.findall(r"`([^`]+)`", listed[1]) if listed else []
    return {name: _lines(name) for name in names}


def _lines(name: str) -> int:
    path, _, symbol = name.partition(":")
    text = (HOME / path).read_text(encoding="utf-8")
    if not symbol:
        return text.count("\n")
    top, _, last = symbol.partition(".")
    found = _named(ast.parse(text), top)
    end = _named(found, last).end_lineno if last else found.end_lineno
    assert end is not None
    return end - found.lineno + 1


def _named(parent: ast.AST, name: str) -> ast.ClassDef | ast.FunctionDef:
    (found,) = [
        each
        for each in ast.iter_child_nodes(parent)
        if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == name
    ]
    return found


def main() -> None:
    """Print the table."""
    for name, section in sections().items():
        counted = to_read(section)
        print(f"{name}: {sum(counted.values())} lines of at most {MOST[name]}")
        print(*(f"  {lines:4} {each}" for each, lines in counted.items()), sep="\n")


if __name__ == "__main__":
    main()
