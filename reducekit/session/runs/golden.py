"""The golden run: does the input fail, how, and every time? And the baseline must not."""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from reducekit.errors import NotInterestingError
from reducekit.executors.executor import Executor, Repeat, Repeating
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import (
    Criterion,
    Everything,
    Oracle,
    changed_innermost,
    innermost,
    verdict,
)
from reducekit.oracle.own import OwnFailure, SameSignature
from reducekit.oracle.signature import failure_line
from reducekit.run import Limits, Outcome, ended
from reducekit.session.runs.run import Golden, limits_for, run_once
from reducekit.text import not_text, printable

_SUGGESTED = 60  # bytes of a line that may be kept
_SHOWN = 2000  # bytes of each stream in a message
_EXAMPLES = 3  # runs shown of those that ended differently

_TWICE = Repeat(2, 2)
_LONGER = 1.0  # seconds for the baseline to end after the others, before it is run again
SLOW = 10.0  # seconds of a run on the input after which it is called slow

Problem: TypeAlias = Literal["passes", "not shown", "flaky", "rare", "baseline fails too"]


class GoldenRunError(NotInterestingError):
    """The input does not fail, or not every time.

    `problem` says in which way, so that a face can add what its user may do about it.
    """

    def __init__(self, message: str, problem: Problem) -> None:
        super().__init__(message)
        self.problem = problem


def establish(
    commands: tuple[Command, ...],
    criterion: Criterion,
    text: bytes,
    limits: Limits,
    open_executor: Callable[[Oracle], Executor],
    *,
    path: str = "input",
    repeat: Repeat | None = None,
    recorded: Sequence[tuple[Outcome, ...]] = (),
    baseline: bytes = b"",
    slow: Callable[[], None] = lambda: None,
) -> Golden:
    """Run the commands on the input and return what to keep alive.

    The failure has to show in as many runs as `repeat` says, else in two of two. They run in
    parallel, with one of the `baseline`, as far as the executor has room; none runs if as many are
    `recorded`. If they show several failures, the most frequent one is kept, of equally frequent
    ones the first by its words. `path` is the input's name in messages. `slow` is called once if no
    run has ended after some seconds.
    Raises NotInterestingError if the input does not fail, or not so often.
    """
    repeat = repeat or _TWICE
    if criterion.wall is not None:
        limits = limits._replace(wall=criterion.wall)

    runs, other = list(recorded), None
    if len(runs) != repeat.runs:
        with open_executor(Oracle(commands, Everything(len(commands)))) as executor:
            runs, other = _runs(executor, text, baseline, limits, repeat.runs, slow)
    kinds = _of_one_failure([criterion.shown_by(run, limits) for run in runs], runs, text)

    def refuse(problem: Problem, reason: str, shown: Sequence[Sequence[Outcome]]) -> GoldenRunError:
        run = [each.with_options_of(text) for each in commands]
        return GoldenRunError(_report(reason, run, path, shown), problem)

    often = Counter(kind for kind in kinds if kind is not None)
    if not often:
        times = f" in {len(runs)} runs" if repeat != _TWICE and len(runs) > 1 else ""
        if isinstance(criterion, OwnFailure):
            raise refuse("passes", f"the input does not fail{times}", runs[:1])
        missing = criterion.missing_in(runs[0])
        reason = f"the input does not show what is looked for{times} ({missing})"
        raise refuse("not shown", reason, runs[:1])
    kept = min(often, key=lambda kind: (-often[kind], kind.describe()))
    if repeat.verdict(often[kept], len(runs) - often[kept]) is not True:
        firsts = sorted({kinds.index(kind) for kind in kinds})
        examples = [runs[number] for number in firsts[:_EXAMPLES]]
        if repeat == _TWICE:
            raise refuse("flaky", "two runs on the same input ended differently", examples)
        raise refuse(
            "rare",
            f"this failure ({kept.describe()}) showed in {often[kept]} of {len(runs)} runs "
            f"on the input, and `repeat` asks for {repeat.needed}",
            examples,
        )
    seconds = max(outcome.seconds for run in runs for outcome in run)
    return Golden(kept, runs[kinds.index(kept)], seconds, tuple(runs), other)


def _of_one_failure(
    kinds: Sequence[Criterion | None], runs: Sequence[Sequence[Outcome]], text: bytes
) -> list[Criterion | None]:
    """Return what the runs showed, without what their failure lines quote from the text.

    Where the lines differ as those of one failure do, they become one pattern.
    """

    def quoteless(kind: Criterion) -> Criterion:
        if not isinstance(kind, SameSignature):
            return kind
        return replace(kind, expected=kind.expected.without_quotes(text))

    found = [None if kind is None else changed_innermost(kind, quoteless) for kind in kinds]
    first = [innermost(kind) for kind in found if kind is not None]
    lines = [
        kind.expected.line
        for kind in first
        if isinstance(kind, SameSignature) and kind.expected.line is not None
    ]
    if len(set(lines)) < 2 or len(lines) < len(found):
        return found
    known = any(failure_line(run[0].stdout, run[0].stderr) is not None for run in runs)
    from reducekit.oracle.quotes import common

    line = common(lines, known=known)

    def agreed(kind: Criterion) -> Criterion:
        assert isinstance(kind, SameSignature)
        return replace(kind, expected=kind.expected._replace(line=line))

    if line is None:
        return found
    return [None if kind is None else changed_innermost(kind, agreed) for kind in found]


def baseline_fails(
    commands: tuple[Command, ...],
    golden: Golden,
    limits: Limits,
    open_executor: Callable[[Oracle], Executor],
    *,
    repeat: Repeat | None = None,
    baseline: bytes = b"",
) -> bool:
    """Say whether the baseline is as interesting as the input, in as many runs.

    With the empty file, everything would then be reduced to nothing: usually the criterion is too
    weak.
    """
    seen = golden.baseline
    if seen is not None and repeat is None and not verdict(golden.criterion, seen):
        return False
    # What opens executors may know more: a format refuses what breaks its rules.
    opened = open_executor(Oracle(commands, golden.criterion))
    with opened if repeat is None else Repeating(opened, repeat) as executor:
        chosen = limits_for(golden.criterion, limits, golden.seconds)
        return run_once(executor, baseline, chosen).interesting


def ask_predicate(
    criterion: Criterion,
    text: bytes,
    open_executor: Callable[[Oracle], Executor],
    baseline: bytes = b"",
) -> Golden:
    """Ask a Python function about the input, and about the baseline.

    Raises GoldenRunError if it is false for the input, or true for the baseline. A function
    says the same each time, so once is enough.
    """
    with open_executor(Oracle((), criterion)) as executor:
        begin = time.monotonic()
        if not run_once(executor, text, Limits()).interesting:
            raise GoldenRunError("the predicate is false for the input", "not shown")
        seconds = time.monotonic() - begin
        try:
            fails = run_once(executor, baseline, Limits()).interesting
        except Exception:  # it need not expect an empty text, which many formats never make
            fails = False
    if fails:
        raise unfit_baseline(criterion, baseline, "Does the predicate look at its argument?")
    return Golden(criterion, (), seconds)


def fails_too(criterion: Criterion, baseline: bytes) -> str:
    """Return what to say if the baseline is as interesting as the input."""
    which = "the baseline" if baseline else "an empty file"
    return f"{which} fails in the same way ({criterion.describe()})"


def unfit_baseline(
    criterion: Criterion, baseline: bytes, question: str, command: str | None = None
) -> GoldenRunError:
    """Return the error that the baseline fails too; the `question` is asked of an empty one."""
    hint = "give one that passes" if baseline else f"there is nothing to reduce. {question}"
    from reducekit.oracle.printed import Matches

    match innermost(criterion):
        case SameSignature(expected=kept):
            by_status_alone = kept.signal is None and kept.line is None
        case inner:
            by_status_alone = isinstance(inner, Matches) and not inner.captures
    if by_status_alone:
        hint += (
            " If the program says something else on the input, one status stands for several "
            "failures: name the right one with `match_err` 'REGEX' (or `match_out`)"
        )
    where = "" if command is None else f"\ncommand: {command}"
    return GoldenRunError(f"{fails_too(criterion, baseline)}: {hint}{where}", "baseline fails too")


def _runs(
    executor: Executor,
    text: bytes,
    baseline: bytes,
    limits: Limits,
    number: int,
    slow: Callable[[], None],
) -> tuple[list[tuple[Outcome, ...]], tuple[Outcome, ...] | None]:
    """Run a text `number` times, and the baseline alongside if there is room.

    Returns the outcomes in the order of the starts; None for the baseline if
    it took much longer than all others.
    """
    ended: dict[int, tuple[Outcome, ...]] = {}
    started, begin = 0, time.monotonic()
    patience: float | None = SLOW
    while any(each not in ended for each in range(number)):
        while started <= number and executor.free:
            executor.submit(started, text if started < number else baseline, limits)
            started += 1
        left = patience and max(0.0, begin + patience - time.monotonic())
        ended |= {finished.ticket: finished.outcomes for finished in executor.wait(left)}
        if patience and not ended and time.monotonic() - begin >= patience:
            slow()
            patience = None
    if started > number and number not in ended:
        ended |= {finished.ticket: finished.outcomes for finished in executor.wait(_LONGER)}
    executor.cancel(number)
    return [ended[each] for each in range(number)], ended.get(number)


def _report(
    reason: str, commands: Sequence[Command], path: str, runs: Sequence[Sequence[Outcome]]
) -> str:
    lines = [reason]
    for number, run in enumerate(runs, 1):
        label = f"run {number}" if len(runs) > 1 else "command"
        for command, outcome in zip(commands, run, strict=False):
            lines += [
                "",
                f"{label}: {command.shell_line(path)}",
                f"ended: {outcome.describe()} ({outcome.seconds:.2f} s)",
                *_excerpt("stdout", outcome.stdout),
                *_excerpt("stderr", outcome.stderr),
            ]
    return "\n".join(lines)


def _excerpt(name: str, text: bytes) -> list[str]:
    if not text:
        return [f"{name}: empty"]
    binary = not_text(text)
    if binary is not None:
        return [f"{name}: {binary}"]
    # A terminal must survive what a solver prints.
    shown = text[:_SHOWN].decode("utf-8", "backslashreplace").expandtabs()
    lines = [printable(line) for line in shown.split("\n")]
    more = [f"  ... {len(text) - _SHOWN} more bytes"] if len(text) > _SHOWN else []
    return [f"{name}:", *(f"  {line}" for line in lines if line), *more]


_MISREAD = re.compile(
    rb"(?i)(?:parse|syntax|lexer) ?error|\bexpected\b|unexpected (?:char|token|symbol|input|end)"
    rb"|\bunsupported\b|unknown (?:command|logic|option)|cannot (?:open|read|parse)"
)


def in_the_wrong(criterion: Criterion, claimed: str | None) -> str | None:
    """Return which of two programs that answer differently is wrong, if the text claims an answer.

    Of the input this is the truth, if its writer knew it; candidates may have another answer.
    """
    if claimed is None:
        return None
    from reducekit.oracle.compared import Disagree

    inner = innermost(criterion)
    if not isinstance(inner, Disagree) or inner.expected is None:
        return None
    own, other = (answer.decode() for answer in inner.expected)
    wrong = {own: "the reference", other: "the command"}.get(claimed)
    return wrong and f"by the status in the input ({claimed}), {wrong} is wrong"


def doubtful(golden: Golden) -> str | None:
    """Return why what is kept may not be what is meant; None if it may well be."""
    kept = innermost(golden.criterion)
    if not isinstance(kept, SameSignature) or kept.expected.signal is not None:
        return None
    line = kept.expected.line
    if line is None or kept.expected.any_line:
        return None if kept.expected.limit else _known_by_status(kept, golden.outcomes[0])
    # A crash report is no complaint: `UNEXPECTED CODE WAS REACHED`.
    if failure_line(b"", line, crashed=True) is not None or _MISREAD.search(line) is None:
        return None
    return (
        "this looks like a parse error, not a bug: is it the right format, and are the options "
        "of the program right?"
    )


def _known_by_status(kept: SameSignature, outcome: Outcome) -> str:
    """Return that no message identifies the failure, and which option would have one kept."""
    alone = f"{ended(kept.expected.status, None)} alone identifies this failure"
    if kept.expected.any_line:
        return f"{alone}: the message differs in each run. To keep some words: `match_err` 'REGEX'"
    for option, text in (("match_err", outcome.stderr), ("match_out", outcome.stdout)):
        lines = [line.strip() for line in text.splitlines() if re.search(rb"[A-Za-z]", line)]
        if lines:
            last = printable(lines[-1][:_SUGGESTED])
            quoted = shlex.quote(re.escape(last).replace("\\ ", " "))
            return f"{alone}: the output has no message. To keep a line of it: `{option}` {quoted}"
    return f"{alone}: the command prints no message"
