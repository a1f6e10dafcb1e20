"""Failures other than the preserved one: met on the way, or accepted in its place unnoticed.

Pure: it records what was met; `other_failures` keeps the files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reducekit.oracle.criterion import Around, Criterion, innermost, within
from reducekit.oracle.own import SameSignature
from reducekit.oracle.signature import Signature, failure_line, is_failure, signature
from reducekit.run import Outcome

_MOST = 500  # kinds of failures that are counted
_REMEMBERED = 256  # ordinary ends, so that the usual `sat` is judged once
_DIGITS = b"0123456789"
_LONG = 1 << 16  # bytes of an output of a failure beyond which its middle is not looked at
_GLANCE = 2048  # the same for an output that most likely is ordinary: it costs 10 us, not 1 ms


@dataclass(slots=True, eq=False)
class Met:
    """A failure other than the preserved one: how often it was met, its smallest size in bytes."""

    signature: Signature
    count: int
    size: int
    complaint: bool  # whether the program only rejected its input, as it does with ill-formed text


class Slippage(NamedTuple):
    """An accepted text that is interesting, but fails in another way than before."""

    before: Signature
    after: Signature
    size: int  # bytes of the text
    step: int  # the number of the accepted text, starting from 1


@dataclass(frozen=True, slots=True)
class Captured(Around):
    """A criterion that ignores the outputs, and captures them for others."""

    captures: bool = True

    @property
    def is_test(self) -> bool:
        return self.inner.is_test


def captured(criterion: Criterion) -> Criterion:
    """Return a criterion that judges the same; outputs are captured unless it ignores them."""
    if criterion.captures or isinstance(criterion, SameSignature):
        return criterion
    return Captured(criterion)


@dataclass(slots=True, eq=False)
class SlippageTracker:
    """Notices failures of the first command that have another signature than the golden run's.

    `golden` are that run's outcomes, `criterion` is the one that candidates are
    judged by. `keep` gets each text that is the smallest with its signature so
    far. Of an interestingness test (`ExitZero`) only the script's own end is
    known: 0 and 1 are its verdicts; a signal, any other status, and a crash
    report in what it prints (where that is captured) count as failures.
    """

    golden: Sequence[Outcome]
    criterion: Criterion
    keep: Callable[[Signature, bytes], None] = lambda found, text: None
    slippages: list[Slippage] = field(default_factory=list)
    _expected: Signature = field(init=False)
    _met: dict[Signature, Met] = field(default_factory=dict)
    _ordinary: set[tuple[int | None, bytes, bytes]] = field(default_factory=set)
    _pending: dict[bytes, Signature] = field(default_factory=dict)  # interesting, not accepted yet
    _steps: list[int] = field(default_factory=list)  # the sizes of the accepted texts

    def __post_init__(self) -> None:
        kept = innermost(self.criterion)
        self._expected = (
            kept.expected if isinstance(kept, SameSignature) else self._signature(self.golden[0])
        )

    @property
    def met(self) -> list[Met]:
        """The other failures met: complaints last, then the most frequent first."""
        return sorted(
            self._met.values(),
            key=lambda met: (met.complaint, -met.count, met.signature.describe()),
        )

    def _is_ordinary(self, outcome: Outcome) -> bool:
        """Return whether a run that ended normally shows no failure; most are cached."""
        glance = self._heard(outcome, _GLANCE)
        # Numbers, as in models and statistics, make no failure, but every output another.
        out, err = (text.translate(None, _DIGITS) for text in (glance.stdout, glance.stderr))
        end = (outcome.status, out, err)
        if end in self._ordinary:
            return True
        if self._fails(glance):
            return False
        if len(self._ordinary) >= _REMEMBERED:
            self._ordinary.clear()
        self._ordinary.add(end)
        return True

    def see(self, text: bytes, interesting: bool, outcomes: Sequence[Outcome]) -> None:
        """Record a verdict on a text and the run that gave it."""
        if not outcomes:
            return
        outcome = outcomes[0]
        if interesting:
            # Where the signature is the criterion, it is the same. Where answers are, an error of
            # `eval` or of an option may go with its command.
            same = isinstance(self.criterion, SameSignature) or (
                self.criterion.compares_answers and _crash(self._heard(outcome)) is None
            )
            if not same:
                self._pending[text] = self._signature(outcome).without_quotes(text)
            return
        if outcome.signal is None and outcome.limit is None and self._is_ordinary(outcome):
            return
        found = self._signature(outcome)
        if not self._expected.covers(found):
            self._count(found, text, outcome)
            return
        from reducekit.oracle.stack import SameStack

        stack = within(self.criterion, SameStack)
        place = None if stack is None else stack.elsewhere(outcomes)
        if stack is not None and place is not None:
            words = f"in {place.describe(stack.count)}".encode()
            line = b"; ".join(filter(None, (found.line, words)))
            self._count(found._replace(line=line), text, outcome)

    def accept(self, text: bytes) -> None:
        """Record that a text, which was seen to be interesting, is now the best."""
        self._steps.append(len(text))
        found = self._pending.get(text)
        self._pending.clear()
        if found is None:
            return
        before = self.slippages[-1].after if self.slippages else self._expected
        if found != before and not before.covers(found):
            self.slippages.append(Slippage(before, found, len(text), len(self._steps)))

    def go_back(self, text: bytes) -> None:
        """Record that an earlier, larger text is the best again."""
        self._pending.clear()
        while self._steps and self._steps[-1] < len(text):
            self._steps.pop()
        while self.slippages and self.slippages[-1].step > len(self._steps):
            self.slippages.pop()

    def _fails(self, heard: Outcome) -> bool:
        if not self.criterion.is_test:
            return is_failure(heard)
        return heard.status not in (0, 1) or _crash(heard) is not None

    def _heard(self, outcome: Outcome, size: int = _LONG) -> Outcome:
        """Return a run as the criterion sees it: only the streams that it reads, shortened.

        A failure is reported at the beginning or at the end.
        """
        if not self.criterion.captures:
            heard = outcome.stdout or outcome.stderr
            return outcome._replace(stdout=b"", stderr=b"") if heard else outcome
        out, err = outcome.stdout, outcome.stderr
        if isinstance(self.criterion, SameSignature):
            out, err = out if self.criterion.out else b"", err if self.criterion.err else b""
        out, err = _ends(out, size), _ends(err, size)
        if out is outcome.stdout and err is outcome.stderr:
            return outcome
        return outcome._replace(stdout=out, stderr=err)

    def _signature(self, outcome: Outcome) -> Signature:
        heard = self._heard(outcome)
        # What a test prints besides crash reports may be anything.
        silent = self.criterion.is_test and _crash(heard) is None
        return signature(heard, out=not silent, err=not silent)

    def _count(self, found: Signature, text: bytes, outcome: Outcome) -> None:
        heard = self._heard(outcome)
        complaint = found.signal is None and found.line is not None and _crash(heard) is None
        found = found.without_quotes(text)
        met = self._met.get(found)
        if met is None:
            if len(self._met) == _MOST:
                return
            self._met[found] = Met(found, 1, len(text), complaint)
        else:
            met.count += 1
            if len(text) >= met.size:
                return
            met.size = len(text)
        self.keep(found, text)


def _crash(outcome: Outcome) -> bytes | None:
    return failure_line(outcome.stdout, outcome.stderr, crashed=True)


def _ends(text: bytes, size: int) -> bytes:
    """Return a text without its middle if it is long: whole lines at both ends are kept."""
    if len(text) <= size:
        return text
    half = size // 2
    first = text.rfind(b"\n", 0, half) + 1 or half
    last = text.find(b"\n", len(text) - half) + 1 or len(text) - half
    return text[:first] + text[last:]
