"""Mutants of formulas: of all formats, without flaws, the same for the same seed."""

import subprocess
from pathlib import Path
from random import Random

import pytest

from reducekit.frontends.cnf.generate import (
    FORMATS,
    GENERATION,
    Parameters,
    changed,
    generate_text,
    joined,
    seed_of,
)
from reducekit.frontends.cnf.reader import Format, View
from reducekit.frontends.mutation import Mutants

CNF = b"c a\np cnf 4 3\n1 -2 0\n3 0\n-1 -4 2 0\n"


def folder(path: Path, notation: Format) -> Path:
    for seed in range(3):
        text = generate_text(Parameters(20, "uniform", 3, 3.0, notation), seed)
        (path / f"{seed}.{notation}").write_bytes(text)
    return path


def test_all_kinds_of_changes() -> None:
    seed = seed_of(CNF)
    assert seed is not None
    lines = {
        tuple(tuple(each.literals) for each in View(text).lines())
        for number in range(300)
        if (text := changed(Random(number), seed, None)) is not None
    }
    unchanged = ((1, -2), (3,), (-1, -4, 2))
    assert ((1, -2), (-3,), (-1, -4, 2)) in lines
    assert any(len(each) == 2 for each in lines)
    assert any(len(each) == 4 and {*unchanged} < {*each} for each in lines)
    assert any({*unchanged} < {*each} and len(each) == 5 for each in lines)  # an equivalence
    assert any(any(len(clause) == 4 for clause in each) for each in lines)
    assert unchanged not in lines


def test_variables_of_joined_formulas() -> None:
    seed = seed_of(CNF)
    assert seed is not None
    several = {joined(Random(number), seed, seed).variables for number in range(20)}
    assert several == {4, 8}
    blocks = seed_of(b"p cnf 3 1\na 1 0\ne 2 3 0\n1 2 -3 0\n")
    assert blocks is not None
    both = joined(Random(1), blocks, blocks)
    assert [each.prefix for each in both.lines] == [b"a", b"e", b"a", b"e", b"", b""]
    assert both.variables == 6


def test_weights_of_the_old_format() -> None:
    seed = seed_of(b"p wcnf 2 3 9\n9 1 2 0\n2 -1 0\n3 -2 0\n")
    assert seed is not None
    assert [each.prefix for each in seed.lines] == [b"h", b"2", b"3"]


@pytest.mark.debian("picosat")
def test_mutants_are_read_by_picosat(tmp_path: Path) -> None:
    mutants = Mutants(folder(tmp_path, "cnf"), (".cnf",), "formulas", seed_of, changed)
    codes = {
        subprocess.run(
            ["picosat"], input=mutants.mutant(Random(number)), capture_output=True, check=False
        ).returncode
        for number in range(30)
    }
    assert codes <= {10, 20}


def test_only_files_of_the_format_are_changed(tmp_path: Path) -> None:
    for notation in FORMATS:
        folder(tmp_path, notation)
    values = {each.name: each.default for each in GENERATION.options} | {"mutate": str(tmp_path)}
    for notation in FORMATS:
        with GENERATION.make(values | {"notation": notation}) as generator:
            texts = [generator.generate(seed).text for seed in range(10)]
            assert {View(text).format for text in texts} == {notation}
            assert generator.suffix == f".{notation}"
            assert generator.words(3) == [
                "--seed", "3", *(("--notation", notation) if notation != "cnf" else ()),
                "--mutate", str(tmp_path),
            ]  # fmt: skip
