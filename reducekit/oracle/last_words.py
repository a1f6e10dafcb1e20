"""Finds the message in the output of a program that failed in words that no known pattern has.

Programs report a failure in one of three ways: in a line with a word for how bad it is (`FATAL:`,
`| ERROR |`, `level=critical`), in the last lines of stderr, or in the last line of stdout. What
surrounds it says nothing of the failure: answers, models, statistics, progress, stack frames.
"""

from __future__ import annotations

import re
from itertools import takewhile

_SEEN = 20_000  # bytes at the end of a stream
_LAST = 3  # lines at the end of stderr that are a message, where no line tells more
_DETAILS = 4  # lines that explain another

_ESCAPE = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

# Words for how bad a line is, the worst first. A logger's letter: `F1128 12:00:00 ...`, `E, [...`.
_WORST = re.compile(
    rb"(?i:\b(?:fatal|ftl|critical|crit|severe|panic|abort(?:ed|ing)?|emerg(?:ency)?|alert"
    rb"|anomaly|bug|crash(?:ed)?|assert(?:ion)?|invariant|internal|impossible|unreachable"
    rb"|terminat(?:ed|ing)|uncaught|unhandled)\b)|^[FC](?:\d{4} |, \[)"
)
_BAD = re.compile(
    rb"(?i:\b(?:error|err|errors|fail|failed|failure|fails|exception|raised|violat(?:ed|ion))\b)"
    rb"|\b[A-Za-z]\w*(?:Error|Exception|Failure)\b|^E(?:\d{4} |, \[)"
)
_HARMLESS = re.compile(
    rb"[\W\d_]{0,40}(?:\w+[\W\d_]+){0,4}?(?:(?i:warn(?:ing)?|wrn|info?|notice|note|debug|dbg|trace"
    rb"|verbose|hint|help)\b[^\w\s]|(?:WARN(?:ING)?|INFO|DEBUG|TRACE|NOTE)\b)"
    rb"|[DIW](?:\d{4} |, \[)|.{0,80}\blevel[\"']?[=:] ?[\"']?(?:warn|info|debug|trace)"
)
# A report of no errors is no error: `0 errors`, `no error`, `Errors: 0`.
_NONE = re.compile(rb"(?i)\b(?:0|no|without) (?:\w+ )?(?:errors?|failures?)\b|\berrors? ?[:=] ?0\b")
_FRAME = re.compile(
    rb"""(?ix)\s*(?:
        (?:at|from|in|by)[ ](?:[\w$.<>/:~\[(-]+[ (:.]|0x|async[ ])
      | (?:re-?)?(?:raised|called)[ ](?:at|by|from)\b | \#\d+\b | @[ ]+0x | \[\d+\][ ] | \d+:[ ]+\S
      | goroutine[ ] | callstack\b | (?:stack[ ]?)?(?:back)?trace(?:back)?\b
      | stack[ ]traceback | file[ ]"[^"]*",[ ]line | thrown[ ]in\b | while[ ](?:executing|compiling)
      | invoked[ ]from | \(file[ ]" | note:[ ] | execution[ ]halted | node\.js[ ]v\d | \[C\]:
      | \?\?: | \(use[ ].*\) | \.\.\.[ ]\d+[ ]more | exit(?:ing|[ ]status)\b
      | [\w$~<>*/]+(?:\.|::)[\w.$:~<>*/]+\([^()\s\"']*\)\s*$
    ) | .*,[ ]called[ ]at[ ] | \s.*:\d+:(?:\d+)?[ ]in[ ] | \s.*\bcalled[ ]at[ ].*[ ]line[ ]\d"""
)
_ORDINARY = re.compile(
    rb"""(?ix)\s*(?:
        (?:s[ ])?(?:un)?(?:sat|satisfiable)|unknown|success|unsupported|done|ok|bye|valid
      | [cvo](?:[ ].*)? | [()"].* | :[a-z].*
      | [\w .%()/#-]{1,60}[:=]\s*[-+]?[\d.,]+\s*(?:%|[a-z/]{1,8})?
      | [\W_]*
    )\s*$"""
)
_BOILERPLATE = re.compile(
    rb"(?i)\bplease\b|\bbug report|\breport (?:it|this|the|a)\b|@[\w-]+\.[a-z]{2,}\b(?!\()|https?://"
)
_PROSE = re.compile(rb"\b[A-Za-z]{3,}\b[\s\S]*\b[A-Za-z]{2,}\b")


def last_words(stdout: bytes, stderr: bytes) -> bytes | None:
    """Return the message of a run that failed, as one line; None if it printed none.

    A line with a word for how bad it is counts before others, the first of the worst; with it go
    the lines that explain it. Otherwise it is the end of stderr, or a sentence at the end of
    stdout.
    """
    errors, output = _telling(stderr), _telling(stdout)
    for lines in (errors, output):
        for pattern in (_WORST, _BAD):
            for at, line in enumerate(lines):
                if pattern.search(line) and not _NONE.search(line):
                    return _joined(_with_details(lines, at))
    if errors:
        return _joined(errors[-_LAST:])
    return _joined(output[-1:]) if output and _PROSE.search(output[-1]) else None


def _telling(stream: bytes) -> list[bytes]:
    """Return the lines of a stream that may be part of a message, without its blank lines."""
    end = _ESCAPE.sub(b"", stream[-_SEEN:])
    # A progress line is overwritten: what is left of it is behind its last carriage return.
    lines = [line.rstrip().rsplit(b"\r", 1)[-1] for line in end.split(b"\n")]
    return [
        line
        for line in lines
        if line
        and not any(each.match(line) for each in (_ORDINARY, _FRAME, _HARMLESS))
        and not _BOILERPLATE.search(line)
    ]


def _with_details(lines: list[bytes], at: int) -> list[bytes]:
    """Return a line with those after it that are indented or labelled (`Reason: ...`).

    If hardly any follow, the program has ended with them: then they all belong to it.
    """
    after = lines[at + 1 :]
    if len(after) >= _LAST:
        after = list(takewhile(_explains, after))
    return [lines[at], *after[:_DETAILS]]


def _explains(line: bytes) -> bool:
    return line[:1].isspace() or re.match(rb"[A-Z][a-z]+(?: [a-z]+)?:(?: |$)", line) is not None


def _joined(lines: list[bytes]) -> bytes:
    return b" ".join(b" ".join(lines).split())
