"""Runs as the page knows them: a process for each, what it has told, and how to steer it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

MOST_POINTS = 2000
"""Of a curve. When there are more, every other one is dropped: a screen has no more columns."""
_MESSAGES = 200
_LINE = 8 << 20  # characters that a child may tell at once


@dataclass(slots=True)
class RunState:
    """What a run has told, added up; `version` grows with each change."""

    number: int
    kind: str
    title: str
    document: int | None = None
    output: Path | None = None
    status: str = "running"
    """running, paused, stopping, done, stopped, failed"""
    state: dict[str, Any] = field(default_factory=dict)
    points: list[list[float]] = field(default_factory=list)
    """Checks, seconds and bytes, from the input on."""
    epoch: int = 0
    """Grows when points were dropped, so that who has some of them begins anew."""
    messages: list[str] = field(default_factory=list)
    console: list[dict[str, Any]] = field(default_factory=list)
    bugs: dict[str, dict[str, Any]] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    error: str = ""
    version: int = 0

    def take(self, told: Mapping[str, Any]) -> None:
        """Take in a line of the child."""
        self.version += 1
        if "state" in told:
            state = dict(told["state"])
            new = state.pop("points", [])
            self._say(state.pop("messages", []))
            if not self.points and state.get("before"):
                self.points.append([0, 0.0, state["before"]])
            self.points += [list(point) for point in new]
            if len(self.points) > MOST_POINTS:
                self.points = [*self.points[:-1:2], self.points[-1]]
                self.epoch += 1
            self.state = state
        elif "console" in told:
            self.console.append(dict(told["console"]))
        elif "bug" in told:
            self.bugs[told["bug"]["name"]] = dict(told["bug"])
        elif "report" in told:
            self.result = dict(told["report"])
        elif "generated" in told:
            self.result = dict(told["generated"])
        elif "message" in told:
            self._say([told["message"]])
        elif "error" in told:
            self.error = str(told["error"])
        elif "over" in told:
            self.end()

    def end(self) -> None:
        """Note that there is nothing more to come."""
        self.version += 1
        if self.status in ("done", "stopped", "failed"):
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
        return self.status in ("done", "stopped", "failed")

    def _say(self, messages: list[str]) -> None:
        self.messages += messages
        del self.messages[:-_MESSAGES]

    def shown(self, points_known: int, epoch: int) -> dict[str, Any]:
        """Return what the page shows: the points that it does not know yet, the rest as it is."""
        known = points_known if epoch == self.epoch else 0
        return {
            "number": self.number,
            "kind": self.kind,
            "title": self.title,
            "document": self.document,
            "output": None if self.output is None else str(self.output),
            "status": self.status,
            "state": self.state,
            "points": self.points[known:],
            "from": known,
            "epoch": self.epoch,
            "messages": self.messages,
            "console": self.console,
            "bugs": list(self.bugs.values()),
            "result": self.result,
            "error": self.error,
        }


class Child:
    """The process of a run. `told` is called, in a thread of its own, with each line it tells."""

    def __init__(self, task: Mapping[str, Any], told: Callable[[Mapping[str, Any]], None]) -> None:
        self._told = told
        self._process = subprocess.Popen(
            [sys.executable, "-m", "reducekit.ui.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            # An interrupt is for the server, which then ends its children in order.
            start_new_session=True,
        )
        self._errors: list[str] = []
        self.ask(task)
        self._drain = threading.Thread(target=self._collect, daemon=True)
        self._drain.start()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def ask(self, request: Mapping[str, Any]) -> None:
        """Send a line; nothing if the process has ended."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()

    def close(self, seconds: float = 5.0) -> None:
        """End the run with the best text so far; kill it if that takes longer."""
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
                self._told(json.loads(line))
        code = self._process.wait()
        self._drain.join()
        if code:
            last = "".join(self._errors).strip().rpartition("\n")[2]
            self._told({"error": f"the run ended unexpectedly ({code}): {last}"})
        self._told({"over": True})

    def _collect(self) -> None:
        """Read what Python says of a bug, so that the pipe does not fill."""
        stderr = self._process.stderr
        assert stderr is not None
        for line in stderr:
            self._errors.append(line)
            del self._errors[:-50]


class Runs:
    """All runs of a server. Any thread may ask; `wait` waits for something to change."""

    def __init__(self) -> None:
        self._states: dict[int, RunState] = {}
        self._children: dict[int, Child] = {}
        self._changed = threading.Condition()
        self._closed = False

    def start(
        self,
        kind: str,
        title: str,
        task: Mapping[str, Any],
        *,
        document: int | None = None,
        output: Path | None = None,
    ) -> RunState:
        """Start a run."""
        with self._changed:
            number = len(self._states) + 1
            run = self._states[number] = RunState(number, kind, title, document, output)

        def told(line: Mapping[str, Any]) -> None:
            with self._changed:
                run.take(line)
                self._changed.notify_all()

        self._children[number] = Child({"kind": kind, **task}, told)
        return run

    def get(self, number: int) -> RunState:
        """Return a run. Raises KeyError."""
        return self._states[number]

    def ask(self, number: int, request: str) -> None:
        """Steer a run: stop, pause, resume or skip_pass. Raises KeyError."""
        with self._changed:
            run = self._states[number]
            if run.over:
                return
            run.status = {"stop": "stopping", "pause": "paused", "resume": "running"}.get(
                request, run.status
            )
            run.version += 1
            self._changed.notify_all()
        self._children[number].ask({"do": request})

    def wait_for_end(self, number: int, seconds: float) -> bool:
        """Wait until a run is over; say whether it is."""
        run = self._states[number]
        with self._changed:
            return self._changed.wait_for(lambda: run.over, seconds)

    def news(
        self, known: dict[int, tuple[int, int, int]], seconds: float
    ) -> list[dict[str, Any]] | None:
        """Wait for a change; return the runs that have changed, None when the server closes.

        `known` has, of each run, the version that the page knows, its number of points and their
        epoch; it is brought up to date.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._news(known), seconds)
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
