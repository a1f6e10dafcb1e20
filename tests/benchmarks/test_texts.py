"""Texts by seed have their property, and a run has the sizes at all budgets."""

from pathlib import Path

import pytest

from benchmarks import text_budgets
from benchmarks.texts import READ, case_of, holds, write

VALID = {
    "c": (b"int f(int a) { return a; }", b"int f(int a) { return b; }"),
    "py": (b"def f(a):\n    return a\n", b"def f(a):\n    return b\n"),
    "json": (b'[{"a": 1}]', b'[{"a": }]'),
    "xml": (b"<a b='1'/>", b"<a b='1'>"),
    "v": (b"module a; endmodule", b"module a;"),
    "dfy": (b"function f1(a: int): int { f1(a - 1) }", b"function f1(a: int): int { f2(a - 1) }"),
    "p": (b"fof(a, axiom, p(c1) & q(c2)).", b"fof(a, axiom, p(c1) & )."),
    "log": (b"a\n  b\n", b"\xff"),
    "ini": (b"[a]\nb = 1\n", b"b = 1\n"),
    "csv": (b"a,b\n1,2\n", b"a,b\n1\n"),
}


@pytest.mark.parametrize("seed", range(10, 20))
@pytest.mark.debian  # iverilog
def test_a_seed_makes_a_text_with_its_property(seed: int, tmp_path: Path) -> None:
    case = case_of(seed)
    assert 5_000 < len(case.text) < 80_000
    assert case == case_of(seed)
    assert case.holds(case.text)
    assert not case.holds(b"")
    place = write(case, tmp_path)
    (found,) = text_budgets.from_folder(place.parent)
    assert found.interesting(found.input)
    found.input.write_bytes(VALID[case.language][0])
    assert not found.interesting(found.input)


@pytest.mark.parametrize("language", READ)
@pytest.mark.debian
def test_an_invalid_text_has_no_property(language: str) -> None:
    assert [holds(language, (), text) for text in VALID[language]] == [True, False]
