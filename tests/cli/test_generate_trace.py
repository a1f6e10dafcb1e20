"""`reducekit generate trace`: what it writes, and what it refuses."""

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from tests.cli.tool import Tool

OWN = '[api]\nname = "own"\nextends = "minisat"\n'
"""A model of an API that no library has."""
BARE = """
[api]
name = "bare"
[states]
names = ["any_one"]
initial = "any_one"
[calls]
init = { from = "any" }
[classify]
contract = [{ exit = 86 }]
"""


def test_without_a_library(tool: Tool) -> None:
    path = tool.write("own.toml", OWN)
    done = tool.ok("generate", "trace", "--model", "own.toml", "--seed", "2")
    assert "no feedback" in done.err
    expected = Generator(load_model(str(path))).generate(2)
    assert done.out.encode() == print_trace(expected.calls, "words")
    assert tool("generate", "trace", "--model", "own.toml", "-s", "2", "--no-feedback").err == ""


def test_a_fault_ends_the_trace(tool: Tool) -> None:
    done = tool("generate", "trace", "--fault", "lgladd+1:abort")
    assert (done.code, "signal SIGILL" in done.err) == (0, True)
    assert done.out.splitlines()[0] == "init"
    assert done.out.splitlines()[-1].startswith("add ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "nonsense"], "no model is called 'nonsense'"),
        (["--model", "bare.toml"], "no [generate] section"),
        (["--count", "2"], "--count and --dir go together"),
        (["--count", "2", "--dir", "d", "-o", "x"], "-o is for one trace"),
        (["--no-feedback", "--library", "lingeling"], "have no effect with --no-feedback"),
        (["--library", "nonsense"], "'nonsense' is neither the path"),
        (["--fault", "a b"], "the fault 'a b' cannot be read"),
        (["--model", "own.toml", "--feedback"], "no library for the API 'own'"),
        (["--count", "2", "--dir", "file"], "the folder file cannot be made"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    tool.write("own.toml", OWN)
    tool.write("bare.toml", BARE)
    before = tool.files()
    done = tool("generate", "trace", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tool.files() == before
