"""The golden runs of a session: the input must fail every time, and the baseline must not."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from reducekit.errors import StoppedError
from reducekit.executors.executor import Executor
from reducekit.journal import digest
from reducekit.oracle.also import innermost
from reducekit.oracle.command import PLACE, Command
from reducekit.oracle.criterion import Criterion, SameSignature, TimesOut
from reducekit.oracle.oracle import Oracle
from reducekit.reduction.control import Stopped
from reducekit.session.executors import Running
from reducekit.session.place import journal_setup
from reducekit.session.place.unpack import plain_path
from reducekit.session.prepare import Job
from reducekit.session.runs.golden import (
    SLOW,
    Golden,
    GoldenRunError,
    ask_predicate,
    baseline_fails,
    establish,
    fails_too,
    run_once,
    unfit_baseline,
)

_FIRST = 600.0
"""Time limit of a run on the input, in seconds, if none is given."""


def seen_to_fail(running: Running, job: Job) -> tuple[Job, Golden, bool]:
    """Make the golden runs; remove the journal if they show no failure.

    Returns the job with what they showed, and whether the baseline crashes too. Raises
    GoldenRunError, StoppedError.
    """
    try:
        with running.guard.allowed():
            return _golden_anywhere(running, job)
    except BaseException as error:
        journal_setup.discard(job.opened)
        if isinstance(error, Stopped):
            raise StoppedError(f"{error} before there was a result") from None
        raise


def _golden_anywhere(running: Running, job: Job) -> tuple[Job, Golden, bool]:
    """Make the golden run, in a folder of its own if the command finds the input only by name.

    An interestingness test written for C-Vise takes no argument: it names the file, and expects it
    in the current folder.
    """
    try:
        return _golden(running, job)
    except GoldenRunError as error:
        moved = in_own_folders(job.commands, running.options.input)
        if moved is None or error.problem not in ("passes", "not shown", "baseline fails too"):
            raise
        fresh = in_own_folders(job.fresh, running.options.input) or ()
        moved_job = replace(job, commands=moved, fresh=fresh)
        try:
            found = _golden(running, moved_job)
        except GoldenRunError:
            raise error from None
        running.say(
            "the command names the file itself, so each run gets a folder of its own, "
            "in which the candidate has that name"
        )
        return found


def _golden(running: Running, job: Job) -> tuple[Job, Golden, bool]:
    """Check that the input fails every time, and whether the baseline crashes.

    Returns the job with the journal that belongs to the failure.
    """
    options, journal, baseline = running.options, job.opened.journal, job.frontend.baseline
    opener = partial(running.open_stoppable, jobs=job.jobs)
    if not job.commands:
        golden = ask_predicate(job.criterion, job.text, opener, baseline)
        return _same_function(running, job, opener), golden, False
    known = None if journal is None else journal.found.golden
    wall = options.first_timeout or job.limits.wall
    given = wall is not None or job.limits.cpu is not None
    if wall is None:
        wall = _first_wall(options.max_time)
    golden = establish(
        job.commands,
        job.criterion,
        job.text,
        replace(job.limits, wall=wall),
        opener,
        path=job.name,
        repeat=options.repeat,
        recorded=known.runs if known is not None and known.whole else (),
        baseline=baseline,
        slow=(lambda: None) if given else partial(running.say, _slow(wall)),
    )
    if isinstance(innermost(golden.criterion), TimesOut) and not given:
        raise GoldenRunError(
            f"the command does not end within {wall:g} s on the input. Give `timeout` to keep "
            "that it hangs, `slower_than` to keep that it is slow",
            "not shown",
        )
    said = None if journal is None else journal.found.verdicts.get(digest(baseline))
    if said is not None:
        fails = said[0]
    else:
        fails = baseline_fails(
            job.commands,
            golden,
            job.limits,
            opener,
            repeat=options.repeat,
            baseline=baseline,
        )
    if journal is not None:
        if known is None:
            # In this order: a run that is resumed with these outcomes does not make the runs
            # again, so it could not find out either what they have written.
            journal_setup.note_written(job.opened, job.commands)
            journal.golden(golden.runs)
        if said is None:
            journal.verdict(digest(baseline), fails, 0.0)
    if fails:
        _accept_failing_baseline(running, job, golden.criterion)
    return job, golden, fails


def _slow(wall: float) -> str:
    return (
        f"the command has run for {SLOW:g} s on the input; it is stopped after {wall:g} s. To keep "
        f"that it hangs, set `timeout` {SLOW:g}; to keep that it is slow, `slower_than` {SLOW:g}"
    )


def _accept_failing_baseline(running: Running, job: Job, criterion: Criterion) -> None:
    """Warn that an empty file crashes too.

    Raises GoldenRunError if the baseline fails in another way.
    """
    baseline = job.frontend.baseline
    kept = innermost(criterion)
    if baseline or not (isinstance(kept, SameSignature) and kept.expected.signal):
        raise unfit_baseline(
            criterion,
            baseline,
            "Does the command read the file? Is what is looked for in every run?",
            job.commands[0].shell_line(job.name, job.text),
        )
    running.say(fails_too(criterion, baseline))


def _same_function(running: Running, job: Job, opener: Callable[[Oracle], Executor]) -> Job:
    """Ask a function about the best text of the run to resume; return the job to do.

    A function's code cannot be compared, so its verdict on that text stands for it.
    """
    journal = job.opened.journal
    if journal is None or not journal.found.current:
        return job
    best = journal.found.text(journal.found.current)
    with opener(Oracle((), job.criterion)) as opened:
        if run_once(opened, best, job.limits).interesting:
            return job
    why = "the function has changed since"
    with running.guard.held():
        again = journal_setup.begin_again(job.opened, running.options, job.text, why)
    return replace(job, opened=again)


def _first_wall(max_time: float | None) -> float:
    """Return the time limit of the golden run in seconds, for the case that none is given."""
    return _FIRST if max_time is None else min(_FIRST, max(1.0, max_time / 2))


_SCRIPT = 1 << 16  # bytes of a program in which a name is looked for


def in_own_folders(commands: Sequence[Command], source: Path | bytes) -> tuple[Command, ...] | None:
    """Return the commands to run in a folder of their own for each candidate.

    None if nothing suggests that: no command and no script names the input.
    """
    if isinstance(source, bytes):
        return None
    name = plain_path(source).name
    if not any(_names(command, name) for command in commands):
        return None
    return tuple(replace(command, in_folder=name) for command in commands)


def _names(command: Command, name: str) -> bool:
    """Return whether a command, or a script that it runs, names a file and has no placeholder for
    it."""
    if command.stdin or any(PLACE in word for word in command.words[1:]):
        return False
    if any(name in word for word in command.words[1:]):
        return True
    wanted = os.fsencode(name)
    for word in command.words:
        try:
            with open(word, "rb") as file:
                head = file.read(_SCRIPT)
        except (OSError, ValueError):
            continue
        if head.startswith(b"#!") and wanted in head:
            return True
    return False
