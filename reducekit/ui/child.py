"""The process of one run: reads a task and requests from standard input, and reports its state.

Both directions are lines of JSON. The events of a session are accumulated here and reported four
times a second, so ten thousand events cost the page as little as ten, and the session next to
nothing. When the input ends, so does the run: no run outlives the page's server.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reducekit import registry
from reducekit.errors import ReducekitError
from reducekit.events import Accepted, Event, PassStarted
from reducekit.hunt.inputs import own_generation
from reducekit.offers import with_defaults
from reducekit.run import Outcome
from reducekit.session import Failure, Options, Session
from reducekit.session.progress import Limit, Progress
from reducekit.session.runs.trial import Trial
from reducekit.text import printable, shortened
from reducekit.ui.catalogue import worded

if TYPE_CHECKING:
    from reducekit.hunt.events import Bug, HuntEvent

_EVERY = 0.25  # seconds: looks fluent, at half the cost of ten times a second
_MESSAGE = 500  # characters
_OUTPUT = 200_000  # bytes of a program's output
_LAST = 1500  # bytes of each stream of the last check


class Reporter:
    """Writes lines of JSON, and a state when it has changed, at most four times a second."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._lock = threading.Lock()

    def say(self, **fields: Any) -> None:
        """Write a line."""
        with self._lock:
            self._out.write(json.dumps(fields) + "\n")
            self._out.flush()

    @contextlib.contextmanager
    def reporting(self, state: Callable[[], dict[str, Any] | None]) -> Iterator[None]:
        """Report a state meanwhile, and the last one at the end; it is None if it is known."""

        def publish() -> None:
            found = state()
            if found is not None:
                self.say(state=found)

        def run() -> None:
            while not over.wait(_EVERY):
                publish()

        over, thread = threading.Event(), threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            publish()


def reduce(task: dict[str, Any], reporter: Reporter, requests: IO[str]) -> None:
    """Run a session."""
    values = dict(task["options"])
    for name in ("input", "output", "also_interesting"):
        if values.get(name) is not None:
            values[name] = Path(values[name])
    values["format"] = registry.frontend(task["format"], **task["format_options"])
    options = Options(**values)
    limit = Limit(options.max_checks, options.max_time, options.until)
    progress, changed, off = Progress(limit=limit), threading.Event(), set[str]()
    known = {"points": 0, "messages": 0}

    def listen(event: Event) -> None:
        progress.see(event)
        changed.set()
        if isinstance(event, PassStarted) and event.name in off:
            session.skip_pass()

    def state() -> dict[str, Any] | None:
        """Return the state, and what is new since the last call; None if nothing is."""
        if not changed.is_set():
            return None
        changed.clear()
        found = progress.as_json(**known)
        for name in known:
            known[name] += len(found[name])
        return {**found, "output": printed(session.last_run)}

    session = Session(options, listen)
    _handle_requests(requests, session, off)
    with reporter.reporting(state):
        report = session.run()
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
    reporter.say(report=found)


def printed(outcomes: Sequence[Outcome]) -> str:
    """Return the last lines that the commands of a check printed, and how they ended."""
    parts = []
    for each in outcomes:
        for stream in (each.stdout, each.stderr):
            text = stream[-_LAST:].decode("utf-8", "backslashreplace")
            parts.append(text if text.endswith("\n") or not text else f"{text}\n")
        parts.append(f"({each.describe()})\n")
    return "".join(parts)


def run(task: dict[str, Any], reporter: Reporter, requests: IO[str]) -> None:
    """Run the commands on a text once."""
    failure = Failure(**task["failure"])
    trial = Trial(failure, Path(task["input"]).read_bytes(), task["suffix"])
    _handle_requests(requests, trial)
    outcomes = []
    for command, outcome in trial.run():
        outcomes.append(outcome)
        reporter.say(
            console={
                "command": command,
                "output": _console(outcome.stdout),
                "errors": _console(outcome.stderr),
                "ended": outcome.describe(),
                "seconds": round(outcome.seconds, 3),
            }
        )
    seen = trial.verdict(outcomes)
    line = {"text": _console(seen.line), "stream": seen.stream} if seen.line else None
    words = printable(seen.words)
    reporter.say(verdict={"interesting": seen.interesting, "words": words, "line": line})


def generate(task: dict[str, Any], reporter: Reporter, requests: IO[str]) -> None:
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
    reporter.say(generated={"notes": notes, "words": words})


def hunt(task: dict[str, Any], reporter: Reporter, requests: IO[str]) -> None:
    """Search for failures on random inputs."""
    from reducekit.hunt import Hunt, HuntOptions

    found = Found()

    def listen(event: HuntEvent) -> None:
        bug = found.see(event)
        if bug is not None:
            reporter.say(bug=bug)

    search = Hunt(HuntOptions(**task["options"]), listen)
    _handle_requests(requests, search)
    with reporter.reporting(lambda: found.state() if found.changed else None):
        stats = search.run()
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


TASKS = {each.__name__: each for each in (reduce, run, generate, hunt)}


def _handle_requests(requests: IO[str], session: Any, off: set[str] | None = None) -> None:
    """Handle requests in a thread; stop at their end. `off` is kept to the passes to skip."""

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


def main() -> None:
    """Perform the task in the first line of standard input."""
    # Output of other code must not be mistaken for our messages.
    reporter, sys.stdout = Reporter(sys.stdout), sys.stderr
    task = json.loads(sys.stdin.readline())
    try:
        TASKS[task["kind"]](task, reporter, sys.stdin)
    except ReducekitError as error:
        reporter.say(error=worded(error))
    except (OSError, ValueError, TypeError) as error:
        reporter.say(error=f"{type(error).__name__}: {error}")
    reporter.say(over=True)


if __name__ == "__main__":
    main()
