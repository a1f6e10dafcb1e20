"""Runs algorithms on a case: one session each, several at a time in threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import NamedTuple

from reducekit import registry
from reducekit.compare.cases import Case, combinations
from reducekit.compare.runs import Point, Run, Settings
from reducekit.errors import UsageError
from reducekit.events import Accepted, Checked, Event
from reducekit.executors import marks
from reducekit.frontend import Frontend
from reducekit.gc_tuning import only_new
from reducekit.reduction.control import POLL
from reducekit.session import Session


class Algorithm(NamedTuple):
    """A strategy by name, such as `ddmin` or `auto:quick`, with settings of the format."""

    name: str
    settings: Settings


def algorithms_of(
    names: str, settings: Sequence[str], formats: Sequence[str]
) -> dict[str, list[Algorithm]]:
    """Return the algorithms for each format: every strategy with every combination of settings.

    `names` are strategies separated by commas; `settings` are options of a format with values
    separated by commas, such as `simplify=on,off`, ignored by formats without that option. Raises
    UsageError for unknown names.
    """
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise UsageError("no algorithm is given: name some, such as --strategies ddmin,hdd,auto")
    for name in found:
        _check_name(name)
    return {
        name: [Algorithm(each, chosen) for chosen in combinations(name, settings) for each in found]
        for name in formats
    }


def _check_name(name: str) -> None:
    """Raise UsageError for an unknown strategy name, with or without an effort."""
    base, colon, effort = name.partition(":")
    if colon and effort not in ("quick", "thorough"):
        raise UsageError(f"{name!r} is neither a strategy nor one followed by :quick or :thorough")
    registry.strategy(base)


def run_all(
    case: Case, algorithms: Sequence[Algorithm], checks: int | None, jobs: int
) -> Generator[tuple[int, Run], None, None]:
    """Run all algorithms on a case, at most `jobs` at a time, each for at most `checks` checks.

    Yields the number of an algorithm and its run as each ends. Closing the generator stops the
    running ones.
    """
    running: set[Session] = set()
    ended = threading.Event()

    def run(algorithm: Algorithm) -> Run:
        options = case.options_for(*algorithm, checks)
        assert isinstance(options.format, Frontend)
        curve = Curve(options.format, case.text)
        session = Session(options, curve.see)
        running.add(session)
        if ended.is_set():
            session.stop()
        try:
            report = session.run()
        finally:
            running.discard(session)
        counts = report.counts
        return Run(
            format=case.format,
            file=case.label,
            algorithm=algorithm.name,
            settings=algorithm.settings,
            unit=curve.unit,
            before=curve.points[0].size,
            bytes_before=len(case.text),
            bytes_after=len(report.text),
            checks=counts.checks,
            asked=counts.checks + counts.cache_hits,
            curve=tuple(curve.points),
            stopped=report.stopped,
        )

    with only_new(), _adopting(), ThreadPoolExecutor(jobs) as pool:
        numbers = {pool.submit(run, each): number for number, each in enumerate(algorithms)}
        waiting = set(numbers)
        try:
            while waiting:
                # In slices: a signal that comes just before a wait does not end it.
                done, waiting = wait(waiting, POLL, FIRST_COMPLETED)
                for future in sorted(done, key=numbers.__getitem__):
                    yield numbers[future], future.result()
        finally:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for session in tuple(running):
                session.stop()


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Adopt orphans within: otherwise the first executor to close would end it for all."""
    before = marks.adopting()
    marks.set_adopting(True)
    try:
        yield
    finally:
        marks.set_adopting(before)


class Curve:
    """Follows the size of the best text over the checks of a session."""

    def __init__(self, frontend: Frontend, text: bytes) -> None:
        self.unit = frontend.unit
        self._frontend = frontend
        self._checks = 0
        self.points = [Point(0, self._size(text))]

    def see(self, event: Event) -> None:
        """Record an event."""
        if isinstance(event, Checked):
            self._checks += not event.remembered
        elif isinstance(event, Accepted):
            size = self._size(event.text)
            if self.points[-1].checks == self._checks and len(self.points) > 1:
                self.points.pop()
            if size != self.points[-1].size:
                self.points.append(Point(self._checks, size))

    def _size(self, text: bytes) -> int:
        if self.unit == "bytes":
            return len(text)
        return self._frontend.measure(self._frontend.parse(text))[self.unit]
