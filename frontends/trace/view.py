"""A parsed trace as the passes see it: calls, the model they go by, and where the replay ended."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from reducekit.document import Document
from reducekit.frontends.trace.calls import Call, Trace, without_results
from reducekit.frontends.trace.formats import read_trace, spell
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.machine import Machine

Alteration = Mapping[int, tuple[Call, ...]]
"""What stands in place of calls, by their indices; nothing for a call that is dropped."""

FirstFailing = Callable[[Sequence[Sequence[Call]]], int | None]
"""Plays small traces; returns the index of the first that fails as wanted, None if none does."""

_ROUNDS = 12
"""A contract that is not kept after so many repairs is given up."""
_STARTS = 64
"""So many states of the model are kept, for walks that need not begin at the first call."""


class TraceView:
    """A trace; immutable.

    The root's children are the calls: node `i + 1` is call `i`, with its
    `return` line and the comments before it. `last_call` returns the index of
    the call in which the replay of the text ended, None if that is unknown.
    `keeps_result` says that what that call returned is what is looked for.
    `first_failing` tells of many small traces the first that fails in the same
    way, None where there is no way to play many at a time.
    """

    def __init__(
        self,
        trace: Trace,
        model: Model,
        last_call: Callable[[], int | None] = lambda: None,
        *,
        keeps_result: bool = False,
        first_failing: FirstFailing | None = None,
    ) -> None:
        self.trace = trace
        self.model = model
        self._last_call = last_call
        self.keeps_result = keeps_result
        self.first_failing = first_failing
        self.calls: Sequence[Call] = trace.calls
        size = len(trace.text)
        ends = array("i", accumulate((len(call.raw) for call in trace.calls), initial=0))
        count = len(trace.calls) + 1
        self.document = Document(
            trace.text,
            array("i", [0]) + ends[:-1],
            array("i", [size]) + ends[1:],
            array("i", [count]) + array("i", range(2, count + 1)),
        )

    def of(self, calls: Sequence[Call]) -> TraceView:
        """Return another trace that goes by the same model, and is played by the same."""
        text = self.text_of(calls)
        return TraceView(
            read_trace(text, self.trace.format), self.model, first_failing=self.first_failing
        )

    @cached_property
    def last(self) -> int | None:
        """The index of the call in which the replay ended, None if that is unknown."""
        return self._last_call()

    def roles(self, *roles: str) -> list[int]:
        """Return the indices of the calls that have one of these roles in the model."""
        models = self.model.calls
        names = {name for name, each in models.items() if each.role in roles}
        return [index for index, call in enumerate(self.calls) if call.name in names]

    @cached_property
    def groups(self) -> Sequence[tuple[int, ...]]:
        """The groups of calls, such as the literals of a clause with the 0 at its end.

        A group that is not ended is one too.
        """
        models = self.model.calls
        machine = Machine(self.model)
        found: list[tuple[int, ...]] = []
        group: list[int] = []
        for index, call in enumerate(self.calls):
            model = models.get(call.name)
            if model is None or not model.group:
                continue
            group.append(index)
            if machine.ends_group(call):
                found.append(tuple(group))
                group = []
        if group:
            found.append(tuple(group))
        return found

    @cached_property
    def options(self) -> Sequence[int]:
        """The indices of the calls that set an option."""
        name = self.model.options.call
        return [index for index, call in enumerate(self.calls) if name and call.name == name]

    def after(self, change: Alteration) -> list[Call]:
        """Return the bare calls with others in the place of some."""
        return [new for at, old in enumerate(self.bare) for new in change.get(at, (old,))]

    def text_of(self, calls: Iterable[Call]) -> bytes:
        """Return the bytes of calls; those that were read stay as they were."""
        return b"".join(call.raw or spell(call, self.trace.format) for call in calls)

    @cached_property
    def bare(self) -> Sequence[Call]:
        """The calls without results: what they return may change with any change.

        But for handles, whose names later calls use.
        """
        return [call if self.makes_handle(call) else _bare(call) for call in self.calls]

    def makes_handle(self, call: Call) -> bool:
        """Say whether what a call returns is a handle."""
        model = self.model.calls.get(call.name)
        return model is not None and bool(model.produces)

    def contract_closure(self, altered: Alteration) -> frozenset[int] | None:
        """Return which calls have to go too if some are altered, for the contract to be kept.

        A call that the model does not allow goes; one that is part of a group
        takes the group along. What it returns is all that was ever refused
        where the file itself breaks the contract, None if it cannot be mended.
        """
        gone: set[int] = set()
        for _ in range(_ROUNDS):
            more = self._refused(altered, gone)
            if not more:
                return frozenset(gone)
            gone |= more
        return None

    def mended(self, alteration: Alteration) -> Alteration | None:
        """Return an alteration that also drops what has to go; None if it cannot be mended."""
        gone = self.contract_closure(alteration)
        return None if gone is None else {**alteration, **dict.fromkeys(gone, ())}

    @property
    def _stride(self) -> int:
        """How many calls there are from one start to the next."""
        return len(self.bare) // _STARTS + 1

    @cached_property
    def _starts(self) -> Sequence[tuple[int, Machine, tuple[int, ...]]]:
        """Where a walk may begin: at every so many calls, the machine and the open group there.

        Up to the first call that is not allowed.
        """
        machine, models = Machine(self.model), self.model.calls
        step = self._stride
        found: list[tuple[int, Machine, tuple[int, ...]]] = []
        group: tuple[int, ...] = ()
        for index, call in enumerate(self.bare):
            if index % step == 0:
                found.append((index, machine.copy(), group))
            if machine.allowed(call) is not None:
                if call.name == "return":
                    continue
                break
            machine.after(call)
            if models[call.name].group:
                group = () if machine.ends_group(call) else (*group, index)
        return found

    def _refused(self, altered: Alteration, gone: set[int]) -> set[int]:
        """Walk through the calls that are left; return those that are not allowed.

        What comes before all that is altered is allowed, up to the last of `_starts` there.
        """
        start, group = 0, list[int]()
        machine = Machine(self.model)
        if altered and self._starts:
            near = min(altered) // self._stride
            start, known, opened = self._starts[min(near, len(self._starts) - 1)]
            machine, group = known.copy(), list(opened)
        allowed, after, models = machine.allowed, machine.after, self.model.calls
        refused: set[int] = set()
        broken = False
        for index in range(start, len(self.bare)):
            if index in gone:
                continue
            call = self.bare[index]
            for each in altered.get(index, (call,)):
                model = models.get(each.name)
                grouped = model is not None and model.group
                if grouped:
                    group.append(index)
                if allowed(each) is not None:
                    if each.name == "return":
                        continue
                    refused.add(index)
                    broken = broken or bool(grouped)
                else:
                    after(each)
                if grouped and machine.ends_group(each):
                    if broken:
                        return refused | set(group)  # the clause is open in the machine
                    group = []
        if broken:
            refused |= set(group)
        return refused


def _bare(call: Call) -> Call:
    return call if call.result is None else without_results((call,))[0]
