"""Runs as the page sees them: a process for each, the state it reported, and how to control it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from reducekit.runtime import own_python

MOST_POINTS = 2000
"""Points of a curve. Above that, every other one is dropped: screens have no more columns."""
_MESSAGES = 200
_OVER = ("done", "stopped", "failed", "removed")
_STATUS = {"stop": "stopping", "pause": "paused", "resume": "running", "remove": "removed"}
"""The status of a run after a request."""
_SHOWN = (
    *("number", "kind", "title", "name", "document", "command", "origin", "status", "state"),
    *("epoch", "messages", "console", "result", "error"),
)
"""What the page is shown of a run as it is."""
_LINE = 8 << 20  # maximum length of a line from a child, in characters


@dataclass(slots=True)
class RunState:
    """The accumulated reports of a run; `version` grows with each change."""

    number: int
    kind: str
    title: str
    name: str = ""
    """Of the file that is reduced."""
    document: int | None = None
    output: Path | None = None
    command: str = ""
    """What the checks run."""
    format: str | None = None
    """Of the text."""
    origin: int | None = None
    """Bytes of the file whose step the text is."""
    status: str = "running"
    """running, paused, stopping; done, stopped, failed; removed"""
    state: dict[str, Any] = field(default_factory=dict)
    points: list[list[float]] = field(default_factory=list)
    """Checks, seconds and bytes, starting with the input."""
    epoch: int = 0
    """Grows when points are dropped, so that clients that have some of them start over."""
    messages: list[str] = field(default_factory=list)
    console: list[dict[str, Any]] = field(default_factory=list)
    bugs: dict[str, dict[str, Any]] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    error: str = ""
    version: int = 0
    changed: float = field(default_factory=time.monotonic)
    """When the child reported last."""

    def take(self, line: Mapping[str, Any]) -> None:
        """Record a line from the child."""
        self.version += 1
        self.changed = time.monotonic()
        if "state" in line:
            state = dict(line["state"])
            new = state.pop("points", [])
            self._say(state.pop("messages", []))
            self.points += [list(point) for point in new]
            if len(self.points) > MOST_POINTS:
                self.points = [*self.points[:-1:2], self.points[-1]]
                self.epoch += 1
            self.state = state
        elif "console" in line:
            self.console.append(dict(line["console"]))
        elif "bug" in line:
            self.bugs[line["bug"]["name"]] = dict(line["bug"])
        elif "report" in line:
            self.result = dict(line["report"])
        elif "generated" in line or "verdict" in line:
            self.result = dict(line.get("generated") or line["verdict"])
        elif "message" in line:
            self._say([line["message"]])
        elif "error" in line:
            self.error = str(line["error"])
        elif "over" in line:
            self.end()

    def end(self) -> None:
        """Record that nothing more will come."""
        self.version += 1
        if self.over:
            return
        if self.error and self.status != "stopping":
            self.status = "failed"
        elif self.result is not None and not self.result.get("stopped"):
            self.status = "done"
        else:
            self.status = "stopped" if self.kind != "run" else "done"

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.status in _OVER

    def _say(self, messages: list[str]) -> None:
        self.messages += messages
        del self.messages[:-_MESSAGES]

    def shown(self, points_known: int, epoch: int) -> dict[str, Any]:
        """Return what the page shows: the points that it lacks, and everything else in full."""
        known = points_known if epoch == self.epoch else 0
        return {
            **{name: getattr(self, name) for name in _SHOWN},
            "output": None if self.output is None else str(self.output),
            "points": self.points[known:],
            "from": known,
            "bugs": list(self.bugs.values()),
            "age": round(time.monotonic() - self.changed, 2),
        }


class Child:
    """The process of a run. `receive` is called, in a separate thread, with each line from it."""

    def __init__(
        self, task: Mapping[str, Any], receive: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._receive = receive
        self._process = subprocess.Popen(
            own_python("-m", "reducekit.ui.child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            # Only the server receives interrupts; it then ends its children in order.
            start_new_session=True,
        )
        self._errors: list[str] = []
        self.ask(task)
        self._drain = threading.Thread(target=self._collect, daemon=True)
        self._drain.start()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def ask(self, request: Mapping[str, Any]) -> None:
        """Send a line; does nothing if the process has ended."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()

    def close(self, seconds: float = 5.0) -> None:
        """End the run, keeping the best text so far; kill it if that takes longer."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):
            stdin.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._thread.join(seconds)

    def _read(self) -> None:
        stdout: IO[str] | None = self._process.stdout
        assert stdout is not None
        while line := stdout.readline(_LINE):
            with contextlib.suppress(ValueError):
                self._receive(json.loads(line))
        code = self._process.wait()
        self._drain.join()
        if code:
            last = "".join(self._errors).strip().rpartition("\n")[2]
            self._receive({"error": f"the run ended unexpectedly ({code}): {last}"})
        self._receive({"over": True})

    def _collect(self) -> None:
        """Read Python's error output, so that the pipe does not fill up."""
        stderr = self._process.stderr
        assert stderr is not None
        for line in stderr:
            self._errors.append(line)
            del self._errors[:-50]


class Runs:
    """All runs of a server. Any thread may call it; `news` waits for changes."""

    def __init__(self) -> None:
        self._states: dict[int, RunState] = {}
        self._children: dict[int, Child] = {}
        self._changed = threading.Condition()
        self._closed = False

    def start(self, kind: str, title: str, task: Mapping[str, Any], **about: Any) -> RunState:
        """Start a run; `about` are fields of its state."""
        with self._changed:
            number = len(self._states) + 1
            run = self._states[number] = RunState(number, kind, title, **about)
            self._changed.notify_all()

        def receive(line: Mapping[str, Any]) -> None:
            with self._changed:
                run.take(line)
                self._changed.notify_all()

        self._children[number] = Child({"kind": kind, **task}, receive)
        return run

    def adopt(self, title: str, **about: Any) -> RunState:
        """Return a reduction that an earlier server made; `about` are fields of its state."""
        with self._changed:
            known = (each for each in self._states.values() if each.output == about["output"])
            if (run := next(known, None)) is None:
                run = RunState(len(self._states) + 1, "reduce", title, status="removed", **about)
            if run.status == "removed":
                run.status, self._states[run.number] = "done", run
                run.version += 1
                self._changed.notify_all()
            return run

    def get(self, number: int) -> RunState:
        """Return a run. Raises KeyError."""
        return self._states[number]

    def ask(self, number: int, request: str, **more: Any) -> None:
        """Control a run, or remove one that is over from the page. Raises KeyError."""
        with self._changed:
            run = self._states[number]
            if run.over != (request == "remove"):
                return
            run.status = _STATUS.get(request, run.status)
            run.version += 1
            self._changed.notify_all()
        if not run.over:
            self._children[number].ask({"do": request, **more})

    def wait_for_end(self, number: int, seconds: float) -> bool:
        """Wait until a run is over; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._states[number].over, seconds)

    def wake(self) -> None:
        """Let `news` look whether there is more."""
        with self._changed:
            self._changed.notify_all()

    def news(
        self, known: dict[int, tuple[int, int, int]], seconds: float, more: Callable[[], bool]
    ) -> list[dict[str, Any]] | None:
        """Wait for a change, or for `more`; return changed runs, None when the server closes.

        `known` has each run's version, number of points and their epoch on the page; it is updated.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._news(known) or more(), seconds)
            if self._closed:
                return None
            found = []
            for run in self._news(known):
                _, points, epoch = known.get(run.number, (0, 0, 0))
                found.append(run.shown(points, epoch))
                known[run.number] = (run.version, len(run.points), run.epoch)
            return found

    def _news(self, known: Mapping[int, tuple[int, int, int]]) -> list[RunState]:
        return [
            run
            for run in self._states.values()
            if known.get(run.number, (-1, 0, 0))[0] != run.version
        ]

    def close(self) -> None:
        """End all runs."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        threads = [threading.Thread(target=child.close) for child in list(self._children.values())]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
