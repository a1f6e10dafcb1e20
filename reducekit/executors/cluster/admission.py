"""Decides which workers can run the checks, and says what the others lack."""

from __future__ import annotations

import math
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.executors.cluster.checking import SHIPPED
from reducekit.executors.cluster.connection import Connection, Link
from reducekit.executors.executor import ExecutorError
from reducekit.oracle.command import PLACE, Command
from reducekit.runtime import __version__

_LATECOMERS = 1.0  # seconds that those who answer later are waited for, once one is admitted
_LISTED = 20  # workers

Tell = Callable[[str], None]  # called with a message for the user


@dataclass(frozen=True, slots=True)
class Shipped:
    """A file to send to the workers."""

    path: str  # the absolute path on the client
    mode: int
    data: bytes

    @property
    def name(self) -> str:
        """The file's name on the workers."""
        return os.path.basename(self.path)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> tuple[Shipped, ...]:
        """Read the files. Raises UsageError if one cannot be read, or if two have the same name."""
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


def sent_along(commands: Sequence[Command], shipped: Sequence[Shipped]) -> tuple[Command, ...]:
    """Return the commands with placeholders for shipped files."""
    places = {each.path: SHIPPED + each.name for each in shipped}

    def place(command: Command) -> Command:
        first, *rest = command.words
        words = (first, *(os.path.abspath(word) if word else word for word in rest))
        return command._replace(
            words=tuple(
                places.get(path, word) for path, word in zip(words, command.words, strict=True)
            ),
        )

    return tuple(map(place, commands))


class Members:
    """Asks workers whether they have what `commands` need; only `look` changes anything.

    `wake` is called, in any thread, when `look` has something to do.
    """

    def __init__(
        self,
        connection: Connection,
        commands: Sequence[Command],
        shipped: Sequence[Shipped],
        tell: Tell,
        wake: Callable[[], None],
    ) -> None:
        self.admitted: dict[str, Link] = {}
        self.refused: dict[str, str] = {}  # the reason for each
        programs = [each.words[0] for each in commands]
        files = [
            word
            for command in commands
            for word in command.words[1:]
            if PLACE not in word and not word.startswith(SHIPPED) and os.path.isfile(word)
        ]
        self._needs = (
            os.getcwd(),
            tuple(dict.fromkeys(each for each in programs if not each.startswith(SHIPPED))),
            tuple(dict.fromkeys(files)),
            tuple((each.name, each.mode, each.data) for each in shipped),
        )
        self._connection = connection
        self._tell = tell
        self._wake = wake
        self._alone: float | None = None  # when the last worker was lost; None while there is one

    @property
    def seconds_alone(self) -> float | None:
        """Seconds without a worker; None if there is one, or one is being asked."""
        return None if self._alone is None else time.monotonic() - self._alone

    def look(self) -> None:
        """Admit or refuse the workers that are there now, and ask the others what they lack."""
        for address, why in self._connection.refused.items():
            self.refuse(address, why)
        workers = self._connection.workers
        self.refused = {each: why for each, why in self.refused.items() if each in workers}
        heard = {link: self._heard(link) for link in self._connection.links.values()}
        self.admitted = {link.address: link for link, fit in heard.items() if fit}
        if self.admitted or None in heard.values():
            self._alone = None
        elif self._alone is None:
            self._alone = time.monotonic()

    def _heard(self, link: Link) -> bool | None:
        """Return whether a worker has all that is needed; None while it is being asked."""
        if link.address in self.refused:
            return False
        if link.version != __version__:
            version = f"it has reducekit {link.version}, and this is {__version__}"
            self.refuse(link.address, f"{version}: install the same")
            return False
        answer = link.answers.get(self._needs)
        if answer is None:
            answer = self._connection.call(link, "missing", *self._needs)
            link.answers[self._needs] = answer
            answer.add_done_callback(lambda _: self._wake())
        if not answer.done():
            return None
        missing = answer.result() if answer.exception() is None else None
        if missing == []:
            return True
        link.answers.pop(self._needs, None)  # who asks next, asks again
        if missing:
            self.refuse(link.address, "; ".join(missing))
            return False
        return None  # no answer: the connection gives it up if that goes on

    def wait_for_first(self, patience: float = math.inf) -> None:
        """Wait until a worker is admitted, or until there was none for `patience` seconds.

        Raises UsageError if no worker can run the commands, ExecutorError if all are gone.
        """
        end = time.monotonic() + _LATECOMERS
        while True:
            self.look()
            workers = self._connection.workers.keys()
            unknown = workers - self.refused.keys() - self.admitted.keys()
            if self.admitted and (not unknown or time.monotonic() > end):
                return
            if workers and not unknown:
                raise UsageError(
                    "no worker of the cluster can run this:\n"
                    f"{_listed(self.refused)}\n"
                    "`ship` sends a program or file along"
                )
            # A client without a scheduler keeps listing workers that it cannot reach any more.
            if (self.seconds_alone or 0.0) > patience:
                return
            self.require()
            time.sleep(0.01)

    def refuse(self, address: str, why: str) -> None:
        """Stop using a worker, and tell the user why."""
        self.admitted.pop(address, None)
        if address not in self.refused:
            self.refused[address] = why
            self._tell(f"worker {address} gets no checks: {why}")

    async def ship(self, link: Link) -> None:
        """Send the shipped files to a checker, whatever else it lacks."""
        await link.actor.missing(*self._needs)

    def require(self) -> None:
        """Raise ExecutorError if there has been no worker for too long, or all were refused."""
        alone = self.seconds_alone
        if alone is None:
            return
        workers = self._connection.workers
        if workers and workers.keys() <= self.refused.keys():
            raise ExecutorError(
                f"no worker of the cluster can run checks any more:\n{_listed(self.refused)}"
            )
        patience, why = self._connection.spec.wait, self._connection.why or "none is left"
        if alone > patience:
            raise ExecutorError(
                f"no worker of the cluster came back in {patience:g} s: {why}; start one, or let "
                "`local_slots` take over"
            )


def _listed(reasons: Mapping[str, str]) -> str:
    """Return one line per worker with the reason why it was refused."""
    lines = [f"  {address}: {why}" for address, why in list(reasons.items())[:_LISTED]]
    if len(reasons) > _LISTED:
        lines.append(f"  and {len(reasons) - _LISTED} more")
    return "\n".join(lines)
