"""What a reduction costs, to the run.

Users pay for each run, so a change of the search that takes more of them is to be seen. If one of
these numbers changes, then the search has changed: if that was meant, `python -m
tests.reduction.test_costs` prints the new table, and the commit says why.
"""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from reducekit.events import Checked
from reducekit.executors.executor import InProcess
from reducekit.format import Frontend
from reducekit.frontends.btor import Btor
from reducekit.frontends.smt2 import Smt2
from reducekit.reduction import Reduction
from reducekit.reduction.skips import Skip
from reducekit.run import Limits
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.halving import halving
from reducekit.strategies.probdd import probdd
from reducekit.strategies.thesis import hdd
from tests.lines import Lines


def lines(seed: int) -> bytes:
    """Return 200 lines, each naming some earlier ones."""
    draw = random.Random(seed)
    return b"".join(
        b"v%d =%s\n" % (each, b"".join(b" v%d" % draw.randrange(each) for _ in range(each and 2)))
        for each in range(200)
    )


def terms(seed: int) -> bytes:
    """Return a script of 30 assertions over eight bit vectors."""
    draw = random.Random(seed)
    names = [b"name%d" % each for each in range(8)]

    def term(depth: int) -> bytes:
        if depth == 0:
            return draw.choice(names)
        operator = draw.choice((b"bvadd", b"bvmul", b"bvurem", b"bvxor", b"bvsub"))
        return b"(%s %s %s)" % (operator, term(depth - 1), term(draw.randrange(depth)))

    declared = [b"(declare-fun %s () (_ BitVec 8))\n" % name for name in names]
    asserted = [b"(assert (bvult %s %s))\n" % (term(3), term(2)) for _ in range(30)]
    return b"".join((*declared, *asserted, b"(check-sat)\n"))


def graph(seed: int) -> bytes:
    """Return a BTOR graph of 121 nodes."""
    draw = random.Random(seed)
    made = [b"%d var 8" % each for each in range(1, 9)]
    for each in range(9, 120):
        operator = draw.choice((b"add", b"mul", b"xor", b"urem", b"and"))
        left, right = draw.sample(range(max(1, each - 20), each), 2)
        made.append(b"%d %s 8 %d %d" % (each, operator, left, right))
    return b"\n".join((*made, b"120 redor 1 119", b"121 root 1 120", b""))


def has(*patterns: bytes) -> Callable[[bytes], bool]:
    """Return an oracle: all the patterns are found, across lines too."""
    found = [re.compile(each, re.DOTALL) for each in patterns]
    return lambda text: all(each.search(text) for each in found)


def by_chance(text: bytes) -> bool:
    """Say yes to a quarter of all texts."""
    return hashlib.sha256(text).digest()[0] < 64


@dataclass
class Flaky:
    """Sees a failure in each third run of a short text only."""

    inner: Callable[[bytes], bool]
    seen: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, text: bytes) -> bool:
        self.seen[text] += 1
        return self.inner(text) and (len(text) > 300 or self.seen[text] % 3 == 1)


class InOneRun(InProcess):
    """Checks more texts in a run the shorter they are: from eight to 16."""

    def lookahead(self, text: bytes) -> int:
        return max(8, min(16, 20_000 // (len(text) + 1)))


@dataclass(frozen=True)
class Case:
    """One reduction."""

    frontend: Frontend
    text: bytes
    oracle: Callable[[bytes], bool]
    strategy: Strategy = adaptive
    width: int = 1
    jobs: int = 1
    executor: type[InProcess] = InProcess
    repeats: int = 0
    starts: tuple[bytes, ...] | None = None
    flaky: bool = False


class Cost(NamedTuple):
    """What it comes to."""

    size: int
    """Bytes of the result."""
    checks: int
    runs: int
    skipped: str
    """Candidates that take no run, by the reason."""
    repeats: int
    accepted: int
    rejected: int
    rounds: int


DEPENDENT = has(rb"(?m)^v40 = \S+ \S+$", rb"(?m)^v120 = \S+ \S+$", rb"(?m)^v121 = v\d+ v\d+$")
OPERATORS = has(rb"\(bvurem (?!\w+ \w+\)).*\(bvmul (\w+) (?!\1)")
NODES = has(rb"\d+ urem 8 .*\d+ urem 8 ", rb" mul 8 (\d+) (?!\1)", rb" root ")

CASES = {
    "lines": Case(Lines(), lines(1), DEPENDENT),
    "lines, ddmin": Case(Lines(), lines(1), DEPENDENT, ddmin),
    "lines, halving": Case(Lines(), lines(1), DEPENDENT, halving),
    "lines, probdd": Case(Lines(), lines(1), DEPENDENT, probdd),
    "lines, 4 wide": Case(Lines(), lines(1), DEPENDENT, width=4),
    "lines, from earlier steps": Case(
        Lines(), lines(1), DEPENDENT, width=2, starts=(lines(1)[:900], lines(1)[:2000])
    ),
    "lines, by chance": Case(Lines(), lines(5), by_chance),
    "terms": Case(Smt2(), terms(2), OPERATORS),
    "terms, hdd": Case(Smt2(), terms(2), OPERATORS, hdd),
    "terms, by chance": Case(Smt2(), terms(5), by_chance),
    "terms, by chance, 3 wide": Case(Smt2(), terms(5), by_chance, width=3, jobs=3),
    "terms, flaky": Case(Smt2(), terms(3), OPERATORS, repeats=2, flaky=True),
    "terms, about a name": Case(Smt2(), terms(3), has(rb"\(bvurem name3 ", rb"bvult.*bvult")),
    "terms, 2 wide": Case(Smt2(), terms(2), OPERATORS, width=2),
    "terms, 8 wide": Case(Smt2(), terms(2), OPERATORS, width=8),
    "terms, many in a run": Case(Smt2(), terms(2), OPERATORS, executor=InOneRun),
    "terms, repeated": Case(Smt2(), terms(3), OPERATORS, repeats=3),
    "graph": Case(Btor(), graph(4), NODES),
    "graph, 4 wide": Case(Btor(), graph(4), NODES, width=4),
    "graph, many in a run": Case(Btor(), graph(4), NODES, executor=InOneRun),
}


def cost(case: Case) -> Cost:
    """Make the reduction of a case."""
    told = 0

    def listen(event: object) -> None:
        nonlocal told
        told += isinstance(event, Checked) and not event.remembered

    oracle = Flaky(case.oracle) if case.flaky else case.oracle
    with case.executor(oracle, case.jobs) as executor:
        made = Reduction(
            case.frontend,
            case.strategy,
            executor,
            lambda seconds: Limits(),
            case.width,
            listen=listen,
            repeats=case.repeats,
        )
        result = made.run(case.text, 0.0, case.starts)
    counts = result.counts
    assert told == counts.checks
    return Cost(
        len(result.text),
        counts.checks,
        counts.runs,
        ", ".join(f"{why.name} {counts.skipped[why]}" for why in Skip if counts.skipped[why]),
        counts.repeats,
        counts.accepted,
        counts.rejected,
        result.rounds,
    )


COSTS = {
    "lines": Cost(44, 42, 42, "KNOWN 32, REFUTED 3", 0, 10, 0, 2),
    "lines, ddmin": Cost(44, 102, 102, "KNOWN 140, REFUTED 12", 0, 14, 0, 2),
    "lines, halving": Cost(44, 52, 52, "KNOWN 40, REFUTED 3", 0, 14, 0, 2),
    "lines, probdd": Cost(44, 65, 65, "KNOWN 54, REFUTED 2", 0, 24, 0, 2),
    "lines, 4 wide": Cost(44, 42, 43, "KNOWN 32, REFUTED 3", 0, 10, 0, 2),
    "lines, from earlier steps": Cost(44, 50, 50, "KNOWN 35, REFUTED 1", 0, 15, 0, 2),
    "lines, by chance": Cost(19, 49, 49, "KNOWN 7, REFUTED 14", 0, 11, 0, 3),
    "terms": Cost(
        23, 86, 86, "UNCHANGED 19, NOT_SMALLER 35, KNOWN 34, REFUTED 45, ALIKE 4", 0, 29, 0, 4
    ),
    "terms, hdd": Cost(68, 22, 22, "KNOWN 13, REFUTED 1", 0, 9, 0, 2),
    "terms, by chance": Cost(
        31, 414, 414, "UNCHANGED 20, NOT_SMALLER 233, KNOWN 65, REFUTED 195, ALIKE 1", 0, 108, 0, 5
    ),
    "terms, by chance, 3 wide": Cost(
        90, 381, 569, "UNCHANGED 10, NOT_SMALLER 317, KNOWN 109, REFUTED 477", 0, 102, 0, 5
    ),
    "terms, flaky": Cost(
        301, 200, 342, "UNCHANGED 52, NOT_SMALLER 25, KNOWN 144, REFUTED 32, ALIKE 3", 142, 30, 0, 4
    ),
    "terms, about a name": Cost(
        31, 79, 79, "UNCHANGED 20, NOT_SMALLER 17, KNOWN 29, REFUTED 26", 0, 26, 0, 4
    ),
    "terms, 2 wide": Cost(
        23, 86, 87, "UNCHANGED 33, NOT_SMALLER 43, KNOWN 41, REFUTED 47, ALIKE 4", 0, 29, 0, 4
    ),
    "terms, 8 wide": Cost(
        23, 86, 89, "UNCHANGED 72, NOT_SMALLER 112, KNOWN 50, REFUTED 50, ALIKE 5", 0, 29, 0, 4
    ),
    "terms, many in a run": Cost(
        23, 89, 94, "UNCHANGED 104, NOT_SMALLER 94, KNOWN 53, REFUTED 67, ALIKE 4", 0, 28, 0, 4
    ),
    "terms, repeated": Cost(
        21, 72, 75, "UNCHANGED 17, NOT_SMALLER 19, KNOWN 33, REFUTED 16, ALIKE 2", 3, 24, 0, 3
    ),
    "graph": Cost(57, 51, 51, "KNOWN 19, REFUTED 15, ALIKE 10", 0, 14, 0, 1),
    "graph, 4 wide": Cost(
        57, 51, 55, "UNCHANGED 4, NOT_SMALLER 3, KNOWN 28, REFUTED 15, ALIKE 10", 0, 14, 0, 1
    ),
    "graph, many in a run": Cost(57, 52, 55, "KNOWN 47, REFUTED 19, ALIKE 10", 0, 14, 0, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_reduction_costs_just_this(name: str) -> None:
    assert cost(CASES[name]) == COSTS[name]


if __name__ == "__main__":
    for each, known in CASES.items():
        print(f"    {each!r}: Cost{tuple(cost(known))},".replace("'", '"'))
