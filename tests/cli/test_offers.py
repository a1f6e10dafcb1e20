"""A format from an installed package has its place in the commands that it offers something to."""

from pathlib import Path

import pytest

from tests.cli.tool import Tool

SOURCE = '''
"""Sums: lines of numbers."""

import random

from reducekit.document import Document
from reducekit.format import Frontend
from tests.lines import Lines
from reducekit.offers import (
    Conversions, Converted, FormatOption, Generated, Generation, InputGenerator, Inspection,
    Notation, words_of,
)

OPTIONS = (FormatOption("lines", "Lines of the file.", "whole", 5, metavar="N", least=1),)


class Sums(Lines):
    name = "sums"
    title = "a file of numbers"
    suffix = ".sums"
    suffixes = (".sums",)

    @classmethod
    def generation(cls):
        return Generation(Numbers, OPTIONS, "Numbers below 100.", default_seed=3)

    @classmethod
    def conversions(cls):
        return Conversions((Notation("sums", (".sums",)),), (Notation("csv", (".csv",)),), convert)

    @classmethod
    def inspect(cls, text, notation, path):
        return Inspection(lambda: [f"sum {sum(map(int, text.split()))}"])


class Numbers(InputGenerator):
    suffix = ".sums"

    def __init__(self, values):
        self.values = values

    def generate(self, seed):
        chance = random.Random(seed)
        lines = (f"{int(chance.random() * 100)}\\\\n" for _ in range(self.values["lines"]))
        return Generated("".join(lines).encode())

    def words(self, seed):
        return [*words_of(OPTIONS, self.values), "--seed", str(seed)]


def convert(text, source, target):
    return Converted(b",".join(text.split()) + b"\\\\n", ("lines are lost",))
'''.replace("\\\\n", "\\n")


@pytest.fixture
def sums(tool: Tool) -> Tool:
    place = tool.temporary / "site"
    info = place / "sums-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "sums.py").write_text(SOURCE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sums\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[reducekit.frontends]\nsums = sums:Sums\n")
    tool.environment["PYTHONPATH"] = str(place)
    return tool


@pytest.mark.slow
def test_it_is_generated_and_hunted(sums: Tool) -> None:
    assert "sums" in sums("generate", "--help").out
    made = sums("generate", "sums", "--lines", "30").out
    assert made == sums("generate", "sums", "--lines", "30", "--seed", "3").out
    assert len(made.split()) == 30
    script = sums.script("solver", 'grep -qx 7. "$1" && kill -11 $$; exit 0')
    done = sums("hunt", "sums", "--cmd", script, "--lines", "30", "--count", "8")
    assert (done.code, ": 1 bug\n" in done.out) == (0, True)
    folder = sums.folder / "failures"
    (reduced,) = folder.glob("*.reduced.sums")
    assert len(reduced.read_text().strip()) == 2
    (note,) = folder.glob("*.txt")
    again = note.read_text().split("made by: reducekit ")[1].splitlines()[0]
    assert sums(*again.split()).out == Path(str(note).replace(".txt", ".sums")).read_text()


def test_it_is_converted_and_shown(sums: Tool) -> None:
    sums.write("in.sums", "3\n4\n")
    done = sums("convert", "in.sums", "out.csv")
    assert (done.code, done.err) == (0, "reducekit: note: lines are lost\n")
    assert (sums.folder / "out.csv").read_text() == "3,4\n"
    assert sums("show", "in.sums").out == "sum 7\n"


def test_what_it_does_not_offer(sums: Tool) -> None:
    done = sums("hunt", "sums")
    assert (done.code, "Missing --cmd" in done.err) == (2, True)
    done = sums("generate", "isolate")
    assert done.code == 2
    every = "aiger, btor, cnf, opb, qcir, smt2, sums, text, trace"
    assert f"Unknown command 'isolate'. Commands: {every}" in done.err
