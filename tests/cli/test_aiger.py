"""AIGER files by the command line: reduced, checked, converted, hunted with."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.frontends.aiger.files import read
from tests.cli.tool import Tool

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_command_detects_the_format_and_keeps_its_form(tool: Tool) -> None:
    made = tool("generate", "aiger", "--notation", "aig", "--seed", "3", "-o", "in.aig")
    assert made.code == 0, made.err
    test = tool.folder / "test.sh"
    test.write_text(
        '#!/bin/sh\ncase "$1" in *.aig) head -c 3 "$1" | grep -q aig;; *) exit 1;; esac\n'
    )
    test.chmod(0o755)
    done = tool.ok("in.aig", "--oracle", "./test.sh")
    assert (tool.folder / "in.reduced.aig").read_bytes() == b"aig 0 0 0 0 0\n"
    tool.write("bad.aag", "aag 1 1 0 1 0\n2\nx\n")
    done = tool("aiger", "--check", "bad.aag")
    assert done.code == 3
    assert "bad.aag, line 3, column 1: expected the literal of an output, found 'x'" in done.err


@pytest.mark.debian("yosys")
def test_a_failure_of_yosys_is_reduced_as_the_docs_say(tool: Tool) -> None:
    """Yosys 0.23 takes what follows the size of a justice property for gates or symbols."""
    made = "generate aiger --seed 14 --gates 300 --notation aig -o random.aig"
    assert tool(*made.split()).code == 0
    words = ["--cmd", "yosys -q -p 'read_aiger {}'", "--match-err", "cannot interpret"]
    tool.ok("random.aig", *words)
    before, result = (
        read((tool.folder / name).read_bytes()) for name in ("random.aig", "random.reduced.aig")
    )
    assert (len(before.left), len(before.latches), before.properties) == (301, 2, 6)
    assert (len(result.left), len(result.latches), result.inputs) == (0, 1, 0)
    assert (result.properties, len(result.justice)) == (1, 1)
    assert tool("convert", "random.reduced.aig", "small.aag").code == 0
    assert (tool.folder / "small.aag").read_bytes().startswith(b"aag 1 0 1 0 0 0 0 1\n")


@pytest.mark.debian("yosys", "yosys-abc")
def test_a_hunt_finds_the_failure_and_none_in_abc(tool: Tool) -> None:
    done = tool.ok("hunt", "aiger", "--cmd", "yosys -q -p 'read_aiger {}'", "--count", "12")
    assert list((tool.folder / "failures").glob("*.reduced.aag"))
    script = "read_aiger {}; strash; dc2; print_stats"
    words = ["--version", "1.0", "--notation", "aig", "--cmd", f"yosys-abc -q '{script}'"]
    done = tool("hunt", "aiger", *words, "--count", "12", "--restart")
    assert (done.code, ": 0 bugs" in done.out + done.err) == (0, True)


def test_pictures(tool: Tool) -> None:
    tool.write("in.aag", "aag 4 1 1 1 2 1\n2\n4 8 1\n8\n7\n6 2 5\n8 7 0\ni0 go\n")
    assert tool("show", "in.aag", "-o", "out.svg").code == 0
    drawn = (tool.folder / "out.svg").read_text()
    assert "input go" in drawn
    # Three gates' operands and properties are complemented, and the legend has a sample.
    assert drawn.count("stroke-dasharray") == 5


@pytest.mark.debian("yosys-abc")
@pytest.mark.slow
@pytest.mark.nightly
def test_engines_of_abc_agree_on_random_circuits_and_mutants(tool: Tool) -> None:
    """Both answers are there."""
    abc = f"{sys.executable} {EXAMPLES / 'aiger_abc.py'}"
    programs = ["--cmd", f"{abc} pdr", "--cmd", f"{abc} 'scorr; pdr'"]
    common = ["--version", "1.0", "--notation", "aig", "--count", "12"]
    tool("generate", "aiger", *common, "--seed", "1", "--dir", "seeds")
    answers = []
    for number in range(1, 13):
        found = subprocess.run(
            [*abc.split(), f"seeds/{number}.aig"], cwd=tool.folder, capture_output=True, check=True
        )
        answers.append(found.stdout.decode().strip())
    assert set(answers) == {"sat", "unsat"}
    for more in ([], ["--seeds", "seeds", "--mutate"]):
        done = tool("hunt", "aiger", *common, *programs, *more, "--out", "out", "--json")
        result = json.loads(done.out)
        assert (result["inputs"], result["bugs"], result["rejected"]["count"]) == (12, [], 0)
