"""Measures how fast and accurately API traces are generated, played and checked, and the limits.

`python -m benchmarks.trace_speed > benchmarks/results/trace_speed.md`, or in two parts, of
which only the first needs an idle machine: `--part speed`, then `--part exactness` with `>>`.

All times are CPU seconds, user and system, of this process, the fork servers and
all their children: wall time means little on a shared machine. Other load still has
an effect, as processes share caches, so the load average is printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call, Value, with_result
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import Library, ReplayServer, find_library
from reducekit.frontends.trace.player.answers import Formula
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.live_tester import TOGETHER, LiveTester
from reducekit.frontends.trace.player.records import Encoder

SIZES = ((None, 600), (10, 1500))
"""The most variables to begin with (None: as the model says), and how many tests are made."""
APIS = ("lingeling", "cadical", "ipasir")
REPLAYS, CALLS, REMOVED = 3000, 100_000, 3000


def spent() -> float:
    """Return the CPU seconds of this process and of the children that it has waited for."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, both))


@dataclass
class Measured:
    """Tests that were made: their number and calls, kinds of endings, CPU seconds in all, by us."""

    tests: int = 0
    calls: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    cpu: float = 0.0
    own: float = 0.0


def test(generator: Generator, library: Library, reference: Library | None, tests: int) -> Measured:
    """Make, play and (with a reference) check traces, as `reducekit hunt trace` does."""
    found = Measured(tests)
    before = spent()
    with LiveTester(generator, library, reference=reference) as trials:
        begin = time.process_time()
        for seed in range(tests):
            trial = trials.run(seed)
            found.calls += len(trial.made.calls)
            found.kinds[trial.outcome.kind] += 1
            if trial.wrong is not None:
                found.kinds[trial.wrong.describe()] += 1
        found.own = time.process_time() - begin
    found.cpu = spent() - before
    return found


def profile(generator: Generator, library: Library, tests: int) -> dict[str, float]:
    """Return the CPU seconds of each part of our own work."""
    pieces: list[list[tuple[Sequence[Call], list[Value | None]]]] = []
    with LiveReplay(library) as live:
        for seed in range(tests):
            live.begin()
            made = generator.generate(seed, live.play)
            live.finish()
            ends = [first for first, _ in made.results[1:]] + [len(made.calls)]
            pieces.append(
                [
                    (made.calls[first:end], list(results))
                    for (first, results), end in zip(made.results, ends, strict=True)
                ]
            )
    encoder = Encoder(library.interface)

    def generate() -> None:
        for seed, trace in enumerate(pieces):
            answers = iter([results for _, results in trace])
            generator.generate(seed, lambda _, answers=answers: next(answers))  # type: ignore[misc]

    def encode() -> None:
        for trace in pieces:
            for calls, _ in trace:
                encoder.plain(calls)

    def follow() -> None:
        for trace in pieces:
            formula = Formula(library.interface.api)
            for calls, results in trace:
                formula.take(calls, results)

    return {
        "making calls: the model, the dice": timed(generate),
        "calls to records": timed(encode),
        "following the formula": timed(follow),
    }


def timed(work: Callable[[], None]) -> float:
    """Return the CPU seconds of some work, the second time."""
    work()
    begin = time.process_time()
    work()
    return time.process_time() - begin


def empty_replays(library: Library, count: int) -> float:
    """Return the CPU seconds of replays of nothing but `init`: what a process costs."""
    before = spent()
    with ReplayServer(library):
        pass
    opened = spent()
    with ReplayServer(library) as server:
        for _ in range(count):
            server.replay([Call("init", ())])
    return max(0.0, (spent() - opened) - (opened - before))


def replays(library: Library, count: int) -> tuple[float, float, int]:
    """Return replays a CPU second of traces of about 200 calls, calls a trace, pages leaked."""
    generator = Generator(load_model("lingeling"), variables=12)
    made = (generator.generate(seed).calls for seed in range(100_000))
    traces = [calls for calls, _ in zip(filter(_of_200, made), range(100), strict=False)]
    before = spent()
    with ReplayServer(library) as server:
        (process,) = server._servers.values()
        pages = 0
        for number in range(count):
            assert server.replay(traces[number % len(traces)]).kind == "ok"
            if number == count // 10:
                pages = private_pages(process.pid) + private_pages(os.getpid())
        leaked = private_pages(process.pid) + private_pages(os.getpid()) - pages
    return count / (spent() - before), sum(map(len, traces)) / len(traces), leaked


def _of_200(calls: Sequence[Call]) -> bool:
    return 190 <= len(calls) <= 210


def private_pages(pid: int) -> int:
    """Return how many pages of memory of its own a process has."""
    _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    return int(resident) - int(shared)


def traces_of(api: str, calls: int) -> Iterator[tuple[Sequence[Call], str]]:
    """Yield generated traces of `calls` calls in total, and how their replay ended."""
    generator = Generator(load_model(api))
    with LiveReplay(find_library(api)) as live:
        seed = 0
        while calls > 0:
            live.begin()
            made = generator.generate(seed, live.play)
            yield made.calls, live.finish().kind
            calls -= len(made.calls)
            seed += 1


def removals(api: str, count: int) -> tuple[int, Counter[str]]:
    """Take one call from generated traces; return where model and library agree, and the calls
    that were taken where they do not.

    Each kind of call is taken as often as any other.
    """
    model, dice = load_model(api), Random(1)
    agreed, differ = 0, Counter[str]()
    with ReplayServer(find_library(api)) as server:
        for number, (calls, _) in enumerate(traces_of(api, 1 << 60)):
            for _ in range(12):
                name = dice.choice(sorted({call.name for call in calls}))
                at = dice.choice([at for at, call in enumerate(calls) if call.name == name])
                rest = [*calls[:at], *calls[at + 1 :]]
                outcome = server.replay(rest)
                results = [*outcome.results, *[None] * len(rest)]
                broken = first_violation(map(with_result, rest, results), model)
                same = (broken is None) == (outcome.kind == "ok")
                agreed += same
                if not same:
                    differ[name] += 1
            if 12 * (number + 1) >= count:
                break
    return agreed, differ


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replays", type=int, default=REPLAYS, help="replays of 200 calls")
    parser.add_argument("--removed", type=int, default=REMOVED, help="traces less one call")
    parser.add_argument("--part", choices=("speed", "exactness"), help="default: both")
    options = parser.parse_args()
    if options.part != "exactness":
        _print_speed(options.replays)
    if options.part != "speed":
        _print_exactness(options.removed)


def _print_speed(count: int) -> None:
    library, reference = find_library("lingeling"), find_library("ipasir", "cadical153")
    print("# API traces: speed and exactness\n")
    command = shlex.join(["python", "-m", "benchmarks.trace_speed", *sys.argv[1:]])
    print(f"Made by `{command}`; what is measured is said there.")
    print(f"Load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    _print_replays(library, count)
    for variables, tests in SIZES:
        _print_tests(variables, tests, library, reference)


def _print_replays(library: Library, count: int) -> None:
    rate, calls, leaked = replays(library, count)
    print("## Replays\n")
    print("| replays | calls each | a CPU second | pages leaked |\n|---:|---:|---:|---:|")
    print(f"| {count:,} | {calls:.0f} | {rate:.0f} | {leaked} |\n")


def _print_tests(variables: int | None, tests: int, library: Library, reference: Library) -> None:
    generator = Generator(load_model("lingeling"), variables=variables)
    alone = test(generator, library, None, tests)
    checked = test(generator, library, reference, tests)
    violations = checked.kinds["contract"] / tests
    title = "as the model says" if variables is None else f"at most {variables} at first"
    print(f"## Tests of {checked.calls / tests:.0f} calls (variables: {title})\n")
    print("| | tests a CPU second |\n|---|---:|")
    print(f"| made and played | {tests / alone.cpu:.0f} |")
    print(f"| made, played, all answers checked | {tests / checked.cpu:.0f} |\n")
    print(f"{violations:.1%} broke the contract; endings: {dict(checked.kinds)}.\n")
    per = 1000 / tests
    parts = profile(generator, library, tests)
    empty = empty_replays(library, tests) * per / TOGETHER
    rest = (alone.own - sum(parts.values()) + parts["following the formula"]) * per
    rows = [(name, seconds * per) for name, seconds in parts.items()]
    rows += [
        ("handing over, waiting, cold caches", rest),
        (f"a process for {TOGETHER} traces, empty", empty),
        ("Lingeling itself", (alone.cpu - alone.own) * per - empty),
        (
            "copies asked for models and cores, the other solver",
            (checked.cpu - alone.cpu - parts["following the formula"]) * per,
        ),
    ]
    print("| what bounds it | ms a test | share |\n|---|---:|---:|")
    total = checked.cpu * per
    for name, milliseconds in rows:
        print(f"| {name} | {milliseconds:.2f} | {milliseconds / total:.0%} |")
    print(f"| in all | {total:.2f} | |\n")


def _print_exactness(removed: int) -> None:
    print("## Exactness\n")
    print("Where one call was taken from a trace, model and library have to agree on whether")
    print("it is still legal; else: the calls that were taken where they do not. IPASIR allows")
    print("`failed` for literals that were assumed, and CaDiCaL does not look.\n")
    print("| API | calls made | contracts broken | traces less one call | agreed | else |")
    print("|---|---:|---:|---:|---:|---|")
    for api in APIS:
        kinds, calls = Counter[str](), 0
        for made, kind in traces_of(api, CALLS):
            kinds[kind] += 1
            calls += len(made)
        agreed, differ = removals(api, removed)
        names = ", ".join(f"{name} {count}" for name, count in differ.most_common(5))
        share = agreed / (agreed + differ.total())
        print(
            f"| {api} | {calls:,} | {kinds.total() - kinds['ok']} | "
            f"{agreed + differ.total():,} | {share:.2%} | {names} |"
        )


if __name__ == "__main__":
    main()
