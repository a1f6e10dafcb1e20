"""The golden runs, what the failure that they show asks for, and the search.

The input must fail every time, and the baseline must not. Each improvement is written and reported
at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reducekit.errors import StoppedError, UsageError
from reducekit.events import Accepted, Checked, Event, FailureFound, PassEnded, RolledBack
from reducekit.executors.executor import Finished
from reducekit.journal import digest
from reducekit.oracle.command import PLACE, Command
from reducekit.oracle.criterion import Oracle, innermost, within
from reducekit.oracle.own import SameSignature, TimesOut
from reducekit.oracle.signature import Signature
from reducekit.reduction import EARLIER, GUESSES, Budget, Counts, Reduction, Result
from reducekit.reduction.control import Stopped
from reducekit.run import Limits
from reducekit.session.place.inputs import plain_path
from reducekit.session.place.journal import begin_again, discard, note_written
from reducekit.session.place.output import back_up
from reducekit.session.report import INTERRUPTED
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
from reducekit.session.runs.run import Run, limits_for, note_check, run_once
from reducekit.session.runs.slippage import SlippageTracker, captured

if TYPE_CHECKING:
    from reducekit.offers import Probe


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
        run.job = job._replace(commands=moved, fresh=in_own_folders(job.fresh, source) or ())
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
        job.limits._replace(wall=wall),
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
                "Does the command read the file? Or does every run print what you match?",
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
        run.job = job._replace(opened=again)


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
    return tuple(command._replace(in_folder=name) for command in commands)


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
    job = job._replace(frontend=job.frontend.for_failure(failure, by_chance=by_chance))
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


_REPEATS = 2
_REPEATS_OF_REPEATED = 1  # each of them is several runs already
_ASKED = 3  # number of good runs that are asked for a guess: one may not represent the others


def search(run: Run) -> None:
    """Search, and write each improvement; the best text is saved in any case.

    Adds `slippage` and `result` to the run.
    """
    run.slippage = _slippage_of(run)
    counts = Counts()
    try:
        with run.guard.allowed():
            run.result = _Search(run, counts).reduce()
    except KeyboardInterrupt:
        passing = run.job.frontend.baseline
        run.result = Result(run.saved.text, counts, 0, 0.0, INTERRUPTED, passing=passing)
    run.saved.save()


def _slippage_of(run: Run) -> SlippageTracker | None:
    """Watch for failures other than the golden run's; None where only verdicts are known."""
    golden, collection = run.golden, run.job.other_failures
    if not golden.outcomes:
        return None
    if collection is None:
        return SlippageTracker(golden.outcomes, golden.criterion)

    def keep(found: Signature, text: bytes) -> None:
        with run.guard.held():
            collection.keep(found, text)

    return SlippageTracker(golden.outcomes, captured(golden.criterion), keep)


def _guesses(run: Run) -> Iterator[bytes] | None:
    """Return parts of the input that are likely to fail, smallest first; None: no guesses.

    The runs on the input that answered `unsat` may be asked where the failure is about answers. The
    published algorithms get no guesses, because their tables count the checks of the algorithm
    alone.
    """
    job = run.job
    if job.strategy.passes != "own":
        return None
    chosen: list[Probe] = []
    lost = None
    if run.golden.criterion.about_answers:
        from reducekit.oracle.answers import answers
        from reducekit.session.runs.variants import probe_of

        given = [answers(each) for each in run.golden.outcomes]
        good = [at for at, each in enumerate(given) if each is not None and each[-1] == b"unsat"]
        if good:
            bad = next((at for at, each in enumerate(given) if each is None), 0)
            *chosen, lost = (probe_of(run, job.commands[at]) for at in (*good[:_ASKED], bad))
    try:
        found = list(job.frontend.guesses(job.text, chosen, lost))
    except Stopped:
        return None
    return iter(found) if found else None


class _Search:
    def __init__(self, run: Run, counts: Counts) -> None:
        self._run = run
        self._counts = counts
        self._replayed = 0
        options, job = run.options, run.job
        criterion = run.golden.criterion if run.slippage is None else run.slippage.criterion
        oracle = Oracle(job.commands, criterion, resolves=job.frontend.offers("beside"))
        repeats = _REPEATS if options.repeat is None else _REPEATS_OF_REPEATED
        self._reduction = Reduction(
            job.frontend,
            job.strategy,
            run.executors.open_repeating(oracle, job.jobs),
            self._limits,
            width=job.opened.width,
            repeats=repeats if job.commands else 0,  # a function says the same each time
            budget=Budget(
                options.max_checks, options.max_time, options.patience or None, options.until
            ),
            listen=self._listen,
            on_checked=self._checked,
            counts=counts,
            fast=options.fast,
            effort=options.effort,
            choice=job.choice,
            journal=job.opened.journal,
            view=job.views.pop(),
            begin=run.begin,
            control=run.control,
            protection=job.protection,
            prefer=job.steering.prefer,
        )

    def reduce(self) -> Result:
        """Start with what is known, and with smaller texts that are likely to fail; search."""
        run, job, reduction = self._run, self._run.job, self._reduction
        journal = job.opened.journal
        reduction.preload(job.frontend.baseline, interesting=run.baseline_fails)
        if journal is not None:
            reduction.restore(journal.found.verdicts, journal.found.unresolved)
        starts: Iterator[bytes] | None = None
        kind = GUESSES
        if journal is not None and journal.earlier is not None:
            starts, kind = journal.earlier.from_the_smallest(), EARLIER
        elif job.frontend.offers("guesses"):
            starts = _guesses(run)
        return reduction.run(job.text, run.golden.seconds, starts, kind)

    def _listen(self, event: Event) -> None:
        run, journal = self._run, self._run.job.opened.journal
        run.guard.check()  # a signal that was raised where Python drops exceptions
        match event:
            case Checked() if self._counts.replayed > self._replayed:
                self._replayed = self._counts.replayed
                event = event._replace(replayed=True)
            case Accepted(text=text):
                run.steps.accept(text)
                with run.guard.held():
                    # A resumed search repeats also what was taken back later.
                    if journal is None or not journal.replaying:
                        run.saved.accept(text)
                    else:
                        event = event._replace(replayed=True)
                if run.slippage is not None:
                    run.slippage.accept(text)
            case RolledBack(text=text, given_up=given_up):
                run.steps.give_up(given_up)
                with run.guard.held():
                    run.saved.give_up(given_up, text)
                if run.slippage is not None:
                    run.slippage.go_back(text)
            case PassEnded(name=name, round=number) if journal is not None:
                seconds = self._reduction.elapsed
                journal.pass_ended(name, number, checks=self._counts.checks, seconds=seconds)
        run.say(_in_words(event, run.job.opened.changed))
        run.listen(event)

    def _checked(self, text: bytes, finished: Finished) -> None:
        note_check(self._run.watched, finished.outcomes)
        if self._run.slippage is not None:
            self._run.slippage.see(text, finished.interesting, finished.outcomes)

    def _limits(self, seconds: float) -> Limits:
        found = limits_for(self._run.golden.criterion, self._run.job.limits, seconds)
        self._run.watched.time_limit = found.wall
        return found


def _in_words(event: Event, changed: str | None) -> str | None:
    """Return the message for an event; `changed` describes how the test has changed since the last
    run."""
    match event:
        case Accepted(text=text, pass_name=name) if changed and name == EARLIER:
            return (
                f"{changed}: resuming from the smallest earlier step that still fails "
                f"({len(text):,} bytes)"
            )
        case PassEnded(name=name, accepted=0) if changed and name == EARLIER:
            return f"{changed}: no earlier step still fails; starting from the input"
        case Accepted(text=text, pass_name=name) if name == GUESSES:
            return f"starting from a part of the input that fails ({len(text):,} bytes)"
        case RolledBack(text=text, given_up=given_up):
            return (
                f"the best file so far ({len(given_up[0]):,} bytes) no longer fails, or not every "
                f"time; going back to one that does ({len(text):,} bytes), and each success is "
                "repeated from now on"
            )
    return None
