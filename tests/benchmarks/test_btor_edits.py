"""Random accepted edits on files made here: each result is well-sorted to the solvers, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.btor_edits import (
    bitwuzla,
    boolector,
    combinational,
    edited,
    main,
    measure,
    objection,
    pyboolector,
    walk,
)
from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.order import Size
from tests.frontends.btor.yosys import made_by_yosys

DESIGN = """\
module fifo(input clk, input rst, input push, input [3:0] data, output reg bad);
  reg [3:0] memory [0:3];
  reg [1:0] head = 0, tail = 0;
  wire [3:0] front = memory[head];
  always @(posedge clk) begin
    if (rst) begin head <= 0; tail <= 0; end
    else if (push) begin memory[tail] <= data ^ {2'b10, head}; tail <= tail + 1; end
    else head <= head + (front > 4'd9 ? 2'd1 : $signed(front) >>> 2);
    bad <= &front | (head * tail == 2'd3);
  end
  always @* assert(!bad);
  always @* assume(head != 2'd2 || push);
endmodule
"""
ADDER = """\
module adder(input [7:0] a, input [7:0] b, input [2:0] s, output [7:0] y);
  wire [7:0] sum = a + b;
  assign y = s[0] ? sum << s : $signed(sum) >>> b[2:0];
  always @* assert(y != (a % (b | 8'd1)));
  always @* assume(a < b);
endmodule
"""
FUNCTIONS = b"""\
1 param 4
2 param 3
3 concat 7 1 2
4 lambda 7 3 2 3
5 lambda 7 4 1 4
6 var 4
7 var 3
8 apply 7 5 6 -7
9 param 4
10 mul 4 9 -6
11 slice 3 10 3 1
12 apply 7 5 10 11
13 lambda 7 4 9 12
14 apply 7 13 6
15 array 7 4
16 write 7 4 15 -6 14
17 read 7 16 6
18 ult 1 17 8
19 eq 1 15 16
20 root 1 18
21 root 1 -19
"""


def generated(dialect: Dialect, seed: int) -> bytes:
    """Return a random file, every other one with all operators."""
    return generate_text(
        Parameters(seed=seed, nodes=60, dialect=dialect, roots=2, every_operator=seed % 2 == 0)
    )


def checked(text: bytes, edits: int, seed: int, folder: Path) -> str:
    """Edit a text so many times, see that no result is objected to; return who checked them."""
    row = measure("made", text, edits, seed, folder)
    assert [(what, each.decode()) for each, what in row.objections] == []
    assert row.edits == edits
    return row.checked


@pytest.mark.slow
@pytest.mark.debian("boolector")
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("dialect", [Dialect.OLD, Dialect.BTOR1])
def test_btor1_stays_well_sorted(dialect: Dialect, seed: int, tmp_path: Path) -> None:
    assert checked(generated(dialect, seed), 200, seed, tmp_path) == "boolector"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_btor2_stays_well_sorted(seed: int, tmp_path: Path) -> None:
    assert checked(generated(Dialect.BTOR2, seed), 200, seed, tmp_path) == "bitwuzla"


@pytest.mark.debian("boolector")
def test_files_with_functions_stay_well_sorted(tmp_path: Path) -> None:
    """Where the last `lambda` has gone, what is left is BTOR1."""
    assert checked(FUNCTIONS, 60, 3, tmp_path) == "boolector and pyboolector"


@pytest.mark.slow
@pytest.mark.debian("yosys")
@pytest.mark.parametrize("design", [DESIGN, ADDER], ids=["memory", "combinational"])
def test_files_of_yosys_stay_well_sorted(design: str, tmp_path: Path) -> None:
    text = made_by_yosys(design)
    assert (b" state " in text) == (design is DESIGN)
    assert checked(text, 500, 1, tmp_path) == "bitwuzla"


@pytest.mark.slow
def test_walks_begin_again_until_there_are_enough_edits() -> None:
    text = b"1 var 4\n2 var 4\n3 add 4 1 2\n4 root 4 3\n"
    first = list(walk(text, 1))
    assert [Size(each) for each in (text, *first)] == sorted(
        map(Size, {text, *first}), reverse=True
    )
    assert len(list(edited(text, 100, 1))) == 100 > len(first)
    assert list(edited(text, 100, 1)) == list(edited(text, 100, 1))
    assert list(edited(text, 100, 1)) != list(edited(text, 100, 2))
    # Nothing can be done here.
    assert list(edited(b"1 one 1\n2 root 1 1\n", 5, 1)) == []


@pytest.mark.debian("boolector")
def test_ill_sorted_texts_are_objected_to(tmp_path: Path) -> None:
    bad = b"1 var 4\n2 var 3\n3 add 4 1 2\n"
    assert "rule operand-sort" in objection(bad, tmp_path)
    assert "length" in boolector(bad, tmp_path)
    assert "width" in pyboolector(bad, tmp_path)
    two = b"1 sort bitvec 4\n2 sort bitvec 3\n3 input 1\n4 input 2\n5 add 1 3 4\n"
    assert bitwuzla(two, tmp_path)
    assert objection(b"1 var 4\n2 root 4 1\n", tmp_path) == ""


def test_what_solvers_see_of_registers() -> None:
    text = (
        b"1 sort bitvec 1 bit\n2 zero 1\n3 state 1 s\n4 init 1 3 2\n5 next 1 3 -3\n6 bad 3 b\n"
        b"7 constraint -3 c\n"
    )
    assert combinational(read(text)) == (b"1 sort bitvec 1\n2 zero 1\n3 input 1\n7 constraint -3\n")
    text = b"1 var 4 s\n2 next 4 1 -1\n3 root 4 1\n"
    assert combinational(read(text)) == b"1 var 4\n3 root 4 1\n"


@pytest.mark.debian("boolector")
def test_the_program_writes_a_table(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.btor").write_bytes(b"1 var 4\n2 var 4\n3 add 4 1 2\n4 root 4 3\n")
    (tmp_path / "in" / "b.btor2").write_bytes(
        b"1 sort bitvec 4\n2 input 1\n3 not 1 2\n4 output 3\n"
    )
    assert main([str(tmp_path / "in"), "--edits", "20", "--out", str(tmp_path / "out.md")]) == 0
    *_, first, second = (tmp_path / "out.md").read_text().splitlines()
    assert first.startswith("| a.btor | 4 | 20 |")
    assert first.endswith("| boolector | 0 |")
    assert second.startswith("| b.btor2 | 4 | 20 |")
    assert second.endswith("| bitwuzla | 0 |")
