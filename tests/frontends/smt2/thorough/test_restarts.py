"""Restarts: the first graph once more, in another order, as whole scripts."""

from reducekit.api import reduce
from reducekit.change import Change
from reducekit.events import Accepted, Event, PassStarted
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.descent import Place, start
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.graph.site import Material, Site
from reducekit.frontends.smt2.thorough.passes import Restart
from reducekit.search.problem import Search

TERMS = " ".join(f"(bvmul a (bvadd b #x0{n}))" for n in range(8))
SCRIPT = f"""(declare-fun a () (_ BitVec 8))
(declare-fun b () (_ BitVec 8))
(assert (= (bvxor {TERMS}) (bvudiv a b)))
"""


def restart(text: str, shuffle: int = 1) -> Search:
    view = Smt2().parse(text.encode())
    graph = build(view)
    listing = list_commands(graph, Style.SHORTEST)
    place = Place(Style.SHORTEST, styled=1)
    return Restart(start(graph, Material(view.terms, shuffle), place, listing))


def whole(change: Change | None) -> bytes:
    """Return the script that a change makes of any other one."""
    assert change is not None
    assert change.probe
    (edit,) = change.edits
    assert edit.node == 0
    (text,) = edit.template
    assert isinstance(text, bytes)
    return text


def test_it_goes_down_from_the_first_graph_whatever_the_script_is_by_now() -> None:
    search = restart(SCRIPT)
    best = whole(search.propose())
    assert best.decode() == SCRIPT
    search = search.after(True)
    for _ in range(400):
        change = search.propose()
        if change is None:
            break
        ok = bool(change.edits) and b"bvudiv" in whole(change)
        if ok:
            assert len(whole(change)) <= len(best)
            best = whole(change)
        search = search.after(ok)
    assert search.propose() is None
    assert len(best) < 80


def test_it_is_given_up_where_the_graph_itself_does_not_fail() -> None:
    assert restart(SCRIPT).after(False).propose() is None


def test_each_number_is_another_order_of_the_same_nodes() -> None:
    view = Smt2().parse(SCRIPT.encode())
    graph = build(view)
    orders = [Site(graph, Material(view.terms, number)).nodes for number in (0, 1, 2)]
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1
    assert Site(graph, Material(view.terms, 1)).nodes == orders[1]


def test_thorough_effort_restarts_and_never_tells_of_more_than_it_had() -> None:
    events: list[Event] = []
    reduce(
        SCRIPT.encode(),
        lambda text: text.count(b"bvmul") >= 2 or b"bvudiv" in text,
        format="smt2",
        effort="thorough",
        listen=events.append,
    )
    assert "restart 1" in {event.name for event in events if isinstance(event, PassStarted)}
    sizes = [len(event.text) for event in events if isinstance(event, Accepted)]
    assert sizes == sorted(sizes, reverse=True)
