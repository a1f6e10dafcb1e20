"""No Python that the product starts imports from the current folder: every call is looked at."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reducekit.runtime import own_python

CHECKOUT = Path(__file__).resolve().parent.parent
_SAFE = re.compile(r"-[A-Za-z]*[PI][A-Za-z]*")
"""An option that keeps the current folder out."""


def unsafe(text: str) -> list[int]:
    """Return the lines of a module that start Python by other means, and without such an option.

    A command is a list or tuple that begins with the interpreter. Other uses of its path are let
    through: to print it, to ask which file it is.
    """
    tree = ast.parse(text)
    names = {
        target.id
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and any(map(is_python, ast.walk(each.value)))
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    return sorted({line for line, words in commands(tree, names) if not safe(words)})


def is_python(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable"


def commands(tree: ast.AST, names: set[str]) -> Iterator[tuple[int, list[ast.expr]]]:
    """Yield the lists that name the interpreter, or something made of it, and their lines."""
    for each in ast.walk(tree):
        if isinstance(each, (ast.List, ast.Tuple)):
            words = [part for word in each.elts for part in unpacked(word)]
            for at, word in enumerate(words):
                named = isinstance(word, ast.Name) and word.id in names
                if named or is_python(word):
                    yield each.lineno, words[at + 1 :]
        elif isinstance(each, ast.JoinedStr) and "{sys.executable} -" in ast.unparse(each):
            yield each.lineno, [ast.Constant(ast.unparse(each).partition("{sys.executable} ")[2])]


def unpacked(word: ast.expr) -> list[ast.expr]:
    """Return the parts of `*(a, b)` in a list; of anything else itself."""
    inner = word.value if isinstance(word, ast.Starred) else None
    return inner.elts if isinstance(inner, (ast.List, ast.Tuple)) else [word]


def safe(words: list[ast.expr]) -> bool:
    """Return whether options that keep the folder out come before `-c`, `-m` or a script."""
    for word in words:
        text = word.value if isinstance(word, ast.Constant) else ""
        if not isinstance(text, str) or not text.startswith("-"):
            # A script's own folder comes first, not the current one. What is not spelled out
            # here may be anything.
            return isinstance(word, ast.Call) and ast.unparse(word).startswith("str(")
        if _SAFE.match(text):
            return True
        if text[:2] in ("-c", "-m"):
            return False
    return True


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("run([sys.executable, '-m', 'pip'])", [1]),
        ("words = (sys.executable, '-c', program)", [1]),
        ("words = [gdb, sys.executable, '-c', program]", [1]),
        ("python = real(sys.executable)\nspawn(python, [*(python, '-s', '-m', 'x')])", [2]),
        ("say(f'type {sys.executable} -m ensurepip')", [1]),
        ("[sys.executable, *words]", [1]),
        ("run([sys.executable, '-P', '-m', 'pip'])", []),
        ("[sys.executable, '-s', '-IS', '-c', program]", []),
        ("[sys.executable, str(path)]", []),
        ("same = sys.executable == other", []),
    ],
)
def test_what_is_unsafe_is_found(text: str, found: list[int]) -> None:
    assert unsafe(text) == found


def test_no_python_of_ours_looks_in_the_current_folder() -> None:
    folders = [CHECKOUT / name for name in ("reducekit", "frontends", "strategies")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(paths) > 300
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}"
        for path in paths
        if "sys.executable" in (text := path.read_text(encoding="utf-8"))
        for line in unsafe(text)
    ]
    assert found == []


def test_our_python_imports_what_python_brings(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("print('from the current folder')")
    words = own_python("-c", "import random, reducekit; print(random.__name__)")
    assert subprocess.check_output(words, cwd=tmp_path, text=True) == "random\n"
