"""Formulas as pictures: each literal is where its clause and its variable are."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.cnf.convert import diagram, matrix
from reducekit.frontends.cnf.reader import View

CLAUSES = st.lists(st.lists(st.integers(1, 9).flatmap(lambda it: st.sampled_from((it, -it)))))


def view_of(clauses: list[list[int]]) -> View:
    lines = [" ".join(map(str, [*each, 0])) for each in clauses]
    return View("\n".join([f"p cnf 9 {len(clauses)}", *lines, ""]).encode())


@given(CLAUSES)
@settings(max_examples=60, deadline=None)
def test_the_graph_has_all_literals(clauses: list[list[int]]) -> None:
    view = view_of(clauses)
    nodes = diagram(view).nodes
    drawn = [
        [(1 if edge >= 0 else -1) * int(nodes[edge if edge >= 0 else ~edge].label)
         for edge in node.edges]
        for node in nodes if node.kind == "root"
    ]  # fmt: skip
    assert drawn == clauses
    places = [view.document.text[node.start : node.end] for node in nodes if node.kind == "root"]
    assert [[*map(int, each.split()[:-1])] for each in places] == clauses


def squares(picture: bytes) -> list[tuple[float, float, str]]:
    found = re.findall(rb'x="([\d.]+)" y="([\d.]+)"[^>]*class="(positive|negative)"', picture)
    return sorted((float(x), float(y), sign.decode()) for x, y, sign in found)


def test_a_small_formula_has_a_square_for_each_literal() -> None:
    drawn = [each for each in squares(matrix(view_of([[1, -3], [-1, 1], []]))) if each[1] > 20]
    assert drawn == [
        (8.0, 26.0, "positive"), (8.0, 31.0, "positive"), (10.5, 31.0, "negative"),
        (13.0, 26.0, "negative"),
    ]  # fmt: skip


def test_a_large_one_is_drawn_by_counts() -> None:
    clauses = [[at % 9 + 1, -(at % 7 + 1)] for at in range(5000)]
    picture = matrix(view_of(clauses))
    assert b"5,000 clauses by 9 variables, 25 by 1 to a square" in picture
    assert len(squares(picture)) <= 200 * 9 * 2 + 2
