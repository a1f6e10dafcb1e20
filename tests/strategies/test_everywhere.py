"""Every registered strategy on every registered frontend, and strategies that know little.

Each run is looked at from the first check to the last: what would be left by an
interrupt there is interesting, can be read, and is never above the input.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from reducekit import registry
from reducekit.events import Accepted, Event
from reducekit.executors.executor import InProcess
from reducekit.format import Frontend
from reducekit.frontends.btor import Btor
from reducekit.frontends.trace import Traces
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.search.problem import Graph
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import over_items as ddmin_items
from reducekit.strategies.levels import level_by_level


class Case(NamedTuple):
    """A small input, and words that a failure needs."""

    text: bytes
    needed: tuple[bytes, ...]


CASES: Mapping[str, Case] = {
    "aiger": Case(
        b"aag 9 3 1 2 4\n2\n4\n6\n8 18\n16\n14\n12 2 5\n14 12 6\n16 14 9\n18 3 16\n", (b"5", b"9")
    ),
    "cnf": Case(b"p cnf 4 4\n1 2 0\n-3 4 0\n2 3 4 0\n-1 -4 0\n", (b"3", b"4")),
    "isolate": Case(b"one two (three four)\nfive\nsix seven\n\neight\n", (b"four",)),
    "opb": Case(
        b"* #variable= 4 #constraint= 3\nmin: 2 x1 -3 ~x2 x3 ;\n+5 x1 +2 x2 -1 x4 >= 2 ;\n"
        b"1 x3 x4 -1 x1 = 1 ;\n2 x2 +7 x3 >= 4 ;\n",
        (b"min:", b"x1", b"~"),
    ),
    "qcir": Case(
        b"#QCIR-G14\nforall(a, b)\nexists(c)\noutput(-g)\nd = and(a, -b, c)\n"
        b"e = xor(d, c)\nf = ite(a, e, -d)\ng = or(e, f, b)\n",
        (b"xor", b"forall"),
    ),
    "smt2": Case(
        b"""(set-logic QF_LIA)
(declare-fun a () Int)
(declare-fun b () Int)
(assert (and (< a 7) (or (= b 1) (> (+ a b) 12))))
(assert (let ((c (* 2 b))) (not (= c (- b)))))
(check-sat)
""",
        (b"(check-sat)", b"not"),
    ),
    "btor": Case(
        b"""1 var 8 a
2 var 8 b
3 constd 8 17
4 add 8 1 2
5 mul 8 4 3
6 eq 1 5 2
7 ult 1 1 4
8 and 1 6 -7
9 root 1 8
""",
        (b" and ", b" root "),
    ),
    "text": Case(b"one two (three four)\nfive\nsix seven\n\neight\n", (b"four", b"eight")),
    "trace": Case(
        b"""init
option verbose 0
add 1
add -2
add 0
add 2
add 3
add 0
assume -1
sat
deref 2
release
""",
        (b"add 2", b"sat\n"),
    ),
}
FRONTENDS = sorted(registry.names(registry.FRONTENDS))
STRATEGIES = sorted(registry.names(registry.STRATEGIES))


def never(graph: Graph) -> Graph:
    raise AssertionError("it is searched as items")


OUTSIDE = [
    Strategy("outside", ddmin_items, lambda tree: level_by_level(tree, ddmin_items), passes=passes)
    for passes in ("own", "classic", "tree", "syntax", "exhaustive")
]
"""What a package from elsewhere may bring: no way for graphs."""


class Run:
    """A reduction, and what it would leave if it ended at once: `best`, after each check."""

    def __init__(self, frontend: Frontend, strategy: Strategy, case: Case, width: int) -> None:
        self.frontend, self.case = frontend, case
        self.best = case.text
        self.left: list[bytes] = []
        self.steps: list[str] = []
        self.interrupt_at: int | None = None
        executor = InProcess(self.check, width)
        self.reduction = Reduction(
            frontend, strategy, executor, lambda seconds: Limits(), width, listen=self.listen
        )

    def interesting(self, text: bytes) -> bool:
        return all(word in text for word in self.case.needed)

    def check(self, text: bytes) -> bool:
        if len(self.left) == self.interrupt_at:
            raise KeyboardInterrupt
        self.left.append(self.best)
        return self.interesting(text)

    def listen(self, event: Event) -> None:
        if isinstance(event, Accepted):
            order = self.frontend.order
            assert order(event.text) < order(self.best), "every text told is below the one before"
            assert self.interesting(event.text)
            self.frontend.parse(event.text)
            self.best = event.text
            self.steps.append(event.what)


def run(frontend: Frontend, strategy: Strategy, case: Case, width: int = 1) -> Run:
    """Reduce; check that it ends, with the last text that was told."""
    found = Run(frontend, strategy, case, width)
    assert found.interesting(case.text)
    result = found.reduction.run(case.text, 0.0)
    assert result.stopped is None
    assert result.text == found.best
    return found


def fresh(name: str) -> Frontend:
    make: Callable[[], Frontend] = registry.load(registry.FRONTENDS, name)
    return make()


def test_every_frontend_has_a_case() -> None:
    assert sorted(CASES) == FRONTENDS


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_every_strategy_works_on_every_frontend(frontend: str, strategy: str, width: int) -> None:
    case = CASES[frontend]
    whole = run(fresh(frontend), registry.strategy(strategy), case, width)
    if strategy != "lw":  # which only takes whole layers
        assert whole.best != case.text
    for number in range(0, len(whole.left), 1 + len(whole.left) // 4):
        broken = Run(fresh(frontend), registry.strategy(strategy), case, width)
        broken.interrupt_at = number
        with pytest.raises(KeyboardInterrupt):
            broken.reduction.run(case.text, 0.0)
        assert broken.best == whole.left[number]


@pytest.mark.parametrize("strategy", OUTSIDE, ids=lambda each: each.passes)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_strategy_that_knows_items_and_trees_works_everywhere(
    frontend: str, strategy: Strategy
) -> None:
    assert strategy.graph is None
    case = CASES[frontend]
    assert run(fresh(frontend), strategy, case).best != case.text


@pytest.mark.parametrize("width", [1, 4])
def test_a_graph_as_items_is_tried_with_every_kind_of_leaf(width: int) -> None:
    """Each of three nodes can only become a leaf of one kind: zero, all ones, a variable."""
    text = b"""1 var 4
2 var 4
3 mul 4 1 2
4 var 4
5 add 4 1 4
6 var 4
7 sub 4 1 6
8 and 4 3 5
9 or 4 8 7
10 redor 1 9
11 root 1 10
"""
    # Zeros are one node for a sort, and ones are its complement.
    ways = (rb"\b3 (mul|zero) ", rb"\n(5 add 4 1 4|8 and 4 3 -3)\n", rb"\n7 (sub 4 1 6|var 4)\n")

    def interesting(text: bytes) -> bool:
        return all(re.search(way, text) for way in ways)

    strategy = Strategy("items", adaptive.items, adaptive.tree, passes="classic")
    found = Run(Btor(simplify=False), strategy, Case(text, ()), width)
    found.interesting = interesting  # type: ignore[method-assign]
    result = found.reduction.run(text, 0.0)
    assert b"3 zero 4\n7 var 4\n8 and 4 3 -3\n" in result.text


def imported(text: bytes) -> bool:
    """Fail with four clauses and a query; with options only if all are there, and all calls."""
    clauses, options = text.count(b"add 0"), text.count(b"option")
    if options:
        return options >= 200 and clauses == 6 and b"sat\nrelease\n" in text
    return clauses >= 4 and b"sat\n" in text


def test_what_grows_at_first_is_rolled_back_and_the_rest_is_tried_without_it() -> None:
    text = b"init\n%bsat\nrelease\n" % (b"add 1\nadd 0\n" * 6)
    found = Run(Traces(), registry.strategy("adaptive"), Case(text, ()), 1)
    found.interesting = imported  # type: ignore[method-assign]
    sizes: list[int] = []

    def check(text: bytes) -> bool:
        sizes.append(text.count(b"option"))
        return imported(text)

    found.reduction.executor = InProcess(check)
    found.reduction.__post_init__()
    result = found.reduction.run(text, 0.0)
    assert result.text == found.best == b"init\n%bsat\n" % (b"add 0\n" * 4)
    assert max(sizes) > 200


@pytest.mark.parametrize(
    ("frontend", "case", "said"),
    [
        ("btor", Case(CASES["btor"].text, (b" mul ", b" eq ")), {"zeros", "ones"}),
        ("text", Case(b"one (two) (three four)\n", (b"one", b"four")), {"drop tokens"}),
    ],
)
def test_steps_of_halving_say_what_they_did(frontend: str, case: Case, said: set[str]) -> None:
    """Not only that they were about nodes or a level."""
    steps = run(fresh(frontend), registry.strategy("halving"), case).steps
    assert {*steps} >= said
    assert not {"nodes", "level"}.intersection(steps)
