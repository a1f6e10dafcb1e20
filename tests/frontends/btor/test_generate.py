"""Random graphs: reproducible, well-sorted, of the size and shape that were asked for."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.errors import UsageError
from reducekit.frontends.btor.generate.generator import (
    Parameters,
    generate,
    generate_text,
    suffix,
    varied,
)
from reducekit.frontends.btor.generate.graph_builder import operator_names
from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from tests.frontends.btor.solving import bitwuzla_says

DIALECTS = [Dialect.OLD, Dialect.BTOR1, Dialect.FUN, Dialect.BTOR2]
KINDS: list[dict[str, Any]] = [
    {},
    {"no_arrays": True},
    {"cnf": True, "clauses": 1.5},
    {"cnf_only": True, "variables": 20},
    {"aig": True},
    {"every_operator": True},
    {"roots": 4},
    {"roots": 5, "early_roots": True},
    {"layer": 15},
    {"max_width": 1},
    {"min_width": 5, "max_width": 9},
    {"variables": 0},
    {"variables": 0, "arrays": 0},
    {"sharing": 0, "complement": 0},
    {"depth": 0},
    {"nodes": 1},
]


def depths(dag: Dag) -> list[int]:
    depth: list[int] = []
    for line in range(len(dag)):
        below = [depth[line_of(each)] for each in dag.arguments(line)]
        depth.append(max(below) + 1 if below else 0)
    return depth


def reached(dag: Dag) -> set[int]:
    found: set[int] = set()
    work = list(dag.roots) + list(dag.lines_of(Op.NEXT))
    while work:
        line = work.pop()
        if line not in found:
            found.add(line)
            work += [line_of(each) for each in dag.arguments(line)]
    return found


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_kind_is_well_sorted(dialect: Dialect, kind: dict[str, Any]) -> None:
    for seed in range(4):
        parameters = Parameters(**{"seed": seed, "dialect": dialect, "nodes": 150, **kind})
        dag = read(generate_text(parameters), dialect)
        assert reached(dag) >= {line for line, op in enumerate(dag.op) if op != Op.SORT}
        roots = dag.roots
        assert 1 <= len(roots) <= parameters.roots
        assert all(dag.width(line_of(dag.arguments(root)[0])) == 1 for root in roots)


@given(
    st.builds(
        Parameters,
        seed=st.integers(),
        dialect=st.sampled_from(DIALECTS[:2] + DIALECTS[3:]),
        nodes=st.integers(1, 120),
        depth=st.integers(0, 20),
        variables=st.integers(0, 5),
        arrays=st.integers(0, 4),
        writes=st.integers(0, 4),
        min_width=st.integers(1, 4),
        max_width=st.integers(4, 20),
        max_index_width=st.integers(1, 9),
        sharing=st.integers(0, 100),
        complement=st.integers(0, 100),
        no_arrays=st.booleans(),
        cnf=st.booleans(),
        clauses=st.floats(0, 3),
        roots=st.integers(1, 5),
        registers=st.integers(0, 4),
        layer=st.none() | st.integers(1, 9),
    )
)
@settings(max_examples=60, deadline=None)
def test_all_parameters_together(parameters: Parameters) -> None:
    assert read(generate_text(parameters), parameters.dialect)


def test_the_old_and_the_new_format_are_the_same_graph() -> None:
    old, new = (
        generate(Parameters(nodes=200, dialect=dialect, weights={"nego": 0} if old else {}))
        for dialect, old in ((Dialect.OLD, True), (Dialect.BTOR1, False))
    )
    assert (old.op, old.args, old.sort) == (new.op, new.args, new.sort)


@pytest.mark.parametrize("nodes", [50, 713, 2270])
def test_sizes_are_met(nodes: int) -> None:
    for seed in range(5):
        dag = generate(Parameters(seed=seed, nodes=nodes, depth=9999))
        assert nodes - 2 <= len(dag) <= nodes + 8


def test_depth_ends_growth() -> None:
    shallow = generate(Parameters(depth=8))
    assert len(shallow) < 500
    merged = depths(shallow)[line_of(shallow.arguments(shallow.roots[0])[0])]
    assert merged < 8 + 40


def test_widths_are_kept() -> None:
    dag = generate(Parameters(nodes=2000, min_width=3, max_width=6, max_index_width=2))
    leaves = [dag.sorts[dag.sort[line]] for line in dag.lines_of(Op.INPUT)]
    assert {sort.width for sort in leaves if isinstance(sort, BitVec)} <= {1, 2, 3, 4, 5, 6}
    assert max(dag.width(line) for line in range(len(dag))) == 6
    for sort in dag.sorts:
        if isinstance(sort, Array):
            index = dag.sorts[sort.index]
            assert isinstance(index, BitVec)
            assert index.width <= 2


def test_start_counts() -> None:
    dag = generate(Parameters(nodes=500, variables=12, arrays=5, writes=7))
    kinds = [dag.width(line) > 0 for line in list(dag.lines_of(Op.INPUT))[:17]]
    assert kinds == [True] * 12 + [False] * 5
    assert sum(1 for _ in dag.lines_of(Op.WRITE)) >= 7


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operator(dialect: Dialect) -> None:
    dag = generate(Parameters(nodes=1, dialect=dialect, every_operator=True))
    present = Counter(Op(code) for code in dag.op)
    wanted = {Op[name.upper()] for name in operator_names(dialect) if hasattr(Op, name.upper())}
    assert wanted <= set(present)
    arrays = [line for line in dag.lines_of(Op.EQ, Op.NE) if not operand_width(dag, line)]
    assert {Op(dag.op[line]) for line in arrays} == {Op.EQ, Op.NE}


def operand_width(dag: Dag, line: int) -> int:
    return dag.width(line_of(dag.arguments(line)[0]))


def test_weights() -> None:
    names = operator_names(Dialect.BTOR1)
    only = {**dict.fromkeys(names, 0), "mul": 1, "write": 3}
    dag = generate(Parameters(nodes=2000, depth=9999, weights=only))
    grown = Counter(Op(code) for code in dag.op)
    assert grown[Op.MUL] > 100
    assert 2 < grown[Op.WRITE] / grown[Op.MUL] < 4
    assert not grown[Op.ADD]


def test_sharing_makes_graphs_of_trees() -> None:
    def shared(percent: int) -> float:
        dag = generate(Parameters(nodes=2000, depth=9999, sharing=percent))
        uses = Counter(line_of(each) for each in dag.args)
        return sum(1 for count in uses.values() if count > 1) / len(dag)

    assert shared(0) < 0.01
    assert 0.05 < shared(15) < 0.25 < shared(50)


def test_a_limit_of_nodes_per_layer_makes_graphs_deep() -> None:
    free = generate(Parameters(nodes=800, depth=9999))
    flat = generate(Parameters(nodes=800, depth=9999, layer=5))
    assert max(depths(flat)) > 2 * max(depths(free))
    counts = Counter(depths(flat)[: len(flat) // 2])
    assert max(count for depth, count in counts.items() if depth) <= 5 + 3


def test_complements() -> None:
    none = generate(Parameters(nodes=500, complement=0))
    assert all(each >= 0 for each in none.args)
    every = generate(Parameters(nodes=500, complement=100))
    vectors = [each for each in every.args if every.width(line_of(each))]
    assert all(each < 0 for each in vectors)


def test_clauses() -> None:
    """Each clause is two ors; all of them are conjoined; every variable is in one."""
    dag = generate(Parameters(cnf_only=True, variables=30, clauses=4, seed=3))
    kinds = Counter(Op(code) for code in dag.op)
    assert kinds == {Op.INPUT: 30, Op.OR: 240, Op.AND: 119, Op.ROOT: 1}
    assert set(dag.lines_of(Op.INPUT)) <= {line_of(each) for each in dag.args}
    ands = set(dag.lines_of(Op.AND))
    assert all(each >= 0 for line in ands for each in dag.arguments(line))
    # Of 30 variables ten clauses are needed for each to be in one.
    few = generate(Parameters(cnf_only=True, variables=31, clauses=0))
    assert sum(1 for _ in few.lines_of(Op.OR)) == 22


def test_all_variables_are_complemented_equally_often() -> None:
    """The thesis' rule for literals, with its slip, spares variable 0."""
    signs: dict[int, list[int]] = {line: [0, 0] for line in range(4)}
    for seed in range(60):
        dag = generate(Parameters(cnf_only=True, variables=4, clauses=5, seed=seed))
        for line in dag.lines_of(Op.OR):
            for each in dag.arguments(line):
                if line_of(each) < 4:
                    signs[line_of(each)][each < 0] += 1
    for plain, complemented in signs.values():
        assert 0.4 < complemented / (plain + complemented) < 0.6


def test_more_clauses_are_rather_unsatisfiable() -> None:
    def unsatisfiable(clauses: float) -> int:
        dags = (
            generate(Parameters(seed=seed, cnf_only=True, variables=20, clauses=clauses))
            for seed in range(15)
        )
        return sum(bitwuzla_says(dag) == "unsat" for dag in dags)

    assert unsatisfiable(1) == 0
    assert unsatisfiable(9) >= 14


def test_registers() -> None:
    for dialect, states in ((Dialect.BTOR1, 0), (Dialect.BTOR2, 5)):
        dag = read(generate_text(Parameters(nodes=200, registers=5, dialect=dialect)))
        assert sum(1 for _ in dag.lines_of(Op.NEXT)) == 5
        assert sum(1 for _ in dag.lines_of(Op.STATE)) == states


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_width": 5}, "widths: the largest (4) is not from the smallest (5)"),
        ({"max_width": 10**9}, "is not from the smallest (1) to 65536"),
        ({"nodes": 0}, "nodes: 0 is less than 1"),
        ({"layer": 0}, "nodes per layer: 0 is less than 1"),
        ({"sharing": 101}, "sharing: 101 is not a percentage"),
        ({"clauses": float("nan")}, "clauses: nan is not from 0 to 1000"),
        ({"aig": True, "cnf": True}, "do not go together"),
        ({"weights": {"muls": 1}}, "no operator 'muls' is generated in btor1: acond, add"),
        ({"weights": {"mul": -1}}, "the weight of mul is -1"),
        ({"every_operator": True, "max_width": 1}, "every operator is to be there, but"),
        ({"registers": 1, "dialect": Dialect.FUN}, "btor1+fun has no next"),
        ({"dialect": Dialect.BTOR_2007}, "btor-2007 is read only"),
    ],
)
def test_what_contradicts_itself_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        generate(Parameters(**wrong))
    assert said in str(caught.value)


def test_shapes_vary_with_the_seed() -> None:
    first = Parameters(nodes=80)
    shapes = [varied(replace(first, seed=seed)) for seed in range(5, 45)]
    assert [each.seed for each in shapes] == list(range(5, 45))
    assert len({each.nodes for each in shapes}) > 10
    assert max(each.nodes for each in shapes) <= 80
    assert {each.cnf for each in shapes} == {True, False}
    assert varied(replace(first, seed=25)) == shapes[20]
    for each in shapes:
        assert read(generate_text(each))
    every = replace(first, every_operator=True)
    assert all(generate_text(varied(replace(every, seed=seed))) for seed in range(20))


def test_early_roots_stand_behind_what_they_assert() -> None:
    dag = generate(Parameters(nodes=100, roots=6, early_roots=True))
    assert len(dag.roots) == 6
    for root in dag.roots:
        between = range(line_of(dag.arguments(root)[0]) + 1, root)
        assert {dag.op[line] for line in between} <= {Op.ROOT}
    late = generate(Parameters(nodes=100, roots=6))
    assert Counter(late.op) == Counter(dag.op)


def test_suffixes() -> None:
    assert [suffix(each) for each in DIALECTS] == [".btor", ".btor", ".btor", ".btor2"]


def test_systems_have_properties_of_all_kinds() -> None:
    parameters = Parameters(dialect=Dialect.BTOR2, nodes=60, system=True)
    files = Counter[bytes]()
    for seed in range(200):
        text = generate_text(varied(replace(parameters, seed=seed)))
        read(text, Dialect.BTOR2)
        files.update({line.split()[1] for line in text.splitlines()})
    for kind in (b"constraint", b"justice", b"fair", b"output", b"init", b"next"):
        assert files[kind] >= 0.2 * 200, kind
    assert files[b"bad"] == 200


def test_a_system_has_the_registers_and_is_the_same_again() -> None:
    parameters = Parameters(3, Dialect.BTOR2, nodes=50, system=True, registers=8)
    dag = generate(parameters)
    assert sum(code == Op.STATE for code in dag.op) >= 8
    assert generate_text(parameters) == generate_text(parameters)
    assert reached(dag) >= set(dag.lines_of(Op.AND, Op.OR, Op.MUL, Op.READ))
    with pytest.raises(UsageError, match="`system` requires `dialect` btor2"):
        generate(replace(parameters, dialect=Dialect.BTOR1))
