"""A wrong answer is seen again by `replay`, and reduced by `trace`, with the library alone."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.tool import Tool

SOURCE = Path(__file__).parents[1] / "frontends" / "trace" / "player" / "tiny_ipasir.c"
TRACE = "init\nadd 3\nadd 4\nadd 0\nadd 1\nadd 2\nadd 0\nassume 1\nsolve\nrelease\n"


def library(tool: Tool, *flags: str) -> str:
    path = tool.folder / "libtiny.so"
    subprocess.run(["gcc", "-shared", "-fPIC", *flags, str(SOURCE), "-o", str(path)], check=True)
    return str(path)


@pytest.mark.slow
def test_a_wrong_answer_is_replayed_and_reduced(tool: Tool) -> None:
    wrong, trace = library(tool, "-DWRONG"), tool.write("in.trace", TRACE)
    words = ("--model", "ipasir", "--library", wrong)
    done = tool("replay", *words, trace)
    assert done.code == 88
    assert "line 9: solve: wrong answer: unsatisfiable, but there is a model" in done.err
    assert tool("trace", *words, trace, "-o", "out.trace", "--jobs", "1").code == 0
    _, *lines = (tool.folder / "out.trace").read_text().splitlines()  # the first names the library
    assert "solve" in lines
    assert len(lines) <= 4
    assert tool("replay", *words, "out.trace").code == 88


def test_right_answers_pass(tool: Tool) -> None:
    done = tool.ok("replay", "--library", library(tool), tool.write("in.trace", TRACE))
    assert "passed: 10 calls" in done.err


def test_check_prints_few_lines_and_a_count(tool: Tool) -> None:
    done = tool("trace", "--check", tool.write("lgl.trace", "init\n" + "melt 1\n" * 50))
    assert done.code
    lines = (done.out + done.err).splitlines()
    assert len(lines) <= 22
    assert any("and 30 more calls that the contract does not allow" in line for line in lines)


@pytest.mark.parametrize(
    ("asked", "left"),
    [(("--exit-code", "86"), "melt 1\n"), (("--match-err", "API usage"), "init\nmelt 1\n")],
)
def test_a_broken_contract_that_is_asked_for_is_reduced(
    tool: Tool, asked: tuple[str, str], left: str
) -> None:
    path = tool.write("lgl.trace", "init\nadd 1\nadd 0\nfreeze 1\nmelt 1\nmelt 1\nsat\n")
    assert tool("trace", path, "-q").code == 1
    tool.ok("trace", path, *asked, "-o", "out.trace", "-q")
    assert (tool.folder / "out.trace").read_text() == left
