"""What a worker needs before it gets checks, and in words what it lacks."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.executors.cluster import remote
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.protocol import SENT_ALONG
from reducekit.oracle.command import PLACE, Command
from reducekit.version import __version__

_PATIENCE = 30.0  # seconds that a worker may take to say what it has


@dataclass(frozen=True, slots=True)
class Shipped:
    """A file to be sent along."""

    path: str
    """On the client, absolute."""
    mode: int
    data: bytes

    @property
    def name(self) -> str:
        """What it is called on the workers."""
        return os.path.basename(self.path)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> tuple[Shipped, ...]:
        """Read the files. Raises UsageError where that cannot be, or if two have one name."""
        found: dict[str, Shipped] = {}
        for path in paths:
            try:
                mode = stat.S_IMODE(path.stat().st_mode)
                each = cls(str(path.absolute()), mode, path.read_bytes())
            except OSError as error:
                raise UsageError(f"`ship`: {path} cannot be read: {error.strerror}") from None
            if each.name in found:
                raise UsageError(f"`ship`: two files are called {each.name}")
            found[each.name] = each
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Needs:
    """What the commands of an oracle need on a worker."""

    programs: tuple[str, ...]
    files: tuple[str, ...]
    directory: str


def needs_of(commands: Sequence[Command]) -> Needs:
    """Return what commands need: their programs, and what they name that is a file here."""
    words = [
        word
        for command in commands
        for word in command.words[1:]
        if PLACE not in word and not word.startswith(SENT_ALONG) and os.path.isfile(word)
    ]
    programs = [
        command.words[0] for command in commands if not command.words[0].startswith(SENT_ALONG)
    ]
    return Needs(tuple(dict.fromkeys(programs)), tuple(dict.fromkeys(words)), os.getcwd())


def sent_along(commands: Sequence[Command], shipped: Sequence[Shipped]) -> tuple[Command, ...]:
    """Return commands with places for the files that are sent along."""
    places = {each.path: SENT_ALONG + each.name for each in shipped}

    def place(command: Command) -> Command:
        first, *rest = command.words
        words = (first, *(os.path.abspath(word) if word else word for word in rest))
        return replace(
            command,
            words=tuple(
                places.get(path, word) for path, word in zip(words, command.words, strict=True)
            ),
        )

    return tuple(map(place, commands))


def ask(
    connection: Connection, address: str, needs: Needs, shipped: Sequence[Shipped]
) -> Future[tuple[str, tuple[str, ...]]]:
    """Ask a worker what it has, and give it what is sent along."""
    return connection.ask(
        address,
        remote.answer,
        connection.name,
        needs.directory,
        needs.programs,
        needs.files,
        [(each.name, each.mode, each.data) for each in shipped],
        seconds=_PATIENCE,
    )


def why_not(answer: tuple[str, tuple[str, ...]]) -> str:
    """Say what a worker lacks that has answered; empty: nothing."""
    version, missing = answer
    if version != __version__:
        return f"it has reducekit {version}, and this is {__version__}: install the same"
    return "; ".join(missing)


def why_no_answer(error: BaseException) -> str:
    """Say what is wrong with a worker that has not answered."""
    if isinstance(error, ModuleNotFoundError):
        return f"it has no {error.name}: install reducekit {__version__} there"
    return f"it does not answer ({str(error) or type(error).__name__})"


def listed(reasons: Mapping[str, str], *, most: int = 20) -> str:
    """Return a line for each worker with what is wrong with it."""
    lines = [f"  {address}: {why}" for address, why in list(reasons.items())[:most]]
    if len(reasons) > most:
        lines.append(f"  and {len(reasons) - most} more")
    return "\n".join(lines)


Tell = Callable[[str], None]
"""Takes a sentence for the user."""
