"""The end of a session: the result is run once more, and the report is made."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from reducekit.errors import (
    ParseError,
    ReducekitError,
    ResourceError,
    UsageError,
    lack_of_resources,
)
from reducekit.executors.executor import Finished
from reducekit.frontend import Frontend
from reducekit.offers import Compares, Presents
from reducekit.oracle.also import innermost
from reducekit.oracle.criterion import Everything, Matches, SameSignature
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.stack import (
    FRAMES,
    SameStack,
    Stack,
    crash_under_gdb,
    is_debugger,
    reported_crash,
    under_gdb,
)
from reducekit.reduction import Result
from reducekit.reduction.control import Stopped
from reducekit.session.executors import Running, Stoppable, limits_for
from reducekit.session.other_failures import OtherFailures
from reducekit.session.place.earlier import put_aside
from reducekit.session.place.output import SavedBest, Steps, rescue, write_file
from reducekit.session.prepare import Job
from reducekit.session.remains import counted, remains
from reducekit.session.report import (
    INTERRUPTED,
    FailureChanged,
    OtherFailure,
    Remaining,
    Report,
    Reproducer,
)
from reducekit.session.runs.fresh import FRESH, Ends, Shown, as_often, frequency, in_words
from reducekit.session.runs.golden import Golden, run_once
from reducekit.session.runs.places import Places, crashes, last_same
from reducekit.session.runs.probing import overridden
from reducekit.session.slippage import SlippageTracker

_LAST_CHECKS = 5
_SMALL = 200_000  # bytes that are parsed and counted in a moment


def on_fresh_variants(
    running: Running,
    job: Job,
    golden: Golden,
    result: Result,
    saved: SavedBest,
    steps: Steps,
) -> tuple[Ends | Shown, Ends | Shown] | None:
    """Go back to an earlier text if the failure is rare on fresh variants of the result.

    Returns how often it shows on variants of the input and of the kept text; None if that is
    unknown.
    """
    if not job.fresh or result.gone or result.stopped == INTERRUPTED:
        return None
    limits = limits_for(golden.criterion, job.limits, golden.seconds)
    oracle = Oracle(job.fresh, Everything(len(job.fresh)))
    running.say(f"running {FRESH} other variants of the input and the result")

    def often(text: bytes) -> Ends | Shown:
        with running.open_stoppable(oracle) as opened:
            return frequency(run_once(opened, text, limits).outcomes, golden.criterion)

    with contextlib.suppress(KeyboardInterrupt, Stopped), running.guard.allowed():
        kept, first, last = as_often(steps.texts, saved.text, often)
        went_back = kept != saved.text
        running.say(in_words(first, last, len(job.commands), went_back=went_back))
        if went_back:
            with running.guard.held():
                saved.replace(kept)
        return first, last
    return None


def confirmed(
    running: Running, job: Job, golden: Golden, result: Result, saved: SavedBest
) -> tuple[Finished | None, int]:
    """Run the saved text once more, pretty-printed if wanted.

    Returns the last check and the number of checks; no check after a signal.
    """
    last, tries = None, 0
    with contextlib.suppress(KeyboardInterrupt), running.guard.allowed():
        if running.options.pretty and result.stopped != INTERRUPTED and not result.gone:
            _lay_out(running, job, golden, saved)
        if not result.gone:
            last, tries = _check_again(running, job, golden, saved.text)
        if last is not None and not last.interesting and saved.text != result.text:
            # The best text of an earlier run, which this one has not come upon.
            saved.replace(result.text)
            last, tries = _check_again(running, job, golden, saved.text)
    return last, tries


def _lay_out(running: Running, job: Job, golden: Golden, saved: SavedBest) -> None:
    """Pretty-print the result if it still fails."""
    if not isinstance(job.frontend, Presents):
        return
    text = job.frontend.pretty(saved.text)
    if text == saved.text or not job.commands or running.control.stopped:
        return
    limits = limits_for(golden.criterion, job.limits, golden.seconds)
    if not job.protection.keeps(text):
        running.say("the pretty-printed result changes protected text; keeping the original layout")
        return
    opened = running.executors.open_repeating(Oracle(job.commands, golden.criterion))
    if not run_once(opened, text, limits).interesting:
        running.say("the pretty-printed result does not fail; keeping the original layout")
        return
    with running.guard.held():
        saved.replace(text)


def _check_again(
    running: Running, job: Job, golden: Golden, text: bytes
) -> tuple[Finished | None, int]:
    """Check the result once more, and again if that does not fail.

    Returns the last check and the number of checks made. A function is not asked again.
    """
    if not job.commands or running.control.stopped:
        return None, 0
    limits = limits_for(golden.criterion, job.limits, golden.seconds)
    opened = running.executors.open_repeating(Oracle(job.commands, golden.criterion))
    tries = 0
    while True:
        tries += 1
        last = run_once(opened, text, limits)
        if last.interesting or tries == _LAST_CHECKS:
            return last, tries


def left(
    running: Running,
    job: Job,
    golden: Golden,
    steps: Steps,
    text: bytes,
    last: Finished | None,
) -> list[Remaining]:
    """Return which parts of the input are left, with counts if a run confirmed the result."""
    found = remains(job, golden, [*steps.texts, text])
    if found and last is not None and last.interesting:
        with contextlib.suppress(KeyboardInterrupt, Stopped), running.guard.allowed():
            return counted(found, job, golden, text, last.outcomes, running.open_stoppable)
    return found


def report_of(
    running: Running,
    job: Job,
    golden: Golden,
    result: Result,
    last: Finished | None,
    tries: int,
    slippage: SlippageTracker | None,
) -> Report[bytes]:
    """Gather the report. Raises UsageError or ResourceError if it could not be written."""
    output, collection = job.output, job.other_failures
    if output is not None and output.write_error:
        elsewhere = rescue(result.text, job.frontend.suffix)
        raise _unwritten(output.path, output.write_error, elsewhere)
    if collection is not None and collection.write_error:
        running.say(
            f"not all other failures could be kept in {collection.folder}: "
            f"{collection.write_error.strerror}"
        )
    frontend = compared(job.frontend, result.passing)
    compares = isinstance(frontend, Compares)
    if compares and output is not None and result.stopped != INTERRUPTED:
        journal = job.opened.journal
        resumed = journal is not None and journal.resumed
        running.say(write_passing(output.path, result.passing, resumed=resumed))
    if isinstance(frontend, Presents) and not result.early:
        running.say(frontend.remark(result.text))
    if names := overridden(job, golden, result.text):
        running.say(
            "the failure needs options in the file, which override the command line: "
            f"{names}. For a failure of the command's own options, remove these lines from "
            "the input"
        )
    stopped = result.stopped
    if stopped is None and last is None and job.commands:
        stopped = INTERRUPTED
    sizes = _sizes(running, job, frontend, result.text, interrupted=stopped == INTERRUPTED)
    if sizes is None:
        stopped = INTERRUPTED
    before, after = sizes or ({"bytes": len(job.text)}, {"bytes": len(result.text)})
    source = running.options.input
    return Report(
        text=result.text,
        input=source if isinstance(source, Path) else None,
        output=None if output is None else output.path,
        before=before,
        after=after,
        counts=result.counts,
        runs=running.executors.runs,
        seconds=time.monotonic() - running.begin,
        failure=golden.criterion.describe(),
        reproducers=_reproducers(job, last, result.text),
        stopped=stopped,
        early=result.early or stopped == INTERRUPTED,
        verified=None if last is None else last.interesting,
        tries=tries,
        changed=[] if slippage is None else _changes(slippage),
        others=[] if slippage is None else _others(slippage, collection),
        passing=result.passing if compares else None,
    )


def _sizes(
    running: Running, job: Job, frontend: Frontend, text: bytes, *, interrupted: bool
) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """Count the elements of the input and the result; None if a signal interrupted that."""
    if len(job.text) <= _SMALL:
        return _count(job.frontend, job.text), _count(frontend, text)
    if not interrupted:
        with contextlib.suppress(KeyboardInterrupt), running.guard.allowed():
            return _count(job.frontend, job.text), _count(frontend, text)
    return None


def _count(frontend: Frontend, text: bytes) -> Mapping[str, int]:
    """Count the elements of a text; only its bytes if it does not parse."""
    with contextlib.suppress(ParseError):
        return frontend.measure(frontend.parse(text))
    return {"bytes": len(text)}


def _unwritten(path: Path, error: OSError, elsewhere: Path | None) -> ReducekitError:
    """Return the error that the result is not at its path, and where it is instead."""
    kind = ResourceError if lack_of_resources(error) else UsageError
    message = f"the result could not be written to {path}: {error.strerror}"
    return kind(message + (f"; it is in {elsewhere}" if elsewhere else ""))


def _changes(slippage: SlippageTracker) -> list[FailureChanged]:
    return [
        FailureChanged(each.before.describe(), each.after.describe(), each.size, each.step)
        for each in slippage.slippages
    ]


def _others(slippage: SlippageTracker, collection: OtherFailures | None) -> list[OtherFailure]:
    """Return the other failures that candidates had.

    Complaints mostly come from ill-formed candidates: they are listed only with their files.
    """
    return [
        OtherFailure(
            each.signature.describe(),
            each.count,
            each.size,
            None if collection is None else collection.file(each.signature),
        )
        for each in slippage.met
        if collection is not None or not each.complaint
    ]


def _reproducers(job: Job, last: Finished | None, text: bytes) -> list[Reproducer]:
    """Return the commands that reproduce the failure, and how their runs end."""
    path = "result" + job.frontend.suffix if job.output is None else str(job.output.path)
    outcomes: list[Outcome | None] = [] if last is None else list(last.outcomes)
    if last is None or not last.interesting:
        outcomes += [None] * (len(job.commands) - len(outcomes))
    return [
        Reproducer(
            command.shell_line(path, text),
            None if outcome is None else job.as_if_run_on(outcome, path),
        )
        for command, outcome in zip(job.commands, outcomes, strict=False)
        if not is_debugger(command)
    ]


def compared(frontend: Frontend, passing: bytes) -> Frontend:
    """Return the frontend that compares with the passing text; None if it does not compare."""
    if not isinstance(frontend, Compares):
        return frontend
    found = frontend.beside(passing)
    assert isinstance(found, Frontend)
    return found


def passing_path(output: Path) -> Path:
    """Return the path of the passing text: next to the result."""
    return output.with_name(f"{output.stem}.passing{output.suffix}")


def write_passing(output: Path, text: bytes, *, resumed: bool) -> str:
    """Write the passing text next to the result; return a message with its path, or the error."""
    path = passing_path(output)
    error = _written_beside(path, text, resumed=resumed)
    if error is not None:
        return f"the file that passes was not written: {error}"
    return f"the nearest file that passes is {path}"


def _written_beside(path: Path, text: bytes, *, resumed: bool) -> Exception | None:
    """Write a text to a file next to the result; return the error if that fails.

    A file of another run is renamed; that of the `resumed` run is replaced, as its result is.
    """
    try:
        if not (path.is_file() and path.read_bytes() == text):
            if not resumed:
                put_aside(path)
            write_file(path, text)
    except (OSError, UsageError) as error:
        return error
    return None


def _compared_places(
    running: Running, job: Job, golden: Golden, steps: Steps, result: bytes, last: Finished
) -> Places | None:
    """Return where input and result crash; None if that is unknown, or kept by the criterion."""
    ask = _asked(running, job, golden)
    if ask is None or not last.interesting or result == job.text:
        return None
    with contextlib.suppress(KeyboardInterrupt, Stopped, ReducekitError), running.guard.allowed():
        before = ask(job.text)
        after = None if before is None else ask(result)
        if before is None or after is None:
            return None
        if before.same_place(after):
            return Places(before, after)

        def same(text: bytes) -> bool:
            found = ask(text)
            return found is not None and before.same_place(found)

        return Places(before, after, last_same(steps.texts, same))
    return None


def _asked(running: Running, job: Job, golden: Golden) -> Callable[[bytes], Stack | None] | None:
    """Return the function that runs a text and returns where it crashes; None if nothing tells."""
    # A hunt compares its reduced inputs itself, and gdb of this machine is not on all workers.
    if running.options.known or job.cluster or job.own or SameStack.within(golden.criterion):
        return None
    if not isinstance(innermost(golden.criterion), SameSignature | Matches):
        return None
    command, read = job.commands[0], reported_crash
    if reported_crash(golden.outcomes[0]) is None:
        gdb = under_gdb(command) if crashes(golden.outcomes[0]) else None
        if gdb is None:
            return None
        command, read = gdb, crash_under_gdb
    limits = limits_for(golden.criterion, job.limits, golden.seconds)

    def ask(text: bytes) -> Stack | None:
        # Not one of the runs of the command that the report counts.
        with Stoppable(job.opener(Oracle((command,), Everything(1)), 1), running.control) as opened:
            return read(run_once(opened, text, limits).outcomes[0])

    return ask


def placed(
    running: Running,
    job: Job,
    golden: Golden,
    steps: Steps,
    text: bytes,
    last: Finished | None,
) -> Places | None:
    """Compare where input and result crash; if they differ, keep the last step that does not."""
    found = None if last is None else _compared_places(running, job, golden, steps, text, last)
    if found is None or found.same:
        return found
    if found.step is not None and job.output is not None:
        output, journal = job.output.path, job.opened.journal
        path = output.with_name(f"{output.stem}.same-crash{output.suffix}")
        with running.guard.held():
            error = _written_beside(
                path, found.step, resumed=journal is not None and journal.resumed
            )
        if error is None:
            found = replace(found, file=path)
        else:
            running.say(f"the step that crashes as the input was not written: {error}")
    running.say(f"{found.describe()}. To keep the place, add `match_stack` {FRAMES}")
    return found
