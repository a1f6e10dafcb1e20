"""Tests inputs with programs: each runs on each input; failures and contradictions are findings.

A few long runs must not take nearly all of the time. Most random inputs are solved in milliseconds,
some not within any time limit: where 8 of 100 run into a limit of 2 s, these are nine tenths of the
time. So what runs take beyond 20 times the median may be a quarter of all time. Once it is more,
runs that are that long are stopped.
"""

from __future__ import annotations

import re
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median

from reducekit.executors.executor import Executor
from reducekit.format import Format
from reducekit.hunt.events import Control, InputResult, Rejection
from reducekit.hunt.findings import Finding, findings, wrong_model
from reducekit.hunt.inputs import Input
from reducekit.offers import KILLED
from reducekit.oracle.command import PLACE, Command
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import failure_line, is_failure, signature
from reducekit.run import Limits, Outcome
from reducekit.text import printable_lines

_LONG = 20  # how many times the median a long run takes
_LEAST = 0.2
"""Seconds that no run is too long for: a busy machine makes some of milliseconds that slow."""
_SHARE = 0.25  # the share of all time that long runs may take beyond that
_RECENT = 100  # the number of inputs for the median
_FEW = 10  # inputs before which nothing is known
OUT_OF_MEMORY = "out of memory"
"""The counter for inputs on which a program ran out of memory under the hunt's own limit."""
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
        return replace(self._limits, wall=self._long)

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
    executor: Executor
    """With an oracle that runs all commands in any case, and captures their output."""
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
