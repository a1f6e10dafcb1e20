"""Tests inputs with the user's programs, or with a library that their format replays them on.

Each program runs on each input; failures and contradictions are findings.

A few long runs must not take nearly all of the time. Most random inputs are solved in milliseconds,
some not within any time limit: where 8 of 100 run into a limit of 2 s, these are nine tenths of the
time. So what runs take beyond 20 times the median may be a quarter of all time. Once it is more,
runs that are that long are stopped.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection, wait
from pathlib import Path
from statistics import median
from typing import Any

from reducekit.executors.executor import Executor
from reducekit.executors.own import OwnTests, Tested, Tester
from reducekit.format import Format
from reducekit.hunt.events import Control, InputResult, Rejection
from reducekit.hunt.findings import Finding, findings, wrong_model
from reducekit.hunt.inputs import Input, input_from
from reducekit.offers import KILLED, made_by
from reducekit.oracle.command import PLACE, Command
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import failure_line, is_failure, signature
from reducekit.run import Closing, Guard, Limits, Outcome
from reducekit.text import printable_lines

_LONG = 20  # how many times the median a long run takes
_LEAST = 0.2
"""Seconds that no run is too long for: a busy machine makes some of milliseconds that slow."""
_SHARE = 0.25  # the share of all time that long runs may take beyond that
_RECENT = 100  # the number of inputs for the median
_FEW = 10  # inputs before which nothing is known
OUT_OF_MEMORY = "out of memory"  # the counter for inputs on which a program hit the hunt's limit
RULES_BROKEN = "rules broken"  # the counter for inputs that break the rules of their format
ALL_REJECTED = "rejected by all"  # the counter for inputs that every program rejected
_TIMED_OUT = re.compile(
    rb"interrupted by (?:timeout|SIGXCPU)|(?:cpu )?time ?limit (?:was )?(?:exceeded|reached)",
    re.IGNORECASE,
)
_FOLDER = re.compile(rb"/[^\s:'\"]*/reducekit-[^\s/]+/\d+/")
"""The folder of a run's input, a different one each time."""
_NO_MEMORY = re.compile(
    rb"bad_alloc|out of memory|cannot allocate memory|memory exhausted|MemoryError"
    rb"|failed to map segment",  # the loader of shared libraries
    re.IGNORECASE,
)


class Pace:
    """Limits for the runs on the next input, from the seconds of those before."""

    def __init__(self, limits: Limits) -> None:
        """Take the limits that hold in any case."""
        self._limits = limits
        # Of each input the slowest program: programs may be more than 20 times apart.
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._all = self._beyond = 0.0
        self._long = limits.wall
        """The seconds above which a run is long; the time limit while nothing is known."""

    def limits(self) -> Limits:
        """Return the limits of the next runs."""
        if self._beyond <= _SHARE * self._all:
            return self._limits
        return self._limits._replace(wall=self._long)

    def note(self, seconds: Sequence[float]) -> None:
        """Note how long the runs on an input took; there are none where nothing could run."""
        if not seconds:
            return
        self._all += sum(seconds)
        if self._long is not None:
            self._beyond += sum(max(0.0, each - self._long) for each in seconds)
        self._recent.append(max(seconds))
        if len(self._recent) >= _FEW:
            long, wall = max(_LEAST, _LONG * median(self._recent)), self._limits.wall
            self._long = long if wall is None else min(long, wall)


@dataclass(frozen=True, slots=True)
class CommandTests:
    """Runs commands in order on each input, several inputs at a time.

    With `reference`, the last command is right. If a run `breaks_rules` of the format, no run of
    its input counts. If a program `rejects` an input with its failure line, that run is no bug;
    nor is what all programs say alike of a `foreign` input, which no generator made, before they
    answer anything. With `models`, the models that programs print are evaluated.
    """

    commands: tuple[Command, ...]
    reference: bool
    limits: Limits
    executor: Executor  # its oracle runs all commands in any case, and captures their output
    keep_timeouts: bool
    steady: bool
    """Whether runs have the whole time limit, however long they are; else long ones get a quarter
    of the time (`Pace`)."""
    breaks_rules: Callable[[Outcome], bool]
    rejects: Callable[[str], bool]
    models: Format | None = None
    foreign: bool = False

    def results(self, inputs: Iterator[Input], control: Control) -> Iterator[InputResult | None]:
        """Yield the result of each input, in order; None if nothing runs: a reduction may."""
        flying: dict[int, Input] = {}
        tested: dict[int, InputResult] = {}
        tickets, due, pace = count(), 0, Pace(self.limits)
        more = True
        while True:
            while more and not control.waiting() and self.executor.free and control.left() != 0:
                given = next(inputs, None)
                more = given is not None
                if given is not None:
                    ticket = next(tickets)
                    flying[ticket] = given
                    limits = self.limits if self.steady else pace.limits()
                    self.executor.submit(ticket, given.text, limits)
            if not flying:
                if not control.waiting():
                    return
                yield None
                continue
            for finished in self.executor.wait(control.patience()):
                pace.note([each.seconds for each in finished.outcomes])
                given = flying.pop(finished.ticket)
                tested[finished.ticket] = self._result(given, finished.outcomes)
            while due in tested:
                yield tested.pop(due)
                due += 1
            if control.left() == 0:
                more = False
                for each in flying:
                    self.executor.cancel(each)
                flying.clear()

    def _result(self, given: Input, outcomes: Sequence[Outcome]) -> InputResult:
        late = any(map(_is_late, outcomes))

        def rejection(at: int) -> Rejection:
            return Rejection(Path(self.commands[at].words[0]).name, _words_of(outcomes[at]))

        for at, outcome in enumerate(outcomes):
            if self.breaks_rules(outcome):
                broken = {RULES_BROKEN: 1}
                return InputResult(given, timed_out=late, counts=broken, rejection=rejection(at))
        # Only the runs that tell something of their programs are judged and compared.
        judged: list[int] = []
        rejected: list[Rejection] = []
        counts: dict[str, int] = {}
        alike = self.foreign and _complain_alike(outcomes)
        for at, outcome in enumerate(outcomes):
            line = _complaint(outcome)
            if line is not None and (alike or self.rejects(line)):
                rejected.append(rejection(at))
            elif why := self._starved(outcome):
                counts[why] = 1
            elif outcome.limit is not None or not _is_late(outcome):
                judged.append(at)
        found = findings(
            [self.commands[at] for at in judged],
            [outcomes[at] for at in judged],
            text=given.text,
            reference=self.reference and len(self.commands) - 1 in judged,
            timeouts=self.limits.wall if self.keep_timeouts else None,
        )
        found += self._wrong_models(given.text, judged, outcomes)
        if len(rejected) == len(outcomes):
            counts[ALL_REJECTED] = 1
        return InputResult(
            given,
            tuple(found),
            timed_out=late,
            counts=counts,
            rejection=rejected[0] if rejected else None,
        )

    def _wrong_models(
        self, text: bytes, judged: Sequence[int], outcomes: Sequence[Outcome]
    ) -> Iterator[Finding]:
        """Yield the bugs of wrong models; the file must be the last word of a command."""
        if self.models is None:
            return
        for at in judged:
            command = self.commands[at]
            if any(PLACE in word for word in command.words) or command.stdin:
                continue
            if self.models.wrong_model(text, outcomes[at].stdout):
                yield wrong_model(command, self.models.model_check)

    def _starved(self, outcome: Outcome) -> str:
        """Return why a run failed for lack of memory, which is no bug; empty if it did not."""
        if outcome.limit is not None or not is_failure(outcome):
            return ""
        if outcome.signal == signal.SIGKILL:  # the executor has already retried
            return KILLED
        said = any(map(_NO_MEMORY.search, (outcome.stderr, outcome.stdout)))
        return OUT_OF_MEMORY if said and self.limits.memory is not None else ""


def _is_late(outcome: Outcome) -> bool:
    """Return whether a time limit ended a run: the hunt's, the user's, or the program's own."""
    if outcome.limit is not None:
        return outcome.limit == "time"
    if outcome.signal == signal.SIGXCPU:
        return True
    return is_failure(outcome) and any(map(_TIMED_OUT.search, (outcome.stderr, outcome.stdout)))


def _complaint(outcome: Outcome) -> str | None:
    """Return the line in which a program rejects its input, if it did not crash."""
    if outcome.limit is not None or outcome.signal is not None or not is_failure(outcome):
        return None
    if failure_line(outcome.stdout, outcome.stderr, crashed=True) is not None:
        return None
    return _words_of(outcome)


def _complain_alike(outcomes: Sequence[Outcome]) -> bool:
    """Return whether several programs reject an input by the same words before any answer."""
    if len(outcomes) < 2 or any(_complaint(each) is None for each in outcomes):
        return False
    if len({signature(each).line for each in outcomes}) > 1:
        return False
    for each in outcomes:
        line = failure_line(each.stdout, each.stderr) or b""
        at = each.stdout.find(line)
        if read_answers(each.stdout if at < 0 else each.stdout[:at]):
            return False
    return True


def _words_of(outcome: Outcome) -> str:
    """Return the line by which a program rejected an input, or how it ended if it was silent."""
    line = failure_line(outcome.stdout, outcome.stderr)
    if line is None:
        lines = (outcome.stderr + b"\n" + outcome.stdout).split(b"\n")
        line = next((each.strip() for each in lines if each.strip()), b"")
    return printable_lines(_FOLDER.sub(b"", line)) or outcome.describe()


# Reports of a library are processed in the order of the seeds, so which bug is found first does not
# depend on the processes' speed.
CHUNK = 10
"""Number of seeds that a process gets at a time.

This many inputs may share a replay process (`frontends/trace/player/live_tester.py`), so a
continued hunt begins with the first seed of a chunk.
"""
_AHEAD = 4  # chunks for each process that may wait for an earlier one


@dataclass(slots=True)
class _Chunk:
    """Seeds that were given to a process, and its reports on them."""

    seeds: range
    reports: list[Tested] | None = None


@dataclass(slots=True)
class _Worker:
    process: Any
    connection: Connection
    chunk: _Chunk | None = None


class Workers(Closing):
    """Processes with a tester each, as many as `jobs`; defer signals while they start."""

    def __init__(self, open_tester: Callable[[], Tester], jobs: int) -> None:
        self._workers: list[_Worker] = []
        # Forked: the model is already loaded; signals are only recorded, as here while deferred.
        context = multiprocessing.get_context("fork")
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            others = [ours, *(each.connection for each in self._workers)]
            arguments = (open_tester, theirs, others)
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours))

    def close(self) -> None:
        """End them; their replay servers end when their sockets are closed."""
        for each in self._workers:
            each.process.kill()
        for each in self._workers:
            each.process.join()
            each.connection.close()
        self._workers.clear()

    def reports(self, seeds: range, control: Control) -> Iterator[Tested]:
        """Yield the reports in the order of the seeds, until no time is left."""
        chunks = (seeds[at : at + CHUNK] for at in range(0, len(seeds), CHUNK))
        waiting: list[_Chunk] = []
        while True:
            for each in self._workers:  # one that is far ahead waits for the others
                if each.chunk is None and len(waiting) < _AHEAD * len(self._workers):
                    given = next(chunks, None)
                    if given is None:
                        break
                    each.chunk = _Chunk(given)
                    waiting.append(each.chunk)
                    each.connection.send(given)
            if not waiting:
                return
            busy = [each for each in self._workers if each.chunk is not None]
            ready = wait([each.connection for each in busy], control.patience())
            if control.left() == 0:
                return
            for each in busy:
                if each.chunk is not None and each.connection in ready:
                    each.chunk.reports = _received(each)
                    each.chunk = None
            while waiting and waiting[0].reports is not None:
                yield from waiting.pop(0).reports or ()


def _received(worker: _Worker) -> list[Tested]:
    try:
        found = worker.connection.recv()
    except EOFError:
        worker.process.join()
        raise RuntimeError(f"a process ended with status {worker.process.exitcode}") from None
    if isinstance(found, BaseException):
        raise found
    reports: list[Tested] = found
    return reports


def _work(
    open_tester: Callable[[], Tester], connection: Connection, others: Sequence[Connection]
) -> None:
    for each in others:
        each.close()
    try:
        with open_tester() as tester:
            while True:
                connection.send([tester.test(seed) for seed in connection.recv()])
    except (EOFError, BrokenPipeError):
        pass
    except Exception as error:
        with contextlib.suppress(OSError):
            connection.send(error)


@dataclass(frozen=True, slots=True)
class LibraryTests(Closing):
    """Has a format test its inputs, with one tester in this process or in `jobs` processes."""

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
