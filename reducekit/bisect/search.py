"""Which version to test next and which options to leave out, what a run shows, and the result.

Pure: nothing runs here. A version is good, bad, or fails in another way and so gives no verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from reducekit.oracle.also import Resolved
from reducekit.oracle.criterion import Criterion, innermost, verdict, within
from reducekit.oracle.own import OwnFailure
from reducekit.oracle.printed import ExitZero
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import Signature, is_failure, signature
from reducekit.run import Outcome
from reducekit.search.selecting import Selector
from reducekit.strategies.ddmin import selector
from reducekit.text import printable, without_middle

Verdict: TypeAlias = Literal["good", "bad", "skipped"]

_PART = re.compile(r"([0-9]+)|([A-Za-z]+)")
_BEFORE = ("dev", "a", "alpha", "b", "beta", "c", "pre", "preview", "rc")
"""What marks a version that came before the release of the same number, in their order."""
_END, _AFTER, _NUMBER = 0, 1, 2
_CANNOT_RUN = (126, 127)  # a shell's: not executable, not found; 127 also if a library is missing
_SKIP = 125  # a test's, as with `git bisect run`
_ANSWERS = 3  # shown
_LONGEST = 200  # characters of a failure


def version_key(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key for names with versions: `z3-4.8.9`, `z3-4.8.10rc1`, `z3-4.8.10`."""
    key = []
    for number, word in _PART.findall(name):
        if number:
            key.append((_NUMBER, int(number), ""))
        elif word.lower() in _BEFORE:
            key.append((_END - 1, _BEFORE.index(word.lower()), ""))
        else:
            key.append((_AFTER, 0, word))
    return [*key, (_END, 0, "")]


def next_version(good: int, bad: int, skipped: Collection[int]) -> int | None:
    """Return the version to test, between `good` and `bad`; None if none is left.

    It is the one closest to the middle. After a version that could not be tested, its neighbours
    probably cannot be tested either, so the distance doubles, on alternate sides.
    """
    left = [each for each in range(good + 1, bad) if each not in skipped]
    if not left:
        return None
    count = sum(good < each < bad for each in skipped)
    step = min((1 << min(count, 40)) - 1, (bad - good) // 4)
    target = (good + bad) // 2 + (step if count % 2 else -step)
    return min(left, key=lambda each: (abs(each - target), each))


def smallest(
    count: int, shows: Callable[[frozenset[int]], bool], pairs: Iterable[int] = ()
) -> frozenset[int]:
    """Return a set of the items `0 .. count-1` for which `shows` holds, as it does for all of them.

    No single item of it can be left out, nor can `i` and `i + 1` together for `i` in `pairs`. The
    empty set is tested first, since often nothing is needed. Then ddmin.
    """
    known: dict[frozenset[int], bool] = {frozenset(range(count)): True}

    def ask(kept: frozenset[int]) -> bool:
        if kept not in known:
            known[kept] = shows(kept)
        return known[kept]

    if ask(frozenset()):
        return frozenset()
    kept, pairs = frozenset(range(count)), tuple(pairs)
    while True:
        kept = _by_ddmin(kept, ask)
        couples = (frozenset((each, each + 1)) for each in pairs)
        found = next((each for each in couples if each <= kept and ask(kept - each)), None)
        if found is None:
            return kept
        kept -= found


def lowest(number: int, shows: Callable[[int], bool]) -> int:
    """Return the lowest number for which `shows` holds, as it does for `number`.

    0 and 1 are tested first: they are the least special values. Then bisection, which assumes that
    `shows` is monotone: about log2(number) tests.
    """
    for each in range(min(number, 2)):
        if shows(each):
            return each
    low = min(number, 2) - 1
    while number - low > 1:
        middle = (low + number) // 2
        low, number = (low, middle) if shows(middle) else (middle, number)
    return number


def _by_ddmin(items: frozenset[int], ask: Callable[[frozenset[int]], bool]) -> frozenset[int]:
    order, left = sorted(items), items
    state: Selector = selector(len(order))
    while (proposed := state.propose()) is not None:
        rest = left - {order[each] for each in proposed}
        if ask(rest):
            left, state = rest, state.after(proposed)
        else:
            state = state.after(())
    return left


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges a run of a version.

    If the criterion is the command's own failure (`asked`), a version that fails in another way
    gives no verdict, unless the good version fails like that too, with the signature `accepted`.
    """

    asked: Criterion
    accepted: Signature | None = None

    def of(self, outcomes: Sequence[Outcome], *, shown: bool) -> Verdict:
        """Return the verdict; `shown` says whether the runs showed the failure."""
        if shown:
            return "bad"
        if self.cannot_run(outcomes):
            return "skipped"
        first = outcomes[0]
        own = isinstance(innermost(self.asked), OwnFailure)
        other = own and is_failure(first) and signature(first) != self.accepted
        return "skipped" if other else "good"

    def cannot_run(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether a command crashed, was stopped, or could not be started."""
        skipping = (
            (*_CANNOT_RUN, _SKIP) if isinstance(innermost(self.asked), ExitZero) else _CANNOT_RUN
        )
        resolved = within(self.asked, Resolved)
        if resolved is not None and any(map(resolved.gives_up, outcomes)):
            return True
        return any(
            each.signal is not None or each.limit is not None or each.status in skipping
            for each in outcomes
        )


@dataclass(frozen=True, slots=True)
class Differs(Criterion):
    """The bad version shows the failure; the good one, which runs next, is good by its judge."""

    shown: Criterion
    judging: Judge
    each: int  # the number of commands of one version
    captures: bool = True

    @property
    def wall(self) -> float | None:
        return self.shown.wall

    @property
    def counts_steps(self) -> bool:
        return self.shown.counts_steps

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Ask for the bad version's outcomes, then for those of the good one."""
        bad, good = outcomes[: self.each], outcomes[self.each :]
        if len(bad) < self.each:
            return False if self.shown.judge(bad) is False else None
        if not good:
            return None if verdict(self.shown, bad) else False
        if len(good) < self.each and self.shown.judge(good) is None:
            return None
        return self.judging.of(good, shown=verdict(self.shown, good)) == "good"

    def describe(self) -> str:
        return f"{self.shown.describe()}, on the bad version only"


def cannot_start(outcomes: Sequence[Outcome]) -> bool:
    """Return whether a program is missing, or a library that it needs."""
    return any(each.status in _CANNOT_RUN for each in outcomes)


def ended(outcomes: Sequence[Outcome]) -> str:
    """Describe how the commands of a version ended: their answers, or how they failed."""
    parts = []
    for outcome in outcomes:
        answers = read_answers(outcome.stdout)
        said = [printable(each) for each in answers[:_ANSWERS]]
        said += ["..."] if len(answers) > _ANSWERS else []
        if is_failure(outcome) or not said:
            said.append(signature(outcome).describe())
        words = without_middle(printable(", ".join(said)), _LONGEST)
        parts.append(words if outcome.limit is None else outcome.describe())
    return ", then ".join(parts)


class Tested(NamedTuple):
    """A version that was tested, or that was unavailable."""

    version: str
    verdict: str  # good, bad or skipped
    ended: str  # how its run ended, or why there is none
    number: int  # its position, counted from the good end
    title: str = ""

    def line(self) -> str:
        """Return one line."""
        title = f" {self.title!r}" if self.title else ""
        return f"{self.version}{title}: {self.verdict} ({self.ended})"


@dataclass
class Report:
    """The result; after an interrupt, as far as it is known."""

    input: str
    fixed: bool  # whether the good versions are the newer ones
    total: int  # the number of versions, including both ends
    options: tuple[str, ...]  # the options that were candidates for dropping
    kept: tuple[int, ...] | None = None  # those that the failure needs; None if unknown
    good: str | None = None
    bad: str | None = None  # neighbours, except for the versions `between`
    exact: bool = False  # whether the search for the version has ended
    between: tuple[str, ...] = ()  # not tested: any of these may be the first
    failure: str = ""  # the failure, in words
    tested: list[Tested] = field(default_factory=list)
    commands: tuple[str, ...] = ()  # the command that fails, and the one that does not
    reduced: tuple[int, int, str] | None = None
    """Bytes of the input before and after, and the file that has the rest; None: not reduced."""
    runs: int = 0
    fetched: int = 0  # versions downloaded or built
    interrupted: bool = False

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The options that the failure needs."""
        return None if self.kept is None else tuple(self.options[each] for each in self.kept)

    @property
    def changes(self) -> list[str]:
        """The tested versions whose verdict differs from that of the previous one, in order."""
        known = sorted(
            (each for each in self.tested if each.verdict != "skipped"),
            key=lambda each: each.number,
        )
        return [
            later.version for earlier, later in pairwise(known) if earlier.verdict != later.verdict
        ]

    def text(self) -> str:
        """Return the summary."""
        return "\n".join(self._lines())

    def json(self) -> str:
        """Return the report as one JSON object."""
        ends = (
            {"last_bad": self.bad, "first_good": self.good}
            if self.fixed
            else {"last_good": self.good, "first_bad": self.bad}
        )
        return json.dumps(
            {
                "schema": 1,
                **ends,
                "between": list(self.between),
                "complete": self.exact and not self.interrupted,
                "failure": self.failure,
                "options": None if self.needed is None else list(self.needed),
                "changes": self.changes,
                "commands": list(self.commands),
                "versions": [
                    {"version": each.version, "verdict": each.verdict, "ended": each.ended}
                    for each in self.tested
                ],
                "reduced": self.reduced
                and dict(zip(("before", "after", "file"), self.reduced, strict=True)),
                "runs": self.runs,
                "fetched": self.fetched,
            },
            indent=2,
        )

    def _lines(self) -> Iterator[str]:
        if self.good is None or self.bad is None:
            yield "no version that fails and none that passes is known"
            return
        if not self.exact:
            yield f"stopped: {self.good} does not fail, {self.bad} does"
        elif self.fixed:
            yield f"first good version: {self.good} (last bad: {self.bad})"
        else:
            yield f"first bad version: {self.bad} (last good: {self.good})"
        if self.exact and self.between:
            yield f"not tested, and may be it: {', '.join(self.between)}"
        if self.exact and len(self.changes) > 1:
            yield f"the verdict changes more than once: at {', '.join(self.changes)}"
        if self.failure:
            yield f"failure: {self.failure}"
        if self.needed is not None:
            said = " ".join(self.needed) or "none"
            yield f"options needed: {said} (of {len(self.options)})"
        if self.reduced is not None:
            before, after, name = self.reduced
            yield f"input: {before:,} -> {after:,} bytes, {name}"
        skipped = sum(each.verdict == "skipped" for each in self.tested)
        counts = f"{self.total} known, {len(self.tested)} tried, {self.fetched} fetched"
        counts += f", {skipped} skipped" if skipped else ""
        yield f"runs: {self.runs}; versions: {counts}"
        for said, line in zip(("fails", "does not"), self.commands, strict=False):
            yield f"{said + ':':<10}$ {line}"
