"""Tests inputs with a library that their format replays them on, in one or more processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from reducekit.executors.executor import Closing, Guard
from reducekit.hunt.findings import Finding
from reducekit.hunt.inputs import Input, input_from
from reducekit.hunt.results import Control, InputResult
from reducekit.hunt.workers import Workers
from reducekit.offers import made_by
from reducekit.oracle.command import Command
from reducekit.own_checks import OwnTests, Tested, Tester


@dataclass(frozen=True, slots=True)
class LibraryTests(Closing):
    """Has a format test its inputs, with one tester in this process or in `jobs` processes.

    Which bug is found first does not depend on the number of jobs.
    """

    format: str
    own: OwnTests
    jobs: int
    guard: Guard
    opened: ExitStack

    def seeds(self, seeds: range, control: Control) -> Iterator[InputResult | None]:
        """Generate and test the inputs of seeds. None after each one: a reduction may run."""
        tested: Iterator[Tested]
        if self.jobs == 1:
            tested = map(self.opened.enter_context(self.own.open()).test, seeds)
        else:
            # Signals are deferred while processes start, so that none of them is lost.
            with self.guard.held():
                workers = self.opened.enter_context(Workers(self.own.open, self.jobs))
            tested = workers.reports(seeds, control)
        for each in tested:
            words = made_by(self.format, self.own.words(each.seed))
            if each.preceding:
                words += f", after the inputs of the seeds from {each.seed - each.preceding} on"
            yield self._result(each, Input(each.text, words, f"seed {each.seed}", each.seed))
            yield None
            if control.left() == 0:
                return

    def files(
        self, paths: Sequence[Path], numbers: range, control: Control
    ) -> Iterator[InputResult | None]:
        """Test the contents of files, at these indices."""
        tester: Tester = self.opened.enter_context(self.own.open())
        for number in numbers:
            given = input_from(paths, number)
            yield self._result(tester.test_text(given.text), given)
            yield None
            if control.left() == 0:
                return

    def _result(self, tested: Tested, given: Input) -> InputResult:
        found: tuple[Finding, ...] = ()
        if tested.criterion is not None:
            found = (Finding((Command(self.own.label),), tested.criterion),)
        return InputResult(given, found, (self.own.command,), tested.timed_out, tested.counts)

    def close(self) -> None:
        self.opened.close()
