"""The beginning of a session: the golden runs, and what the failure that they show asks for.

The input must fail every time, and the baseline must not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from reducekit.errors import StoppedError, UsageError
from reducekit.events import FailureFound
from reducekit.journal import digest
from reducekit.oracle.command import PLACE, Command
from reducekit.oracle.criterion import Oracle, innermost, within
from reducekit.oracle.own import SameSignature, TimesOut
from reducekit.reduction.control import Stopped
from reducekit.session.place.inputs import plain_path
from reducekit.session.place.journal import begin_again, discard, note_written
from reducekit.session.place.output import back_up
from reducekit.session.runs.golden import (
    SLOW,
    GoldenRunError,
    ask_predicate,
    baseline_fails,
    doubtful,
    establish,
    fails_too,
    in_the_wrong,
    unfit_baseline,
)
from reducekit.session.runs.run import Run, run_once

_FIRST = 600.0  # time limit of a run on the input, in seconds, if none is given
_SCRIPT = 1 << 16  # bytes of a program in which a name is looked for
UNTRACED = (
    "gdb cannot run the command here, or is not installed: `match_stack` has no effect. The result "
    "may crash at another place in the code"
)


def golden_runs(run: Run) -> None:
    """Run the input and the baseline; remove the journal if they show no failure to keep.

    Adds `golden` and `baseline_fails` to the run, and may change its job. Raises GoldenRunError,
    StoppedError.
    """
    try:
        with run.guard.allowed():
            _golden_anywhere(run)
    except BaseException as error:
        discard(run.job.opened)
        if isinstance(error, Stopped):
            raise StoppedError(f"{error} before there was a result") from None
        raise


def _golden_anywhere(run: Run) -> None:
    """Make the golden run, in a folder of its own if the command finds the input only by name.

    An interestingness test written for C-Vise takes no argument: it names the file, and expects it
    in the current folder.
    """
    job, source = run.job, run.options.input
    try:
        _golden(run)
    except GoldenRunError as error:
        moved = in_own_folders(job.commands, source)
        if moved is None or error.problem not in ("passes", "not shown", "baseline fails too"):
            raise
        run.job = replace(job, commands=moved, fresh=in_own_folders(job.fresh, source) or ())
        try:
            _golden(run)
        except GoldenRunError:
            run.job = job
            raise error from None
        run.say(
            "the command names the file itself, so each run gets a folder of its own, "
            "in which the candidate has that name"
        )


def _golden(run: Run) -> None:
    options, job = run.options, run.job
    journal, baseline = job.opened.journal, job.frontend.baseline
    opener = partial(run.open_stoppable, jobs=job.jobs)
    if not job.commands:
        run.golden = ask_predicate(job.criterion, job.text, opener, baseline)
        _ask_about_the_best(run)
        return
    known = None if journal is None else journal.found.golden
    wall = options.first_timeout or job.limits.wall
    given = wall is not None or job.limits.cpu is not None
    if wall is None:
        wall = _first_wall(options.max_time)
    slow = (
        f"the command has run for {SLOW:g} s on the input; it is stopped after {wall:g} s. To keep "
        f"that it hangs, set `timeout` {SLOW:g}; to keep that it is slow, `slower_than` {SLOW:g}"
    )
    golden = run.golden = establish(
        job.commands,
        job.criterion,
        job.text,
        replace(job.limits, wall=wall),
        opener,
        path=job.name,
        repeat=options.repeat,
        recorded=known.runs if known is not None and known.whole else (),
        baseline=baseline,
        slow=(lambda: None) if given else partial(run.say, slow),
    )
    if isinstance(innermost(golden.criterion), TimesOut) and not given:
        raise GoldenRunError(
            f"the command does not end within {wall:g} s on the input. Give `timeout` to keep "
            "that it hangs, `slower_than` to keep that it is slow",
            "not shown",
        )
    said = None if journal is None else journal.found.verdicts.get(digest(baseline))
    if said is not None:
        run.baseline_fails = said[0]
    else:
        run.baseline_fails = baseline_fails(
            job.commands, golden, job.limits, opener, repeat=options.repeat, baseline=baseline
        )
    if journal is not None:
        if known is None:
            # In this order: a run that is resumed with these outcomes does not make the runs
            # again, so it could not find out either what they have written.
            note_written(job.opened, job.commands)
            journal.golden(golden.runs)
        if said is None:
            journal.verdict(digest(baseline), run.baseline_fails, 0.0)
    if run.baseline_fails:
        kept = innermost(golden.criterion)
        if baseline or not (isinstance(kept, SameSignature) and kept.expected.signal):
            raise unfit_baseline(
                golden.criterion,
                baseline,
                "Does the command read the file? Is what is looked for in every run?",
                job.commands[0].shell_line(job.name, job.text),
            )
        run.say(fails_too(golden.criterion, baseline))  # an empty file crashes, too


def _ask_about_the_best(run: Run) -> None:
    """Ask a function about the best text of the run to resume; start over if it does not hold.

    A function's code cannot be compared with the earlier one, but its verdict on that text can.
    """
    job = run.job
    journal = job.opened.journal
    if journal is None or not journal.found.current:
        return
    best = journal.found.text(journal.found.current)
    with run.open_stoppable(Oracle((), job.criterion), job.jobs) as opened:
        if run_once(opened, best, job.limits).interesting:
            return
    with run.guard.held():
        changed = "the function has changed since"
        again = begin_again(job.opened, run.options, job.text, changed)
        run.job = replace(job, opened=again)


def _first_wall(max_time: float | None) -> float:
    return _FIRST if max_time is None else min(_FIRST, max(1.0, max_time / 2))


def in_own_folders(commands: Sequence[Command], source: Path | bytes) -> tuple[Command, ...] | None:
    """Return the commands to run in a folder of their own for each candidate.

    None if nothing suggests that: no command and no script names the input.
    """
    if isinstance(source, bytes) or (commands and commands[0].several):
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


def adapt(run: Run) -> None:
    """Report the preserved failure; prepare the format, the backup and the journal for it."""
    job, golden = run.job, run.golden
    run.say(job.opened.notice)
    failure = golden.criterion.describe()
    run.listen(FailureFound(failure))
    by_chance = innermost(golden.criterion).by_chance
    job = replace(job, frontend=job.frontend.for_failure(failure, by_chance=by_chance))
    run.job = job
    run.say(doubtful(golden))
    run.say(innermost(golden.criterion).advice(golden.outcomes))
    run.say(in_the_wrong(golden.criterion, job.frontend.claimed(job.text)))
    if run.options.match_stack is not None:
        from reducekit.oracle.stack import SameStack

        run.say(None if within(golden.criterion, SameStack) else UNTRACED)
    if golden.criterion.about_answers:
        from reducekit.session.runs.variants import overridden

        if names := overridden(run, job.text):
            run.say(
                f"the input sets options itself, which override the command line: {names}. "
                "Remove these lines to reduce with those of the command"
            )
    if job.backup is not None:
        assert isinstance(run.options.input, Path)
        try:
            back_up(run.options.input, job.backup, job.read)
        except UsageError:
            discard(job.opened)
            raise
    if job.opened.journal is not None and job.subject is not None:
        # At the start, so that it is there even if the run is killed.
        job.opened.journal.note("subject", json.dumps(asdict(job.subject())))
