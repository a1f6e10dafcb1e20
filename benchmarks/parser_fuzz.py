"""Runs the parsers and a short reduction on random mutants, and reports what breaks.

`python -m benchmarks.parser_fuzz FORMAT --count 50000 --keep FOLDER [--inputs FOLDER]`

Each mutant is parsed, printed in every form, converted, and reduced in a few checks by a random
algorithm and random passes, with a hash of the text as the test. Mutants that raise anything but a
ReducekitError are counted by the place that raised it, and written to `--keep`. A seed always makes
the same mutant. With `--whole` the files of the folder are exercised as they are.
"""

import argparse
import contextlib
import hashlib
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import reducekit
from benchmarks.parser_mutants import LARGEST, mutant
from reducekit import registry
from reducekit.errors import ParseError, ReducekitError
from reducekit.format import Format
from reducekit.frontends.btor import Btor
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.smt2 import Smt2
from reducekit.reduction.plan import STAGES

SUFFIXES = {".smt2": "smt2", ".btor": "btor", ".btor2": "btor"}
_KEPT = ("btor", "isolate", "smt2", "text")
"""Formats whose candidates keep the layout of the input; the others are reprinted."""
_CHECKS = 15
_SLOW = 60.0
_SHOWN = 40
_MEMORY = 4 << 30


class SlowError(BaseException):
    """An input took too long. Nothing on the way may take it for an error of its own."""


@contextlib.contextmanager
def cpu_limit(seconds: float = _SLOW) -> Iterator[None]:
    """Raise SlowError in the body after that much CPU time of this process."""
    before = signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class WrongError(Exception):
    """A promise that was broken."""


@dataclass(slots=True)
class Found:
    """What came of some mutants."""

    mutants: int = 0
    parsed: int = 0
    checks: int = 0
    faults: dict[int, str] = field(default_factory=dict)
    """What went wrong, by seed."""


def exercise(format_name: str, text: bytes, seed: int) -> tuple[bool, int]:
    """Do all that users can do with a text; return whether it parses, and the checks.

    Raises the errors that have to be fixed.
    """
    chance = random.Random(seed)
    frontend = _frontend(format_name, chance)
    try:
        parse(text, format_name)
    except ParseError:
        return False, 0
    view = frontend.parse(text)
    frontend.diagram(view)
    frontend.remark(text)
    _answer(lambda: list(frontend.inspect(text, None, None).lines()))
    _answer(lambda: frontend.check(text))
    _convert(frontend, text, chance)
    frontend.fingerprint(text)
    if frontend.refuses(text) is not None:
        return True, 0

    def interesting(candidate: bytes) -> bool:
        if candidate == text or not candidate:
            return bool(candidate)
        return hashlib.sha1(candidate + b"%d" % seed).digest()[0] % 5 == 0

    options = _options(frontend, chance)
    report = _answer(
        lambda: reducekit.reduce(text, interesting, format=frontend, max_checks=_CHECKS, **options)
    )
    if report is None:
        return True, 0
    if frontend.order(text) < frontend.order(report.text):
        raise WrongError("larger")
    return True, report.counts.checks


def parse(text: bytes, format_name: str) -> None:
    """Parse a text and its other spellings. Raises ParseError if it is not of the format."""
    frontend = registry.frontend(format_name)
    view = frontend.parse(text)
    if format_name in _KEPT and view.document.render({}) != text:
        raise WrongError("not printed back")
    others: list[Callable[[], bytes]] = []
    if isinstance(frontend, Smt2):
        others.append(lambda: frontend.pretty(text))
    elif isinstance(frontend, Btor):
        others.append(lambda: canonical(read(text, any_ending=True)))
    for make in others:
        other = make()
        try:
            frontend.parse(other)
        except ParseError as error:
            raise WrongError(f"another spelling does not parse: {error}") from None


def place_of(error: Exception) -> str:
    """Return an exception in one line, with where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {Path(last.filename).name}:{last.lineno} {error}"[:300]


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise SlowError


def _frontend(format_name: str, chance: random.Random) -> Format:
    if format_name == "smt2":
        strict = chance.random() < 0.1
        return Smt2(unchecked=not strict and chance.random() < 0.3, strict=strict)
    return (
        Btor(simplify=chance.random() < 0.7)
        if format_name == "btor"
        else registry.frontend(format_name)
    )


def _options(frontend: Format, chance: random.Random) -> dict[str, Any]:
    """Return options of a reduction: any algorithm, any passes."""
    name = "adaptive"
    if chance.random() < 0.25:
        name = chance.choice(registry.names(registry.STRATEGIES))
    options: dict[str, Any] = {"strategy": name, "pretty": chance.random() < 0.2}
    if chance.random() < 0.2:
        options["effort"] = chance.choice(("quick", "thorough"))
    if chance.random() < 0.6:
        schedule = frontend.schedule(registry.strategy(name).passes)
        names = sorted({each.name for stage in STAGES for each in getattr(schedule, stage)})
        options["only"] = chance.sample(names, min(len(names), chance.randint(1, 3)))
    return options


def _convert(frontend: Format, text: bytes, chance: random.Random) -> None:
    conversions = frontend.conversions()
    if conversions is not None:
        target = chance.choice(conversions.writes).name
        _answer(lambda: conversions.convert(text, None, target))


def _answer(call: Callable[[], Any]) -> Any:
    """Return what a call returns; None where it refuses, with a message."""
    try:
        return call()
    except ReducekitError as error:
        if not str(error):
            raise
        return None


def run(
    format_name: str,
    seeds: Sequence[int],
    inputs: Sequence[bytes] = (),
    keep: Path | None = None,
    *,
    whole: bool = False,
) -> Found:
    """Exercise the mutants of some seeds; of `whole` files these themselves, by their number."""
    found = Found()
    for seed in seeds:
        text = inputs[seed] if whole else mutant(format_name, seed, inputs)
        found.mutants += 1
        try:
            with cpu_limit():
                parsed, checks = exercise(format_name, text, seed)
            found.parsed += parsed
            found.checks += checks
        except SlowError:
            found.faults[seed] = "slow"
        except (WrongError, Exception) as error:  # what this benchmark looks for
            found.faults[seed] = place_of(error)
        if seed in found.faults and keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{seed}.{format_name}").write_bytes(text)
    return found


def _inputs(folder: Path | None, format_name: str, most: int) -> list[bytes]:
    if folder is None:
        return []
    paths = [each for each in sorted(folder.rglob("*")) if SUFFIXES.get(each.suffix) == format_name]
    return [each.read_bytes() for each in paths if 0 < each.stat().st_size <= most]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("format", choices=registry.names(registry.FRONTENDS))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--inputs", type=Path, help="a folder of files to be mutated too")
    parser.add_argument("--whole", action="store_true", help="take these files, and no mutants")
    parser.add_argument("--keep", type=Path, help="a folder for the mutants that break something")
    given = parser.parse_args(arguments)
    most = sys.maxsize if given.whole else LARGEST
    inputs, begin = _inputs(given.inputs, given.format, most), time.process_time()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    total = Found()
    end = len(inputs) if given.whole else given.first + given.count
    for first in range(given.first, end, 500):
        found = run(
            given.format, range(first, min(end, first + 500)), inputs, given.keep, whole=given.whole
        )
        total.mutants += found.mutants
        total.parsed += found.parsed
        total.checks += found.checks
        total.faults |= found.faults
        for seed, what in found.faults.items():
            print(f"{given.format} {seed}: {what}", flush=True)
        seconds = time.process_time() - begin
        print(
            f"{given.format}: {total.mutants:,} mutants, {total.parsed:,} parse, "
            f"{total.checks:,} checks, {len(total.faults):,} faults, {seconds:,.0f} s of CPU time",
            flush=True,
        )
    for what, count in Counter(each.split(":")[0] for each in total.faults.values()).most_common(
        _SHOWN
    ):
        print(f"{count:6} {what}")


if __name__ == "__main__":
    main(sys.argv[1:])
