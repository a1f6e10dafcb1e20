"""How the replay of one trace ended, and what its calls returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.run import Outcome, ended

OutcomeKind = Literal["ok", "contract", "parse", "mismatch", "signal", "exit", "timeout", "output"]

# Exit statuses of a replay that the library did not end itself.
CONTRACT, PARSE, MISMATCH = 86, 87, 88


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """The end of one replay.

    `kind`: "ok", "contract" (a call broke the contract of the API), "parse" (a call that the
    library does not have), "mismatch" (a call did not return what the trace says, or gave a wrong
    answer), "signal" and "exit" (the library died or exited), "timeout" (wall or CPU), "output"
    (it printed more than the limit).

    Exactly one of `status` and `signal` is not None: 0, 86, 87 or 88, or else the program's own.
    `last_call` is the index of the last call that began, -1 for none. `results` are those of the
    calls that returned, None for a call that returns nothing. `reason` explains "contract",
    "parse" and "mismatch". `seconds` is wall time, `cpu` CPU time in seconds.
    """

    kind: OutcomeKind
    status: int | None
    signal: int | None
    last_call: int
    results: Sequence[int | None]
    stdout: bytes
    stderr: bytes
    reason: str
    seconds: float
    cpu: float
    place: str = ""
    """Of a wrong answer: where it is and what shows it, which differs from trace to trace."""

    def describe(self) -> str:
        """Say in words how the replay ended."""
        if self.kind == "ok":
            return "passed"
        if self.kind == "timeout":
            return f"stopped after {self.seconds:.1f} s"
        if self.kind == "output":
            size = max(len(self.stdout), len(self.stderr))
            return f"stopped after {size} bytes of output"
        if self.reason:
            return self.reason
        return ended(self.status, self.signal)

    def as_outcome(self) -> Outcome:
        """Return what an oracle's criterion judges: the end of a run of a command."""
        limits: dict[OutcomeKind, Literal["time", "output"]] = {
            "timeout": "time",
            "output": "output",
        }
        return Outcome(
            status=self.status,
            signal=self.signal,
            stdout=self.stdout,
            stderr=self.stderr,
            limit=limits.get(self.kind),
            seconds=self.seconds,
        )


# Results by their types: of a register, only the bits of the type mean anything.
CONVERTED: Mapping[str, Callable[[int], int]] = {
    "int": lambda word: ((word & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000,
    "bool": lambda word: word & 1,
    "ptr": lambda word: word & 0xFFFFFFFFFFFFFFFF,
    "handle": lambda word: word & 0xFFFFFFFFFFFFFFFF,
}


def unplayable(index: int, call: Call, message: str) -> ReplayOutcome:
    """Return the outcome of a trace with a call that cannot be played: none of its calls was."""
    return ReplayOutcome(
        "parse", PARSE, None, -1, (), b"", b"", f"{where(index, call)}: {message}", 0.0, 0.0
    )


def first_mismatch(
    calls: Sequence[Call], results: Sequence[int | None], count: int
) -> tuple[int, Value, int] | None:
    """Return the first of `count` calls that did not return what the trace says.

    The triple is its index, the recorded and the real result. A recorded result of a call that
    returns nothing belongs to the latest call that did; before any it is compared with 0.
    """
    # So does Lingeling's own reader of traces.
    real = 0
    for index in range(count):
        call = calls[index]
        expected = call.arguments[0] if call.name == "return" and call.arguments else call.result
        found = results[index] if call.name != "return" else None
        if found is not None:
            real = found
        # Addresses, which are no numbers in a trace, differ from run to run.
        if isinstance(expected, int) and expected != real:
            return index, expected, real
    return None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended, as the fork server saw it, and what was printed.

    `late`: the child was killed as time was up. `seconds` is wall time.
    """

    wait_status: int
    late: bool
    seconds: float
    cpu: float
    stdout: bytes
    stderr: bytes


def where(index: int, call: Call) -> str:
    """Return the place of a call in a trace, and the call."""
    return f"{f'line {call.line}' if call.line else f'call {index + 1}'}: {call}"
