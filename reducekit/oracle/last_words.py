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
    rb"|\b[A-Za-z]\w*(?:Error|Exception|Failure)\b|^! |^E(?:\d{4} |, \[)"  # `! ` is TeX's
)
_HARMLESS = re.compile(
    rb"[\W\d_]{0,40}(?:[A-Za-z]\w*\W[\W\d_]{0,40}){0,4}?(?:(?i:warn(?:ing)?|wrn|info?|notice|note|debug|dbg|trace"
    rb"|verbose|hint|help)\b ?[^\w\s]|(?:WARN(?:ING)?|INFO|DEBUG|TRACE|NOTE)\b)"
    rb"|[DIW](?:\d{4} |, \[)|.{0,80}\blevel[\"']?[=:] ?[\"']?(?:warn|info|debug|trace)"
)
# How many errors there were changes as the input shrinks: `Found 2 errors`, `3 type errors in f`.
_TOTAL = re.compile(
    rb"(?i)\W*(?:[a-z]+ ){0,2}\d+ (?:[\w/-]+ ){0,2}(?:errors?|warnings?|failures?)\b(?!:)"
)
# A report of no errors is no error: `0 errors`, `no error`, `Errors: 0`.
_NONE = re.compile(rb"(?i)\b(?:0|no|without) (?:\w+ )?(?:errors?|failures?)\b|\berrors? ?[:=] ?0\b")
_FRAME = re.compile(
    rb"""(?ix)\s*(?:
        (?:at|from|in|by)[ ](?:[\w$.<>/:~\[(-]+[ (:.]|0x|async[ ])
      | (?:re-?)?(?:raised|called)[ ](?:at|by|from)\b | \#\d+\b | @[ ]+0x | \[\d+\][ ]\S*\(
      | \d+:[ ]+\S | \d+\.\t | calls:[ ] | \S+\(\S*\+0x[0-9a-f]+\)[ ]?\[
      | goroutine[ ] | callstack\b | (?:stack[ ]?)?(?:back)?trace(?:back)?\b | stack[ ]dump:
      | stack[ ]traceback | file[ ]"[^"]*",[ ]line | thrown[ ]in\b | while[ ](?:executing|compiling)
      | invoked[ ]from | \(file[ ]" | note:[ ] | execution[ ]halted | node\.js[ ]v\d | \[C\]:
      | \?\?: | \(use[ ].*\) | \.\.\.[ ]\d+[ ]more | exit(?:ing|[ ]status)\b
      | -->[ ] | \d+[ ]+\|
      | [\w$~<>*/]+(?:\.|::)[\w.$:~<>*/]+\([^()\s\"']*\)\s*$
    ) | .*,[ ]called[ ]at[ ] | \s.*:\d+:(?:\d+)?[ ]in[ ] | \s.*\bcalled[ ]at[ ].*[ ]line[ ]\d
    | \s+[\w$<>*/-]+\([^()\"']*\)\s*$"""
)
_ORDINARY = re.compile(
    rb"""(?ix)\s*(?:
        (?:s[ ])?(?:un)?(?:sat|satisfiable)|unknown|success|unsupported|done|ok|bye|valid
      | [cvo](?![ ]+(?:fatal|error|internal|bug|panic|assert)\w*\b)(?:[ ].*)? | [()"].* | :[a-z].*
      | [\w .%()/#-]{1,60}[:=]\s*[-+]?[\d.,]+\s*(?:%|[a-z/]{1,8})?
      | [\W_]*
    )\s*$"""
)
_BOILERPLATE = re.compile(
    rb"(?i)\bplease\b|\bbug report|\breport (?:it|this|the|a)\b|@[\w-]+\.[a-z]{2,}\b(?!\()|https?://"
)
_LABEL = re.compile(rb"(?:[A-Z][a-z]+(?: [a-z]+){0,2}|(?:\w+::)*what(?:\(\))?):(?: |$)")
_PROSE = re.compile(rb"\b[A-Za-z]{3,}\b[\s\S]*\b[A-Za-z]{2,}\b")
# The words of a line that says only that a program failed.
_GENERIC = frozenset(
    b"""abandoned abnormal abnormally abort aborted aborting abrupt active all and anomaly are
    assert assertion batch because been begin broken bug call called calling caught check code
    compilation compiler compiling condition core crash crashed critical detected due dumped
    during end error errors exception exceptionally executed execution exit exited exiting fail
    failed failure failures fatal file following for found from function handler has have input
    internal interrupted invalid invariant job killed line log main message mode not occurred
    one output panic panicked pid please previous problem process processing produced program
    quitting raised reached report returned run running see signal simulation status stop
    stopped stopping summary task terminate terminated terminating termination that the this
    thread threw thrown tid unable uncaught unexpected unhandled unreachable unsuccessful user
    validating verification violated violation warning warnings was were while with without
    worker""".split()
)
# Words in capitals name the program or how bad it is. Identifiers and operators tell, and so do
# the kinds of memory errors, which come without a sentence.
_TELLS = re.compile(
    rb"(?i:segmentation fault|segv|bus error|overflow|out of memory|pure virtual|sanitizer)"
    rb"|\w\)* ?(?:[!=<>]=|&&|\|\|) ?[\w(]|\(\)|->|\b[a-z]\w*_\w|\b[A-Z]+_[A-Z]"
    rb"|\w\.\w*(?:Error|Exception)\b|(?<!\()\b(?!Assert)[A-Z][a-z]+[A-Z]\w*(?:Error|Exception)\b"
    rb"|\s[\"']*[a-z]*[A-Z][a-z]+[A-Z]\w*\b(?![./])"
)
_LOWER = re.compile(rb"(?<![\w.:/$@-])[a-z]{3,}(?![\w/$@]|\.\w)")


def last_words(stdout: bytes, stderr: bytes) -> bytes | None:
    """Return the message of a run that failed, as one line; None if it printed none.

    A line with a word for how bad it is counts before others, the first of the worst; with it go
    the lines that explain it. Otherwise it is the end of stderr, or a sentence at the end of
    stdout.
    """
    errors, output = _telling(stderr), _telling(stdout)
    bad = [
        (lines, at)
        for lines in (errors, output)
        for pattern in (_WORST, _BAD)
        for at, line in enumerate(lines)
        if pattern.search(line) and not _NONE.search(line)
    ]
    for lines, at in bad:
        said = _with_details(lines, at)
        if not is_generic(_joined(said)):
            # A heading that says nothing may be left out.
            return _joined(said[1:] if is_generic(lines[at]) else said)
    if bad:
        return _joined(_in_context(*bad[0]))
    if errors:
        # Progress and warnings before the last sentence change as the input shrinks.
        first = len(errors) - 1
        while first > max(0, len(errors) - _LAST) and not _stands_alone(errors[first]):
            first -= 1
        return _joined(errors[first:])
    return _joined(output[-1:]) if output and _PROSE.search(output[-1]) else None


def is_generic(line: bytes) -> bool:
    """Return whether a line says only that a program failed, not how."""
    line = re.sub(rb"^\[[\w:.-]+\] *", b"", line)  # the part of the program that speaks
    words = _LOWER.findall(line)
    return not _TELLS.search(line) and all(word in _GENERIC for word in words)


def _stands_alone(line: bytes) -> bool:
    return not (line[:1].isspace() or is_generic(line)) and _PROSE.search(line) is not None


def _telling(stream: bytes) -> list[bytes]:
    """Return the lines of a stream that may be part of a message, without its blank lines."""
    end = _ESCAPE.sub(b"", stream[-_SEEN:])
    # A progress line is overwritten: its last version follows the last carriage return.
    lines = [line.rstrip().rsplit(b"\r", 1)[-1] for line in end.split(b"\n")]
    return [
        line
        for line in lines
        if line
        and not any(each.match(line) for each in (_ORDINARY, _FRAME, _HARMLESS))
        and not (_BOILERPLATE.search(line) or _TOTAL.match(line))
    ]


def _with_details(lines: list[bytes], at: int) -> list[bytes]:
    """Return a line with the one that it announces and those that are indented or labelled."""
    said = at + lines[at].endswith(b":")
    return [
        *lines[at : said + 1],
        *takewhile(
            lambda line: line[:1].isspace() or _LABEL.match(line), lines[said + 1 :][:_DETAILS]
        ),
    ]


def _in_context(lines: list[bytes], at: int) -> list[bytes]:
    """Return a generic line with the next one that tells more, or else the last one before."""
    for after in range(at + 1, len(lines)):
        if not is_generic(lines[after]):
            return [lines[at], *_with_details(lines, after)]
    return [*[line for line in lines[:at] if _stands_alone(line)][-1:], lines[at]]


def _joined(lines: list[bytes]) -> bytes:
    return b" ".join(b" ".join(lines).split())
