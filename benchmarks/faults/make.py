"""Looks for faults that show: a random instruction, then a few random traces, again and again."""

import bisect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple

from benchmarks.faults.field import LIMITS, THIRDS, Case, generator, shown
from reducekit.errors import UsageError
from reducekit.executors.executor import ExecutorError
from reducekit.frontends.trace.generate.generator import Generated
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import (
    Fault,
    Patch,
    ReplayOutcome,
    ReplayServer,
    find_library,
    resolve,
)
from reducekit.frontends.trace.player.contract import was_lawful
from reducekit.frontends.trace.player.faults import Code, instructions, read_code
from reducekit.frontends.trace.player.live_tester import LiveTester

_TRACES = 4
"""Traces that are made for one fault; what none of them shows is given up."""


class System(NamedTuple):
    """An engine under an API: the functions whose instructions are overwritten, and how often."""

    engine: str
    api: str
    functions: str
    weight: int


SYSTEMS = (
    System("lingeling", "lingeling", r"lgl\w+\Z", 8),
    System("boolector-lingeling", "lingeling", r"lgl\w+\Z", 4),
    System("cadical195", "cadical", r"_ZNK?\d+CaDiCaL195\w+\Z", 3),
    System("cadical153", "cadical", r"_ZNK?\d+CaDiCaL153\w+\Z", 2),
    System("cadical195", "ipasir", r"_ZNK?\d+CaDiCaL195\w+\Z", 2),
    System("boolector-cadical", "cadical", r"_ZNK?\d+CaDiCaL\d\w+\Z", 1),
)
SIZES = ((0, 6), (20, 5), (60, 4), (1000, 2))
"""Variables to begin with at most (0: as the model says), and how often."""
SHARES = {"crash": 0.70, "wrong": 0.25, "contract": 0.15, "hang": 0.06}
"""At most so much of the field shows in this way."""
_API = {
    "lingeling": r"lgl(?:add|assume|freeze|melt|reuse|deref|failed|fixed|repr|sat|simp|lkhd|reset"
    r"|import|export|setphase|resetphase|setimportant|frozen|usable|reusable|changed|fixate"
    r"|inconsistent|maxvar|incvar|release|init|setopt|chkclone|e?deref|eadd|eassume|emerge"
    r"|iadd|prepare|ensure\w*|adjext|ext)\Z",
    "cadical": r"_ZNK?\d+CaDiCaL\d*6Solver|_ZNK?\d+CaDiCaL\d*8External",
}


def attempts(seed: int, first: int) -> Iterator[tuple[int, Case | None]]:
    """Try one fault after the other; yield its number, and the case if it shows."""
    number = first
    while True:
        yield number, attempt(seed, number)
        number += 1


def wanted(case: Case, counts: Counter[str], total: int) -> bool:
    """Say whether the field has not yet got enough of what shows so."""
    return counts[case.kind] < SHARES[case.kind] * total


def attempt(seed: int, number: int) -> Case | None:
    """Try the fault of a number on a few random traces; return the case if it shows."""
    dice = Random(f"{seed}:{number}")
    system = dice.choices(SYSTEMS, [each.weight for each in SYSTEMS])[0]
    library = find_library(system.api, system.engine)
    code, symbols, sums = _functions(library.path, system.functions)
    drawn = dice.randrange(sums[-1])
    symbol = symbols[bisect.bisect_right(sums, drawn)]
    content = code.at(code.symbols[symbol], code.sizes[symbol])
    assert content is not None
    places = [offset for offset, _ in instructions(content)]
    place = dice.choice(places) if places else 0
    kind = dice.choice(("abort", "delete", "delete"))
    options = dice.random() < 0.5
    variables = dice.choices([size for size, _ in SIZES], [often for _, often in SIZES])[0]
    third = dice.choice(THIRDS)
    seeds = [dice.randrange(1 << 31) for _ in range(_TRACES)]
    fault = Fault(symbol, place, kind)
    try:
        patch = resolve(fault, library.path, code)
        found = _shown(system, patch, seeds, options=options, variables=variables)
    except (UsageError, ExecutorError):
        return None  # no instruction; or the library dies at once, and nothing can be played
    if found is None:
        return None
    shows, end, trace_seed, calls = found
    name = load_model(system.api).options.call
    settings = sum(call.name == name for call in calls)
    if shows == "crash" and re.match(_API.get(system.api, _API["cadical"]), symbol):
        shows = "contract"
    return Case(
        number, third, system.engine, system.api, str(fault), options, variables, trace_seed,
        shows, end, len(calls) - settings, settings,
    )  # fmt: skip


@cache
def _functions(path: str, pattern: str) -> tuple[Code, Sequence[str], Sequence[int]]:
    """Return the code of a library, its functions of a pattern, and their sizes summed up."""
    code = _code(path)
    symbols = [
        name for name in sorted(code.symbols) if re.match(pattern, name) and code.sizes[name]
    ]
    return code, symbols, [*accumulate(code.sizes[name] for name in symbols)]


@cache
def _code(path: str) -> Code:
    return read_code(path)


def _shown(
    system: System, patch: Patch, seeds: Sequence[int], *, options: bool, variables: int
) -> tuple[str, str, int, Sequence[Call]] | None:
    """Play traces until one fails, and does so again: how, the end, the seed, the calls."""
    library = find_library(system.api, system.engine)
    reference = find_library("ipasir", "cadical103")
    makes = generator(system.api, options=options, variables=variables)
    model = makes.model
    with LiveTester(makes, library, patch=patch, reference=reference, limits=LIMITS) as tester:
        for seed in seeds:
            trial = tester.run(seed)
            kind, end = shown(trial.outcome)
            if trial.wrong is not None:
                kind, end = "wrong", trial.wrong.describe()
            if not kind or not was_lawful(model, trial.made.calls, trial.outcome):
                continue
            if _again(system, patch, trial.made, trial.outcome, wrong=kind == "wrong"):
                return kind, end, seed, trial.made.calls
    return None


def _again(
    system: System, patch: Patch, made: Generated, outcome: ReplayOutcome, *, wrong: bool
) -> bool:
    """Say whether a failing trace fails in the same way twice more, and not in a sound library."""
    library = find_library(system.api, system.engine)
    with ReplayServer(library, patch=patch) as faulty, ReplayServer(library) as sound:
        for _ in range(2):
            again = faulty.replay(made.calls, LIMITS)
            same = (again.kind, again.signal, again.last_call) == (
                outcome.kind, outcome.signal, outcome.last_call,
            )  # fmt: skip
            if not same or (wrong and [*again.results] != [*outcome.results]):
                return False
        right = sound.replay(made.calls, LIMITS)
        return (
            right.kind in ("ok", "contract", "mismatch") and right.seconds < (LIMITS.wall or 1) / 3
        )
