"""`reducekit generate`: what it writes, and what it refuses."""

import shlex
import signal

import pytest

from reducekit.frontends.btor.generate.generator import Parameters, generate_text, words
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.offers import made_by
from tests.cli.tool import Tool, until


def test_to_standard_output(tool: Tool) -> None:
    done = tool("generate", "btor", "--seed", "3", "-n", "50")
    assert (done.code, done.err) == (0, "")
    assert done.out.encode() == generate_text(Parameters(seed=3, nodes=50))
    assert tool("generate", "btor", "--seed", "3", "-n", "50", "-o", "-") == done


def test_an_interrupt_says_how_many_were_written(tool: Tool) -> None:
    arguments = ("-n", "300", "--count", "1000000", "--dir", "d")
    process = tool.start("generate", "btor", *arguments)
    until(lambda: (tool.folder / "d" / "1.btor").exists())
    process.send_signal(signal.SIGINT)
    done = tool.end(process)
    written = len(list((tool.folder / "d").glob("*.btor")))
    said = f"reducekit: interrupted: {written:,} of 1,000,000 files written\n"
    assert (done.code, done.err) == (130, said)


def test_many_files(tool: Tool) -> None:
    assert tool("generate", "btor", "-n", "30", "-s", "8", "--count", "3", "--dir", "d").code == 0
    written = {path.name: path.read_bytes() for path in (tool.folder / "d").iterdir()}
    assert written == {
        f"{seed}.btor": generate_text(Parameters(seed=seed, nodes=30)) for seed in (8, 9, 10)
    }


@pytest.mark.slow
def test_every_option_reaches_the_generator(tool: Tool) -> None:
    """The command line that a hunt prints makes the same file."""
    for parameters in (
        Parameters(seed=5, nodes=60, depth=30, variables=3, arrays=1, writes=0, min_width=2),
        Parameters(max_width=7, max_index_width=2, sharing=10, every_operator=True, nodes=200),
        Parameters(nodes=60, no_arrays=True, cnf=True, clauses=2.5, roots=2, early_roots=True),
        Parameters(cnf_only=True),
        Parameters(nodes=60, aig=True, complement=60, registers=2, layer=9, seed=-4),
        Parameters(nodes=90, weights={"mul": 9, "read": 0}, dialect=Dialect.OLD),
    ):
        program, *arguments = shlex.split(made_by("btor", words(parameters)))
        assert program == "reducekit"
        done = tool(*arguments)
        assert done.out.encode() == generate_text(parameters)


def test_the_help_has_the_parameters_of_the_thesis(tool: Tool) -> None:
    shown = tool("generate", "btor", "--help").out
    for name in (
        "-s", "-n", "-d", "--vars", "--arrays", "--writes", "--minwidth", "--maxwidth",
        "--arrmaxwidth", "--dag", "--all", "--noarrays", "--cnf", "--clauses", "--cnfonly",
        "--dialect",
    ):  # fmt: skip
        assert f" {name}" in shown
    assert "btor" in tool("generate", "--help").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["btor", "--minwidth", "5"], "widths: the largest (4) is not from the smallest (5)"),
        (["btor", "--weight", "mul"], "'mul' is not OP=N"),
        (["btor", "--weight", "maul=3"], "no operator 'maul'"),
        (["btor", "--dag", "101"], "101 is not in the range"),
        (["btor", "--dialect", "btor-2007"], "'btor-2007' is not one of"),
        (["btor", "--count", "3"], "--count and --dir go together"),
        (["btor", "--count", "3", "--dir", "d", "-o", "x"], "it does not go with --dir"),
        (["btor", "--count", "3", "--dir", "file/d"], "the folder file/d cannot be made"),
        (["btor", "-o", "no/x.btor"], "there is no folder no"),
        (["nothing"], "Unknown command 'nothing'"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    before = tool.files()
    done = tool("generate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert tool.files() == before


def test_nobody_reads_it(tool: Tool) -> None:
    """A closed pipe is no failure."""
    done = tool("generate", "btor", before=("sh", "-c", '"$@" | head -n 1', "sh"))
    assert done.out == "1 var 1\n"
    assert done.err == ""


def test_scripts_of_a_logic(tool: Tool) -> None:
    words = ("generate", "smt2", "--logic", "UFDTLIA", "--seed", "5", "--asserts", "20")
    done = tool(*words, "--levels", "3", "--symbols", "2", "--queries", "4")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("(set-logic UFDTLIA)\n")
    assert done.out == tool(*words, "--levels", "3", "--symbols", "2", "--queries", "4").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--logic", "QF_BIT"), "there is no logic 'QF_BIT': say ALL, any, or one such as QF_LIA"),
        (("--logic", "QF_BV", "--nodes", "9"), "--nodes and --logic are mutually exclusive"),
        (("--levels", "3"), "--levels requires --logic"),
    ],
)
def test_options_of_the_two_generators_of_scripts(
    tool: Tool, words: tuple[str, ...], said: str
) -> None:
    done = tool("generate", "smt2", *words)
    assert (done.code, done.err) == (2, f"reducekit: {said}\n")
