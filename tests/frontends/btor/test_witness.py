"""Witnesses of model checkers, simulated: right, wrong, and such that nothing can be said."""

import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.frontends.btor import Btor
from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model_check import judge

# A counter that starts at 1 and adds an input; bad if it is 3, and never more than 1 is added.
COUNTER = b"""1 sort bitvec 3
2 sort bitvec 1
3 one 1
4 state 1
5 init 1 4 3
6 input 1
7 add 1 4 6
8 next 1 4 7
9 ulte 2 6 3
10 constraint 9
11 constd 1 3
12 eq 2 4 11
13 bad 12
14 fair 12
15 justice 2 12 -9
16 justice 1 12
"""
RIGHT = b"sat\nb0\n#0\n@0\n0 001\n@1\n0 001\n@2\n0 000\n.\n"
LOOP = b"sat\nj1\n#0\n@0\n0 001\n@1\n0 001\n@2\n0 000\n@3\n0 000\n.\n"
MEMORY = b"""1 sort bitvec 2
2 sort bitvec 1
3 sort array 1 2
4 zero 2
5 state 3
6 init 3 5 4
7 state 3
8 input 1
9 read 2 5 8
10 read 2 7 8
11 write 3 5 8 -9
12 next 3 5 11
13 and 2 9 10
14 bad 13
"""


@pytest.mark.parametrize(
    "output",
    [
        RIGHT,
        RIGHT.replace(b"#0\n", b"#0\n0 001 count#0\n"),
        RIGHT.replace(b"@1", b"#1\n0 010\n@1"),
        b"c solving\n" + RIGHT + b"[checker] done\n",
        LOOP,
        b"unsat\n",
        b"",
    ],
)
def test_nothing_is_wrong(output: bytes) -> None:
    found = judge(COUNTER, output)
    assert (found.wrong, found.unknown) == ("", "")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (RIGHT.replace(b"@1\n0 001", b"@1\n0 000"), "b0 is false in frame 2, the last one"),
        (RIGHT.replace(b"@1\n0 001", b"@1\n0 010"), "constraint of line 10 is false in frame 1"),
        (RIGHT.replace(b"#0\n", b"#0\n0 010\n"), "line 4 has another value in frame 0"),
        (RIGHT.replace(b"@1", b"#1\n0 011\n@1"), "line 4 has another value in frame 1"),
        (RIGHT.replace(b"b0", b"b1"), "there is no property b1"),
        (b"sat\nb0\n.\n", "the witness has no frame"),
        (LOOP.replace(b"j1", b"j0"), "j0: line 9 is never true in the loop"),
        (RIGHT.replace(b"b0", b"j1").replace(b"@2\n0 000", b"@2\n0 001"),
         "j1: the states after the last frame are those of no other one"),
    ],
)  # fmt: skip
def test_what_is_wrong(output: bytes, said: str) -> None:
    found = judge(COUNTER, output)
    assert said in found.wrong


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (RIGHT.replace(b"@1\n0 001", b"@1\n0 00x"), "line 6 in frame 1 has no value"),
        (RIGHT.replace(b"@1\n0 001", b"@1\n0 1"), "'1' is no value of 3 binary digits"),
        (RIGHT.replace(b"@1\n0 001", b"@1\n3 001"), "frame 1 has no input '3'"),
        (RIGHT.replace(b"@2", b"@3"), "a frame 3 after 2 frames"),
        (RIGHT.replace(b".\n", b""), "does not end"),
        (RIGHT.replace(b"@1\n", b"@1\nhello\n"), "has a line 'hello'"),
    ],
)
def test_what_cannot_be_told(output: bytes, said: str) -> None:
    found = judge(COUNTER, output)
    assert found.wrong == ""
    assert said in found.unknown


def test_arrays() -> None:
    right = b"sat\nb0\n#0\n1 [10] 1 m\n@0\n0 10\n#1\n0 [10] 1\n1 [10] 1\n@1\n0 10\n.\n"
    assert judge(MEMORY, right).wrong == judge(MEMORY, right).unknown == ""
    other = judge(MEMORY, right.replace(b"#1\n0 [10] 1", b"#1\n0 [10] 0"))
    assert "line 5 has another value in frame 1" in other.unknown  # of line 7 only a part is known
    both = right.replace(b"#0\n1 [10] 1", b"#0\n1 [*] 1").replace(
        b"\n1 [10] 1\n@1", b"\n1 [*] 1\n@1"
    )
    assert judge(MEMORY, both).wrong == judge(MEMORY, both).unknown == ""
    other = judge(MEMORY, both.replace(b"#1\n0 [10] 1", b"#1\n0 [10] 0"))
    assert "line 5 has another value in frame 1" in other.wrong
    missing = judge(MEMORY, both.replace(b"1 [*] 1\n@1", b"@1"))
    assert "line 7 in frame 1 has no value" in missing.unknown
    other = judge(MEMORY, both.replace(b"1 [*] 1\n@1", b"1 [11] 1\n@1"))
    assert "a part of line 7 in frame 1 has no value" in other.unknown
    whole = judge(MEMORY, both.replace(b"1 [*] 1\n@1", b"1 [*] 0\n1 [11] 1\n@1"))
    assert "b0 is false in frame 1" in whole.wrong


@pytest.mark.parametrize("bound", [0, 3])
def test_witnesses_of_btormc_are_right(tmp_path: Path, bound: int) -> None:
    reached = 0
    for seed in range(4):
        text = generate_text(
            Parameters(seed, Dialect.BTOR2, nodes=40, no_arrays=True, system=True, registers=3)
        )
        path = tmp_path / "in.btor2"
        path.write_bytes(text)
        command = [sys.executable, "-m", "tests.frontends.btor.btormc", str(path), str(bound)]
        done = subprocess.run(command, capture_output=True, check=True)
        found = judge(text, done.stdout)
        assert (found.wrong, found.unknown) == ("", "")
        assert done.stdout.startswith((b"sat\nb", b"unsat\n"))
        reached += done.stdout.startswith(b"sat")
    assert reached


def test_a_wrong_witness_is_kept(tmp_path: Path) -> None:
    model, liar = tmp_path / "in.btor2", tmp_path / "liar"
    model.write_bytes(COUNTER)
    liar.write_text("#!/bin/sh\nprintf 'sat\\nb0\\n@0\\n0 001\\n.\\n'\n")
    liar.chmod(0o755)
    command = [sys.executable, "-m", Btor.model_check, str(liar), str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "b0 is false in frame 0, the last one\n")
    assert Btor().wrong_model(COUNTER, b"sat\nb0\n@0\n0 001\n.\n")
    assert not Btor().wrong_model(COUNTER, RIGHT)
    assert not Btor().wrong_model(b"1 hello\n", RIGHT)
