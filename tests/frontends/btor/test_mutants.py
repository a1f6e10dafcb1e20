"""Mutants of BTOR files: well sorted in each dialect, the same for the same seed, of many kinds."""

import subprocess
from pathlib import Path
from random import Random

import pytest

from reducekit.frontends.btor.generate.generator import GENERATION, Parameters, generate_text
from reducekit.frontends.btor.generate.mutants import changed, joined, seed_of
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.mutation import Mutants
from reducekit.run import Outcome

FUNCTIONS = b"""1 var 8 x
2 param 8
3 add 8 1 2
4 lambda 8 8 2 3
5 apply 8 4 1
6 constd 8 17
7 ult 1 5 6
8 root 1 7
"""
OLDEST = b"1 var 8\n2 umul 8 1 1\n3 eq 1 1 2\n4 root 1 3\n"


def files(folder: Path, dialect: Dialect) -> None:
    suffix = ".btor2" if dialect is Dialect.BTOR2 else ".btor"
    for seed in range(3):
        parameters = Parameters(seed, dialect, nodes=30, system=dialect is Dialect.BTOR2)
        (folder / f"{seed}{suffix}").write_bytes(generate_text(parameters))
    if dialect is Dialect.FUN:
        (folder / "functions.btor").write_bytes(FUNCTIONS)


def test_all_kinds_of_changes() -> None:
    seed = read(b"1 var 4\n2 constd 4 5\n3 add 4 1 2\n4 mul 4 3 1\n5 ult 1 4 2\n6 root 1 5\n")
    mutants = [each for n in range(200) if (each := changed(Random(n), seed, None)) is not None]
    assert any(b"add" not in each and b"mul" in each for each in mutants)  # another operator
    assert any(b"ult 1 1 " in each for each in mutants)  # another operand
    assert any(b"constd 4 5" not in each for each in mutants)  # another constant
    assert any(each.count(b"\n") > 6 for each in mutants)  # an operator around it


def test_two_files_in_one() -> None:
    first, second = read(FUNCTIONS), read(FUNCTIONS.replace(b" 8", b" 16"))
    dag = joined(first, second)
    assert sum(code == Op.ROOT for code in dag.op) == 2
    assert {dag.width(line) for line in dag.lines_of(Op.INPUT)} == {8, 16}
    assert list(dag.symbols.values()) == [b"x"]


def test_the_dialect_that_is_read_only_becomes_the_next_one() -> None:
    seed = seed_of(OLDEST)
    assert seed is not None
    assert seed.dialect is Dialect.OLD
    assert seed_of(b"1 hello\n") is None


@pytest.mark.debian("boolector")
def test_mutants_are_read_by_boolector(tmp_path: Path) -> None:
    files(tmp_path, Dialect.BTOR1)
    mutants = Mutants(tmp_path, (".btor",), "files", seed_of, changed)
    for number in range(40):
        done = subprocess.run(
            ["boolector"], input=mutants.mutant(Random(number)), capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode in (0, 10, 20), done.stderr


def test_as_generator(tmp_path: Path) -> None:
    values = {each.name: each.default for each in GENERATION.options} | {"seed": 1, "nodes": 30}
    path = tmp_path / "a.btor"
    path.write_bytes(FUNCTIONS)
    with GENERATION.make(values | {"mutate": str(path), "mix": 0.5}) as generator:
        assert list(generator.files) == [path]
        assert not generator.well_formed
        words = [generator.words(seed) for seed in range(20)]
        assert 4 < sum("--mutate" in each for each in words) < 16
        texts = [generator.generate(seed).text for seed in range(20)]
        for each, text in zip(words, texts, strict=True):
            assert (read(text).dialect is Dialect.FUN) == ("--mutate" in each)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("*** removed support for sequential models", True),
        ("in.btor: invalid operator 'param'", True),
        ("in.btor:2: length 1 is not a power of two", True),
        ("boolector: btornode.c:42: f: Assertion `x' failed.", False),
    ],
)
def test_what_a_program_need_not_accept(tmp_path: Path, line: str, *, refused: bool) -> None:
    (tmp_path / "a.btor").write_bytes(FUNCTIONS)
    values = {each.name: each.default for each in GENERATION.options} | {"seed": 1}
    run = Outcome(1, None, b"", line.encode() + b"\n", None, 0.1)
    with GENERATION.make(values | {"mutate": str(tmp_path)}) as mutants:
        assert mutants.breaks_rules(run) is refused
        assert not mutants.breaks_rules(run._replace(status=None, signal=11))
    with GENERATION.make(values) as random:
        assert not random.breaks_rules(run)
