"""An executor that calls a Python function: for tests and oracles written in Python."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine

from reducekit.errors import Unresolved
from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.limits import Limits


class InProcess(Executor):
    """Checks a candidate by calling `interesting(text)`; limits have no effect."""

    def __init__(self, interesting: Callable[[bytes], bool], jobs: int = 1) -> None:
        self._interesting = interesting
        self._jobs = jobs
        self.runs = 0
        self._waiting: dict[int, bytes] = {}

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._jobs - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Accept a check; it runs in `wait`."""
        self._waiting[ticket] = text

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Run the latest check first: the order of verdicts must not matter.

        Raises TypeError if the function does not return a bool.
        """
        if not self._waiting:
            return []
        ticket, text = self._waiting.popitem()
        self.runs += 1
        try:
            answer = self._interesting(text)
        except Unresolved:
            return [Finished(ticket, interesting=False, outcomes=(), unresolved=True)]
        except TypeError as error:
            if "bytes" in str(error):
                error.add_note("the predicate receives bytes: compare with b'...', or decode() it")
            raise
        return [Finished(ticket, _as_bool(answer), ())]

    def cancel(self, ticket: int) -> None:
        """Forget a check."""
        self._waiting.pop(ticket, None)

    def close(self) -> None:
        """Forget all checks."""
        self._waiting.clear()


def _as_bool(answer: object) -> bool:
    """Return the predicate's answer. Raises TypeError for anything but a bool.

    A merely truthy value is usually a mistake: a coroutine is truthy, and so is "no".
    """
    kind = type(answer)
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return bool(answer)
    if isinstance(answer, Awaitable):
        if isinstance(answer, Coroutine):
            answer.close()  # otherwise Python warns that it was never awaited
        hint = "it must be a plain function, not `async def`"
    elif answer is None:
        hint = "return True or False; is there a path without `return`?"
    else:
        hint = "return True or False"
    shown = f" ({answer!r:.60})" if isinstance(answer, str | bytes | int | float) else ""
    said = "None" if answer is None else f"a value of type {kind.__name__}{shown}"
    raise TypeError(f"the predicate returned {said}: {hint}")
