"""Reducers side by side on an unstable and on a slow query that are made here.

    python -m benchmarks.slow_generated [--z3 Z3] [--checks N] [--cap S]
        [--unstable N] [--reducer NAME=COMMAND ...]
    python -m benchmarks.slow_generated --again N [--checks N]

The queries have idle assertions, and

* *unstable*: two axioms contradict each other on any term that z3 comes to look at. Whether it
  looks at one depends on how it decides some clauses, so on the seed: some of the seeds 0 to 7
  prove the query, with others z3 gives up. What a reducer leaves of one such query depends on
  chance. So there can be several; a second table gives the mean.
* *slow*: an axiom with instances for each triple of some terms; z3 makes a thousand.

With --again, reducekit reduces each query N times by its options while other processes use all
cores, and a third one, *regressed*: a larger slow query that z3 refutes without any instance,
next to z3 without instances. The table says how many different results there were.

Each case has an oracle, a shell script, which all reducers share. Two rows are without it: z3's
core, the assertions that z3 names without options; and reducekit with options instead of the
oracle, which takes other variants than seeds: so the oracle may refuse its result. Reducers are
command lines with {input}, {output} and {oracle}, as for `benchmarks.side_by_side`; the `peers`
that are in PATH take part. After --checks checks the oracle refuses everything, so each reducer
gets the same number, and a busy machine gives the same table, unless a reducer runs into --cap.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NamedTuple

from benchmarks import peers
from reducekit import Report, reduce
from reducekit.compare.reducers import Problem, Reducer, fires, measure
from reducekit.frontends.smt2.answers.assertions import core_of, part_of
from reducekit.offers import Probe
from reducekit.oracle.command import Command
from tests.solvers import z3

_VERSION = "4.12.1.0"
_SEEDS = range(8)
_CLAUSES = 40
_OPTIONS = "auto_config=false smt.mbqi=false"
_INSTANCES = 1000
_MOST = 2_000_000
"""Steps of a run."""
_DRAWN = 100
"""The most queries that are made to find unstable ones."""
_UNSTABLE = """#!/bin/sh
# Some seeds answer unsat within GOOD steps, others do not within BAD: 0 if there are both.
for file; do :; done
COUNT
good= bad=
for seed in SEEDS; do
  said=$(Z3 -st OPTIONS rlimit=BAD smt.random_seed=$seed "$file" 2>/dev/null)
  steps=$(printf '%s' "$said" | sed -n 's/.*:rlimit-count *\\([0-9]*\\).*/\\1/p')
  case $said in
    unsat*) [ "$steps" -le GOOD ] && good=1 ;;
    unknown*) bad=1 ;;
    *) exit 1 ;;
  esac
  [ "$good$bad" = 11 ] && exit 0
done
exit 1
"""
_SLOW = """#!/bin/sh
# z3 makes LEAST instances or more.
for file; do :; done
COUNT
said=$(Z3 -st OPTIONS rlimit=BAD "$file" 2>/dev/null)
case $said in *error*) exit 1 ;; esac
count=$(printf '%s' "$said" | sed -n 's/.*:quant-instantiations *\\([0-9]*\\).*/\\1/p')
[ "${count:-0}" -ge LEAST ]
"""


_COUNT = """if [ -n "$CHECKS" ]; then
  printf . >> "$CHECKS"
  [ "$(wc -c < "$CHECKS")" -le "$MOST" ] || exit 1
fi"""


class Case(NamedTuple):
    """A query, the script that accepts what fails as it does, and the options that say the same."""

    name: str
    text: str
    oracle: str
    options: dict[str, Any]


class Row(NamedTuple):
    """What a reducer came to."""

    reducer: str
    text: bytes
    checks: int
    cpu: float
    accepted: bool
    """Whether the oracle accepts the text."""
    capped: bool


def idle(count: int) -> list[str]:
    """Return assertions that matter to no proof."""
    return [
        f"(assert (p {k}))"
        if k % 2
        else f"(assert (forall ((y Int) (z Int)) (! (=> (> y z) (> (g y z) {k})) "
        f":pattern ((g y z)) :qid idle.{k})))"
        for k in range(count)
    ]


def script(declared: Sequence[str], asserted: list[str], chance: random.Random) -> str:
    """Return a query with its assertions in random order."""
    chance.shuffle(asserted)
    functions = ("(declare-fun g (Int Int) Int)", "(declare-fun p (Int) Bool)")
    lines = ["(set-logic UFLIA)", *functions, *declared, *asserted, "(check-sat)"]
    return "\n".join([*lines, ""])


def unstable(program: Path) -> Iterator[Case]:
    """Make unstable queries: of some queries those that some seeds prove, and others do not."""
    axioms = [
        f"(assert (forall ((x Int)) (! ({sign} (k x) 1) :pattern ((f x)) :qid {name})))"
        for sign, name in ((">", "above"), ("<", "below"))
    ]
    clauses = [f"(assert (or (not q{i}) (p (f {i}))))" for i in range(_CLAUSES)]
    declared = [f"(declare-const q{i} Bool)" for i in range(_CLAUSES)]
    declared += ["(declare-fun f (Int) Int)", "(declare-fun k (Int) Int)"]
    values = {"SEEDS": " ".join(map(str, _SEEDS)), "GOOD": int(_MOST / 1.5), "BAD": _MOST}
    oracle = filled(_UNSTABLE, program, values)
    command = f"{program} {_OPTIONS} rlimit={_MOST} smt.random_seed={{seed}}"
    options = {"command": command, "unstable": len(_SEEDS)}
    for number in range(1, _DRAWN):
        asserted = [*axioms, *clauses, *idle(300)]
        text = script(declared, asserted, random.Random(number))
        made = Case(f"unstable {number}", text, oracle, options)
        if accepts(made, made.text.encode()):
            yield made
    sys.exit("too few queries are unstable with this z3: give another one with --z3")


def regressed(program: Path) -> Case:
    """Make a query that takes six times the steps of the same solver without instances."""
    base = slow(program, 26)
    # Without an instance z3 sees that no values fit, but not before it decides.
    literals = [(a, b) for a in ("p1", "(not p1)") for b in ("p2", "(not p2)")]
    clauses = [f"(assert (or {a} {b}))" for a, b in literals]
    lost = "\n".join(
        ["(declare-const p1 Bool)", "(declare-const p2 Bool)", *clauses, "(check-sat)"]
    )
    command = f"{program} {_OPTIONS} rlimit={_MOST}"
    options = {
        "command": command,
        "reference": f"{command} smt.ematching=false",
        "regression": True,
    }
    return Case("regressed", base.text.replace("(check-sat)", lost), base.oracle, options)


def by_options(case: Case, most: int) -> Report[bytes]:
    """Reduce a query by its options instead of the oracle."""
    return reduce(case.text.encode(), journal=False, max_checks=most, **case.options)


@contextmanager
def loaded() -> Iterator[None]:
    """Keep all cores busy."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


AGAIN = "| query | bytes | left | runs | different results |\n|---|--:|--:|--:|--:|"
"""The head of the table of `again`."""


def again(name: str, text: bytes, once: Callable[[], Report[bytes]], times: int) -> str:
    """Reduce a query several times under load, and return its row."""
    with loaded():
        found = [once().text for _ in range(times)]
    sizes = ", ".join(sorted({f"{len(each):,}" for each in found}))
    return f"| {name} | {len(text):,} | {sizes} | {times} | {len(set(found))} |"


def accepts(case: Case, text: bytes) -> bool:
    """Return whether the oracle of a case accepts a text."""
    with tempfile.TemporaryDirectory() as name:
        oracle, file = Path(name) / "oracle", Path(name) / "in.smt2"
        oracle.write_text(case.oracle, encoding="utf-8")
        file.write_bytes(text)
        return subprocess.run(["sh", str(oracle), str(file)]).returncode == 0


def slow(program: Path, count: int = 14) -> Case:
    """Make the slow query, with that many terms."""
    chance = random.Random(1)
    terms = [f"(assert (> (f {k}) {chance.randrange(50)}))" for k in range(count)]
    triples = (
        "(assert (forall ((x Int) (y Int) (z Int)) (! (r x y z) :pattern ((f x) (f y) (f z)) "
        ":qid triples)))"
    )
    declared = ["(declare-fun f (Int) Int)", "(declare-fun r (Int Int Int) Bool)"]
    text = script(declared, [*terms, triples, *idle(300)], chance)
    values = {"LEAST": _INSTANCES, "BAD": _MOST}
    command = f"{program} {_OPTIONS} rlimit={_MOST}"
    options = {"command": command, "cost": "instances", "at_least": _INSTANCES}
    return Case("slow", text, filled(_SLOW, program, values), options)


def filled(oracle: str, program: Path, values: dict[str, Any]) -> str:
    """Return an oracle with its program and its values."""
    for name, value in {"COUNT": _COUNT, "Z3": program, "OPTIONS": _OPTIONS, **values}.items():
        oracle = re.sub(rf"(?<!\$)\b{name}\b", str(value).replace("\\", r"\\"), oracle)
    return oracle


def core(text: bytes, program: Path) -> bytes:
    """Return the script with the assertions of z3's core only; the whole one without a core."""

    def run(asked: bytes) -> bytes:
        line = [str(program), f"rlimit={_MOST}", "-in"]
        return subprocess.run(line, input=asked, capture_output=True).stdout

    places = core_of(text, Probe(0, run))
    return text if places is None else part_of(text, places)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the processor time that it took, that of child processes included."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

    def spent() -> float:
        return sum(each.ru_utime + each.ru_stime for each in map(resource.getrusage, kinds))

    begin = spent()
    return work(), spent() - begin


def rows(
    case: Case, program: Path, reducers: Sequence[Reducer], most: int, folder: Path, cap: float
) -> list[Row]:
    """Run all reducers on a case."""
    source, oracle, kept = (folder / name for name in ("input.smt2", "oracle", "kept.smt2"))
    source.write_text(case.text, encoding="utf-8")
    oracle.write_text(case.oracle, encoding="utf-8")
    oracle.chmod(0o755)
    problem = Problem("generated", case.name, source, Command.of([str(oracle)]))
    if not fires(problem):
        sys.exit(f"{case.name}: the oracle refuses the query")
    found = []
    for each in reducers:
        kept.write_bytes(source.read_bytes())
        count = folder / f"checks of {each.name}"
        limited = ("env", f"CHECKS={count}", f"MOST={most}", *each.words)
        done = measure(problem, Reducer(each.name, limited), cap, kept)
        accepted = done.verified
        text = kept.read_bytes()
        checks = min(most, done.checks)
        capped = done.capped or done.checks > most
        found.append(Row(each.name, text, checks, done.cpu, accepted, capped))
    part, cpu = timed(lambda: core(source.read_bytes(), program))
    found.append(Row("z3's core", part, 0, cpu, accepts(case, part), capped=False))
    done, cpu = timed(lambda: by_options(case, most))
    text, accepted = done.text, accepts(case, done.text)
    checks = done.counts.checks
    found.append(Row("reducekit, by options", text, checks, cpu, accepted, done.early))
    return found


def table(case: Case, found: Sequence[Row]) -> str:
    """Return the lines of a case."""
    before = case.text.encode()
    lines = []
    for each in found:
        asserts = " → ".join(str(text.count(b"(assert")) for text in (before, each.text))
        sizes = f"{len(before):,} → {len(each.text):,}"
        cells = [case.name, each.reducer, asserts, sizes, str(each.checks or ""), f"{each.cpu:.0f}"]
        cells += ["yes" if each.accepted else "no", "stopped" if each.capped else "done"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def means(found: Sequence[Sequence[Row]], sizes: Sequence[int]) -> str:
    """Return the lines of the mean over some queries, whose sizes in bytes are given."""
    lines = []
    for each in zip(*found, strict=True):
        shares = [max(1, len(row.text)) / size for row, size in zip(each, sizes, strict=True)]
        accepted = sum(row.accepted for row in each)
        lines.append(
            f"| {each[0].reducer} | {len(each)} | {accepted} | {geometric_mean(shares):.3f} "
            f"| {min(shares):.3f} | {max(shares):.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--z3", type=Path, help=f"default: {_VERSION}, fetched with pip")
    parser.add_argument("--checks", type=int, default=60, help="for each reducer (default: 60)")
    parser.add_argument("--cap", type=float, default=300.0, help="seconds of each (default: 300)")
    parser.add_argument("--reducer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--again", type=int, metavar="N")
    parser.add_argument("--unstable", type=int, default=1, metavar="N", help="queries")
    given = parser.parse_args()
    program = given.z3 or z3(_VERSION)
    if given.again:
        print(AGAIN)
        for made in (next(unstable(program)), slow(program), regressed(program)):
            once = partial(by_options, made, given.checks)
            print(again(made.name, made.text.encode(), once, given.again), flush=True)
        return
    places = "{input} -o {output} --oracle {oracle}"
    own = f"reducekit={sys.executable} -m reducekit smt2 {places} -q"
    reducers = [Reducer.of(each) for each in (own, *peers.installed(), *given.reducer)]
    print(
        "| query | reducer | assertions | bytes | checks | processor s | oracle accepts | end |\n"
        "|---|---|--:|--:|--:|--:|---|---|"
    )
    several = islice(unstable(program), given.unstable)
    kept, sizes = [], []
    for case in chain([slow(program)], several):
        with tempfile.TemporaryDirectory() as folder:
            found = rows(case, program, reducers, given.checks, Path(folder), given.cap)
        print(table(case, found), flush=True)
        if case.name.startswith("unstable"):
            kept.append(found)
            sizes.append(len(case.text))
    if len(kept) > 1:
        print(
            "\n| reducer | unstable queries | oracle accepts | bytes left, geometric mean | least "
            f"| most |\n|---|--:|--:|--:|--:|--:|\n{means(kept, sizes)}"
        )


if __name__ == "__main__":
    main()
