"""What client and worker say to each other: plain data, pickled once and passed on as bytes."""

from __future__ import annotations

import os
import pickle
import struct
import zlib
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from reducekit.delta import delta, patch
from reducekit.executors.executor import Finished
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle

LENGTH = struct.Struct("<Q")
"""Of a message: stands before it."""
SENT_ALONG = "\0"
"""Begins a word of a command that names a file that was sent along; no other has it."""
_LEVEL = 1  # of zlib: 30 ms for 3 MB, and a fifth of its size


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker has to know to run the checks of one executor."""

    oracle: Oracle
    suffix: str
    name: str
    """Of the candidate's file; empty: any."""
    directory: str
    """The client's current directory: that of the commands, too, where it exists."""


class NewText(NamedTuple):
    """A text as what it differs by from the base; without a base it is whole."""

    change: bytes
    whole: bool

    @classmethod
    def of(cls, text: bytes, base: bytes | None) -> NewText:
        """Describe a text, in whichever way is shorter."""
        if base is not None:
            change = delta(base, text)
            if len(change) < 256 or len(change) < len(text) // 4:
                return cls(change, False)
        return cls(zlib.compress(text, _LEVEL), True)

    def text(self, base: bytes) -> bytes:
        """Return the text."""
        return zlib.decompress(self.change) if self.whole else patch(base, self.change)


class Base(NamedTuple):
    """The text to which what follows refers, described by the base before it."""

    new: NewText


class Check(NamedTuple):
    """A check to be made."""

    ticket: int
    new: NewText
    limits: Limits


class Cancel(NamedTuple):
    """A check that nobody needs any more."""

    ticket: int


Order: TypeAlias = Base | Check | Cancel


class Report(NamedTuple):
    """What a worker has to say: checks that have finished, or why it cannot go on."""

    finished: tuple[Finished, ...] = ()
    runs: int = 0
    """How many runs of commands it has started since the last report."""
    failed: str | None = None


class Answer(NamedTuple):
    """What a worker says of itself before it gets checks."""

    version: str
    """Of reducekit."""
    missing: tuple[str, ...]
    """The programs and files that cannot be used there, and why."""


def in_place(command: Command, folder: str) -> Command:
    """Return a command with the paths that files have on a worker which were sent along."""
    words = (
        os.path.join(folder, word.removeprefix(SENT_ALONG)) if word.startswith(SENT_ALONG) else word
        for word in command.words
    )
    return replace(command, words=tuple(words))


def frame(message: Any) -> bytes:
    """Return a message as bytes that begin with their length."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


class Frames:
    """Takes bytes as they come, and gives back whole messages."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, part: bytes) -> list[Any]:
        """Take bytes in; return the messages that are whole now."""
        held, found, at = self._held, [], 0
        held += part
        while len(held) - at >= LENGTH.size:
            (length,) = LENGTH.unpack_from(held, at)
            end = at + LENGTH.size + length
            if end > len(held):
                break
            found.append(pickle.loads(memoryview(held)[at + LENGTH.size : end]))
            at = end
        del held[:at]
        return found
