"""Pseudo-Boolean constraints and circuits: replacements keep values, programs read all."""

import random
import subprocess
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reducekit
from reducekit import registry
from reducekit.frontends.common.variables import TRUE, Image
from reducekit.frontends.opb.reader import _HOLDS
from reducekit.frontends.opb.reader import View as Opb
from reducekit.frontends.opb.reader import problems as opb_problems
from reducekit.frontends.qcir.reader import View as Qcir
from reducekit.frontends.qcir.reader import problems
from reducekit.offers import with_defaults

SEEDS = st.integers(0, 10**6)
Values = Mapping[bytes, bool]


def opb(seed: int) -> bytes:
    """Return constraints over five variables, with products and all relations."""
    dice = random.Random(seed)

    def term() -> str:
        names = dice.sample(range(1, 6), dice.randint(1, 3))
        return f"{dice.randint(-9, 9)} " + " ".join(dice.choice(("", "~")) + f"x{n}" for n in names)

    lines = [
        f"{' '.join(term() for _ in range(dice.randint(1, 4)))} {relation.decode()} "
        f"{dice.randint(-9, 9)} ;\n"
        for relation in _HOLDS
    ]
    return "".join((f"* #variable= 5 #constraint= {len(lines)}\n", *lines)).encode()


def qcir(seed: int) -> bytes:
    """Return a circuit over four variables; the last gate is the output."""
    dice = random.Random(seed)
    names, lines = ["a", "b", "c", "d"], ["forall(a, b)", "exists(c, d)", "output(-g4)"]
    for gate in range(5):
        kind = dice.choice(("and", "or", "xor", "ite"))
        many = {"xor": 2, "ite": 3}.get(kind, dice.randint(0, 3))
        operands = [dice.choice(("", "-")) + dice.choice(names) for _ in range(many)]
        lines.append(f"g{gate} = {kind}({', '.join(operands)})")
        names.append(f"g{gate}")
    return "\n".join(("#QCIR-G14", *lines, "")).encode()


def image_of(seed: int, variables: int) -> Image:
    """Draw what some of the first variables become: constants, or a literal of the first one."""
    dice = random.Random(-seed)
    found = {
        each: dice.choice((TRUE, -TRUE, 1, -1))
        for each in range(1, variables + 1)
        if dice.random() < 0.6
    }
    return found if 1 not in found else {each: w for each, w in found.items() if abs(w) == TRUE}


def before(view: Opb | Qcir, image: Image, values: Values) -> dict[bytes, bool]:
    """Return the values of all variables, where those that are replaced have what they become."""
    whole = dict(values)
    for each, becomes in image.items():
        of = True if abs(becomes) == TRUE else values[view.names[abs(becomes)]]
        whole[view.names[each]] = of == (becomes > 0)
    return whole


def true(view: Opb | Qcir, literal: int, values: Values) -> bool:
    return values[view.names[abs(literal)]] == (literal > 0)


def holds(view: Opb, at: int, values: Values) -> bool:
    _, terms, relation, degree = view.statement(at)
    assert degree is not None
    total = sum(many for many, each in terms if all(true(view, lit, values) for lit in each))
    return _HOLDS[relation](total, degree)


@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_constraints_hold_as_with_what_replaces_their_variables(seed: int) -> None:
    view = Opb(opb(seed))
    assert opb_problems(view) == []
    image = image_of(seed, len(view.variables))
    for at in range(len(view.nodes)):
        text = view.replaced(at, image)
        after = None if text is None else Opb(text)
        for drawn in product((False, True), repeat=len(view.variables)):
            values = dict(zip(view.names[1:], drawn, strict=True))
            expected = holds(view, at, before(view, image, values))
            assert (after is None or holds(after, 0, values)) == expected


def output(view: Qcir, given_values: Values) -> bool:
    values, found = dict(given_values), False
    for defines, kind, literals, _ in view.statements:
        if kind == b"output":
            result = literals[0]
        elif defines:
            all_values = [true(view, each, values) for each in literals]
            if kind == b"ite":
                found = all_values[1] if all_values[0] else all_values[2]
            else:
                odd = sum(all_values) % 2 == 1
                found = {b"and": all(all_values), b"or": any(all_values), b"xor": odd}[kind]
            values[view.names[defines]] = found
    return true(view, result, values)


@given(SEEDS)
@settings(max_examples=150, deadline=None)
def test_a_circuit_has_the_value_of_what_replaces_its_variables(seed: int) -> None:
    view = Qcir(qcir(seed))
    assert problems(view) == []
    image = image_of(seed, 4)
    texts = [view.replaced(at, image) for at in range(len(view.nodes))]
    after = Qcir(b"\n".join(filter(None, texts)))
    assert problems(after) == []
    for drawn in product((False, True), repeat=4):
        values = dict(zip((b"a", b"b", b"c", b"d"), drawn, strict=True))
        assert output(after, values) == output(view, before(view, image, values))


def drawn(text: bytes, name: str) -> list[tuple[str, str, list[str]]]:
    frontend = registry.frontend(name)
    diagram = frontend.diagram(frontend.parse(text))
    assert diagram is not None
    nodes = diagram.nodes
    return [
        (each.label, each.detail,
         [nodes[at].label if at >= 0 else "-" + nodes[~at].label for at in each.edges])
        for each in nodes
    ]  # fmt: skip


def test_what_is_drawn_of_constraints() -> None:
    text = b"min: 2 a;\n1 a -3 ~b >= 2;\n"
    assert drawn(text, "opb") == [
        ("a", "variable", []), ("b", "variable", []), ("min:", "objective", ["a"]),
        (">= 2", "constraint", ["a", "b"]),
    ]  # fmt: skip
    pictures = registry.frontend_class("opb").inspect(text, None, None).pictures
    assert b"2 constraints by 2 variables" in pictures[".svg"]()


def test_what_is_drawn_of_a_circuit() -> None:
    """The output is last, and what uses itself has no edge to itself."""
    text = b"forall(a)\noutput(-h)\ng = exists(b; a)\nh = and(g, -a, h)\n"
    assert drawn(text, "qcir") == [
        ("a", "forall", []), ("b", "exists", []), ("g", "exists", ["b", "a"]),
        ("h", "and", ["g", "-a"]), ("output", "", ["-h"]),
    ]  # fmt: skip


def test_a_gate_that_is_the_output_and_constant_is_empty() -> None:
    view = Qcir(b"exists(a)\noutput(g)\ng = or(a, -a)\n")
    assert [view.replaced(at, {2: TRUE}) for at in range(3)] == [
        b"exists(a)", b"output(g)", b"g = and()",
    ]  # fmt: skip


@pytest.mark.debian("clasp")
@pytest.mark.parametrize("notation", ["opb", "wbo"])
def test_clasp_reads_each_candidate(notation: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.{notation}"
    offer = registry.frontend_class("opb").generation()
    assert offer is not None
    values = with_defaults(offer.options, {"notation": notation, "variables": 12})
    with offer.make(values) as generator:
        text = generator.generate(5).text
    assert not opb_problems(Opb(text))

    def interesting(candidate: bytes) -> bool:
        path.write_bytes(candidate)
        said = subprocess.run(["clasp", path], capture_output=True, check=False).stdout
        assert b"s UNKNOWN" not in said, candidate
        return b"x3" in candidate and candidate.count(b">=") > 1

    found = reducekit.reduce(text, interesting, format="opb").text
    assert len(found) < 100
