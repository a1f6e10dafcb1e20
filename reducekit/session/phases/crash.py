"""Does the result crash at the same place in the code as the input?

A signal names no place, so a search can drift to another bug that has the same one. At the end the
stacks of input and result are compared. If they differ, the smallest earlier step that crashes as
the input does is kept as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from reducekit.errors import ReducekitError
from reducekit.oracle.criterion import Everything, Oracle, innermost, within
from reducekit.oracle.own import SameSignature
from reducekit.oracle.printed import Matches
from reducekit.oracle.stack import (
    FRAMES,
    SameStack,
    Stack,
    crash_under_gdb,
    reported_crash,
    under_gdb,
)
from reducekit.reduction.control import Stopped
from reducekit.session.place.output import write_beside
from reducekit.session.report import Places
from reducekit.session.runs.run import Run, Stoppable, run_once
from reducekit.session.runs.variants import last_same


def placed(run: Run) -> Places | None:
    """Compare where input and result crash; if they differ, keep the last step that does not.

    For a result that was seen to fail, by a command.
    """
    found = _compared(run)
    if found is None or found.same:
        return found
    if found.step is not None and run.job.output is not None:
        output, resumed = run.job.output.path, run.job.opened.resumed
        path = output.with_name(f"{output.stem}.same-crash{output.suffix}")
        with run.guard.held():
            error = write_beside(path, found.step, resumed=resumed)
        if error is None:
            found = found._replace(file=path)
        else:
            run.say(f"the step that crashes as the input was not written: {error}")
    run.say(f"{found.describe()}. To keep the place, add `match_stack` {FRAMES}")
    return found


def _compared(run: Run) -> Places | None:
    """Return where input and result crash; None if that is unknown, or kept by the criterion."""
    ask, text, result = _asked(run), run.job.text, run.result.text
    if ask is None:
        return None
    with contextlib.suppress(KeyboardInterrupt, Stopped, ReducekitError), run.guard.allowed():
        before = ask(text)
        after = None if before is None else ask(result)
        if before is None or after is None:
            return None
        if before.same_place(after):
            return Places(before, after)

        def same(text: bytes) -> bool:
            found = ask(text)
            return found is not None and before.same_place(found)

        return Places(before, after, last_same(run.steps.texts, same))
    return None


def _asked(run: Run) -> Callable[[bytes], Stack | None] | None:
    """Return the function that runs a text and returns where it crashes; None if nothing tells."""
    job, golden = run.job, run.golden
    # A hunt compares its reduced inputs itself, and gdb of this machine is not on all workers.
    if run.options.known or job.cluster or job.own or within(golden.criterion, SameStack):
        return None
    if not isinstance(innermost(golden.criterion), SameSignature | Matches):
        return None
    command, read = job.commands[0], reported_crash
    if reported_crash(golden.outcomes[0]) is None:
        gdb = under_gdb(command) if golden.crashed else None
        if gdb is None:
            return None
        command, read = gdb, crash_under_gdb
    limits = run.limits

    def ask(text: bytes) -> Stack | None:
        # Not one of the runs of the command that the report counts.
        with Stoppable(job.opener(Oracle((command,), Everything(1)), 1), run.control) as opened:
            return read(run_once(opened, text, limits).outcomes[0])

    return ask
