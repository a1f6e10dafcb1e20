"""One reduction from the command line: from the options to the result file and the summary."""

from __future__ import annotations

import contextlib
import shutil
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import click

from reducekit.cli.settings import Settings, commands_and_criterion, limits_from
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.events import Accepted, Event
from reducekit.executors.executor import Executor
from reducekit.executors.local import LocalExecutor
from reducekit.frontend import Frontend
from reducekit.golden import Golden, establish, limits_for, trivial
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import SameSignature
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.output import OutputFile, read_input
from reducekit.progress import watch
from reducekit.reduction import Budget, Counts, Reduction, Result
from reducekit.registry import FRONTENDS, load, strategy
from reducekit.report import Report

INTERRUPTED = 130


@dataclass(slots=True)
class _Saver:
    """Writes each improvement, and passes events on."""

    output: OutputFile
    best: bytes

    def __call__(self, event: Event) -> None:
        if isinstance(event, Accepted):
            self.best = event.text
            self.output.write(event.text)


def run(settings: Settings, frontend: Frontend) -> int:
    """Reduce a file as the options say; return the exit code."""
    commands, criterion = commands_and_criterion(settings)
    algorithm = strategy(settings.strategy)
    text = read_input(settings.input)
    before, frontend = _measure(settings, frontend, text)
    output = OutputFile(_output_path(settings))
    limits = limits_from(settings)
    golden = _golden(settings, commands, criterion, text, limits, frontend.suffix)

    def limits_now(seconds: float) -> Limits:
        return limits_for(golden.criterion, limits, seconds)

    if settings.in_place:
        _back_up(settings.input)
    saver = _Saver(output, text)
    counts = Counts()
    oracle = Oracle(commands, golden.criterion)
    with (
        _terminate_as_interrupt(),
        LocalExecutor(oracle, settings.jobs, frontend.suffix) as executor,
        watch(len(text), quiet=settings.quiet) as show,
    ):

        def listen(event: Event) -> None:
            saver(event)
            show(event)

        reduction = Reduction(
            frontend,
            algorithm,
            executor,
            limits_now,
            width=settings.jobs,
            budget=Budget(settings.max_checks, settings.max_time),
            listen=listen,
            counts=counts,
        )
        try:
            result = reduction.run(text, golden.seconds)
        except KeyboardInterrupt:
            result = Result(saver.best, counts, 0, reduction.elapsed, "interrupted")
    interrupted = result.stopped == "interrupted"
    if not output.written or output.trouble:
        output.write(result.text)
    again = interrupted or _verify(oracle, result.text, limits_now(golden.seconds), frontend.suffix)
    if output.trouble:
        raise UsageError(
            f"the result could not be written to {output.path}: {output.trouble.strerror}"
        )
    report = Report(
        input=settings.input,
        output=output.path,
        before=before,
        after=_counted(frontend, result.text),
        counts=result.counts,
        seconds=result.seconds,
        failure=golden.criterion.describe(),
        see_again=commands[0].shell_line(str(output.path)),
        stopped=result.stopped,
        verified=None if interrupted else again,
    )
    if settings.json:
        click.echo(report.json())
    elif not settings.quiet:
        click.echo(report.text())
    if not again:
        raise NotInterestingError(
            "the result did not show the failure when it was checked once more: "
            "the command does not always end the same way"
        )
    return INTERRUPTED if interrupted else 0


def _measure(
    settings: Settings, frontend: Frontend, text: bytes
) -> tuple[Mapping[str, int], Frontend]:
    """Parse the input and count what is in it; with --lenient as lines if it does not parse."""
    if not text.strip():
        raise ParseError("the input is empty", text, 0)
    try:
        return frontend.measure(frontend.parse(text)), frontend
    except ParseError:
        if not settings.lenient:
            raise
    lines: Frontend = load(FRONTENDS, "lines")()
    return lines.measure(lines.parse(text)), _WithSuffix(lines, frontend.suffix)


@dataclass(frozen=True, slots=True)
class _WithSuffix:
    """A frontend whose candidates are files with another ending."""

    inner: Frontend
    suffix: str

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def _counted(frontend: Frontend, text: bytes) -> Mapping[str, int]:
    try:
        return frontend.measure(frontend.parse(text))
    except ParseError:
        return {"bytes": len(text)}


def _output_path(settings: Settings) -> Path:
    source = settings.input
    if settings.in_place:
        if settings.output is not None:
            raise UsageError("--in-place and -o do not go together: give one")
        return source
    if settings.output is None:
        return source.with_name(f"{source.stem}.reduced{source.suffix}")
    with contextlib.suppress(OSError):
        if settings.output.samefile(source):
            raise UsageError("the output is the input: say --in-place to replace it")
    return settings.output


def _back_up(path: Path) -> None:
    backup = path.with_name(path.name + ".orig")
    if backup.exists():
        raise UsageError(f"the backup {backup} exists already: move it away first")
    try:
        shutil.copy2(path, backup)
    except OSError as error:
        raise UsageError(f"the backup {backup} cannot be written: {error.strerror}") from None


def _golden(
    settings: Settings,
    commands: tuple[Command, ...],
    criterion: object,
    text: bytes,
    limits: Limits,
    suffix: str,
) -> Golden:
    """Make sure that the input fails every time, and an empty one does not."""

    def open_executor(oracle: Oracle) -> Executor:
        return LocalExecutor(oracle, 1, suffix)

    golden = establish(
        commands,
        criterion,  # type: ignore[arg-type]
        text,
        limits,
        open_executor,
        path=str(settings.input),
        out=not settings.ignore_out,
        err=not settings.ignore_err,
    )
    if trivial(commands, golden, limits, open_executor):
        crash = isinstance(golden.criterion, SameSignature) and golden.criterion.expected.signal
        said = f"an empty file fails in the same way ({golden.criterion.describe()})"
        if not crash:
            raise NotInterestingError(f"{said}: there is nothing to reduce")
        click.echo(f"reducekit: {said}", err=True)
    return golden


def _verify(oracle: Oracle, text: bytes, limits: Limits, suffix: str) -> bool:
    """Check the final text once more, as the user would."""
    with LocalExecutor(oracle, 1, suffix) as executor:
        executor.submit(0, text, replace(limits, wall=None if limits.wall is None else limits.wall))
        while not (finished := executor.wait()):
            pass
        return finished[0].interesting


@contextlib.contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the run as Ctrl-C does: with the best result saved."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
