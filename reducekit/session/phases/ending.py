"""The end of a session: the result is run once more, and the report is made."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path

from reducekit.errors import (
    ParseError,
    ReducekitError,
    ResourceError,
    UsageError,
    lack_of_resources,
)
from reducekit.executors.executor import Finished
from reducekit.format import Format
from reducekit.oracle.criterion import Oracle
from reducekit.run import Outcome
from reducekit.session.place.output import rescue, write_beside
from reducekit.session.report import (
    INTERRUPTED,
    Ends,
    FailureChanged,
    OtherFailure,
    Places,
    Remaining,
    Report,
    Reproducer,
    Shown,
)
from reducekit.session.runs.run import Run, run_once

_LAST_CHECKS = 5
_SMALL = 200_000  # bytes that are parsed and counted in a moment


def confirm(run: Run) -> None:
    """Run the saved text once more, pretty-printed if wanted, in the form that its file's suffix
    stands for; no check after a signal.

    Adds `last` and `tries` to the run.
    """
    result, saved = run.result, run.saved
    with contextlib.suppress(KeyboardInterrupt), run.guard.allowed():
        if result.stopped != INTERRUPTED and not result.gone:
            if run.options.pretty:
                _rewrite(run, run.job.frontend.pretty(saved.text), "pretty-printed")
            if run.job.output is not None:
                suffix = run.job.output.path.suffix
                _rewrite(run, run.job.frontend.in_form(saved.text, suffix), f"{suffix} form of the")
        if not result.gone:
            run.last, run.tries = _check_again(run)
        if run.last is not None and not run.last.interesting and saved.text != result.text:
            # The best text of an earlier run, which this one has not come upon.
            saved.replace(result.text)
            run.last, run.tries = _check_again(run)


def _rewrite(run: Run, text: bytes, what: str) -> None:
    """Replace the result by the same in another layout or form, if that still fails."""
    job, saved = run.job, run.saved
    if text == saved.text or not job.commands or run.control.stopped:
        return
    if not job.protection.keeps(text):
        run.say(f"the {what} result changes protected text; keeping the original layout")
        return
    opened = run.executors.open_repeating(Oracle(job.commands, run.golden.criterion))
    if not run_once(opened, text, run.limits).interesting:
        run.say(f"the {what} result does not fail; keeping the original layout")
        return
    with run.guard.held():
        saved.replace(text)


def _check_again(run: Run) -> tuple[Finished | None, int]:
    """Check the result once more, and again if that does not fail.

    Returns the last check and the number of checks made. A function is not asked again.
    """
    if not run.job.commands or run.control.stopped:
        return None, 0
    opened = run.executors.open_repeating(Oracle(run.job.commands, run.golden.criterion))
    tries = 0
    while True:
        tries += 1
        last = run_once(opened, run.saved.text, run.limits)
        if last.interesting or tries == _LAST_CHECKS:
            return last, tries


def report_of(run: Run, fresh: tuple[Ends | Shown, Ends | Shown] | None) -> Report[bytes]:
    """Make the last comparisons, and gather the report.

    Raises UsageError or ResourceError if the result could not be written.
    """
    job, golden, result, last = run.job, run.golden, run.result, run.last
    left, overriding = list[Remaining](), ""
    if golden.criterion.about_answers:
        from reducekit.session.runs.variants import overridden, remains

        left, overriding = remains(run), overridden(run, result.text)
    places = _places(run)
    with run.guard.held():
        run.say(run.saved.restore())
    _refuse_unwritten(run)
    frontend = _beside_passing(run)
    if not result.early:
        run.say(frontend.remark(result.text))
    if overriding:
        run.say(
            "the failure needs options in the file, which override the command line: "
            f"{overriding}. For a failure of the command's own options, remove these lines from "
            "the input"
        )
    stopped = result.stopped
    if stopped is None and last is None and job.commands:
        stopped = INTERRUPTED
    sizes = _sizes(run, frontend, interrupted=stopped == INTERRUPTED)
    if sizes is None:
        stopped = INTERRUPTED
    before, after = sizes or ({"bytes": len(job.text)}, {"bytes": len(result.text)})
    changed, others = _other_failures(run)
    source = run.options.input
    return Report(
        text=result.text,
        input=source if isinstance(source, Path) else None,
        output=None if job.output is None else job.output.path,
        before=before,
        after=after,
        counts=result.counts,
        runs=run.executors.runs,
        seconds=time.monotonic() - run.begin,
        failure=golden.criterion.describe(),
        reproducers=_reproducers(run),
        stopped=stopped,
        early=result.early or stopped == INTERRUPTED,
        verified=None if last is None else last.interesting,
        tries=run.tries,
        changed=changed,
        others=others,
        passing=result.passing if frontend.offers("beside") else None,
        fresh=fresh,
        places=places,
        left=left,
    )


def _places(run: Run) -> Places | None:
    """Return where input and result crash, if a run confirmed that the result does."""
    if run.last is None or not run.last.interesting:
        return None
    first = run.golden.outcomes[0]
    if not run.golden.crashed and b"Sanitizer:" not in first.stderr + first.stdout:
        return None
    if run.result.text == run.job.text:
        return None
    from reducekit.session.phases.crash import placed

    return placed(run)


def _refuse_unwritten(run: Run) -> None:
    output, collection = run.job.output, run.job.other_failures
    if output is not None and output.write_error:
        elsewhere = rescue(run.result.text, run.job.frontend.suffix)
        raise _unwritten(output.path, output.write_error, elsewhere)
    if collection is not None and collection.write_error:
        run.say(
            f"not all other failures could be kept in {collection.folder}: "
            f"{collection.write_error.strerror}"
        )


def _unwritten(path: Path, error: OSError, elsewhere: Path | None) -> ReducekitError:
    kind = ResourceError if lack_of_resources(error) else UsageError
    message = f"the result could not be written to {path}: {error.strerror}"
    return kind(message + (f"; it is in {elsewhere}" if elsewhere else ""))


def _beside_passing(run: Run) -> Format:
    """Return the frontend for the result; if it compares with a passing text, write that one."""
    output, result, frontend = run.job.output, run.result, run.job.frontend
    if frontend.offers("beside") and output is not None and result.stopped != INTERRUPTED:
        path = output.path.with_name(f"{output.path.stem}.passing{output.path.suffix}")
        error = write_beside(path, result.passing, resumed=run.job.opened.resumed)
        run.say(
            f"the nearest file that passes is {path}"
            if error is None
            else f"the file that passes was not written: {error}"
        )
    return frontend.beside(result.passing)


def _other_failures(run: Run) -> tuple[list[FailureChanged], list[OtherFailure]]:
    slippage, collection = run.slippage, run.job.other_failures
    if slippage is None:
        return [], []
    changed = [
        FailureChanged(each.before.describe(), each.after.describe(), each.size, each.step)
        for each in slippage.slippages
    ]
    # Complaints mostly come from ill-formed candidates: they are listed only with their files.
    others = [
        OtherFailure(
            each.signature.describe(),
            each.count,
            each.size,
            None if collection is None else collection.file(each.signature),
        )
        for each in slippage.met
        if collection is not None or not each.complaint
    ]
    return changed, others


def _sizes(
    run: Run, frontend: Format, *, interrupted: bool
) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """Count the elements of the input and the result; None if a signal interrupted that."""
    text, result = run.job.text, run.result.text
    if len(text) <= _SMALL:
        return _count(run.job.frontend, text), _count(frontend, result)
    if not interrupted:
        with contextlib.suppress(KeyboardInterrupt), run.guard.allowed():
            return _count(run.job.frontend, text), _count(frontend, result)
    return None


def _count(frontend: Format, text: bytes) -> Mapping[str, int]:
    with contextlib.suppress(ParseError):
        return frontend.measure(frontend.parse(text))
    return {"bytes": len(text)}


def _reproducers(run: Run) -> list[Reproducer]:
    job, last = run.job, run.last
    path = "result" + job.frontend.suffix if job.output is None else str(job.output.path)
    outcomes: list[Outcome | None] = [] if last is None else list(last.outcomes)
    if last is None or not last.interesting:
        outcomes += [None] * (len(job.commands) - len(outcomes))
    commands = job.commands
    if run.options.match_stack is not None:
        from reducekit.oracle.stack import is_debugger

        commands = tuple(each for each in commands if not is_debugger(each))  # it comes last
    return [
        Reproducer(
            command.shell_line(path, run.result.text),
            None if outcome is None else job.as_if_run_on(outcome, path),
        )
        for command, outcome in zip(commands, outcomes, strict=False)
    ]
