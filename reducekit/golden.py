"""The golden run: does the input fail, how, and every time?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reducekit.errors import NotInterestingError
from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import (
    Criterion,
    Disagree,
    SameSignature,
    TimesOut,
    difference,
    verdict,
)
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import is_failure, signature

_SHOWN = 2000  # bytes of each stream in a message

_WAYS = """\
Say what is wrong with it:
  --oracle CMD       CMD exits with 0 if the failure shows (an interestingness test)
  --match-out REGEX  the output matches (--match-err for stderr, --exit-code for the status)
  --reference CMD    another program gives the right answer
  --slower-than S    it takes too long"""


_FLAKY = """\
Make the runs repeatable (a seed, one thread, a longer --timeout), or say with
--oracle, --exit-code, --match-out or --match-err what all have in common."""


@dataclass(frozen=True, slots=True)
class Golden:
    """What is to be kept alive, as two runs on the input showed it.

    `seconds` is the wall time of the slowest single run of a command.
    """

    criterion: Criterion
    outcomes: tuple[Outcome, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class _Record:
    """Runs all commands and looks at everything."""

    commands: int
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return True if len(outcomes) == self.commands else None

    def describe(self) -> str:
        return "a record"


def timeout_for(seconds: float) -> float:
    """Return the wall limit for candidates when the best so far takes that many seconds."""
    return max(0.4, 4 * seconds + 0.2)


def limits_for(criterion: Criterion, limits: Limits, seconds: float) -> Limits:
    """Return the limits for candidates when the best so far takes that many seconds.

    The wall limit is the criterion's, else the user's, else follows the time.
    """
    wall = next((w for w in (criterion.wall, limits.wall) if w is not None), timeout_for(seconds))
    return replace(limits, wall=wall)


def establish(
    commands: tuple[Command, ...],
    criterion: Criterion | None,
    text: bytes,
    limits: Limits,
    open_executor: Callable[[Oracle], Executor],
    *,
    path: str = "input",
    out: bool = True,
    err: bool = True,
) -> Golden:
    """Run the commands on the input twice and return what to keep alive.

    Without a criterion the (single) command's own failure is kept: its
    signature, of the streams asked for by `out` and `err`, or its running into
    the time limit. `path` is the input's name in messages. Raises
    NotInterestingError if the input does not fail, or not twice in the same way.
    """
    if criterion is not None and criterion.wall is not None:
        limits = replace(limits, wall=criterion.wall)
    with open_executor(Oracle(commands, _Record(len(commands)))) as executor:
        runs = [_run(executor, text, limits).outcomes for _ in range(2)]

    def refuse(reason: str, shown: Sequence[Sequence[Outcome]], advice: str) -> NotInterestingError:
        return NotInterestingError(_report(reason, commands, path, shown, advice))

    if criterion is None:
        found, kept = zip(*(_own_failure(run[0], limits, out, err) for run in runs), strict=True)
        wanted = "a failure"
    elif isinstance(criterion, Disagree) and criterion.expected is None:
        pairs = [difference(run[0], run[1]) for run in runs]
        found = tuple(pair is not None for pair in pairs)
        kept = tuple(Disagree(pair) for pair in pairs)
        wanted = criterion.describe()
    else:
        found = tuple(verdict(criterion, run) for run in runs)
        kept = (criterion, criterion)
        wanted = criterion.describe()

    if not any(found):
        if criterion is None:
            raise refuse("the input does not fail", runs[:1], _WAYS)
        raise refuse(f"the input does not show what is looked for ({wanted})", runs[:1], "")
    if not all(found) or kept[0] != kept[1]:
        raise refuse(
            "two runs on the same input ended differently",
            runs,
            _FLAKY,
        )
    seconds = max(outcome.seconds for run in runs for outcome in run)
    return Golden(kept[0], runs[0], seconds)


def trivial(
    commands: tuple[Command, ...],
    golden: Golden,
    limits: Limits,
    open_executor: Callable[[Oracle], Executor],
) -> bool:
    """Say whether the empty file is as interesting as the input.

    Then everything would be reduced to nothing: mostly the criterion is too weak.
    """
    with open_executor(Oracle(commands, golden.criterion)) as executor:
        chosen = limits_for(golden.criterion, limits, golden.seconds)
        return _run(executor, b"", chosen).interesting


def _run(executor: Executor, text: bytes, limits: Limits) -> Finished:
    executor.submit(0, text, limits)
    while True:
        for finished in executor.wait():
            return finished


def _own_failure(
    outcome: Outcome, limits: Limits, out: bool, err: bool
) -> tuple[bool, Criterion | None]:
    """Say whether a run failed by itself, and what to keep alive then."""
    if outcome.limit == "time":
        return True, TimesOut(limits.wall)
    seen = replace(
        outcome, stdout=outcome.stdout if out else b"", stderr=outcome.stderr if err else b""
    )
    if not is_failure(seen):
        return False, None
    return True, SameSignature(signature(seen), out, err)


def _report(
    reason: str,
    commands: tuple[Command, ...],
    path: str,
    runs: Sequence[Sequence[Outcome]],
    advice: str,
) -> str:
    """Show what was run and what came of it."""
    lines = [reason]
    for number, run in enumerate(runs, 1):
        for command, outcome in zip(commands, run, strict=False):
            lines += [
                "",
                f"run {number}: {command.shell_line(path)}" if len(runs) > 1
                else f"command: {command.shell_line(path)}",
                f"ended: {outcome.describe()} ({outcome.seconds:.2f} s)",
                *_excerpt("stdout", outcome.stdout),
                *_excerpt("stderr", outcome.stderr),
            ]  # fmt: skip
    if advice:
        lines += ["", advice]
    return "\n".join(lines)


def _excerpt(name: str, text: bytes) -> list[str]:
    if not text:
        return [f"{name}: empty"]
    # A terminal must survive what a solver prints.
    shown = text[:_SHOWN].decode("utf-8", "backslashreplace").expandtabs()
    lines = [
        "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)
        for line in shown.split("\n")
    ]
    more = [f"  ... {len(text) - _SHOWN} more bytes"] if len(text) > _SHOWN else []
    return [f"{name}:", *(f"  {line}" for line in lines if line), *more]
