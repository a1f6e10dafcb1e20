"""What the passes do to formulas: compared with all assignments of their variables."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

import reducekit
from reducekit.change import Change
from reducekit.frontends.cnf import Cnf, passes, variables
from reducekit.frontends.cnf.convert import converted
from reducekit.frontends.cnf.generate import seed_of
from reducekit.frontends.cnf.reader import Format, Line, View, problems, write
from reducekit.frontends.common.variables import joined
from reducekit.search.problem import NOTHING, Items, Selection

Clause = Sequence[int]
MOST = 5  # variables


def formula(seed: int, notation: Format) -> bytes:
    """Return a small random formula; of ICNF with queries anywhere, of WCNF with either header."""
    dice = random.Random(f"{seed} {notation}")
    variables = dice.randint(1, MOST)

    def literals(most: int) -> list[int]:
        return [dice.choice((1, -1)) * dice.randint(1, variables) for _ in range(most)]

    clauses = [Line(b"", literals(dice.randint(1, 3))) for _ in range(dice.randint(1, 9))]
    if notation == "icnf":
        for _ in range(dice.randint(1, 3)):
            asked = Line(b"a", sorted(set(literals(dice.randint(0, 2)))))
            clauses.insert(dice.randint(0, len(clauses)), asked)
    if notation in ("qdimacs", "dqdimacs"):
        names = dice.sample(range(1, variables + 1), dice.randint(1, variables))
        kinds = [dice.choice((b"a", b"e")) for _ in names]
        if notation == "dqdimacs":
            kinds[-1] = b"d"
        clauses = [*map(Line, kinds, ([name] for name in names)), *clauses]
        if notation == "dqdimacs":
            of = [name for name, kind in zip(names, kinds, strict=True) if kind == b"a"]
            clauses[len(names) - 1] = Line(b"d", [names[-1], *of])
    if notation == "xcnf":
        clauses = [Line(dice.choice((b"", b"x")), each.literals) for each in clauses]
        clauses.append(Line(b"x", [1]))
    if notation == "knf":
        clauses = [
            Line(dice.choice((b"", b"k %d" % dice.randint(0, 4))), sorted(set(each.literals)))
            for each in clauses
        ]
    if notation == "wcnf":
        heavy = dice.choice((b"h", b"40", b"41"))
        clauses = [
            Line(dice.choice((heavy, b"%d" % dice.randint(1, 9))), each.literals)
            for each in clauses
        ]
        if heavy != b"h":
            head = b"p wcnf %d %d 40\n" % (variables, len(clauses))
            return head + write("wcnf", clauses)
    return write(notation, clauses, variables)


def models(clauses: Iterable[Clause]) -> Iterator[tuple[bool, ...]]:
    """Yield all assignments of the first variables that satisfy the clauses."""
    wanted = list(clauses)
    for values in product((False, True), repeat=MOST):
        if all(any(values[abs(lit) - 1] == (lit > 0) for lit in clause) for clause in wanted):
            yield values


def holds(line: Line, values: Sequence[bool]) -> bool:
    """Return whether a clause, a parity or a cardinality holds."""
    true = sum(values[abs(each) - 1] == (each > 0) for each in line.literals)
    if line.prefix == b"x":
        return true % 2 == 1
    return true >= int(line.prefix[2:] or 1)


def answers(text: bytes) -> list[bool]:
    """Return whether each query is satisfiable; without queries, whether the clauses are."""
    found, clauses = [], list[Clause]()
    for prefix, literals in View(text).lines():
        if prefix:
            found.append(any(models([*clauses, *([each] for each in literals)])))
        else:
            clauses.append(literals)
    return found or [any(models(clauses))]


def after(view: View, *changes: Change) -> bytes:
    """Return the text after changes, each on top of those before."""
    edits = {edit.node: edit.template for change in changes for edit in change.edits}
    return view.document.render(edits)


def items_of(name: str, text: bytes) -> tuple[View, Items | None]:
    """Return a formula, and what a pass offers in it."""
    view = View(text)
    found = getattr(passes if hasattr(passes, name) else variables, name).problem(view)
    assert found is None or isinstance(found, Items)
    return view, found


def drawn(seed: int, items: Items) -> tuple[Selection, Selection]:
    """Draw what is taken first, and what is chosen on top of it."""
    dice = random.Random(seed)
    kinds = [dice.randrange(3) for _ in range(len(items.weights))]
    first, second = (frozenset(n for n, k in enumerate(kinds) if k == kind) for kind in (0, 1))
    return first, second


NOTATIONS = ["cnf", "icnf", "qdimacs", "dqdimacs", "wcnf", "xcnf", "knf"]
FORMATS = st.sampled_from(NOTATIONS)
ITEMS = [
    "clauses", "literals", "constants", "other_constants", "merges", "names", "eliminations",
]  # fmt: skip


@given(st.integers(0, 10**6), FORMATS, st.sampled_from(ITEMS))
@example(368639, "wcnf", "merges")
@settings(max_examples=400, deadline=None)
def test_changes_on_top_of_others_are_those_of_both_and_the_header_stays_right(
    seed: int, notation: Format, name: str
) -> None:
    view, items = items_of(name, formula(seed, notation))
    if items is None:
        return
    first, second = drawn(seed, items)
    one, both = items.change(first, NOTHING), items.change(first | second, NOTHING)
    more = items.change(second, first)
    if not (one.edits and both.edits and more.edits):
        return
    text = after(view, one, more)
    if not text.strip():
        return  # of WCNF without a header nothing is left
    assert View(text).lines() == View(after(view, both)).lines()
    # The first changes alone may leave nothing of it, too: more merges say which clauses are true.
    for found in filter(bytes.strip, (after(view, one), text)):
        # What was universal may be gone from its list; without lists it is DIMACS.
        wrong = [each for each in problems(View(found)) if "not universal" not in each]
        assert wrong == []
        assert View(found).format in (notation, "cnf", "qdimacs")


@given(st.integers(0, 10**6), st.sampled_from(["cnf", "icnf"]))
@settings(max_examples=500, deadline=None)
def test_eliminations_keep_the_answer_of_each_query(seed: int, notation: Format) -> None:
    """Also where clauses come between the queries: a query does not see what comes later."""
    text = formula(seed, notation)
    view, items = items_of("eliminations", text)
    if items is None:
        return
    first, second = drawn(seed, items)
    for change in (items.change(first, NOTHING), items.change(first | second, NOTHING)):
        assert answers(after(view, change)) == answers(text)


def test_a_query_does_not_see_the_resolvent_of_a_later_clause() -> None:
    view, items = items_of("eliminations", b"p inccnf\n1 2 0\na -1 0\n-2 1 0\na -1 0\na 1 0\n")
    assert items is not None
    text = after(view, items.change({0}, NOTHING))
    assert text == b"p inccnf\na -1 0\n1 0\na -1 0\na 1 0\n"


def test_what_queries_assume_and_what_is_counted_is_not_eliminated() -> None:
    assert items_of("eliminations", b"p inccnf\n1 2 0\n-2 3 0\na 2 -3 0\n")[1] is None
    # Samplers list variables before the header.
    counted = b"c p show 1 2 3 0\np cnf 3 2\n1 2 0\n-2 3 0\n"
    assert Cnf().check(counted).problems == []
    assert items_of("eliminations", counted)[1] is None
    assert items_of("eliminations", counted.replace(b" 2 3 0\np", b" 3 0\np"))[1] is not None


def test_assumptions_keep_their_signs_and_lists_of_variables_have_none() -> None:
    """Variable 2 becomes the negation of 1, which takes a clause away or a literal in any case."""
    view, items = items_of("merges", b"p inccnf\n1 -2 0\na -1 -2 0\n")
    assert items is not None
    texts = {after(view, items.change({at}, NOTHING)) for at in range(len(items.weights))}
    assert texts == {b"p inccnf\n1 0\na -1 1 0\n", b"p inccnf\na -1 0\n"}
    view, items = items_of("merges", b"p cnf 2 1\na 1 0\ne 2 0\n1 -2 0\n")
    assert items is not None
    texts = {after(view, items.change({at}, NOTHING)) for at in range(len(items.weights))}
    assert texts == {b"p cnf 2 0\na 1 0\n", b"p cnf 2 1\na 1 0\n1 0\n"}
    view, items = items_of("constants", b"p cnf 3 1\na 1 2 0\nd 3 1 2 0\n1 -3 0\n")
    assert items is not None
    texts = {after(view, items.change({at}, NOTHING)) for at in range(len(items.weights))}
    assert b"p cnf 3 0\na 2 0\nd 3 2 0\n" in texts
    assert b"p cnf 3 1\na 1 2 0\n1 0\n" in texts


def test_clauses_that_are_true_go() -> None:
    view, items = items_of("merges", b"p cnf 3 2\n1 -2 0\n3 2 0\n")
    assert items is not None
    last = len(items.weights) - 1  # what takes most away
    assert after(view, items.change({last}, NOTHING)) in (
        b"p cnf 3 1\n3 1 0\n", b"p cnf 3 1\n1 -2 0\n",
    )  # fmt: skip
    view, items = items_of("eliminations", b"p cnf 3 3\n1 2 0\n-1 -2 0\n3 1 0\n")
    assert items is not None
    assert [*items.weights] == [1, 1]  # of 1 and 2; 3 occurs with one sign only
    assert after(view, items.change({1}, NOTHING)) == b"p cnf 3 1\n3 1 0\n"


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(-5, 5).filter(bool)), max_size=12))
def test_joined_variables_are_equal_in_all_values_that_fulfil_the_pairs(
    pairs: list[tuple[int, int]],
) -> None:
    image = joined(pairs)
    for values in product((False, True), repeat=MOST):
        value = {sign * each: values[each - 1] == (sign > 0) for each in range(1, 6)
                 for sign in (1, -1)}  # fmt: skip
        if all(value[one] == value[other] for one, other in pairs):
            assert all(value[one] == value[other] for one, other in image.items())
    assert all(abs(other) < one and abs(other) not in image for one, other in image.items())


def test_a_part_that_is_unsatisfiable_is_tried_first() -> None:
    """A test that wants clauses of the input gets the fewest of them, after few checks."""
    part = [[1, 2], [-1, 2], [1, -2], [-1, -2]]
    more = [[each + 2, -each - 3, each % 7 + 1] for each in range(1, 300)]
    known = {frozenset(each) for each in (*more, *part)}
    checks = 0

    def fails(text: bytes) -> bool:
        nonlocal checks
        checks += 1
        clauses = [line.literals for line in View(text).lines()]
        whole = known.issuperset(map(frozenset, clauses))
        with Solver("minisat22", bootstrap_with=clauses) as solver:
            return whole and not solver.solve()

    result = reducekit.reduce(write("cnf", [*more, *part]), fails, format="cnf").text
    assert {frozenset(each.literals) for each in View(result).lines()} == {*map(frozenset, part)}
    assert checks <= 40


@pytest.mark.parametrize("least", [0, 1, 7, 50, 244])
def test_the_fewest_variables_of_a_header_are_found(least: int) -> None:
    found = reducekit.reduce(
        b"p cnf 244 0\n",
        lambda text: len(text.split()) == 4 and int(text.split()[2]) >= least,
        format="cnf",
    ).text
    assert int(found.split()[2]) in range(least, least + 1 + least // 64)


def test_a_layout_waits_for_comments_to_go() -> None:
    assert items_of("layout", b"c why\np  cnf 1 1\n1   0\n")[1] is None
    assert items_of("layout", b"p  cnf 1 1\n1   0\n")[1] is not None


def test_a_wrong_header_is_corrected_and_never_counts_below_0() -> None:
    wrong = b"p cnf 2 1\n1 0\n2 0\n-1 0\n"
    view, items = items_of("clauses", wrong)
    assert items is not None
    assert after(view, items.change({0, 1}, NOTHING)) == b"p cnf 2 0\n-1 0\n"
    view, items = items_of("header", wrong)
    assert items is not None
    assert after(view, items.change({0}, NOTHING)) == wrong.replace(b"2 1", b"2 3")


def image_of(name: str, view: View, chosen: Selection) -> Mapping[int, int | bool]:
    """Return what a pass makes of variables, from what it says: a literal or a constant."""
    surplus = {v: sum(abs(lit) == v and (1 if lit > 0 else -1) for lit in view.literals)
               for v in view.variables}  # fmt: skip
    flipped = name == "other_constants"
    return {
        v: (surplus[v] >= 0) != flipped if at in chosen else v
        for at, v in enumerate(view.variables)
    }


@pytest.mark.parametrize("name", ["constants", "other_constants"])
@given(st.integers(0, 10**6), st.sampled_from(["cnf", "xcnf", "knf"]))
@settings(max_examples=250, deadline=None)
def test_replaced_variables_have_the_value_of_what_replaces_them(
    name: str, seed: int, notation: Format
) -> None:
    """Of each assignment of the other variables the clauses hold, or not, as before."""
    text = formula(seed, notation)
    view, items = items_of(name, text)
    if items is None:
        return
    chosen, _ = drawn(seed, items)
    if not chosen:
        return
    image = image_of(name, view, chosen)
    found = View(after(view, items.change(chosen, NOTHING))).lines()
    for values in product((False, True), repeat=MOST):
        whole = list(values)
        for variable, becomes in image.items():
            if isinstance(becomes, bool):
                whole[variable - 1] = becomes
            else:
                whole[variable - 1] = values[abs(becomes) - 1] == (becomes > 0)
        assert all(holds(each, values) for each in found) == all(
            holds(each, whole) for each in view.lines()
        )


@given(st.integers(0, 10**6), st.lists(st.tuples(st.integers(2, MOST), st.integers(1, 4))))
@settings(max_examples=150, deadline=None)
def test_a_parity_of_merged_variables_is_that_of_what_they_are_equal_to(
    seed: int, pairs: list[tuple[int, int]]
) -> None:
    image = joined(pairs[::2] + [(one, -other) for one, other in pairs[1::2]])
    for line in View(formula(seed, "xcnf")).lines():
        found = variables.replaced(line, image)
        for values in product((False, True), repeat=MOST):
            whole = list(values)
            for variable, becomes in image.items():
                whole[variable - 1] = values[abs(becomes) - 1] == (becomes > 0)
            assert (found is None or holds(found, values)) == holds(line, whole)


@given(st.integers(0, 10**6), FORMATS)
@settings(max_examples=100, deadline=None)
def test_names_and_layout_change_no_clause(seed: int, notation: Format) -> None:
    view = View(formula(seed, notation).replace(b" ", b"  ").replace(b"0\n", b"0 \n\n"))
    _, layout = items_of("layout", view.document.text)
    assert layout is not None
    assert View(after(view, layout.change({0}, NOTHING))).lines() == view.lines()
    _, names = items_of("names", view.document.text)
    if names is None:
        return
    renamed = View(after(view, names.change({0}, NOTHING)))
    assert list(renamed.variables) == list(range(1, len(view.variables) + 1))
    of = dict(zip(view.variables, renamed.variables, strict=True))
    assert [
        (prefix, [of[each] if each > 0 else -of[-each] for each in literals])
        for prefix, literals in view.lines()
    ] == [(prefix, list(literals)) for prefix, literals in renamed.lines()]


def hard(text: bytes) -> list[Clause]:
    """Return the hard clauses, by what the formats say of weights: above all the others."""
    view = View(text)
    top = view.header[2] if view.header is not None else None
    return [
        list(literals)
        for prefix, literals in view.lines()
        if prefix == b"h" or (top is not None and float(prefix) >= top)
    ]


@given(st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_hard_clauses_stay_hard_and_soft_ones_soft(seed: int) -> None:
    """Whatever is done to weights, and in mutants and scripts."""
    text = formula(seed, "wcnf")
    view = View(text)
    _, items = items_of("weights" if seed % 2 else "top_weight", text)
    if items is not None:
        first, second = drawn(seed, items)
        for chosen in (first, first | second, frozenset(range(len(items.weights)))):
            assert hard(after(view, items.change(chosen, NOTHING))) == hard(text)
    found = seed_of(text)
    assert found is not None
    assert [list(each.literals) for each in found.lines if each.prefix == b"h"] == hard(text)
    script = converted(text, None, "smt2").text
    assert script.count(b"(assert ") == len(hard(text))
    assert script.count(b"(assert-soft ") == len(view) - len(hard(text))


def test_weights_are_reduced_to_the_least_that_keep_the_hard_clauses_hard() -> None:
    text = b"p wcnf 2 4 900\n900 1 2 0\n7 -1 0\n12.5 -2 0\n900 -1 -2 0\n"
    result = reducekit.reduce(
        text, lambda found: len(View(found)) == 4 and len(hard(found)) == 2, format="cnf"
    ).text
    assert result == b"p wcnf 0 4 3\n3 0\n1 0\n1 0\n3 0\n"
    assert Cnf().check(result).problems == []


def test_clauses_after_the_last_query_are_not_asked() -> None:
    text = b"p inccnf\n1 0\na 2 0\n-2 0\na -1 0\n-1 0\n3 0\n"
    assert converted(text, None, "cnf").text == b"p cnf 2 3\n1 0\n-2 0\n-1 0\n"
    assert converted(text, None, "icnf").text == text
    assert converted(text, None, "smt2").text.endswith(
        b"(check-sat-assuming ((not v1)))\n(assert (not v1))\n(assert v3)\n"
    )


@given(st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_what_the_last_query_asks_becomes_a_formula_with_its_answer(seed: int) -> None:
    text = formula(seed, "icnf")
    assert answers(converted(text, None, "cnf").text) == answers(text)[-1:]
