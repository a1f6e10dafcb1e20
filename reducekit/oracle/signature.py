"""What distinguishes one bug from another: how a run ended, and the line that reports the failure.

The tables below are based on the output of SMT and SAT solvers, sanitizers, the C and C++ libraries
and the runtimes of common languages.
"""

from __future__ import annotations

import re
import signal as signals
from typing import Literal, NamedTuple

from reducekit.run import Outcome, ended


class Signature(NamedTuple):
    """How a run ended and its normalised failure line, None if it printed none.

    A `*` in the line of an expected failure is any text. For a run that hit a limit, only the limit
    counts: where exactly it ended, and what was cut off the output, is chance.
    """

    status: int | None
    signal: int | None
    limit: Literal["time", "output"] | None
    line: bytes | None

    @property
    def any_line(self) -> bool:
        """Whether the line differs in each run, so that nothing of it is kept."""
        return self.line == b"*"

    def describe(self) -> str:
        """Describe what all runs that show this bug have in common."""
        if self.limit is None:
            end = ended(self.status, self.signal)
        else:
            end = f"stopped by the {self.limit} limit"
        return end if self.line is None else f"{end}, {self.line.decode(errors='backslashreplace')}"

    def without_quotes(self, text: bytes) -> Signature:
        """Return the same with `*` in the line for names and terms of the input `text`."""
        if self.line is None:
            return self
        from reducekit.oracle.quotes import without_quotes

        return self._replace(line=without_quotes(self.line, text))

    def covers(self, found: Signature) -> bool:
        """Return whether a run with the signature `found` shows this failure."""
        if self.line is None or found.line is None:
            return self == found
        from reducekit.oracle.quotes import fits

        return found._replace(line=self.line) == self and fits(found.line, self.line)


def signature(outcome: Outcome, *, out: bool = True, err: bool = True) -> Signature:
    """Return the signature of a run, with the failure line taken from the given streams only."""
    if outcome.limit is not None:
        return Signature(None, None, outcome.limit, None)
    line = message(outcome, out=out, err=err)
    if line is not None:
        from reducekit.oracle.quotes import normalise

        line = normalise(line)
    return Signature(outcome.status, outcome.signal, None, line)


_HEAP = re.compile(
    rb"(?:\*\*\* Error in .{0,200}?: )?(?:double free or corruption"
    rb"|corrupted (?:size|double-linked)"
    rb"|(?:free|malloc|realloc|calloc|munmap_chunk|malloc_consolidate|unlink_chunk)\(\):)"
)


def is_memory_fault(found: Signature) -> bool:
    """Return whether a run ended by SIGSEGV without a word, or as glibc found its heap corrupted.

    A write out of bounds ends in one of these ways as chance has it.
    """
    if found.line is None:
        return found.signal == signals.SIGSEGV
    return found.signal == signals.SIGABRT and _HEAP.match(found.line) is not None


_ABORTED = (None, signals.SIGABRT, signals.SIGTRAP, signals.SIGTERM)
"""How a program ends itself, after it has said why; other signals surprise it."""


def message(outcome: Outcome, *, out: bool = True, err: bool = True) -> bytes | None:
    """Return what a run says of its failure, as printed; None if it says nothing.

    That is its failure line or, where none of the known patterns fits or the line says nothing
    else, and it ended with a failure on purpose, its last words.
    """
    stdout, stderr = outcome.stdout if out else b"", outcome.stderr if err else b""
    if not stdout and not stderr:
        return None
    from reducekit.oracle.last_words import is_generic, last_words

    line = failure_line(stdout, stderr, crashed=outcome.signal is not None)
    # What is no single line of the output already has what the next ones say.
    says_nothing = line is None or (line in stdout + stderr and is_generic(line))
    if says_nothing and _ends_badly(outcome) and outcome.signal in _ABORTED:
        return last_words(stdout, stderr) or line
    return line


def is_failure(outcome: Outcome) -> bool:
    """Return whether a run failed, without any hint of the user on what failure means.

    Ordinary outcomes are status 0, 10 with `sat` and 20 with `unsat` (or without any answer, as is
    usual for SAT solvers), unless there is a failure line.
    """
    return _ends_badly(outcome) or failure_line(outcome.stdout, outcome.stderr) is not None


def _ends_badly(outcome: Outcome) -> bool:
    """Return whether the way in which a run ended is a failure, whatever it printed."""
    if outcome.signal is not None or outcome.limit is not None:
        return True
    if outcome.status == 0:
        return False
    # `s SATISFIABLE` is how SAT solvers print it.
    said = set(re.findall(rb"(?m)^(?:s )?(sat|unsat|SAT|UNSAT)(?:ISFIABLE)?\s*$", outcome.stdout))
    ordinary = {10: b"sat", 20: b"unsat"}.get(outcome.status or 0)
    return ordinary is None or bool(said and ordinary not in {word.lower() for word in said})


# Crash reports: a lower-case word that must occur, which is fast to search for and
# rules out most patterns (otherwise a model of 3 KB takes 2 ms), and the pattern.
_CRASHES: tuple[tuple[bytes, bytes], ...] = (
    (b"assert", rb"ASSERTION VIOLATION|Assertion\w{0,40}(?:Error|Exception)"),
    (b"assert", rb"[Aa]ssertion\b[^\n]{0,400}?\b(?:failed|FAILED|violated)"),
    (b"assert", rb"[Aa]ssert(?:ion)? fail(?:ed|ure)"),
    (b"unexpected code", rb"UNEXPECTED CODE WAS REACHED"),
    (b"unreachable", rb"(?i:unreachable (?:code|case|point|statement|executed))"),
    (b"not implemented", rb"NOT IMPLEMENTED YET"),
    (b"verify", rb"[Ff]ailed to verify:"),
    (b"fatal", rb"(?i:fatal (?:failure|error|exception))"),
    (
        b"internal",
        rb"(?i:internal (?:\w{1,40} )?(?:error|failure|bug|exception|consistency check))",
    ),
    (b"unhandled", rb"Unhandled\b"),
    (b"unhandled", rb"unhandled (?:case|exception|kind|operator|type|sort|node|signal|expr)"),
    (b"bug", rb"\bBUG detected|\bBUG:|(?i:this is a bug)"),
    (b"invalid", rb"(?i:an? invalid (?:model|proof|unsat core|lemma) was (?:generated|found))"),
    (b"errors satisfying", rb"ERRORS SATISFYING ASSERTIONS"),
    (b"check", rb"(?i:(?:model|proof|unsat[ -]core) check(?:ing)? (?:failed|error))"),
    (b"validation", rb"(?i:(?:model|proof|unsat[ -]core) validation (?:failed|error))"),
    (b"invalid", rb"(?i:invalid (?:model|proof|unsat core|witness)\b)"),
    (b"incorrect", rb"(?i:incorrect (?:model|proof|unsat core|witness)\b)"),
    (b"wrong", rb"(?i:wrong (?:model|proof|unsat core|witness)\b)"),
    (b"terminate called", rb"terminate called"),
    (b"sanitizer:", rb"\b(?:Address|Memory|Thread|Leak|UndefinedBehavior|HWAddress)Sanitizer:"),
    (b"runtime error:", rb"(?:: |^)runtime error:"),
    (b"panic", rb"thread '[^'\n]{0,400}'[^\n]{0,400}? panicked at|^panic:"),
    (b"exception", rb"Exception in thread|Uncaught exception"),
    (b"traceback", rb"Traceback \(most recent call last\)"),
    (
        b"***",  # not the banner of a program, nor the title of a stack trace
        rb"^\*\*\* *(?!(?i:info|warn(?:ing)?|this|copyright|see|for|or|enabled|please"
        rb"|version)\b|[^\n]*\b(?i:trace|compiled)\b)[^*\s]",
    ),
    (b"double free", rb"^double free or corruption"),
    (b"corrupted", rb"^corrupted (?:size|double-linked)"),
    (b"():", rb"^(?:free|malloc|realloc|calloc|munmap_chunk)\(\):"),
    (b"pure virtual", rb"pure virtual method called"),
    (b"overflow", rb"buffer overflow detected|(?i:stack overflow)"),
    (b"smashing", rb"stack smashing detected"),
    (b"fault", rb"(?i:segmentation fault|suffered a segfault|\bsegfault\b)"),
    (b"signal", rb"(?i:caught signal)"),
    (b"bus error", rb"(?i:bus error)"),
    (b"floating point", rb"(?i:floating point exception)"),
    (b"illegal", rb"(?i:illegal instruction)"),
    (b"aborted", rb"^Aborted\b"),
    (b"api ", rb"(?i:invalid API usage|API usage error|API contract viol)"),
)

# Complaints that are a failure only if the run did not crash: a run that ends in a
# signal may also have printed what it rejected before.
_COMPLAINING = (
    b"error",
    b"exception",
    b"undefined",
    b"unknown",
    b"expected",
    b"missing",
    b"invalid",
    b"unsupported",
)
# Where it is or who says so, as in `wolver: in.ts(3,40): `.
_SAYS = r"(?:(?!(?i:warning|note|info|hint)\b)[^\s:()]{1,300}(?:\(\d+(?:,\d+)?\))?:[ ]?)"
_COMPLAINT = re.compile(
    rf"""^[ \t]*(?!(?i:warning|note|info|hint)\b)(?:
      \(error\b
    | \[error\]
    # With a code: `error[E0425]:`, `Error (10161):`, `error TS2304:`.
    | (?i:{_SAYS}{{0,6}}(?:(?:parse|syntax|parser|type|user)[ ])?
          error(?:[ ]?[\[(]?[a-z]{{0,4}}\d+[\])]?)?[:!\]])
    | (?i:parse[ ]error|syntax[ ]error)
    | {_SAYS}{{1,6}}(?:undefined|unknown|unexpected|expected|missing|invalid|unsupported)\b
    | (?:[\w.$]+\.)?[A-Z]\w*(?:Error|Exception)(?::|$)
    )""".encode(),
    re.VERBOSE | re.MULTILINE,
)


def failure_line(stdout: bytes, stderr: bytes, *, crashed: bool = False) -> bytes | None:
    """Return the line that reports a failure, as printed, or None if there is none.

    Crash reports take precedence over complaints such as `(error "...")`, and stderr over stdout.
    Answers, models and warnings are not failures. If the next line says what failed, it is appended
    after a blank; an `(error "...")` that spans lines is taken as a whole, with white space folded.
    With `crashed` (the run ended in a signal) complaints are ignored: they did not end it.
    """
    for text in (stderr, stdout):
        found = _crash_line(text)
        if found is not None:
            return found
    if not crashed:
        for text in (stderr, stdout):
            lower = text.lower()
            if not any(word in lower for word in _COMPLAINING):
                continue
            match = _COMPLAINT.search(text)
            if match is not None:
                whole = _error(text, match.start())
                return whole or _with_cause(*_line(text, match.start()), text)
    return None


_ERROR = re.compile(rb'\(error[ \t\r\n"]')
# cvc5 quotes the line of the input, with a caret below: this is a location, like a line number.
_QUOTED = re.compile(rb"\n[^\n]*\n[ \t]*\^[ \t\r]*(?=\n)")


def _error(text: bytes, pos: int) -> bytes | None:
    """Return the `(error "...")` around `pos`, as one line if it spans several.

    The line of the input that it quotes is left out, as reduction changes it.
    """
    start = text.rfind(b"\n(error", 0, _line(text, pos)[1]) + 1
    if not _ERROR.match(text, start):
        return None
    from reducekit.oracle.responses import error_end

    closed = error_end(text, start)
    if closed is None or closed <= pos or b"\n" not in text[start:closed]:
        return None
    return b" ".join(_QUOTED.sub(b"", text[start:closed]).split())


def _crash_line(text: bytes) -> bytes | None:
    """Return the crash report in `text`, with the words that belong to it from later lines."""
    lower = text.lower()
    first = len(text)
    for word, pattern in _CRASHES:
        if word not in lower:
            continue
        passed = 0
        for match in re.finditer(pattern, text, re.MULTILINE):
            if match.start() >= first:
                break
            if match.start() < passed:
                continue
            line, passed = _line(text, match.start())
            # In a model or an echo any name may occur.
            if not line.lstrip().startswith(b"(") or line.lstrip().startswith(b"(error"):
                first = match.start()
                break
    if first == len(text):
        return None
    whole = _error(text, first)
    if whole is not None:
        return whole
    line, after = _line(text, first)
    return _with_details(line.strip(), text, after)


def _with_details(line: bytes, text: bytes, after: int) -> bytes:
    rest = [part.strip() for part in text[after : after + 20_000].split(b"\n")]
    said = [part for part in rest if part]
    following = said[0] if said else b""
    if line.startswith(b"ASSERTION VIOLATION"):
        # Z3: `File: ...`, `Line: ...`, then the condition or UNEXPECTED CODE WAS REACHED.
        condition = said[2] if len(said) > 2 and said[1].startswith(b"Line:") else b""
        return b" ".join(part for part in (line, following, condition) if part)
    if b"atal failure within" in line:
        # cvc5, Bitwuzla: the kind of failure and, for checks, the condition from
        # the source. Other kinds add terms of the input.
        kind = re.match(rb"(?:Check failure|Internal error detected|[A-Z][a-z]+ [a-z]+)", following)
        if kind is not None:
            line += b" " + kind[0]
            if kind[0] == b"Check failure" and len(said) > 1:
                line += b" " + said[1]
        return line
    if line.startswith(b"terminate called"):
        return line + b" " + following if following.startswith(b"what():") else line
    if b"panicked at" in line and following and not following.startswith(b"note:"):
        return line + b" " + following
    if b"Sanitizer:" in line:
        # The summary has the location in the source.
        summary = re.search(rb"(?m)^SUMMARY: \w+Sanitizer: .*$", text[after:])
        return summary[0].strip() if summary is not None else line
    if b"xception in thread" in line:
        return _with_cause(line, after, text)
    if line.startswith(b"Traceback"):
        # The exception is the first line that is not indented.
        raised = re.search(rb"(?m)^\S.*$", text[after:])
        return raised[0].strip() if raised is not None else line
    if b"segfault" in line and following.startswith(b"Offending address"):
        return line + b" " + following
    return line


# A sentence that goes on in the next line, with what it says of the input.
_UNFINISHED = re.compile(
    rb"(?:,|\b(?:a|an|and|as|at|by|for|from|has|in|is|of|on|or|that|the|to|types?|with))$"
)
_CAUSES = re.compile(rb"^Caused by:[ ]*(?:\n(?:[ \t]+\S.*\n?)+|.*)", re.MULTILINE)


def _with_cause(line: bytes, after: int, text: bytes) -> bytes:
    """Return a line with the next one if it announces that, or with those that its sentence
    goes on in, and the innermost cause if it has some."""
    line = line.strip()
    rest = text[after : after + 20_000]
    following = [each for each in rest.split(b"\n") if each.strip()]
    if line.endswith(b":"):
        line += b" " + (following.pop(0).strip() if following else b"")
    for each in following[:3]:
        if not _UNFINISHED.search(line):
            break
        line += b" " + each.strip()
    causes = _CAUSES.findall(rest)
    return line + b" " + causes[-1].strip().split(b"\n")[-1].strip() if causes else line


def _line(text: bytes, pos: int) -> tuple[bytes, int]:
    """Return the line around `pos` and the offset after its end."""
    start = text.rfind(b"\n", 0, pos) + 1
    end = text.find(b"\n", pos)
    end = len(text) if end < 0 else end
    return text[start:end], end + 1
