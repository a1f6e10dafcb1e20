"""Command lines of the thesis mean here what they meant there."""

import shlex

import pytest

from reducekit.frontends.btor.generate.generator import OPTIONS
from reducekit.frontends.btor.thesis_options import (
    GENERATOR_FLAGS,
    GENERATOR_NUMBERS,
    STRATEGIES,
    debugger_words,
    generator_words,
)
from reducekit.registry import STRATEGIES as GROUP
from reducekit.registry import load, names, strategy


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        # Of section 3.1.1: the settings of the experiments.
        (
            "-clauses=4 -d=9999 -arrays=3 -writes=5 -vars=10 -minwidth=1 -maxwidth=5 "
            "-arrmaxwidth=4 -dag=50 -cnf=false -all=false -noarrays=false -newformat=true "
            "-cnfonly=false",
            "--clauses 4 --depth 9999 --arrays 3 --writes 5 --vars 10 --minwidth 1 --maxwidth 5 "
            "--arrmaxwidth 4 --dag 50 --dialect btor1",
        ),
        ("-n 3 -s 7 -cnf -all=true", "--nodes 3 --seed 7 --cnf --all"),
        ("-newformat=false -noarrays", "--dialect btor-old --noarrays"),
        ("--nodes 60 -o out.btor -vars=2", "--nodes 60 -o out.btor --vars 2"),
        ("-cnf=perhaps", "-cnf=perhaps"),
    ],
)
def test_the_generator(theirs: str, ours: str) -> None:
    assert generator_words(theirs.split()) == ours.split()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            "-timeout 8 -interval 100 -hddplus -exe './boolector -q' -newformat in.btor out.btor",
            "--timeout 8 --strategy hdd+ --cmd './boolector -q' --dialect btor1 in.btor out.btor",
        ),
        ("-cbref in.btor out.btor", "--strategy changeref+ in.btor out.btor"),
        ("-cbref in.btor -- ./solver -lw", "--strategy changeref+ in.btor -- ./solver -lw"),
        ("in.btor --cmd 'a -exe b' -newformat=1", "in.btor --cmd 'a -exe b' -newformat=1"),
        ("in.btor --jobs=2 -lw", "in.btor --jobs=2 --strategy lw"),
        ("-timeout", "--timeout"),
    ],
)
def test_the_debugger(theirs: str, ours: str) -> None:
    assert debugger_words(shlex.split(theirs)) == shlex.split(ours)


def test_every_option_is_one_of_ours() -> None:
    ours = {"--seed", *(option.long for option in OPTIONS)}
    assert {*GENERATOR_NUMBERS.values(), *GENERATOR_FLAGS.values(), "--dialect"} <= ours


def test_every_algorithm_is_one_of_ours_and_its_old_name_is_an_alias() -> None:
    for theirs, ours in STRATEGIES.items():
        assert ours in names(GROUP)
        assert load(GROUP, theirs) is strategy(ours)
