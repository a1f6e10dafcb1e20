"""Marks by which the processes of a run are known from all others, wherever they hide.

A process that forks twice, starts a session and closes its files has cut all ties
to the one that started it, but it has inherited two things: its environment,
which it may replace, and its resource limits. One of these, RLIMIT_LOCKS, has
had no effect since Linux 2.4.25 (getrlimit(2)), so it is free to carry a number.
"""

from __future__ import annotations

import os
import re
import resource
from dataclasses import dataclass

VARIABLE = "REDUCEKIT_RUN"
"""Environment variable of our children and theirs; the mark of last resort.

Its value grows by a part for each reducekit that runs inside another, where the
limit knows the outermost only.
"""

LIMIT = 10  # RLIMIT_LOCKS, asm-generic/resource.h; the module `resource` has no name for it
NONE = resource.RLIM_INFINITY
RUNS = 10**13
"""How many numbers there are for runs. With the slot, a mark must stay below 2**63."""

_SLOTS = 10**5
_CHUNK = 1 << 13
_SHOWN = re.compile(rb"^Max file locks +(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a run, or of one of its slots; `run` is from 0 to `RUNS`, exclusive."""

    run: int
    slot: int | None = None

    @property
    def number(self) -> int:
        """The value of the limit, for a slot."""
        return self.run * _SLOTS + (self.slot or 0) % _SLOTS

    @property
    def text(self) -> str:
        """A part of the variable's value: of the slot, or common to all of the run."""
        return f"/{self.run}." if self.slot is None else f"/{self.run}.{self.slot}."

    def on(self, pid: int, *, limits: bool) -> bool:
        """Say whether a process has this mark, be it running or (if in its limit) a zombie.

        `limits` says whether limits carry marks; where they do, the variable need
        not be looked at in a process without any.
        """
        if limits:
            number = limit(pid)
            if number is None or number == NONE:
                return False
            if number // _SLOTS == self.run:
                return self.slot is None or number == self.number
        return self.text.encode() in read(f"/proc/{pid}/environ")


def limits_usable() -> bool:
    """Say whether limits can carry marks: not if ours has one of a run that we are part of."""
    if resource.getrlimit(LIMIT) != (NONE, NONE):
        return False
    try:
        resource.setrlimit(LIMIT, (NONE, NONE))
    except (OSError, ValueError):  # some sandboxes know only a few limits
        return False
    return True


def limit(pid: int) -> int | None:
    """Return a process's soft limit, `NONE` if it has no mark; None if it has gone."""
    try:
        return resource.prlimit(pid, LIMIT)[0]
    except ProcessLookupError:
        return None
    except PermissionError:  # it runs as another user
        shown = _SHOWN.search(read(f"/proc/{pid}/limits"))
        return int(shown[1]) if shown else NONE


def read(path: str) -> bytes:
    """Return the contents of a file, nothing if it has gone or is not for us."""
    # Not by open(), which takes nearly twice the time: checks with limits come here.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    parts = []
    try:
        while part := os.read(fd, _CHUNK):
            parts.append(part)
    except OSError:
        pass
    finally:
        os.close(fd)
    return b"".join(parts)


def processes() -> list[int]:
    """Return the ids of all processes."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
