"""AIGER files are read, written back, reduced and converted without a change of what they mean."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.api import reduce
from reducekit.errors import ParseError, UsageError
from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.convert import converted, in_form
from reducekit.frontends.aiger.files import read, write
from reducekit.frontends.aiger.generate import random_circuit
from reducekit.frontends.btor.convert.to_aiger import aiger_of
from reducekit.frontends.btor.model.reader import read as read_btor
from tests.frontends.aiger.simulation import run

TEXT = b"""aag 7 2 1 2 4
2
4
6 8 1
7
14
8 6 2
10 5 3
12 11 9
14 12 10
i0 go
o1 bad thing
c
a comment
"""


def circuit(seed: int, *, binary: bool = False, old: bool = False, gates: int = 40) -> Circuit:
    rng = random.Random(seed)
    return random_circuit(rng, gates, rng.randrange(6), binary=binary, old=old)


def test_a_text_file_may_number_as_it_likes() -> None:
    shuffled = b"aag 9 2 0 1 2\n4\n18\n7\n6 8 5\n8 4 19\n"
    found = read(shuffled)
    assert write(found) == b"aag 9 2 0 1 2\n4\n18\n7\n8 4 19\n6 8 5\n"
    assert in_form(found, "aig").startswith(b"aig 4 2 0 1 2\n9\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"aag 1 1\n2\n", "line 1, column 1: expected 'aag M I L O A'"),
        (b"aag 1 1 0 1 0\n2\n5\n", "line 3, column 1: expected a literal of at most 3"),
        (b"aag 2 1 0 1 0\n2\n4\n", "line 3, column 1: literal 4 is undefined"),
        (b"aag 2 1 0 0 1\n2\n4 4 2\n", "line 3, column 1: gate 4 depends on itself"),
        (b"aag 2 1 0 0 1\n3\n4 2 2\n", "line 2, column 1: expected an even literal of an input"),
        (b"aag 3 1 0 0 1\n2\n2 2 2\n", "line 3, column 1: literal 2 is defined twice"),
        (b"aag 1 0 1 0 0\n2 2 4\n", "line 2, column 1: expected the reset 0, 1 or 2"),
        (b"aag 1 1 0 0 0\n2\ni1 x\n", "line 3, column 1: there are only 1 inputs, not 2"),
        (b"aag 1 1 0 0 0\n2\nnames\n", "line 3, column 1: expected a symbol such as 'i0 NAME'"),
        (b"aig 1 1 0 0 1\n\2\0", "line 1, column 5: expected M to be 2 = I + L + A"),
        (b"aig 2 1 0 0 1\n\0\0", "byte 14: expected a difference of 1 to 4"),
        (b"aig 2 1 0 0 1\n\2\x80", "byte 16: expected gate 4, found the end"),
        (
            b"aag 2 1 0 9 0\n2\n2\n",
            "line 4, column 1: expected the literal of an output, found the end",
        ),
        (
            b"aag 2 1 0 0 1\n2\n4 2\n",
            "line 3, column 1: expected a gate: its literal and two operands",
        ),
        (
            b"aag 3 1 0 0 1 0 0 1\n2\n1\n8\n4 2 2\n",
            "line 4, column 1: expected a literal of at most 7",
        ),
        (b"aag 3 1 0 0 1 0 0 1\n2\n1\n6\n4 2 2\n", "line 4, column 1: literal 6 is undefined"),
        (b"aag 1 1 0 0 0\n2\ni0 x\ni0 y\n", "line 4, column 1: i0 has two symbols"),
        (b"aig 2 1 0 0 1\n\1\4", "byte 15: expected a difference of 0 to 3"),
        (b"aag 99999999999 9 0 0 0\n", "expected M to be a number below"),
        (b"aag 99999 99999 0 0 0\n2\n", "the file ends too early"),
    ],
)
def test_a_wrong_file_is_answered(text: bytes, said: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(text)
    assert said in str(caught.value)


def has(test: Callable[[Circuit], bool]) -> Callable[[bytes], bool]:
    def interesting(text: bytes) -> bool:
        try:
            return test(read(text))
        except ParseError:
            return False

    return interesting


@pytest.mark.parametrize("binary", [False, True])
def test_what_is_needed_is_left(binary: bool) -> None:
    """A latch that becomes true in the third step at the earliest, and a property that sees it."""

    def late(found: Circuit) -> bool:
        told = run(found, 4, 7)
        return any(
            not any(step[at] for step in told[:2]) and told[3][at] for at in range(len(told[0]))
        )

    seed = next(each for each in range(27, 200) if late(circuit(each, gates=120)))
    text = write(circuit(seed, binary=binary, gates=120))
    report = reduce(text, interesting=has(late), format="aiger")
    left = read(report.text)
    assert late(left)
    assert (left.binary, left.properties, left.names) == (binary, 1, None)
    assert report.after["gates"] <= 4
    assert report.counts.checks < 400


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_through_btor2_and_back_it_does_the_same(seed: int) -> None:
    made = circuit(seed)
    if not all(made.justice):
        with pytest.raises(UsageError, match="no justice property without literals"):
            converted(write(made), None, "btor2")
        return
    back = read(aiger_of(read_btor(converted(write(made), None, "btor2").text), "aag").text)
    assert (back.inputs, len(back.latches)) == (made.inputs, len(made.latches))
    told, again = (list(zip(*run(each, 4, seed), strict=True)) for each in (made, back))
    assert sorted(told) == sorted(again)


WIDTH = 3
TOP = 1 << WIDTH


def signed(value: int) -> int:
    return value - TOP if value >= TOP // 2 else value


def cut(a: int, b: int) -> int:
    """Divide as hardware does: towards zero, and by 0 all ones or one."""
    a, b = signed(a), signed(b)
    if b == 0:
        return 1 if a < 0 else -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    return signed(a) - signed(b) * cut(a, b) if signed(b) else signed(a)


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "udiv": lambda a, b: a // b if b else -1,
    "urem": lambda a, b: a % b if b else a,
    "sdiv": cut,
    "srem": rest,
    "smod": lambda a, b: signed(a) % signed(b) if b else a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "sll": lambda a, b: a << b,
    "srl": lambda a, b: a >> b,
    "sra": lambda a, b: signed(a) >> b,
    "rol": lambda a, b: a << b % WIDTH | a >> WIDTH - b % WIDTH,
    "ror": lambda a, b: a >> b % WIDTH | a << WIDTH - b % WIDTH,
    "ult": lambda a, b: a < b,
    "ulte": lambda a, b: a <= b,
    "ugt": lambda a, b: a > b,
    "ugte": lambda a, b: a >= b,
    "slt": lambda a, b: signed(a) < signed(b),
    "slte": lambda a, b: signed(a) <= signed(b),
    "sgt": lambda a, b: signed(a) > signed(b),
    "sgte": lambda a, b: signed(a) >= signed(b),
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "uaddo": lambda a, b: a + b >= TOP,
    "usubo": lambda a, b: a < b,
    "umulo": lambda a, b: a * b >= TOP,
    "saddo": lambda a, b: not -TOP // 2 <= signed(a) + signed(b) < TOP // 2,
    "ssubo": lambda a, b: not -TOP // 2 <= signed(a) - signed(b) < TOP // 2,
    "smulo": lambda a, b: not -TOP // 2 <= signed(a) * signed(b) < TOP // 2,
    "sdivo": lambda a, b: signed(a) == -TOP // 2 and signed(b) == -1,
}
BOOLEAN = {"eq", "neq"} | {name for name in OPERATORS if name.endswith("o") and name != "xo"}
BOOLEAN |= {name for name in OPERATORS if name[:3] in ("ult", "ugt", "slt", "sgt")}
BOOLEAN -= {"xor"}


def outputs(text: bytes, values: Sequence[int]) -> int:
    """Evaluate a circuit on input bits, the lowest of the first word first; return its outputs."""
    found = read(aiger_of(read_btor(text), "aag").text)
    bits = [0, *values]
    for one, other in zip(found.left, found.right, strict=True):
        bits.append((bits[one >> 1] ^ (one & 1)) & (bits[other >> 1] ^ (other & 1)))
    return sum((bits[each >> 1] ^ (each & 1)) << at for at, each in enumerate(found.outputs))


@pytest.mark.parametrize("name", OPERATORS)
def test_words_become_bits(name: str) -> None:
    sort = 1 if name in BOOLEAN else 2
    text = (
        f"1 sort bitvec 1\n2 sort bitvec {WIDTH}\n3 input 2\n4 input 2\n5 {name} {sort} 3 4\n"
        "6 output 5\n"
    ).encode()
    width = 1 if sort == 1 else WIDTH
    for a in range(TOP):
        for b in range(TOP):
            bits = [value >> at & 1 for value in (a, b) for at in range(WIDTH)]
            wanted = int(OPERATORS[name](a, b)) & ((1 << width) - 1)
            assert outputs(text, bits) == wanted, (name, a, b)
