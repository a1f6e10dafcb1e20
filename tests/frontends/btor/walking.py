"""Runs a pass against random verdicts and checks every candidate on the way."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from reducekit.document import Patched
from reducekit.frontends.btor.model.dag import BitVec, Builder, Dag
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import view_of
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from tests.frontends.btor.dags import copied, random_dag

Verdict = Callable[[bytes], bool]


def walk(
    each: Any, text: bytes, verdict: Verdict, strategy: Strategy = adaptive
) -> Iterator[bytes]:
    """Yield every candidate of a pass, and in the end what is left of the text."""
    view = view_of(read(text))
    problem = each.problem(view)
    best = Patched(view.document)
    if problem is not None:
        search = strategy.start(problem)
        while (change := search.propose()) is not None:
            ok = False
            if change.edits:
                edits = {edit.node: edit.template for edit in change.edits}
                candidate = best.render_with(edits)
                yield candidate
                ok = verdict(candidate)
                if ok:
                    best = best.with_(edits)
            search = search.after(ok)
    yield best.render()


def result(each: Any, text: bytes, verdict: Verdict = lambda text: True) -> bytes:
    """Return what a pass makes of a text."""
    *_, last = walk(each, text, verdict)
    return last


def at_random(seed: int, chance: float = 0.5) -> Verdict:
    """Return an oracle that knows no better."""
    random_ = random.Random(seed)
    return lambda text: random_.random() < chance


def rooted(seed: int, dialect: Dialect, nodes: int = 40) -> Dag:
    """Return a random graph with roots or properties, and in BTOR2 states."""
    dag = random_dag(seed, dialect, nodes)
    builder = copied(dag)
    chance = random.Random(seed)
    if dialect is Dialect.BTOR2:
        return _with_states(dag, chance)
    one = builder.table.bitvec(1)
    vectors = [line for line in range(len(dag)) if dag.width(line)]
    for line in chance.sample(vectors, 3):
        builder.add(Op.ROOT, one, (line if chance.random() < 0.7 else ~line,))
    return builder.dag()


def _with_states(dag: Dag, chance: random.Random) -> Dag:
    """Make some inputs states, with `init` and `next`, and add properties."""
    builder = Builder(dag.dialect, dag.sorts)
    place: list[int] = []
    states = []
    for line, code in enumerate(dag.op):
        new_code, starts = code, -1
        if code == Op.INPUT and chance.random() < 0.6:
            new_code = Op.STATE
            sort = dag.sorts[dag.sort[line]]
            if isinstance(sort, BitVec) and chance.random() < 0.5:
                starts = builder.constant(sort.width, chance.randrange(1 << sort.width))
        args = [place[each] if each >= 0 else ~place[~each] for each in dag.arguments(line)]
        symbol = b"s%d" % line if chance.random() < 0.3 else b""
        new = builder.add(
            new_code, dag.sort[line], args, dag.numbers.get(line, ()),
            dag.literals.get(line, b""), symbol,
        )  # fmt: skip
        place.append(new)
        if new_code == Op.STATE:
            states.append(line)
            if starts >= 0:
                builder.add(Op.INIT, dag.sort[line], (new, starts))
    for line in states:
        fitting = [each for each in range(len(dag)) if dag.sort[each] == dag.sort[line]]
        if chance.random() < 0.8:
            builder.add(Op.NEXT, dag.sort[line], (place[line], place[chance.choice(fitting)]))
    bits = [place[line] for line in range(len(dag)) if dag.width(line) == 1]
    bits.append(builder.constant(1, 0))
    vectors = [place[line] for line in range(len(dag)) if dag.width(line)]
    for code in (Op.BAD, Op.CONSTRAINT, Op.FAIR, Op.BAD):
        builder.add(code, -1, (chance.choice(bits),))
    builder.add(Op.OUTPUT, -1, (chance.choice(vectors),))
    builder.add(Op.JUSTICE, -1, [chance.choice(bits) for _ in range(3)])
    return builder.dag()
