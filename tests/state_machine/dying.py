"""Runs a function in a child of this process, which SIGKILL may end at a chosen moment."""

import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

T = TypeVar("T")

WRITES = ("pwrite", "replace", "rename", "link", "ftruncate", "unlink", "mkdir")
"""The calls of `os` that change files, but for the writing to files that have no name yet."""


@dataclass(frozen=True)
class Ending:
    """What ends a run: the way, and the number of the check or of the change of a file."""

    how: Literal["by itself", "stop", "max_checks", "kill at check", "kill at write"] = "by itself"
    at: int = 0


def in_child(work: Callable[[], T], ending: Ending) -> T | None:
    """Return what a function returns in a child; None if the child was killed."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ours)
            if ending.how == "kill at write":
                _die_at_write(ending.at)
            with open(theirs, "wb") as pipe:
                pickle.dump(work(), pipe)
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return None
    result: T = pickle.loads(said)
    return result


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_at_write(number: int) -> None:
    left = number

    def deadly(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            if left == 0:
                die()
            left -= 1
            return call(*arguments, **named)

        return called

    for name in WRITES:
        setattr(os, name, deadly(getattr(os, name)))
