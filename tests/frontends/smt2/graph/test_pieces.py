"""A large command printed again in pieces means the same as printed as a whole."""

from itertools import islice
from random import Random

import pytest

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph import listing as module
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import exist, merge
from reducekit.frontends.smt2.graph.listing import Pieces, pieces_of
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.moves import on_node
from reducekit.frontends.smt2.graph.printing import Style, print_command
from reducekit.frontends.smt2.graph.site import Candidate, Material, Site
from tests.frontends.smt2.graph.nests import meaning


def script(seed: int, lets: int) -> str:
    """Return a script of one assert with a chain of lets."""
    random = Random(seed)
    names = ["v", "w", "u"]
    text, opened = "", 0
    for number in range(lets):
        one, two, three = random.choice(names[-5:]), random.choice(names), random.choice(names[-4:])
        value = f"(bvadd (bvmul {one} {two}) (bvnot {three}))"
        text += f"(let ((?{number} {value})) "
        names.append(f"?{number}")
        opened += 1
    declared = "".join(f"(declare-fun {name} () (_ BitVec 8))\n" for name in "vwu")
    return f"{declared}(assert {text}(= v {names[-1]}{')' * opened}))\n"


def setting(seed: int, style: Style) -> tuple[Graph, Site, Pieces]:
    view = Smt2().parse(script(seed, 10).encode())
    graph = build(view)
    found = pieces_of(graph, 3, style)
    assert found is not None
    return graph, Site(graph, Material(view)), found


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("seed", range(4))
def test_in_pieces_and_as_a_whole(monkeypatch: pytest.MonkeyPatch, style: Style, seed: int) -> None:
    monkeypatch.setattr(module, "FEW", 1)
    _, moves, pieces = setting(seed, style)
    found: list[Candidate] = [
        each for node in moves.nodes for each in islice(on_node(moves, node), 4)
    ]
    found += [*islice(exist(moves), 40), *merge(moves)]
    again = 0
    for candidate in found:
        printed = pieces.again(candidate.graph, candidate.replaced, moves.analysis.users)
        if printed is None:
            continue
        again += 1
        whole = print_command(candidate.graph, 3, style, candidate.replaced)
        assert meaning(printed.text) == meaning(whole.text)
        assert printed.uses == whole.uses
        assert printed.fresh == whole.fresh
    assert again > len(found) / 2


def test_what_would_stand_before_its_definition_is_planned_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FEW", 1)
    graph, moves, pieces = setting(1, Style.SHORTEST)
    lowest = min(pieces.order, key=lambda node: pieces.level[node])
    highest = max(pieces.order, key=lambda node: pieces.level[node])
    below = graph.args[lowest][0]
    assert below not in pieces.names
    assert pieces.again(graph, {below: highest}, moves.analysis.users) is None


def test_small_commands_and_binders_are_printed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    view = Smt2().parse(script(0, 3).encode())
    graph = build(view)
    assert pieces_of(graph, 3, Style.SHORTEST) is None
    monkeypatch.setattr(module, "FEW", 1)
    view = Smt2().parse(b"(assert (forall ((x Int)) (= x 1)))")
    graph = build(view)
    assert pieces_of(graph, 0, Style.SHORTEST) is None
