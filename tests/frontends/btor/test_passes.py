"""Every candidate of every pass over nodes is a file of the same dialect, and never larger."""

import random
import tracemalloc

import pytest

from reducekit.document import Patched
from reducekit.format import Pass
from reducekit.frontends.btor import Btor, Size
from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView, view_of
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.cuts import Cut, References, cone, roots, short_cuts
from reducekit.frontends.btor.passes.line_graph import FRESH, ONES, SHARED, ZERO, line_graph
from reducekit.frontends.btor.passes.spelling import simplified, spelling
from reducekit.registry import strategy
from reducekit.search.problem import Redirect, Search, Substitute
from reducekit.strategies.adaptive import adaptive
from tests.frontends.btor.dags import copied, random_dag

DIALECTS = (Dialect.OLD, Dialect.BTOR1, Dialect.FUN, Dialect.BTOR2)
PASSES: tuple[Pass, ...] = (
    cone,
    roots,
    References(),
    short_cuts,
    References(every=True),
    *(Cut(kind, leaves=leaves) for kind in (ZERO, ONES, FRESH, SHARED) for leaves in (False, True)),
    Cut(FRESH, last=True),
    simplified,
    spelling,
)
THESIS = ("ddmin", "hdd", "hdd+", "hdd*", "bfs", "lw", "deltabtor", "changeref", "changeref+")


def with_roots(dag: Dag, seed: int) -> BtorView:
    """Return a view of the graph with a few roots over it."""
    chance = random.Random(seed)
    builder = copied(dag)
    bits = [line for line in range(len(dag)) if dag.width(line) == 1]
    for line in chance.sample(bits, min(3, len(bits))) if bits else [builder.constant(1, 1)]:
        if dag.dialect is Dialect.BTOR2:
            builder.add(Op.BAD, -1, (line,))
        else:
            builder.add(Op.ROOT, builder.table.bitvec(1), (line,))
    return view_of(read(canonical(builder.dag()), dag.dialect))


def states() -> BtorView:
    """Return a BTOR2 file with states, an init that depends on one, and arrays."""
    text = b"""1 sort bitvec 4
2 sort bitvec 1
3 sort array 1 1
4 zero 1
5 state 1 first
6 init 1 5 4
7 add 1 5 5
8 state 1 second
9 init 1 8 7
10 state 3
11 init 3 10 4
12 input 1
13 write 3 10 12 8
14 next 3 10 13
15 read 1 13 5
16 next 1 5 15
17 mul 1 -8 12
18 next 1 8 17
19 ulte 2 17 15
20 bad 19
21 eq 2 10 13
22 constraint -21
"""
    return view_of(read(text))


def walked(search: Search, view: BtorView, seed: int, *, shrinks: bool) -> int:
    """Follow a search by random verdicts; return how many candidates it had."""
    chance = random.Random(seed)
    likely = chance.choice([0.1, 0.4, 0.8])
    base = Patched(view.document)
    before = Size(base.render())
    count = 0
    while (change := search.propose()) is not None and count < 400:
        if not change.edits:
            search = search.after(False)
            continue
        count += 1
        text = base.render_with(dict(change.edits))
        found = read(text, view.dag.dialect)
        assert found.roots or not view.dag.roots
        if shrinks:
            assert text.count(b"\n") < before.lines
        ok = chance.random() < likely and Size(text) < before
        if ok:
            base, before = base.with_(dict(change.edits)), Size(text)
        search = search.after(ok)
    return count


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.name)
def test_candidates_are_well_formed(each: Pass, dialect: Dialect) -> None:
    views = [with_roots(random_dag(seed, dialect), seed) for seed in range(4)]
    if dialect is Dialect.BTOR2:
        views.append(states())
    shrinks = each not in (simplified, spelling)
    for seed, view in enumerate(views):
        problem = each.problem(view)
        if problem is not None:
            walked(adaptive.start(problem), view, seed, shrinks=shrinks)


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("name", THESIS)
def test_candidates_of_the_thesis_algorithms_are_well_formed(name: str, simplify: bool) -> None:
    for seed, dialect in enumerate(DIALECTS):
        (each,) = Btor(simplify=simplify).schedule(strategy(name).passes).once
        for view in (
            with_roots(random_dag(seed, dialect), seed),
            *([states()] if dialect is Dialect.BTOR2 else ()),
        ):
            problem = each.problem(view)
            assert problem is not None
            assert walked(strategy(name).start(problem), view, seed, shrinks=True)


@pytest.mark.parametrize("name", ["", *THESIS, "combine"])
def test_generated_files_with_functions_and_registers(name: str) -> None:
    """What the generator makes has `lambda` and `next` where the dialect has them."""
    for dialect in DIALECTS:
        text = generate_text(Parameters(seed=3, nodes=80, dialect=dialect))
        view = view_of(read(text, dialect))
        schedule = Btor().schedule(strategy(name or "adaptive").passes)
        for each in (*schedule.once, *schedule.rounds):
            problem = each.problem(view)
            if problem is not None:
                search = strategy(name or "adaptive").start(problem)
                walked(search, view, 1, shrinks=False)


def test_constants_of_a_sort_are_one_node() -> None:
    view = view_of(read(b"1 var 4\n2 var 4\n3 add 4 1 2\n4 mul 4 3 2\n5 redor 1 4\n6 root 1 5\n"))
    graph = line_graph(view).apply(Substitute((0, 1), ZERO))
    assert graph is not None
    assert view.document.render(dict(graph.change.edits)) == (
        b"1 zero 4\n3 add 4 1 1\n4 mul 4 3 1\n5 redor 1 4\n6 root 1 5\n"
    )
    ones = graph.apply(Substitute((2,), ONES))
    assert ones is not None
    text = Patched(view.document).with_(dict(graph.change.edits))
    assert text.render_with(dict(ones.change.edits)) == (
        b"1 zero 4\n4 mul 4 -1 1\n5 redor 1 4\n6 root 1 5\n"
    )


def test_the_largest_width_needs_no_number_of_so_many_bits() -> None:
    text = b"""1 sort bitvec 1
2 sort bitvec 2147483647
3 input 2
4 input 2
5 and 2 3 4
6 xor 2 -5 3
7 eq 1 6 4
8 bad 7
"""
    graph = line_graph(view_of(read(text)))
    tracemalloc.start()
    try:
        for kind in (ZERO, ONES):
            assert graph.apply(Substitute((5,), kind)) is not None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_simplification_goes_on_upwards() -> None:
    """With x = 0, and(x, y) is 0, and what was above y goes, too."""
    text = b"1 var 4\n2 var 4\n3 neg 4 2\n4 and 4 1 3\n5 or 4 4 1\n6 redor 1 5\n7 root 1 6\n"
    view = view_of(read(text))
    start = line_graph(view, Btor().schedule("classic").once[0].rules)  # type: ignore[attr-defined]
    graph = start.apply(Substitute((0,), ZERO))
    assert graph is not None
    assert graph.size == 2
    assert view.document.render(dict(graph.change.edits)) in (
        b"6 zero 1\n7 root 1 6\n",
        b"1 zero 4\n6 redor 1 1\n7 root 1 6\n",
    )


def test_a_root_takes_the_width_of_what_it_sinks_to() -> None:
    view = view_of(read(b"1 var 4\n2 mul 4 1 1\n3 redor 1 2\n4 root 1 3\n"))
    graph = line_graph(view)
    assert list(graph.targets(3, 0)) == [1, 0]
    sunk = graph.apply(Redirect(3, 0, 1))
    assert sunk is not None
    assert view.document.render(dict(sunk.change.edits)) == b"1 var 4\n2 mul 4 1 1\n4 root 4 2\n"


def test_an_edge_to_a_node_with_other_users_saves_nothing() -> None:
    view = view_of(read(b"1 var 2\n2 neg 2 1\n3 add 2 2 2\n4 redor 1 3\n5 root 1 4\n"))
    graph = line_graph(view)
    assert list(graph.targets(2, 0)) == []
    assert list(graph.targets(3, 0)) == [1, 0]
    assert list(graph.saved) == [1, 0, 3, 4, 0]


def test_what_simplification_changes_is_read_anew() -> None:
    """The thesis' BFS visits stale children here: the and is gone after its first success."""
    text = b"1 var 1\n2 var 1\n3 not 1 2\n4 and 1 1 3\n5 root 1 4\n"
    view = view_of(read(text))
    (each,) = Btor().schedule("classic").once
    problem = each.problem(view)
    assert problem is not None
    search = strategy("bfs").start(problem)
    base = Patched(view.document)
    while (change := search.propose()) is not None:
        ok = b"not" in (candidate := base.render_with(dict(change.edits)))
        if ok:
            base = base.with_(dict(change.edits))
            assert read(candidate)
        search = search.after(ok)
    assert base.render() == b"2 zero 1\n3 not 1 2\n5 root 1 3\n" or base.render().count(b"\n") == 3


def test_the_order_is_lines_then_widths_then_bytes() -> None:
    texts = [
        b"1 var 9\n",
        b"1 var 1\n2 root 1 1\n",
        b"1 var 1\n2 root 1 -1\n",
        b"1 var 2\n2 root 1 1\n",
        b"1 array 2 3\n2 root 1 1\n",
        b"1 var 1\n2 var 1\n3 var 1\n",
    ]
    assert sorted(set(texts), key=Size) == texts
    assert Size(b"what is this\n no btor \xff \n") < Size(b"1\n2\n3\n")


def test_comments_go_with_the_line_below() -> None:
    view = view_of(read(b"; one\n1 zero 1 ; a\n; two\n2 var 1\n3 root 1 2\n; end\n"))
    (item,) = cone.problem(view).changes  # type: ignore[union-attr]  # independent changes
    assert view.document.render(dict(item.edits)) == b"; two\n2 var 1\n3 root 1 2\n; end\n"


def chosen(each: Pass, text: bytes, needed: bytes) -> tuple[bytes, int]:
    """Return what a pass leaves of a text if all candidates with a word fail; count them."""
    view = view_of(read(text))
    problem = each.problem(view)
    assert problem is not None
    search = adaptive.start(problem)
    base, count = Patched(view.document), 0
    while (change := search.propose()) is not None:
        count += bool(change.edits)
        ok = bool(change.edits) and needed in base.render_with(dict(change.edits))
        if ok:
            base = base.with_(dict(change.edits))
        search = search.after(ok)
    return base.render(), count


def test_a_root_sinks_by_bisection() -> None:
    """Nine checks for where the root is to stand in a chain of 1,000, nine for what is below."""
    chain = b"".join(b"%d neg 8 %d\n" % (each, each - 1) for each in range(2, 1001))
    chain = chain.replace(b"300 neg", b"300 inc")
    text = b"1 var 8\n" + chain + b"1001 root 8 1000\n"
    reduced, count = chosen(short_cuts, text, b"inc")
    assert reduced == b"1 var 8\n300 inc 8 1\n1001 root 8 300\n"
    assert count == 18
