"""A cluster that sessions share: opened once, closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from reducekit.errors import UsageError
from reducekit.executors.executor import Executor
from reducekit.oracle.criterion import Oracle
from reducekit.run import Closing

if TYPE_CHECKING:
    from reducekit.executors.cluster.connection import Connection


class Cluster(Closing):
    """Workers on other machines; several sessions may share them, also in several threads.

    `tell` is called with messages for the user: which worker gets no checks, or was lost. Messages
    are kept until it is set.
    """

    def __init__(self, described: str, *, ship: Sequence[Path] = (), local_slots: int = 0) -> None:
        """Connect, and wait for a worker.

        `described` is the address of a Dask scheduler (`tcp://HOST:PORT`), `local:N` for N
        workers on this machine, or a YAML file. The files to `ship` are sent along to the
        workers. If all are lost, `local_slots` jobs run here instead. Raises UsageError.
        """
        # Only who wants a cluster loads this.
        from reducekit.executors.cluster.admission import Shipped
        from reducekit.executors.cluster.connection import Connection
        from reducekit.executors.cluster.spec import ClusterSpec

        self._local_slots = local_slots
        self.shipped = Shipped.read(ship)  # the files sent to the workers
        self._waiting: list[str] = []
        self._listener: Callable[[str], None] | None = None
        spec = ClusterSpec.parse(described)
        self.connection: Connection = Connection(spec)

    @property
    def slots(self) -> int:
        """How many checks the workers can run in parallel."""
        return self.connection.slots

    def listen(self, tell: Callable[[str], None] | None) -> None:
        """Call that function with each message for the user, beginning with those kept so far."""
        self._listener = tell
        if tell is not None:
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                tell(each)

    def opener(
        self, suffix: str, *, name: str = "", workdir: str | None = None
    ) -> Callable[[Oracle, int], Executor]:
        """Return a function that opens executors on the workers; `suffix` is that of candidates."""
        from reducekit.executors.cluster.executor import ClusterExecutor

        def opened(oracle: Oracle, jobs: int) -> Executor:
            return ClusterExecutor(
                self.connection,
                oracle,
                jobs,
                suffix=suffix,
                name=name,
                shipped=self.shipped,
                local_slots=self._local_slots,
                workdir=workdir,
                tell=self.tell,
            )

        return opened

    def close(self) -> None:
        """Cancel all checks, and stop the workers that were started here."""
        self.connection.close()

    def tell(self, text: str) -> None:
        """Tell the user something."""
        if self._listener is None:
            self._waiting.append(text)
        else:
            self._listener(text)


def connected(
    cluster: str | Cluster | None, ship: Sequence[Path], local_slots: int, stack: ExitStack
) -> Cluster | None:
    """Return the cluster of these options; the stack closes what is opened. Raises UsageError."""
    if isinstance(cluster, str):
        return stack.enter_context(Cluster(cluster, ship=ship, local_slots=local_slots))
    if cluster is None and (ship or local_slots):
        raise UsageError(f"`{'ship' if ship else 'local_slots'}` requires `cluster`")
    return cluster
