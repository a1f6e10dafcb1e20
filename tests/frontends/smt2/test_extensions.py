"""Random scripts with sorts and operators of one solver: all of them, well sorted, accepted."""

import re
import subprocess
from pathlib import Path

import pytest
import z3

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.answers.failures import rejects
from reducekit.frontends.smt2.generate.scripts import Parameters, generate_script
from reducekit.frontends.smt2.language.operators import (
    EXTENSIONS,
    HEAP,
    HIGHER,
    RELATIONS,
    signatures,
)
from reducekit.frontends.smt2.language.validity import problems
from tests.cli.tool import Tool

THEORIES = {"ints", "bitvectors", "strings", "sequences", "arrays", "rare"}
PARTS = {"cvc5": {HIGHER, RELATIONS, HEAP}, "z3": set[str]()}
MORE = {
    "cvc5": """divisible iand const tuple tuple.select set.empty bag.empty FiniteField ff0
    lambda -> update rel.project table.project pto sep.nil declare-heap HO_ALL""",
    "z3": "at-most at-least pble pbge pbeq const lambda update-field",
}
"""What stands in no table of operators."""


def script(extensions: str | None, seed: int, logic: str = "any") -> str:
    return generate_script(Parameters(logic, 4, 3, 3, 2, extensions), seed)


@pytest.mark.parametrize("name", EXTENSIONS)
def test_all_operators_are_drawn_and_well_sorted(name: str) -> None:
    texts = [script(name, seed) for seed in range(500)]
    texts += [script(name, seed, logic) for logic in ("ALL", "BV") for seed in range(500)]
    heads = set(re.findall(r"[^\s()]+", "\n".join(texts)))
    own = {each for found in signatures({name, *THEORIES, *PARTS[name]}) for each in found.names}
    own -= {each for found in signatures(THEORIES) for each in found.names}
    assert len(own) > 8
    missing = {*own, *MORE[name].split()} - heads
    assert not missing
    for text in texts[:60]:
        assert problems(Smt2().parse(text.encode()), extensions=True) == [], text
        assert re.search(r"\(set-logic (HO_|QF_)?ALL\)", text)
    without = [script(None, seed, "ALL") for seed in range(100)]
    assert not set(MORE[name].split()) & set(re.findall(r"[^\s()]+", "\n".join(without)))


def test_z3_reads_its_own() -> None:
    for seed in range(40):
        text = re.split(r"\(reset", script("z3", seed))[0]
        text = re.sub(r"\((check-sat|push|pop|get-|echo|exit|set-option)[^\n]*\n", "", text)
        assert text.count("(assert ") == len(z3.parse_smt2_string(text, ctx=z3.Context()))


@pytest.mark.debian("cvc5")
def test_cvc5_reads_its_own_or_lacks_it(tmp_path: Path) -> None:
    """Release 1.0.3 has neither finite fields nor all operators."""
    options = ["--incremental", "--fp-exp", "--strings-exp", "--sets-ext", "--parse-only"]
    path, accepted = tmp_path / "in.smt2", 0
    for seed in range(40):
        path.write_text(script("cvc5", seed))
        done = subprocess.run(["cvc5", *options, path], capture_output=True, text=True, check=False)
        wrong = [line for line in done.stdout.splitlines() if line.startswith("(error")]
        # It refuses `(define-sort N0 (T) (Tuple Int Bool))` where N0 is used.
        wrong = [line for line in wrong if "Expected parametric datatype" not in line]
        accepted += not wrong
        assert all(rejects(line, well_formed=True) for line in wrong), wrong
    assert accepted > 20


def test_the_option_of_the_command(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    done = tool("generate", "smt2", "--logic", "ALL", "--extensions", "cvc5", "--seed", "3")
    assert (done.code, done.err) == (0, "")
    assert "(Tuple " in done.out
    done = tool("generate", "smt2", "--extensions", "cvc5")
    assert done.code == 2
    assert "--extensions requires --logic" in done.err


@pytest.mark.debian("cvc5")
def test_the_bug_of_z3_in_the_docs() -> None:
    """The script is well sorted, and cvc5 answers; the release of z3 that the docs name refuses."""
    document = Path(__file__).parents[3] / "docs" / "generators.md"
    (text,) = re.findall(r"```text\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    assert problems(Smt2().parse(text.encode())) == []
    done = subprocess.run(
        ["cvc5", "-q", "--lang", "smt2"], input=f"(set-logic ALL)\n{text}(check-sat)\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "sat\n", done
    if z3.get_version_string() == "5.4.1":
        with pytest.raises(z3.Z3Exception, match="ambiguous constant reference"):
            z3.parse_smt2_string(text, ctx=z3.Context())


@pytest.mark.debian("cvc5")
def test_the_bug_of_cvc5_in_the_docs() -> None:
    """Z3 answers with an empty list, cvc5 with an error."""
    document = Path(__file__).parents[3] / "docs" / "generators.md"
    (text,) = re.findall(r"```smt2\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    assert problems(Smt2().parse(text.encode())) == []
    done = subprocess.run(
        ["cvc5", "-q", "--lang", "smt2"], input=text, capture_output=True, text=True, check=False
    )
    assert "kind 'SEXPR'" in done.stdout, done
    assert z3.Z3_eval_smtlib2_string(z3.Context().ref(), text).split() == ["sat", "()"]
