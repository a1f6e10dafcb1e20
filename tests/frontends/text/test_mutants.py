"""Mutants of texts: the same for the same seed, changed by the tree, of any files."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from reducekit.frontends.text import Text
from reducekit.frontends.text.mutants import changed, seed_of
from reducekit.frontends.text.tree import tree_of
from reducekit.frontends.text.view import TextView
from tests.frontends.text.test_tree import texts

CHECKOUT = Path(__file__).resolve().parents[3]


def test_all_kinds_of_changes() -> None:
    seed = seed_of(TextView(tree_of(b"a = 1;\n  b = 2;\nc(d(e), f);\n")))
    other = seed_of(TextView(tree_of(b"other;\ng = 7;\n")))
    assert seed is not None
    found = {changed(Random(number), seed, other) for number in range(900)}
    assert {
        b"a = 1;\nc(d(e), f);\n",  # dropped
        b"a = 1;\n  b = 2;\nc(f);\n",
        b"a = 1;\n  b = 2;\n  b = 2;\nc(d(e), f);\n",  # repeated, as it is indented
        b"a = 1;\n  b = 2;\nc(d(e), f, f);\n",
        b"b = 2;\n  a = 1;\nc(d(e), f);\n",  # swapped
        b"a = 2;\n  b = 2;\nc(d(e), f);\n",  # one in place of another
        b"a = 1;\n  b = 2;\nc(e);\n",  # hoisted
        b"g = 7;\n  b = 2;\nc(d(e), f);\n",  # from the other text
    } <= found
    assert seed.view.document.text not in found


@given(texts)
def test_any_text_has_mutants_or_nothing_to_change(text: bytes) -> None:
    seed = seed_of(TextView(tree_of(text)))
    assert seed is None or changed(Random(1), seed, seed) != text


def test_most_mutants_of_a_language_are_programs(tmp_path: Path) -> None:
    """Hidden files and those of rarer suffixes are no seeds."""
    for path in sorted((CHECKOUT / "frontends" / "smt2").rglob("*.py")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / ".git").mkdir()
    for number in range(99):
        (tmp_path / ".git" / str(number)).write_text("x = 1")
    (tmp_path / "README").write_text("x = 1")
    first, again = (Text.generation().make({"mutate": tmp_path}) for _ in range(2))
    assert first.suffix == ".py"
    found = [first.generate(number).text for number in range(100)]
    assert found == [again.generate(number).text for number in range(100)]
    assert len({*found, *(path.read_bytes() for path in first.files)}) >= 98 + len(first.files)
    assert sum(map(is_program, found)) > 60


def is_program(text: bytes) -> bool:
    try:
        compile(text, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.parametrize(("begin", "end"), [(b"(", b")"), (b"{ a;\n", b"}"), (b"begin ", b"end ")])
def test_mutants_of_deep_texts(begin: bytes, end: bytes) -> None:
    seed = seed_of(TextView(tree_of(begin * 5000 + b"x " + end * 5000)))
    assert seed is not None
    assert changed(Random(3), seed, None) != seed.view.document.text
