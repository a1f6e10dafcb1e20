"""The passes over BTOR2's transitions, states, lists and symbols; real files made by yosys."""

from typing import Any

import pytest

from reducekit.api import reduce
from reducekit.frontends.btor.model.dag import Dag, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.merges import (
    Others,
    chains,
    equal_nodes,
    leaves,
    negations,
    nots,
)
from reducekit.frontends.btor.passes.spelling import literals, next_last, ranks
from reducekit.frontends.btor.passes.transition_system import (
    justice,
    properties,
    states,
    symbols,
    transitions,
)
from reducekit.frontends.btor.passes.widths import Widths, all_widths
from tests.frontends.btor.solving import bitwuzla_reads
from tests.frontends.btor.walking import at_random, result, rooted, walk
from tests.frontends.btor.yosys import made_by_yosys

MEMORY = """
module memory(input clk, input reset, input [3:0] address, input [7:0] value, input write);
  reg [7:0] cells [0:15];
  reg [4:0] count = 0;
  always @(posedge clk)
    if (reset) count <= 0;
    else if (write) begin
      cells[address] <= value + {3'b0, count};
      count <= count + 1;
    end
  always @* begin
    assume (address < 12);
    assert (count < 20 || cells[address] != 8'h7f);
    assert ($signed(value) >>> address[1:0] != 8'h55);
  end
endmodule
"""

SYSTEM = (
    b"1 sort bitvec 4\n2 sort bitvec 1\n3 zero 1\n4 state 1 a ; first\n5 init 1 4 3\n"
    b"6 state 1 b\n7 input 1\n8 add 1 4 6\n9 next 1 4 8\n10 next 1 6 7\n11 eq 2 4 6\n"
    b"12 bad 11 fails\n13 redor 2 6\n14 justice 2 11 -13\n; end\n"
)


def test_one_property_stays() -> None:
    assert result(properties, SYSTEM) == (
        SYSTEM.replace(b"13 redor 2 6\n14 justice 2 11 -13\n", b"")
    )
    assert b"bad" not in result(properties, SYSTEM, lambda text: b"justice" in text)
    # What only a dropped one needs goes, but not a root that is an operand.
    text = b"1 var 1\n2 var 1\n3 root 1 1\n4 and 1 3 2\n5 root 1 4\n6 root 1 2\n"
    assert result(properties, text) == b"1 var 1\n2 var 1\n3 root 1 1\n4 and 1 3 2\n5 root 1 4\n"


def test_init_and_next_go_with_what_they_alone_need() -> None:
    assert result(transitions, SYSTEM) == (
        b"1 sort bitvec 4\n2 sort bitvec 1\n4 state 1 a ; first\n6 state 1 b\n11 eq 2 4 6\n"
        b"12 bad 11 fails\n13 redor 2 6\n14 justice 2 11 -13\n; end\n"
    )
    # A state that only another one's next used goes, its own next too.
    text = (
        b"1 sort bitvec 1\n2 state 1\n3 state 1\n4 and 1 2 3\n5 next 1 2 3\n6 next 1 3 4\n7 bad 2\n"
    )
    assert result(transitions, text) == b"1 sort bitvec 1\n2 state 1\n7 bad 2\n"
    assert result(transitions, text, lambda text: b"5 next" in text) == (
        b"1 sort bitvec 1\n2 state 1\n3 state 1\n5 next 1 2 3\n7 bad 2\n"
    )


def test_states_become_inputs() -> None:
    reduced = result(states, SYSTEM, lambda text: b"6 state" in text)
    assert reduced == (
        b"1 sort bitvec 4\n2 sort bitvec 1\n4 input 1 a ; first\n6 state 1 b\n7 input 1\n"
        b"10 next 1 6 7\n11 eq 2 4 6\n12 bad 11 fails\n13 redor 2 6\n14 justice 2 11 -13\n; end\n"
    )


def test_a_state_below_an_init_stays() -> None:
    text = b"1 sort bitvec 1\n2 state 1\n3 not 1 2\n4 state 1\n5 init 1 4 3\n6 bad 4\n"
    for candidate in walk(states, text, lambda text: False):
        assert b"2 input" not in candidate


def test_justice_lists_keep_one_condition() -> None:
    assert result(justice, SYSTEM).endswith(b"14 justice 1 11\n; end\n")
    assert b"justice 1 -13\n" in result(justice, SYSTEM, lambda text: b" -13\n" in text)


def test_next_comes_behind_all_values() -> None:
    text = (
        b"1 sort bitvec 4\n2 state 1 a\n3 next 1 2 -2 ; c\n5 sort bitvec 1\n6 state 5\n"
        b"7 redor 5 2\n8 next 5 6 7\n9 bad 7\n"
    )
    moved = (
        b"1 sort bitvec 4\n2 state 1 a\n3 sort bitvec 1\n4 state 3\n5 redor 3 2\n6 bad 5\n"
        b"7 next 1 2 -2\n8 next 3 4 5\n"
    )
    assert result(next_last, text) == moved
    assert list(walk(next_last, moved, lambda text: True)) == [moved]
    assert result(next_last, b"1 var 4\n2 next 4 1 1\n3 neg 4 1\n4 root 4 3\n") == (
        b"1 var 4\n2 neg 4 1\n3 root 4 2\n4 next 4 1 1\n"
    )


def test_a_next_is_given_a_value_that_stood_behind_it() -> None:
    """What is bad needs a slice of eight bits, by way of two states; one is enough."""
    text = (
        b"1 sort bitvec 1\n2 sort bitvec 8\n3 state 1\n4 state 1\n5 next 1 3 4\n6 state 2\n"
        b"7 slice 1 6 3 3\n8 next 1 4 7\n9 next 2 6 6\n10 bad 3\n"
    )

    def interesting(candidate: bytes) -> bool:
        dag = read(candidate)
        following = {dag.arguments(line)[0]: line for line in dag.lines_of(Op.NEXT)}
        work = [line_of(dag.arguments(line)[0]) for line in dag.lines_of(Op.BAD)]
        work = [line for line in work if dag.op[line] == Op.STATE]
        seen = set()
        while work:
            line = work.pop()
            if line in following and line not in seen:
                work.append(line_of(dag.arguments(following[line])[1]))
            seen.add(line)
        slices = (line for line in seen if dag.op[line] == Op.SLICE)
        return any(dag.width(line_of(dag.arguments(line)[0])) == 8 for line in slices)

    reduced = reduce(text, interesting, format="btor").text
    assert reduced.count(b"\n") == 7
    assert [reduced.count(word) for word in (b" state ", b" slice ", b" next ")] == [1, 1, 1]


def test_symbols_and_comments_go() -> None:
    reduced = result(symbols, SYSTEM)
    assert reduced == SYSTEM.replace(b" a ; first", b"").replace(b" b\n", b"\n").replace(
        b" fails", b""
    ).replace(b"; end\n", b"")
    assert b" fails\n" in result(symbols, SYSTEM, lambda text: b"fails" in text)


@pytest.fixture(scope="module")
def memory() -> bytes:
    """Return what yosys makes of a small design with a memory."""
    return made_by_yosys(MEMORY)


PASSES: list[Any] = [
    all_widths, Widths(), Widths("keep", keep=True), properties, transitions, states,
    justice, symbols, leaves, equal_nodes, Others(1000), chains, nots, negations,
    ranks, literals, next_last,
]  # fmt: skip


@pytest.mark.debian("yosys")
@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.name)
def test_passes_keep_the_rules_on_files_of_yosys(each: Any, memory: bytes) -> None:
    dag = read(memory)
    assert {Op.STATE, Op.INIT, Op.NEXT, Op.BAD, Op.CONSTRAINT, Op.WRITE} <= set(dag.op)
    for seed in range(3):
        for candidate in walk(each, memory, at_random(seed)):
            assert read(candidate).dialect is Dialect.BTOR2


@pytest.mark.debian("yosys")
def test_a_file_of_yosys_shrinks_to_what_is_needed(memory: bytes) -> None:
    def verdict(text: bytes) -> bool:
        """Some bad depends on a memory that is written."""
        return {Op.BAD, Op.NEXT, Op.WRITE, Op.READ} <= _needed(read(text))

    assert verdict(memory)
    before = b""
    text = memory
    while text != before:
        before = text
        for each in PASSES:
            text = result(each, text, verdict)
    dag = read(text)
    assert max(dag.width(line) for line in range(len(dag))) == 1
    assert len(text) < len(memory) / 3


def _needed(dag: Dag) -> set[int]:
    """Return the operators that the bad properties depend on."""
    follow: dict[int, list[int]] = {}
    for line in dag.lines_of(Op.NEXT, Op.INIT):
        follow.setdefault(dag.arguments(line)[0], []).append(line)
    seen: set[int] = set()
    work = list(dag.lines_of(Op.BAD))
    while work:
        line = work.pop()
        if line not in seen:
            seen.add(line)
            work += [each if each >= 0 else ~each for each in dag.arguments(line)]
            work += follow.get(line, [])
    return {dag.op[line] for line in seen}


def test_bitwuzla_reads_what_random_steps_leave() -> None:
    """Of files without states, which it takes as formulas."""
    passes = [each for each in PASSES if each.name not in ("transitions", "states", "justice")]
    for seed in range(8):
        dag = rooted(seed, Dialect.BTOR2)
        # States without init and next are inputs.
        text = result(transitions, canonical(dag))
        text = result(states, text)
        text = b"".join(
            line
            for line in text.splitlines(keepends=True)
            if line.split()[1] not in (b"fair", b"justice", b"output", b"bad")
        )
        for each in passes:
            text = result(each, text, at_random(seed, 0.7))
            assert bitwuzla_reads(text, "btor2") in ("sat", "unsat")
