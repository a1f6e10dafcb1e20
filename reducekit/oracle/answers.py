"""What solvers answer: read from what `check-sat` printed, whatever the exit status is.

A solver that rejects an assertion answers another question, so an answer after such an error does
not count. An error after the last answer changes nothing, and neither does one of a command that
asks for what is not there (`eval` after `unsat`) or sets an option that the solver lacks: z3 prints
both, goes on, and ends with exit status 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducekit.oracle.responses import before_the_last_answer, read_answers
from reducekit.oracle.signature import failure_line
from reducekit.run import Outcome

_SILENT = {10: (b"sat",), 20: (b"unsat",)}  # exit codes of the SAT competitions
ORDINARY = (0, *_SILENT)  # the exit statuses of runs without errors
# Errors of z3 and cvc5 that leave the assertions as they are.
_HARMLESS = re.compile(
    rb"\b(?:is|are) not (?:available|enabled)\b|\b(?:unknown|invalid) (?:parameter|option)\b"
    rb"|\berror setting '|\b[Cc]annot get (?:value|model|unsat|proof|assignment)"
)
_UNSUPPORTED = re.compile(rb"^unsupported[ \t\r]*$", re.MULTILINE)


def answers(outcome: Outcome) -> tuple[bytes, ...] | None:
    """Return the `sat` and `unsat` answers of a run that answered every query.

    None if there are none, if one is `unknown`, if the run was stopped or crashed, or if an answer
    cannot be trusted. If there are no answer lines, exit status 10 or 20 is the answer.
    """
    found = given(outcome)
    return found if found and b"unknown" not in found else None


def given(outcome: Outcome) -> tuple[bytes, ...]:
    """Return all answers of a run, `unknown` too; none if they cannot be trusted."""
    if outcome.limit is not None or outcome.signal is not None:
        return ()
    stdout, stderr = outcome.stdout, outcome.stderr
    found = read_answers(stdout)
    if failure_line(stdout, stderr) is None:
        return found or _SILENT.get(outcome.status or 0, ())
    if failure_line(stdout, stderr, crashed=True) is not None:
        return ()
    # Where an error on the standard error output belongs among the answers is not known.
    if (line := failure_line(b"", stderr)) is not None and not _HARMLESS.search(line):
        return ()
    before = before_the_last_answer(stdout)
    rejecting = b"\n".join(
        each for each in before if not (each.startswith(b"(error") and _HARMLESS.search(each))
    )
    return () if failure_line(rejecting, b"") is not None else found


def difference(first: Outcome, second: Outcome) -> tuple[bytes, bytes] | None:
    """Return the first pair of answers that differ in the common prefix; None if there is none."""
    mine, other = answers(first), answers(second)
    if mine is None or other is None:
        return None
    return next((pair for pair in zip(mine, other, strict=False) if pair[0] != pair[1]), None)


def understands(outcome: Outcome) -> bool:
    """Return whether a program supports all commands of the script, as far as its output shows."""
    return _UNSUPPORTED.search(outcome.stdout) is None


def found_in(pattern: re.Pattern[bytes], outcome: Outcome) -> bool:
    r"""Return whether a pattern matches the standard output of a run.

    A pattern of nothing but answers, such as `\\A(unsat\\n)+\\Z`, may match the answers alone:
    then what `echo` and `eval` print between them does not count.
    """
    if pattern.search(outcome.stdout):
        return True
    if not _of_answers(pattern.pattern):
        return False
    return pattern.search(b"".join(each + b"\n" for each in given(outcome))) is not None


_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_NAME = re.compile(rb"[A-Za-z_]+")


def _of_answers(pattern: bytes) -> bool:
    words = set(_NAME.findall(_ESCAPED.sub(b" ", pattern)))
    negated = b"(?!" in pattern or b"(?<!" in pattern
    return bool(words) and words <= {b"sat", b"unsat", b"unknown"} and not negated


def in_common(run: Sequence[Outcome]) -> str:
    """Return how all runs ended, and what they complain of or answer, if all agree.

    '' if they have nothing in common.
    """
    number = {1: "it", 2: "both"}.get(len(run), f"all {len(run)}")
    ends = {each.describe() for each in run if each.limit is None}
    limits = {each.limit for each in run}
    if limits == {"time"}:
        return f"{number} reached the time limit"
    if len(ends) != 1 or limits != {None}:
        return ""
    lines = {failure_line(each.stdout, each.stderr) for each in run}
    said = {given(each) for each in run}
    status = run[0].status
    how = f"ended with {ends.pop()}" if status is None else f"exited with {status}"
    if len(said) == 1 and (words := said.pop()):
        named = b", ".join(dict.fromkeys(words)).decode()
        return f"{number} answered {named}"
    line = lines.pop() if len(lines) == 1 else None
    if line is None:
        return "" if status == 0 else f"{number} {how}"
    return f"{number} {how}: {_message(line)}"


_QUOTED = re.compile(rb'\(error "((?:[^"]|"")*)')
_MESSAGE = 200  # bytes: z3 lists all parameters after an unknown one
_OF_LEGAL = re.compile(rb"\s+Legal parameters are:.*", re.DOTALL)


def _message(line: bytes) -> str:
    quoted = _QUOTED.match(line)
    said = line if quoted is None else quoted[1].replace(b'""', b'"')
    said = _OF_LEGAL.sub(b"", said)
    return said[:_MESSAGE].decode("utf-8", "backslashreplace")
