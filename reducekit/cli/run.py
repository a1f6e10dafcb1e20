"""One reduction from the command line: from the options to the result file and the summary."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from reducekit.cli import INTERRUPTED
from reducekit.cli.cycles import collect, only_new
from reducekit.cli.executors import Executors, Opener
from reducekit.cli.files import naming, refuse_blank
from reducekit.cli.group import Surroundings
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.record import begin, discard, end, open_record, width
from reducekit.cli.settings import Settings, commands_and_criterion, limits_from
from reducekit.collection import Collection
from reducekit.errors import NotInterestingError, ParseError, ReducekitError, UsageError
from reducekit.events import Accepted, Event, PassEnded, WentBack
from reducekit.executors.executor import Executor, Finished
from reducekit.executors.repeating import Repeating
from reducekit.frontend import Frontend, Quick, Schedule, View
from reducekit.frontends.lines import Lines
from reducekit.golden import Golden, establish, limits_for, trivial
from reducekit.journal import Journal, digest
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, SameSignature
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import Signature
from reducekit.output import OutputFile, back_up, backup_path, original_path, read_input, rescue
from reducekit.progress import Limit, Watcher, watch
from reducekit.reduction import Budget, Reduction, Result
from reducekit.registry import strategy
from reducekit.report import Changed, Other, Report, Shown, error_json
from reducekit.search.problem import Strategy
from reducekit.slippage import Slippage, captured
from reducekit.verdicts import Counts

_LAST_CHECKS = 5
_REPEATS = 2
_REPEATED_REPEATS = 1  # with --repeat, where each is several runs already
_QUICK = 200_000  # bytes that are parsed and counted in a moment


def run(
    settings: Settings,
    frontend: Frontend,
    surroundings: Surroundings,
    opener: Opener | None = None,
) -> int:
    """Reduce a file as the options say; return the exit code.

    Checks run where `opener` says, on this machine without one.
    With --json standard output gets one JSON object whatever happens.
    """
    if settings.json and not surroundings.output_open:
        raise UsageError("standard output is closed: --json has nowhere to go")
    printed: list[Report] = []
    try:
        with only_new():
            return _run(settings, frontend, surroundings.interrupts, printed, opener)
    except BaseException as error:
        if settings.json and not printed:
            code = error.exit_code if isinstance(error, ReducekitError) else 4
            if isinstance(error, KeyboardInterrupt):
                code = INTERRUPTED
            print(error_json(str(error) or type(error).__name__, code))
        raise


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be done, made ready: all that can be wrong with the options is found by now."""

    settings: Settings
    commands: tuple[Command, ...]
    criterion: Criterion | None
    strategy: Strategy
    frontend: _Parsed
    text: bytes
    output: OutputFile
    backup: Path | None
    limits: Limits
    begin: float
    collection: Collection | None
    journal: Journal | None
    width: int

    def open(self, executors: Executors, criterion: Criterion, jobs: int = 1) -> Executor:
        """Open an executor whose verdicts take as many runs as --repeat says."""
        executor = executors.open(Oracle(self.commands, criterion), jobs)
        repeat = self.settings.repeat
        return executor if repeat is None else Repeating(executor, repeat)


def _run(
    settings: Settings,
    frontend: Frontend,
    interrupts: Interrupts,
    printed: list[Report],
    opener: Opener | None,
) -> int:
    with interrupts.allowed():
        job = _prepare(settings, frontend, interrupts)
    limit = Limit(
        settings.max_checks, settings.max_time, settings.until, quick=settings.effort == "quick"
    )
    with (
        Executors(interrupts, job.frontend.suffix, opener) as executors,
        watch(len(job.text), quiet=settings.quiet, limit=limit) as watcher,
    ):
        try:
            with interrupts.allowed():
                golden, empty = _golden(job, executors, watcher)
        except BaseException:
            if job.journal is not None:
                discard(job.journal)
            raise
        watcher.note(f"to be kept: {golden.criterion.describe()}")
        if job.backup is not None:
            back_up(settings.input, job.backup)
        slippage = _slippage(job, golden, interrupts)
        result = _reduce(job, golden, empty, executors, watcher, interrupts, slippage)
        if job.journal is not None:
            end(job.journal, result.stopped)
        last = None
        with contextlib.suppress(KeyboardInterrupt), interrupts.allowed():
            last = _check_again(job, golden, executors, watcher, result.text)
        if job.collection is not None and job.collection.trouble:
            watcher.note(
                "reducekit: not all other failures could be kept in "
                f"{job.collection.folder}: {job.collection.trouble.strerror}"
            )
    return _finish(job, golden, result, last, executors.runs, printed, slippage, interrupts)


def _prepare(settings: Settings, frontend: Frontend, interrupts: Interrupts) -> _Job:
    """Look at all that the options name. Raises UsageError or ParseError; writes nothing."""
    begin = time.monotonic()
    commands, criterion = commands_and_criterion(settings)
    algorithm = strategy(settings.strategy)
    source = settings.input
    backup = None
    if settings.in_place:
        if settings.resume and original_path(source).is_file():
            source = original_path(source)  # what it began with
        else:
            backup = backup_path(settings.input)
    text = read_input(source)
    parsed = _parse(settings, frontend, text)
    with interrupts.held():
        output = OutputFile(output_path(settings))
    limits = limits_from(settings)
    kept = settings.also_interesting
    collection = None if kept is None else Collection(kept, parsed.suffix)
    chosen_width = width(settings, output.path)
    with interrupts.held():
        journal = open_record(
            settings,
            text,
            output.path,
            frontend=parsed.name,
            commands=commands,
            criterion=criterion,
        )
    return _Job(
        settings,
        commands,
        criterion,
        algorithm,
        parsed,
        text,
        output,
        backup,
        limits,
        begin,
        collection,
        journal,
        chosen_width,
    )


class _Parsed:
    """A frontend that has parsed a text already, and does not do so again."""

    def __init__(self, frontend: Frontend, text: bytes) -> None:
        self._frontend = frontend
        self._text = text
        self._view: View | None = frontend.parse(text)
        self.left_behind = False
        """Whether the text that was searched is no longer needed: what is parsed next is new."""
        self.name = frontend.name
        self.suffix = frontend.suffix
        self.strict = frontend.strict
        self.order = frontend.order
        self.measure = frontend.measure

    @property
    def empty(self) -> bool:
        """Whether there is nothing in the text, besides blanks and comments."""
        return self._view is not None and len(self._view.document) <= 1

    def parse(self, text: bytes) -> View:
        """Return the view that is there, once: it is large."""
        if text == self._text and self._view is not None:
            view, self._view = self._view, None
            return view
        if self.left_behind:
            self.left_behind = False
            collect()
        return self._frontend.parse(text)

    def schedule(self, strategy: str) -> Schedule:
        """Return the passes for a strategy of that name."""
        return self._frontend.schedule(strategy)


def _parse(settings: Settings, frontend: Frontend, text: bytes) -> _Parsed:
    """Parse the input; with --lenient as lines if it is not of its format."""
    with naming(settings.input):
        refuse_blank(text)
        hurried = Quick if settings.effort == "quick" else lambda each: each
        try:
            parsed = _Parsed(hurried(frontend), text)
        except ParseError as error:
            if not settings.lenient:
                error.add_note("(--lenient reduces such a file too, by lines and tokens)")
                raise
            parsed = _Parsed(hurried(Lines(frontend.suffix)), text)
        if parsed.empty:
            raise ParseError("the input is empty: only comments", text, 0)
    return parsed


def output_path(settings: Settings) -> Path:
    """Return where the result goes. Raises UsageError if that cannot be."""
    source, output = settings.input, settings.output
    if settings.in_place:
        if output is not None:
            raise UsageError("--in-place and -o do not go together: give one")
        if not stat.S_ISREG(source.stat().st_mode):
            raise UsageError(f"the input {source} is not a regular file: name the output with -o")
        return source
    if output is None:
        if not stat.S_ISREG(source.stat().st_mode):
            raise UsageError(f"the input {source} is not a regular file: name the output with -o")
        output = source.with_name(f"{source.stem}.reduced{source.suffix}")
    with contextlib.suppress(OSError):
        if output.samefile(source):
            raise UsageError(f"the output {output} is the input: say --in-place to replace it")
    return output


def _golden(job: _Job, executors: Executors, watcher: Watcher) -> tuple[Golden, bool]:
    """Make sure that the input fails every time; say whether an empty one does, by a crash."""
    settings, journal = job.settings, job.journal
    known = None if journal is None else journal.found.golden
    opener = partial(executors.open, jobs=settings.jobs)
    golden = establish(
        job.commands,
        job.criterion,
        job.text,
        job.limits,
        opener,
        path=str(settings.input),
        out=not settings.ignore_out,
        err=not settings.ignore_err,
        repeat=settings.repeat,
        recorded=known.runs if known is not None and known.whole else (),
    )
    said = None if journal is None else journal.found.verdicts.get(digest(b""))
    if said is not None:
        empty = said[0]
    else:
        empty = trivial(job.commands, golden, job.limits, opener, repeat=settings.repeat)
    if journal is not None:
        if known is None:
            journal.golden(golden.runs)
        if said is None:
            journal.verdict(digest(b""), empty, 0.0)
    if empty:
        crash = isinstance(golden.criterion, SameSignature) and golden.criterion.expected.signal
        words = f"an empty file fails in the same way ({golden.criterion.describe()})"
        if not crash:
            raise NotInterestingError(
                f"{words}: there is nothing to reduce. Does the command read the file? "
                "Is what is looked for in every run?\n"
                f"command: {job.commands[0].shell_line(str(settings.input))}"
            )
        watcher.note(f"reducekit: {words}")
    return golden, empty


def _slippage(job: _Job, golden: Golden, interrupts: Interrupts) -> Slippage:
    """Watch out for other failures than the golden run's."""
    collection = job.collection
    if collection is None:
        return Slippage(golden.outcomes, golden.criterion)

    def keep(found: Signature, text: bytes) -> None:
        with interrupts.held():
            collection.keep(found, text)

    return Slippage(golden.outcomes, captured(golden.criterion), keep)


def _reduce(
    job: _Job,
    golden: Golden,
    empty: bool,
    executors: Executors,
    watcher: Watcher,
    interrupts: Interrupts,
    slippage: Slippage,
) -> Result:
    """Reduce, and write each improvement; whatever happens, the best result is saved."""
    best, counts = job.text, Counts()
    journal, order = job.journal, job.frontend.order
    recorded = None if journal is None else begin(journal)
    if recorded is not None:
        best = recorded

    def listen(event: Event) -> None:
        nonlocal best
        interrupts.check()  # a signal that was raised where Python drops exceptions
        if isinstance(event, Accepted):
            with interrupts.held():
                # What was found in an earlier session is not given up for the way to it.
                if recorded is None or not order(recorded) < order(event.text):
                    best = event.text
                    job.output.write(best)
            slippage.accept(event.text)
        if isinstance(event, WentBack):
            with interrupts.held():
                best = event.text
                job.output.write(best)
            slippage.go_back(best)
            watcher.note(
                f"reducekit: the best file so far ({event.size:,} bytes) does not fail every time; "
                f"back to one that does ({len(best):,} bytes), and each success is repeated now"
            )
        if isinstance(event, PassEnded) and event.accepted:
            job.frontend.left_behind = True
        watcher.see(event)

    def save() -> None:
        if not job.output.written or job.output.trouble:
            job.output.write(best)

    def witness(text: bytes, finished: Finished) -> None:
        slippage.see(text, finished.interesting, finished.outcomes)

    settings = job.settings
    reduction: Reduction | None = None
    try:
        with interrupts.allowed():
            reduction = Reduction(
                job.frontend,
                job.strategy,
                job.open(executors, slippage.criterion, settings.jobs),
                partial(limits_for, golden.criterion, job.limits),
                width=job.width,
                repeats=_REPEATS if settings.repeat is None else _REPEATED_REPEATS,
                budget=Budget(
                    settings.max_checks,
                    settings.max_time,
                    settings.patience or None,
                    settings.until,
                ),
                listen=listen,
                witness=witness,
                counts=counts,
                fast=settings.fast,
                journal=journal,
            )
            reduction.know(b"", interesting=empty)
            if journal is not None:
                reduction.recall(journal.found.verdicts)
            result = reduction.run(job.text, golden.seconds)
            if len(best) < len(result.text):
                result = replace(result, text=best)
    except KeyboardInterrupt:
        result = Result(best, counts, 0, 0.0, "interrupted")
    except Exception as error:
        save()
        if job.output.trouble is None:
            error.add_note(f"the best result so far ({len(best):,} bytes) is in {job.output.path}")
        raise
    save()
    return result


def _check_again(
    job: _Job, golden: Golden, executors: Executors, watcher: Watcher, text: bytes
) -> Finished:
    """Run the oracle once more on what is in the output file; again if that does not fail."""
    if not job.output.trouble:
        with contextlib.suppress(OSError):
            text = job.output.path.read_bytes()
    limits = limits_for(golden.criterion, job.limits, golden.seconds)
    executor = job.open(executors, golden.criterion)
    last: Finished | None = None
    for tries in range(1, _LAST_CHECKS + 1):
        executor.submit(tries, text, limits)
        while not (finished := executor.wait()):
            pass
        last = finished[0]
        if last.interesting:
            if tries > 1:
                watcher.note(
                    f"reducekit: the result shows the failure, but only in run {tries} of the last "
                    "check: the command does not always end the same way"
                )
            break
    assert last is not None
    return last


def _finish(
    job: _Job,
    golden: Golden,
    result: Result,
    last: Finished | None,
    runs: int,
    printed: list[Report],
    slippage: Slippage,
    interrupts: Interrupts,
) -> int:
    """Print the summary; return the exit code, or raise what went wrong in the end."""
    settings, output = job.settings, job.output
    if output.trouble:
        message = f"the result could not be written to {output.path}: {output.trouble.strerror}"
        elsewhere = rescue(result.text, job.frontend.suffix)
        if elsewhere is not None:
            message += f"; it is in {elsewhere}"
        raise UsageError(message)
    interrupted = last is None or result.stopped == "interrupted"
    small = len(job.text) <= _QUICK
    sizes = _sizes(job, result.text) if small else None
    if sizes is None and not interrupted:
        with contextlib.suppress(KeyboardInterrupt), interrupts.allowed():
            sizes = _sizes(job, result.text)
        interrupted = sizes is None
    before, after = sizes or ({"bytes": len(job.text)}, {"bytes": len(result.text)})
    report = Report(
        input=settings.input,
        output=output.path,
        before=before,
        after=after,
        counts=result.counts,
        runs=runs,
        seconds=time.monotonic() - job.begin,
        failure=golden.criterion.describe(),
        shown=_shown(job, last),
        stopped="interrupted" if interrupted else result.stopped,
        verified=None if last is None else last.interesting,
        changed=[
            Changed(each.before.describe(), each.after.describe(), each.size, each.step)
            for each in slippage.drifts
        ],
        others=[
            Other(
                each.signature.describe(),
                each.count,
                each.size,
                None if job.collection is None else job.collection.file(each.signature),
            )
            for each in slippage.met
            # Complaints tell of ill-formed candidates, mostly; they are shown with their files.
            if job.collection is not None or not each.complaint
        ],
    )
    if settings.json:
        print(report.json())
    elif not settings.quiet:
        print(report.text())
    printed.append(report)
    if interrupted:
        return INTERRUPTED
    if last is not None and not last.interesting:
        raise NotInterestingError(
            f"{output.path} did not show the failure in any of {_LAST_CHECKS} more runs: "
            "the command does not always end the same way"
        )
    return 0


def _sizes(job: _Job, text: bytes) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Count what is in the input and in a result."""
    return _count(job.frontend, job.text), _count(job.frontend, text)


def _count(frontend: Frontend, text: bytes) -> Mapping[str, int]:
    """Count what is in a text; only its bytes if it does not parse."""
    with contextlib.suppress(ParseError):
        return frontend.measure(frontend.parse(text))
    return {"bytes": len(text)}


def _shown(job: _Job, last: Finished | None) -> list[Shown]:
    """Return how to see the failure again, and how that looks."""
    path = str(job.output.path)
    found = [] if last is None else list(last.outcomes)
    shown = []
    for number, command in enumerate(job.commands):
        outcome = found[number] if number < len(found) else None
        if outcome is not None:
            outcome = _as_if_run_on(outcome, job.frontend.suffix, path)
        shown.append(Shown(command.shell_line(path), outcome))
    return shown


def _as_if_run_on(outcome: Outcome, suffix: str, path: str) -> Outcome:
    """Put the name of the output in place of the oracle's file, which has gone."""
    place = re.compile(rb"/[^\s:'\"]*/reducekit-[^\s/]+/\d+/input" + re.escape(os.fsencode(suffix)))
    name = os.fsencode(path)
    return replace(
        outcome,
        stdout=place.sub(lambda _: name, outcome.stdout),
        stderr=place.sub(lambda _: name, outcome.stderr),
    )
