"""Every rule against the evaluator, and whole graphs against themselves."""

import itertools
import random

import pytest

from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.generate.generator import Parameters, generate
from reducekit.frontends.btor.model.dag import Builder, Dag
from reducekit.frontends.btor.model.evaluate import Value, evaluate
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.simplify import (
    EVERY,
    FIGURE,
    Operand,
    Replacement,
    Rule,
    Rules,
    simplify,
    simplify_dag,
)
from reducekit.frontends.btor.model.writer import canonical
from tests.frontends.btor.dags import random_assignment, random_dag

RULES = [rule for rules in EVERY.by_code.values() for rule in rules]
ONE_BIT = (Op.IMPLIES, Op.IFF)
PREDICATES = (*(code for code in Op if Op.ULT <= code <= Op.IFF), *(Op.REDOR, Op.REDAND, Op.REDXOR))
SHIFTS = (Op.SLL, Op.SRL, Op.SRA, Op.ROL, Op.ROR)


def value_of(pattern: str, width: int, bound: dict[str, int]) -> int:
    ones = (1 << width) - 1
    if pattern in ("0", "1", "u"):
        return {"0": 0, "1": ones, "u": 1}[pattern]
    if pattern.startswith("-"):
        return bound[pattern[1:]] ^ ones
    return bound[pattern]


def shapes(rule: Rule, width: int) -> list[tuple[list[int], int, tuple[int, ...]]]:
    """Return widths of operands, the width of the result, and numbers, for a rule."""
    code = rule.code
    if code in ONE_BIT and width > 1:
        return []
    if code == Op.ITE:
        return [([1, width, width], width, ())]
    if code == Op.CONCAT:
        return [([width, other], width + other, ()) for other in (1, 2)]
    if code == Op.SLICE:
        pairs = [(u, low) for u in range(width) for low in range(u + 1)]
        return [([width], u - low + 1, (u, low)) for u, low in pairs]
    if code in (Op.UEXT, Op.SEXT):
        return [([width], width + more, (more,)) for more in (0, 1, 2)]
    if code in SHIFTS:
        amounts = {width, max(1, width.bit_length() - 1)}
        return [([width, amount], width, ()) for amount in sorted(amounts)]
    return [([width] * len(rule.operands), 1 if code in PREDICATES else width, ())]


def applies(rule: Rule, first: int, result: int) -> bool:
    return {
        "": True, "bit": first == 1, "bits": result == 1, "wide": first > 1,
        "whole": first == result,
    }[rule.condition]  # fmt: skip


def worth(
    code: Op, given: list[int], widths: list[int], width: int, numbers: tuple[int, ...]
) -> int:
    """Ask the evaluator."""
    builder = Builder(Dialect.BTOR2)
    table = builder.table
    lines = [builder.constant(w, v) for v, w in zip(given, widths, strict=True)]
    builder.add(code, table.bitvec(width), lines, numbers)
    found = evaluate(builder.dag(), {})[-1]
    assert isinstance(found, int)
    return found


def letters(rule: Rule) -> list[str]:
    return sorted({each.removeprefix("-") for each in rule.operands} - {"0", "1", "u"})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.code.name}-{rule.operands}")
def test_every_rule_on_all_small_values(rule: Rule) -> None:
    used = 0
    for width in (1, 2, 3):
        for widths, result, numbers in shapes(rule, width):
            if not applies(rule, widths[0], result):
                continue
            used += 1
            sizes = {
                each.removeprefix("-"): w for each, w in zip(rule.operands, widths, strict=True)
            }
            names = letters(rule)
            for chosen in itertools.product(*(range(1 << sizes[name]) for name in names)):
                check(rule, widths, result, numbers, dict(zip(names, chosen, strict=True)))
    assert used


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.code.name}-{rule.operands}")
def test_every_rule_on_large_values(rule: Rule) -> None:
    chance = random.Random(repr(rule))
    for width in (4, 8, 16, 31, 32, 64, 100):
        for widths, result, numbers in shapes(rule, width)[:12]:
            if not applies(rule, widths[0], result):
                continue
            bound = {name: chance.getrandbits(width) for name in letters(rule)}
            if rule.code == Op.ITE:
                bound["x"] = bound["x"] & 1 if rule.operands[0] == "x" else bound["x"]
            if rule.code in SHIFTS:
                bound = {name: value >> (width - widths[-1]) for name, value in bound.items()}
            check(rule, widths, result, numbers, bound)


def check(
    rule: Rule, widths: list[int], width: int, numbers: tuple[int, ...], bound: dict[str, int]
) -> None:
    """Compare a rule with the evaluator, and see that `simplify` uses it or one as good."""
    pairs = list(zip(rule.operands, widths, strict=True))
    given = [value_of(each, w, bound) for each, w in pairs]
    expected = worth(rule.code, given, widths, width, numbers)
    assert value_of(rule.result, width, bound) == expected
    references = {name: 10 + at for at, name in enumerate(letters(rule))}
    operands = []
    for at, (pattern, w) in enumerate(pairs):
        name = pattern.removeprefix("-")
        if name in references:
            line = references[name]
            operands.append(Operand(~line if pattern.startswith("-") else line, w))
        else:
            operands.append(Operand(at, w, given[at]))
    found = simplify(rule.code, operands, width, numbers)
    assert found is not None
    if found.reference is None:
        assert found.value == expected
    else:
        name = next(
            n for n, line in references.items() if line in (found.reference, ~found.reference)
        )
        meant = name if found.reference >= 0 else f"-{name}"
        assert value_of(meant, width, bound) == expected


# Figure 4.2, written down a second time: rows and columns as printed, `.` where nothing
# becomes simpler. Z is all zeros, O all ones.
FIGURES = {
    Op.AND: ("x", {("y", "O"): "y", ("y", "Z"): "Z", ("O", "x"): "x", ("O", "O"): "O",
                   ("O", "Z"): "Z", ("Z", "x"): "Z", ("Z", "O"): "Z", ("Z", "Z"): "Z"}),
    Op.OR: ("x", {("y", "O"): "O", ("y", "Z"): "y", ("O", "x"): "O", ("O", "O"): "O",
                  ("O", "Z"): "O", ("Z", "x"): "x", ("Z", "O"): "O", ("Z", "Z"): "Z"}),
    Op.NAND: ("x", {("y", "O"): "-y", ("y", "Z"): "O", ("O", "x"): "-x", ("O", "O"): "Z",
                    ("O", "Z"): "O", ("Z", "x"): "O", ("Z", "O"): "O", ("Z", "Z"): "O"}),
    Op.NOR: ("x", {("y", "O"): "Z", ("y", "Z"): "-y", ("O", "x"): "Z", ("O", "O"): "Z",
                   ("O", "Z"): "Z", ("Z", "x"): "-x", ("Z", "O"): "Z", ("Z", "Z"): "O"}),
    Op.ADD: ("x", {("y", "Z"): "y", ("O", "Z"): "O", ("Z", "x"): "x", ("Z", "O"): "O",
                   ("Z", "Z"): "Z", ("y", "O"): ".", ("O", "x"): ".", ("O", "O"): "."}),
    Op.IMPLIES: ("x", {("y", "O"): "O", ("y", "Z"): "-y", ("O", "x"): "x", ("O", "O"): "O",
                       ("O", "Z"): "Z", ("Z", "x"): "O", ("Z", "O"): "O", ("Z", "Z"): "O"}),
    Op.XOR: ("x", {("y", "O"): "-y", ("y", "Z"): "y", ("O", "x"): "-x", ("O", "O"): "Z",
                   ("O", "Z"): "O", ("Z", "x"): "x", ("Z", "O"): "O", ("Z", "Z"): "Z"}),
    Op.EQ: ("x", {("y", "O"): ".", ("y", "Z"): ".", ("O", "x"): ".", ("O", "O"): "O",
                  ("O", "Z"): "Z", ("Z", "x"): ".", ("Z", "O"): "Z", ("Z", "Z"): "O"}),
}  # fmt: skip


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("code", FIGURES)
def test_the_figure(code: Op, width: int) -> None:
    """All cells of figure 4.2, and no more: with `FIGURE` nothing else happens."""
    if code == Op.IMPLIES and width > 1:
        return
    ones = (1 << width) - 1
    known = {
        "x": Operand(7, width),
        "y": Operand(8, width),
        "O": Operand(1, width, ones),
        "Z": Operand(2, width, 0),
    }
    result = 1 if code == Op.EQ else width
    _, cells = FIGURES[code]
    for (row, column), expected in cells.items():
        found = simplify(code, [known[row], known[column]], result, (), FIGURE)
        assert meaning(found, result) == expected, (row, column)
    for pair in ([known["x"]] * 2, [known["x"], Operand(~7, width)], [known["x"], known["y"]]):
        assert simplify(code, pair, result, (), FIGURE) is None


def meaning(found: Replacement | None, width: int) -> str:
    if found is None:
        return "."
    if found.reference is None:
        return {0: "Z", (1 << width) - 1: "O"}[found.value]
    same = {7: "x", 8: "y", ~7: "-x", ~8: "-y"}
    constant = {1: "O", 2: "Z", ~1: "Z", ~2: "O"}
    return {**same, **constant}[found.reference]


def test_the_figure_on_one_and_three_operands() -> None:
    x, y = Operand(7, 4), Operand(8, 4)
    assert simplify(Op.NOT, [x], 4, (), FIGURE) == Replacement(~7)
    for condition, branch in ((1, 7), (0, 8)):
        assert simplify(Op.ITE, [Operand(1, 1, condition), x, y], 4, (), FIGURE) == Replacement(
            branch
        )
    assert simplify(Op.ITE, [Operand(1, 1), x, x], 4, (), FIGURE) is None
    assert {Op(code) for code in FIGURE.by_code} == {*FIGURES, Op.NOT, Op.ITE}


def test_arrays() -> None:
    a, b = Operand(7, 0), Operand(8, 0)
    assert simplify(Op.ITE, [Operand(1, 1, 0), a, b], 0) == Replacement(8)
    assert simplify(Op.ITE, [Operand(1, 1), a, a], 0) == Replacement(7)
    assert simplify(Op.EQ, [a, a], 1) == Replacement(None, 1)
    assert simplify(Op.EQ, [a, b], 1) is None
    assert simplify(Op.WRITE, [a, Operand(1, 2, 0), Operand(2, 4, 0)], 0) is None
    assert simplify(Op.READ, [a, Operand(1, 2, 0)], 4) is None


def roots_of(dag: Dag, values: list[Value | None]) -> list[Value | None]:
    return [values[line] for line in dag.lines_of(Op.ROOT, Op.CONSTRAINT, Op.BAD)]


@pytest.mark.parametrize("rules", [FIGURE, EVERY], ids=["figure", "every"])
@pytest.mark.parametrize("dialect", [Dialect.OLD, Dialect.BTOR1, Dialect.BTOR2])
@pytest.mark.parametrize("seed", range(12))
def test_a_graph_means_the_same(seed: int, dialect: Dialect, rules: Rules) -> None:
    """Inputs are told apart by symbols, which stay."""
    dag = generate(Parameters(seed=seed, dialect=dialect, nodes=200, max_width=5, roots=6))
    named = with_symbols(dag)
    small = simplify_dag(named, rules)
    assert len(small) <= len(named)
    assert read(canonical(simplify_dag(dag, rules)), dialect)
    for again in range(8):
        values = random_assignment(named, again)
        by_name = {named.symbols[line]: value for line, value in values.items()}
        other = {line: by_name[small.symbols[line]] for line in small.lines_of(Op.INPUT, Op.STATE)}
        assert roots_of(small, evaluate(small, other)) == roots_of(named, evaluate(named, values))


def with_symbols(dag: Dag) -> Dag:
    """Name the leaves, arrays too where the dialect has no names for them."""
    builder = Builder(dag.dialect, dag.sorts)
    for line, code in enumerate(dag.op):
        symbol = b"s%d" % line if code in (Op.INPUT, Op.STATE) else b""
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        builder.add(code, dag.sort[line], dag.arguments(line), numbers, literal, symbol)
    return builder.dag()


@pytest.mark.parametrize("rules", [FIGURE, EVERY], ids=["figure", "every"])
def test_a_fixpoint_within_one_walk(rules: Rules) -> None:
    for seed in range(20):
        small = simplify_dag(generate(Parameters(seed=seed, nodes=300)), rules)
        again = simplify_dag(small, rules)
        assert canonical(again) == canonical(small)


def test_every_operator_is_simplified_somewhere() -> None:
    """The random graphs of the evaluator's tests, all their nodes being roots."""
    for seed in range(6):
        dag = random_dag(seed, Dialect.BTOR2)
        builder = Builder(dag.dialect, dag.sorts)
        for line, code in enumerate(dag.op):
            numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
            builder.add(code, dag.sort[line], dag.arguments(line), numbers, literal)
        for line in range(len(dag)):
            if dag.width(line) == 1:
                builder.add(Op.BAD, -1, (line,))
        whole = with_symbols(builder.dag())
        small = simplify_dag(whole)
        for again in range(4):
            values = random_assignment(whole, again)
            by_name = {whole.symbols[line]: value for line, value in values.items()}
            other = {line: by_name[small.symbols[line]] for line in small.lines_of(Op.INPUT)}
            assert roots_of(small, evaluate(small, other)) == roots_of(
                whole, evaluate(whole, values)
            )


def test_constants_are_shared_and_what_is_not_needed_goes() -> None:
    text = (
        b"1 var 4\n2 zero 4\n3 ones 4\n4 constd 4 15\n5 and 4 1 3\n6 or 4 5 -4\n"
        b"7 eq 1 6 2\n8 not 1 7\n9 root 1 8\n"
    )
    assert canonical(simplify_dag(read(text))) == (b"1 var 4\n2 zero 4\n3 eq 1 1 2\n4 root 1 -3\n")


def test_states_keep_their_order_rules() -> None:
    """A state stands behind the value of its init, which has become a constant."""
    text = (
        b"1 sort bitvec 4\n2 one 1\n3 ones 1\n4 and 1 2 -3\n5 state 1\n6 init 1 5 4\n"
        b"7 and 1 5 3\n8 next 1 5 7\n9 sort bitvec 1\n10 redor 9 5\n11 bad 10\n"
    )
    small = canonical(simplify_dag(read(text)))
    assert small == (
        b"1 sort bitvec 4\n2 ones 1\n3 state 1\n4 init 1 3 -2\n5 next 1 3 3\n"
        b"6 sort bitvec 1\n7 redor 6 3\n8 bad 7\n"
    )
    assert read(small)


def test_sequential_graphs_stay_well_sorted() -> None:
    for seed in range(10):
        dag = generate(Parameters(seed=seed, nodes=150, registers=5))
        for each in (dag, convert(dag, Dialect.BTOR2)):
            for rules in (FIGURE, EVERY):
                assert read(canonical(simplify_dag(each, rules)))


def test_no_recursion() -> None:
    builder = Builder(Dialect.BTOR1)
    bit = builder.table.bitvec(1)
    line = builder.add(Op.INPUT, bit)
    zero = builder.constant(1, 0)
    for _ in range(100_000):
        line = builder.add(Op.OR, bit, (line, zero))
    builder.add(Op.ROOT, bit, (line,))
    assert canonical(simplify_dag(builder.dag())) == b"1 var 1\n2 root 1 1\n"
