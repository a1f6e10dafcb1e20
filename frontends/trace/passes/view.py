"""A parsed trace as the passes see it: calls, their model, and where the replay ended."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, compress, groupby

from reducekit.change import Edit
from reducekit.document import Document
from reducekit.frontends.trace.language.calls import (
    Alteration,
    Call,
    Drops,
    Lazy,
    LongTrace,
    Trace,
    mapped,
    marks,
    plain,
    with_result,
)
from reducekit.frontends.trace.language.text import read_trace, spell
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.machine import Machine

# The number of calls of a long trace that share a node, which one edit can drop.
_BLOCK = 256

# A call with the machine and the open group before it.
_Start = tuple[int, Machine, tuple[int, ...]]

FirstFailing = Callable[[Sequence[Sequence[Call]]], int | None]
"""Plays small traces; returns the index of the first that fails as wanted; None if none does."""

# The maximum number of attempts to repair a broken contract.
_ROUNDS = 12
# The number of model states to cache, so that walks need not start at the first call.
_STARTS = 64


class TraceView:
    """A trace; immutable.

    Each call is a node of the document, with its `return` line and the comments before it; `edits`
    says which. `last_call` returns the index of the call in which the replay of the text ended,
    None if that is unknown. `keeps_result`: the failure is about the result of that call.
    `first_failing` finds the first of many small traces that fails in the same way, None where they
    cannot be played together. `lawful`: the input keeps to the contract whatever its calls return,
    so a failure is never a broken contract. Calls whose names are in `keep` stay, whatever an
    alteration says.
    """

    def __init__(
        self,
        trace: Trace,
        model: Model,
        last_call: Callable[[], int | None] = lambda: None,
        *,
        keeps_result: bool = False,
        first_failing: FirstFailing | None = None,
        lawful: bool = True,
        keep: frozenset[str] = frozenset(),
    ) -> None:
        self.trace = trace
        self.model = model
        self._last_call = last_call
        self.keeps_result = keeps_result
        self.first_failing = first_failing
        self.lawful = lawful
        self._keep = keep
        self.calls: Sequence[Call] = trace.calls
        self._plain = plain(trace.calls)
        self._block = _BLOCK if isinstance(trace.calls, LongTrace) else 0
        self.document = self._document()

    def _document(self) -> Document:
        text, calls, block = self.trace.text, self.calls, self._block
        head = len(self.trace.head)
        if isinstance(calls, LongTrace):
            ends = calls.ends
        else:
            sizes = (len(call.raw) for call in calls)
            ends = array("i", accumulate(sizes, initial=head))[1:]
        count = len(ends)
        if not block:
            nodes = array("i", range(2, count + 2))
            starts = array("i", [0, head]) + ends[:-1] if count else array("i", [0])
            return Document(
                text, starts, array("i", [len(text)]) + ends, array("i", [count + 1]) + nodes
            )
        # A long trace has a node for each block above those of its calls, so that one edit drops
        # 256.
        start, end, stop = (array(ends.typecode, [each]) for each in (0, len(text), 0))
        begin = head
        for first in range(0, count, block):
            some = ends[first : first + block]
            node, after = len(start), len(start) + 1 + len(some)
            start.append(begin)
            end.append(some[-1])
            stop.append(after)
            start.append(begin)
            start.extend(some[:-1])
            end.extend(some)
            stop.extend(range(node + 2, after + 1))
            begin = some[-1]
        stop[0] = len(start)
        return Document(text, start, end, stop)

    def edits(self, altered: Alteration, before: Alteration | None = None) -> tuple[Edit, ...]:
        """Return the edits that make an alteration on top of the one `before`.

        In a long trace, neighbours that are all dropped are one edit. So are neighbours that are
        all altered, unless there is no `before`: then other edits of them may follow.
        """
        altered = self._staying(altered)
        block, known = self._block, {} if before is None else self._staying(before)
        if not block:
            return tuple(
                self._edit(index + 1, calls)
                for index, calls in sorted(altered.items())
                if known.get(index) != calls
            )
        found: list[Edit] = []
        # Of a million calls, most blocks go as a whole or stay as they were.
        for number, some in self._by_block(altered):
            if known and all(known.get(each) == altered[each] for each in some):
                continue
            node = number * (block + 1) + 1
            if len(some) == min(block, len(self.calls) - number * block):
                # The whole block is one edit. Unless it is dropped, later edits may be about
                # single calls in it, and two edits of one place exclude each other.
                drops = isinstance(altered, Drops)
                calls = [] if drops else [call for each in some for call in altered[each]]
                if before is not None or not calls:
                    found.append(self._edit(node, calls))
                    continue
            found += [
                self._edit(node + 1 + each % block, altered[each])
                for each in some
                if known.get(each) != altered[each]
            ]
        return tuple(found)

    def _edit(self, node: int, calls: Sequence[Call]) -> Edit:
        return Edit(node, (self.text_of(calls),) if calls else ())

    def _by_block(self, altered: Alteration) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the altered calls of a long trace by their blocks, which are counted from 0."""
        block, count = self._block, len(self.calls)
        if isinstance(altered, Drops):
            for first in range(0, count, block):
                if some := altered.between(first, min(first + block, count)):
                    yield first // block, some
        else:
            for number, group in groupby(sorted(altered), lambda each: each // block):
                yield number, [*group]

    def of(self, calls: Sequence[Call]) -> TraceView:
        """Return another trace with the same model and player."""
        text = self.text_of(calls)
        return TraceView(
            read_trace(text, self.trace.format),
            self.model,
            first_failing=self.first_failing,
            lawful=self.lawful,
            keep=self._keep,
        )

    @cached_property
    def kept(self) -> frozenset[int]:
        """The indices of the calls that stay."""
        return frozenset(_where(marks(self._plain, lambda call: call.name in self._keep)))

    def keeps(self, calls: Iterable[Call]) -> bool:
        """Return whether other calls have as many of those that stay."""
        return not self._keep or self._kept_in(calls) >= len(self.kept)

    def _kept_in(self, calls: Iterable[Call]) -> int:
        return sum(call.name in self._keep for call in calls)

    def _staying(self, altered: Alteration) -> Alteration:
        """Return an alteration that drops no call that stays, unless it adds as many."""
        if not self._keep:
            return altered
        if isinstance(altered, Drops):
            return altered.without(self.kept)
        lost = self.kept.intersection(altered)
        if self._kept_in(call for calls in altered.values() for call in calls) >= len(lost):
            return altered
        return {at: calls for at, calls in altered.items() if at not in lost}

    @cached_property
    def last(self) -> int | None:
        """The index of the call in which the replay ended, None if that is unknown."""
        return self._last_call()

    def roles(self, *roles: str) -> list[int]:
        """Return the indices of the calls that have one of these roles in the model."""
        models = self.model.calls
        names = {name for name, each in models.items() if each.role in roles}
        return [*_where(marks(self._plain, lambda call: call.name in names))]

    @cached_property
    def groups(self) -> Sequence[tuple[int, ...]]:
        """The groups of calls, such as the literals of a clause with the 0 at its end.

        A group that is not ended is one too.
        """
        models, ends_group = self.model.calls, Machine(self.model).ends_group

        def part(call: Call) -> int:
            model = models.get(call.name)
            return 0 if model is None or not model.group else 1 + ends_group(call)

        # 0: in no group; 1: in one; 2: its end. As bytes, to be searched in C.
        parts = marks(self._plain, part)
        members = array("i", _where(parts))
        last = parts.translate(bytes([0, 0, 1]) + bytes(253), delete=b"\0")
        ends = array("i", (each + 1 for each in _where(last)))
        if len(members) > (ends[-1] if ends else 0):
            ends.append(len(members))

        def group(index: int) -> tuple[int, ...]:
            # Four bytes a member: group k has the members before `ends[k]`.
            return tuple(members[ends[index - 1] if index else 0 : ends[index]])

        found = Lazy(len(ends), group)
        return found if self._block else [*found]

    @cached_property
    def options(self) -> Sequence[int]:
        """The indices of the calls that set an option."""
        name = self.model.options.call
        return [*_where(marks(self._plain, lambda call: bool(name) and call.name == name))]

    def after(self, change: Alteration) -> list[Call]:
        """Return the bare calls with others in the place of some."""
        change = self._staying(change)
        return [new for at, old in enumerate(self.bare) for new in change.get(at, (old,))]

    def text_of(self, calls: Iterable[Call]) -> bytes:
        """Return the bytes of calls; those that were read stay as they were."""
        return b"".join(call.raw or spell(call, self.trace.format) for call in calls)

    @cached_property
    def bare(self) -> Sequence[Call]:
        """The calls without results: what they return may change with any change.

        But for handles, whose names later calls use.
        """
        if isinstance(self.calls, LongTrace):
            calls = self.calls
            return Lazy(len(calls), lambda index: self._without_result(calls[index]))
        return [*map(self._without_result, self.calls)]

    @cached_property
    def _walked(self) -> Sequence[Call]:
        """The bare calls as the machine needs them, to be walked through many times."""
        return mapped(self.calls, self._without_result) if self._block else self.bare

    def _without_result(self, call: Call) -> Call:
        return call if self.makes_handle(call) else with_result(call, None)

    def makes_handle(self, call: Call) -> bool:
        """Return whether what a call returns is a handle."""
        model = self.model.calls.get(call.name)
        return model is not None and bool(model.produces)

    def contract_closure(self, altered: Alteration) -> frozenset[int] | None:
        """Return which calls have to go too if some are altered, for the contract to be kept.

        A call that the model does not allow goes; one that is part of a group takes the group
        along. A call that the model cannot read at all stays: the program that reads the trace may
        know it. Calls that already break the contract in the file stay too, unless the input keeps
        the contract: one of them may be what fails. None if the contract cannot be kept.
        """
        altered = self._staying(altered)
        gone: set[int] = set()
        # What goes may have been needed by calls that stay. Each round walks the trace again.
        for _ in range(_ROUNDS):
            more = self._refused(altered, gone)
            if not more:
                return frozenset(gone)
            if self._keep and not self.kept.isdisjoint(more):
                return None
            gone |= more
        return None

    def repaired(self, alteration: Alteration) -> Alteration | None:
        """Return an alteration that also drops what has to go; None if that does not help."""
        gone = self.contract_closure(alteration)
        if gone is None:
            return None
        if isinstance(alteration, Drops):
            return alteration.with_(gone)
        return {**alteration, **dict.fromkeys(gone, ())}

    @cached_property
    def _breaches(self) -> frozenset[int]:
        if self.lawful:
            return frozenset()
        machine = Machine(self.model)
        return frozenset(
            index for index, call in enumerate(self._walked) if machine.make(call) is not None
        )

    @property
    def _stride(self) -> int:
        return len(self.calls) // (_STARTS // 8 if self._block else _STARTS) + 1

    def _start(self, before: int) -> _Start:
        """Return the last start at a call or before it.

        Starts are looked for as far as they are needed: that of a large part of a long trace is
        near its beginning.
        """
        wanted = before // self._stride
        while len(self._starts) <= wanted:
            start = next(self._more_starts, None)
            if start is None:
                break
            self._starts.append(start)
        return self._starts[min(wanted, len(self._starts) - 1)]

    @cached_property
    def _starts(self) -> list[_Start]:
        return []

    @cached_property
    def _more_starts(self) -> Iterator[_Start]:
        """The following starts, at regular distances, up to the first that is not allowed."""
        machine, models = Machine(self.model), self.model.calls
        step = self._stride
        group: tuple[int, ...] = ()
        for index, call in enumerate(self._walked):
            if index % step == 0:
                yield index, machine.copy(), group
            violation = machine.make(call)
            if call.name == "return" or (violation is not None and violation.malformed):
                continue
            if violation is not None:
                return
            if models[call.name].group:
                group = () if machine.ends_group(call) else (*group, index)

    def _refused(self, altered: Alteration, gone: set[int]) -> set[int]:
        """Walk through the calls that are left; return those that are not allowed.

        What comes before all that is altered is allowed, up to the last of `_starts` there.
        """
        # A walk of a million calls takes seconds, and what comes before the first change is known.
        start, group = 0, list[int]()
        machine = Machine(self.model)
        if altered and self.calls:
            first = next(iter(altered)) if isinstance(altered, Drops) else min(altered)
            start, known, opened = self._start(first)
            machine, group = known.copy(), list(opened)
        make, models = machine.make, self.model.calls
        refused: set[int] = set()
        broken = False
        walked = self._walked
        left: Iterable[int] = range(start, len(walked))
        if isinstance(altered, Drops):
            left = altered.others(start)
        for index in left:
            if index in gone:
                continue
            changed = altered.get(index)
            for each in (walked[index],) if changed is None else changed:
                model = models.get(each.name)
                grouped = model is not None and model.group
                if grouped:
                    group.append(index)
                violation = make(each)
                if violation is not None:
                    # A `return` line, or what only a command can read, is not the model's to judge.
                    if each.name == "return" or violation.malformed or index in self._breaches:
                        continue
                    refused.add(index)
                    broken = broken or bool(grouped)
                if grouped and machine.ends_group(each):
                    if broken:
                        return refused | set(group)  # the clause is open in the machine
                    group = []
        # A clause without its end at the end of the trace goes as a whole, too.
        if broken:
            refused |= set(group)
        return refused


def _where(marked: bytes) -> Iterator[int]:
    return compress(range(len(marked)), marked)
