"""The process of one run: reads a task and requests from standard input, and reports its state.

Both directions are lines of JSON. The events of a session are accumulated here and reported four
times a second, so ten thousand events cost the page as little as ten, and the session next to
nothing. When the input ends, so does the run: no run outlives the page's server.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reducekit import registry
from reducekit.errors import ReducekitError
from reducekit.events import Accepted, Event, PassStarted
from reducekit.hunt.inputs import own_generation
from reducekit.offers import with_defaults
from reducekit.oracle.outcome import Outcome
from reducekit.session import Failure, Options, Session
from reducekit.session.progress import Limit, Progress, in_words
from reducekit.session.report import Report
from reducekit.session.runs.trial import Trial
from reducekit.text import printable, shortened
from reducekit.ui.catalogue import worded

if TYPE_CHECKING:
    from reducekit.hunt.events import Bug, HuntEvent

_EVERY = 0.25  # seconds: looks fluent, at half the cost of ten times a second
_MESSAGE = 500  # characters
_OUTPUT = 200_000  # bytes of a program's output
_LAST = 1500  # bytes of each stream of the last check


@dataclass(slots=True)
class Told:
    """How much of the progress of a session the page has been told."""

    progress: Progress
    output: Callable[[], str] = str
    """Returns what the program printed last."""
    points: int = 0
    notices: int = 0
    changed: bool = False

    def see(self, event: Event) -> None:
        """Record an event."""
        self.progress.see(event)
        self.changed = True

    def state(self) -> dict[str, Any]:
        """Return the state, and what is new since the last call."""
        progress = self.progress
        self.changed = False
        points, notices = progress.curve[self.points :], progress.notices[self.notices :]
        self.points += len(points)
        self.notices += len(notices)
        since = progress.since
        return {
            "size": progress.size,
            "before": progress.size_before,
            "checks": progress.checks,
            "hits": progress.remembered,
            "interesting": progress.interesting,
            "accepted": progress.accepted,
            "pass": progress.pass_name,
            "round": progress.round,
            "seconds": round(progress.elapsed, 2),
            "left": in_words(progress.left()),
            "since": None if since is None else round(since, 1),
            "what": "" if progress.last is None else shortened(progress.last.what, _MESSAGE),
            "failure": printable(progress.failure),
            "points": [(checks, round(seconds, 3), size) for checks, seconds, size in points],
            "messages": [shortened(each, _MESSAGE) for each in notices],
            "passes": {
                name: [each.checks, each.accepted]
                for name, each in [*progress.passes.items()]
                if name
            },
            "output": self.output(),
        }


class Reporter:
    """Reports a state when it has changed, at most four times a second."""

    def __init__(self, out: IO[str], state: Callable[[], dict[str, Any] | None]) -> None:
        self._out = out
        self._state = state
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def say(self, **fields: Any) -> None:
        """Write a line."""
        with self._lock:
            self._out.write(json.dumps(fields) + "\n")
            self._out.flush()

    def close(self) -> None:
        """Report the last state."""
        self._over.set()
        self._thread.join()
        self._publish()

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            self._publish()

    def _publish(self) -> None:
        state = self._state()
        if state is not None:
            self.say(state=state)


def reduce(task: dict[str, Any], say: IO[str], requests: IO[str]) -> None:
    """Run a session."""
    values = dict(task["options"])
    for name in ("input", "output", "also_interesting"):
        if values.get(name) is not None:
            values[name] = Path(values[name])
    values["format"] = registry.frontend(task["format"], **task["format_options"])
    options = Options(**values)
    limit = Limit(options.max_checks, options.max_time, options.until)
    told = Told(Progress(limit=limit))
    reporter = Reporter(say, lambda: told.state() if told.changed else None)
    off: set[str] = set()

    def listen(event: Event) -> None:
        told.see(event)
        if isinstance(event, PassStarted) and event.name in off:
            session.skip_pass()

    session = Session(options, listen)
    told.output = lambda: printed(session.last_run)
    _handle_requests(requests, session, off)
    try:
        report = session.run()
    finally:
        reporter.close()
    reporter.say(report=_report(report))


def printed(outcomes: Sequence[Outcome]) -> str:
    """Return the last lines that the commands of a check printed, and how they ended."""
    parts = []
    for each in outcomes:
        shown = (stream[-_LAST:] for stream in (each.stdout, each.stderr) if stream)
        parts += [_tail(stream.decode("utf-8", "backslashreplace")) for stream in shown]
        parts.append(f"({each.describe()})\n")
    return "".join(parts)


def _tail(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _report(report: Report[bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.json())
    found["runs_again"] = [
        {
            "command": each.command,
            "ended": None if each.outcome is None else each.outcome.describe(),
            "output": ""
            if each.outcome is None
            else _console(each.outcome.stdout) + _console(each.outcome.stderr),
        }
        for each in report.reproducers
    ]
    return found


def run(task: dict[str, Any], say: IO[str], requests: IO[str]) -> None:
    """Run the commands on a text once."""
    failure = Failure(**task["failure"])
    trial = Trial(failure, Path(task["input"]).read_bytes(), task["suffix"])
    _handle_requests(requests, trial)
    outcomes = []
    for command, outcome in trial.run():
        outcomes.append(outcome)
        _say(
            say,
            console={
                "command": command,
                "output": _console(outcome.stdout),
                "errors": _console(outcome.stderr),
                "ended": outcome.describe(),
                "seconds": round(outcome.seconds, 3),
            },
        )
    seen = trial.verdict(outcomes)
    line = {"text": _console(seen.line), "stream": seen.stream} if seen.line else None
    _say(
        say, verdict={"interesting": seen.interesting, "words": printable(seen.words), "line": line}
    )


def generate(task: dict[str, Any], say: IO[str], requests: IO[str]) -> None:
    """Generate one random input."""
    generation = own_generation(task["format"])
    if generation is None:
        raise ReducekitError(f"there is no generator for {task['format']}")
    values = with_defaults(generation.options, task["values"])
    seed = int(task["seed"])
    with generation.make({**values, "default_seed": generation.default_seed, "seed": seed}) as made:
        generated = made.generate(seed)
        Path(task["output"]).write_bytes(generated.text)
        notes = [*made.notes, *([generated.note] if generated.note else [])]
        words = list(made.words(seed))
    _say(say, generated={"notes": notes, "words": words})


def hunt(task: dict[str, Any], say: IO[str], requests: IO[str]) -> None:
    """Search for failures on random inputs."""
    from reducekit.hunt import Hunt, HuntOptions

    values = dict(task["options"])
    options = HuntOptions(**{**values, "folder": Path(values["folder"])})
    found = Found()
    reporter = Reporter(say, lambda: found.state() if found.changed else None)

    def listen(event: HuntEvent) -> None:
        bug = found.see(event)
        if bug is not None:
            reporter.say(bug=bug)

    search = Hunt(options, listen)
    _handle_requests(requests, search)
    try:
        stats = search.run()
    finally:
        reporter.close()
    reporter.say(report={"stopped": stats.stopped, "inputs": stats.inputs, "bugs": len(stats.bugs)})


@dataclass(slots=True)
class Found:
    """The accumulated events of a hunt."""

    inputs: int = 0
    seconds: float = 0.0
    doing: str = ""
    messages: list[str] = field(default_factory=list)
    which: dict[str, str] = field(default_factory=dict)
    changed: bool = False

    def see(self, event: HuntEvent) -> dict[str, Any] | None:
        """Record an event; return a bug that is new or has changed."""
        from reducekit.hunt import events

        self.changed = True
        match event:
            case events.InputTested(stats=stats):
                self.inputs, self.seconds, self.doing = stats.inputs, stats.elapsed, ""
            case events.NewBug(bug=bug, which=which):
                self.which[bug.name] = which
                return self._bug(bug)
            case events.KnownBug(bug=bug):
                return self._bug(bug)
            case events.Reducing(bug=bug, event=Accepted(text=text)):
                self.doing = f"reducing: {len(text):,} bytes"
                return self._bug(bug, doing=f"{len(text):,}…")
            case events.Reduced(bug=bug):
                self.doing = ""
                return self._bug(bug)
            case events.HuntNotice(text=text):
                self.messages.append(shortened(text, _MESSAGE))
        return None

    def _bug(self, bug: Bug, doing: str = "") -> dict[str, Any]:
        reduced = bug.reduced_size is not None
        return {
            "name": bug.name,
            "title": printable(bug.title),
            "which": self.which.get(bug.name, "an earlier search"),
            "count": bug.count,
            "size": bug.size,
            "path": str(bug.path),
            "reduced": bug.reduced_size,
            "reduced_path": str(bug.reduced_path) if reduced else None,
            "doing": printable(bug.not_reduced) or doing,
        }

    def state(self) -> dict[str, Any]:
        """Return the state, and the messages since the last call."""
        self.changed = False
        messages, self.messages = self.messages, []
        return {
            "inputs": self.inputs,
            "seconds": round(self.seconds, 1),
            "doing": self.doing,
            "messages": messages,
        }


TASKS: dict[str, Callable[[dict[str, Any], IO[str], IO[str]], None]] = {
    "reduce": reduce,
    "run": run,
    "generate": generate,
    "hunt": hunt,
}


def _handle_requests(requests: IO[str], session: Any, off: set[str] | None = None) -> None:
    """Handle requests in a separate thread; stop the session when the input ends.

    `off` is kept to the passes that are to be skipped.
    """

    def listen() -> None:
        for line in requests:
            asked = json.loads(line)
            request = asked["do"]
            if request == "passes" and off is not None:
                off.clear()
                off.update(asked["off"])
            elif request in ("pause", "resume", "skip_pass"):
                getattr(session, request, lambda: None)()
            elif request == "stop":
                session.stop()
        session.stop("the page was closed")

    threading.Thread(target=listen, daemon=True).start()


def _console(text: bytes) -> str:
    shown = text[:_OUTPUT].decode("utf-8", "backslashreplace")
    more = len(text) - _OUTPUT
    return shown + (f"\n[{more:,} more bytes]\n" if more > 0 else "")


def _say(out: IO[str], **fields: Any) -> None:
    out.write(json.dumps(fields) + "\n")
    out.flush()


def main() -> None:
    """Perform the task in the first line of standard input."""
    # Output of other code must not be mistaken for our messages.
    out, sys.stdout = sys.stdout, sys.stderr
    task = json.loads(sys.stdin.readline())
    try:
        TASKS[task["kind"]](task, out, sys.stdin)
    except ReducekitError as error:
        _say(out, error=worded(error))
    except (OSError, ValueError, TypeError) as error:
        _say(out, error=f"{type(error).__name__}: {error}")
    _say(out, over=True)


if __name__ == "__main__":
    main()
