"""The process of one run: reads a task and requests from standard input, tells how it goes.

Both are lines of JSON. What happens in a session is added up here and told four times a second,
so that ten thousand events cost the page as little as ten, and the session next to nothing.
When the input ends, so does the run: no run outlives the page's server.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reducekit import registry
from reducekit.errors import ReducekitError
from reducekit.events import Accepted, Checked, Event, FailureFound, Notice, PassEnded, RolledBack
from reducekit.offers import with_defaults
from reducekit.session import Failure, Options, Session
from reducekit.session.eta import in_words
from reducekit.session.progress import Limit, Progress
from reducekit.session.report import Report
from reducekit.session.trial import Trial
from reducekit.text import printable, shortened

if TYPE_CHECKING:
    from reducekit.hunt.events import HuntEvent
    from reducekit.hunt.stats import Bug

_EVERY = 0.25  # seconds: fluent to the eye, at half the cost of ten times a second
_MESSAGE = 500  # characters
_OUTPUT = 200_000  # bytes of a console


@dataclass(slots=True)
class RunStats:
    """What the events of a session add up to. Seen by one thread, told by another."""

    progress: Progress
    hits: int = 0
    interesting: int = 0
    what: str = ""
    failure: str = ""
    last_success: float | None = None
    points: list[tuple[int, float, int]] = field(default_factory=list)
    """Checks, seconds and bytes of what was accepted since this was told last."""
    messages: list[str] = field(default_factory=list)
    passes: dict[str, list[int]] = field(default_factory=dict)
    """Of each pass the checks and accepted steps."""
    changed: bool = False

    def see(self, event: Event) -> None:
        """Take an event in."""
        self.progress.see(event)
        self.changed = True
        match event:
            case Checked(remembered=True):
                self.hits += 1
            case Checked(interesting=interesting):
                self.interesting += interesting
            case Accepted(what=what):
                self.what = what
                self.last_success = time.monotonic()
                self._point()
            case RolledBack():
                self._point()
            case PassEnded(name=name, checks=checks, accepted=accepted):
                total = self.passes.setdefault(name, [0, 0])
                total[0] += checks
                total[1] += accepted
            case FailureFound(failure=failure):
                self.failure = failure
            case Notice(text=text):
                self.messages.append(shortened(text, _MESSAGE))

    def _point(self) -> None:
        progress = self.progress
        seconds = time.monotonic() - progress.begin
        self.points.append((progress.checks, round(seconds, 3), progress.size))

    def told(self) -> dict[str, Any]:
        """Return the state, and what is new since the last call."""
        progress = self.progress
        self.changed = False
        points, self.points = self.points, []
        messages, self.messages = self.messages, []
        seconds = time.monotonic() - progress.begin
        return {
            "size": progress.size,
            "before": progress.size_before,
            "checks": progress.checks,
            "hits": self.hits,
            "interesting": self.interesting,
            "accepted": progress.accepted,
            "pass": progress.pass_name,
            "round": progress.round,
            "seconds": round(seconds, 2),
            "left": in_words(progress.left()),
            "since": None
            if self.last_success is None
            else round(time.monotonic() - self.last_success, 1),
            "what": shortened(self.what, _MESSAGE),
            "failure": printable(self.failure),
            "points": points,
            "messages": messages,
            "passes": {name: list(each) for name, each in self.passes.items()},
        }


class Teller:
    """Tells a state as often as it changes, but no more than four times a second."""

    def __init__(self, out: IO[str], told: Callable[[], dict[str, Any] | None]) -> None:
        self._out = out
        self._told = told
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
        """Tell the last state."""
        self._over.set()
        self._thread.join()
        self._tell()

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            self._tell()

    def _tell(self) -> None:
        state = self._told()
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
    stats = RunStats(Progress(limit=limit))
    teller = Teller(say, lambda: stats.told() if stats.changed else None)
    session = Session(options, stats.see)
    _obey(requests, session)
    try:
        report = session.run()
    finally:
        teller.close()
    teller.say(report=_report(report))


def _report(report: Report) -> dict[str, Any]:
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
    _obey(requests, trial)
    for command, outcome in trial.run():
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


def generate(task: dict[str, Any], say: IO[str], requests: IO[str]) -> None:
    """Make one random input."""
    generation = registry.frontend_class(task["format"]).generation()
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
    """Look for failures on random inputs."""
    from reducekit.hunt import Hunt, HuntOptions

    values = dict(task["options"])
    options = HuntOptions(**{**values, "folder": Path(values["folder"])})
    found = Found()
    teller = Teller(say, lambda: found.told() if found.changed else None)

    def listen(event: HuntEvent) -> None:
        bug = found.see(event)
        if bug is not None:
            teller.say(bug=bug)

    search = Hunt(options, listen)
    _obey(requests, search)
    try:
        stats = search.run()
    finally:
        teller.close()
    teller.say(report={"stopped": stats.stopped, "inputs": stats.inputs, "bugs": len(stats.bugs)})


@dataclass(slots=True)
class Found:
    """What the events of a hunt add up to."""

    inputs: int = 0
    seconds: float = 0.0
    doing: str = ""
    messages: list[str] = field(default_factory=list)
    which: dict[str, str] = field(default_factory=dict)
    changed: bool = False

    def see(self, event: HuntEvent) -> dict[str, Any] | None:
        """Take an event in; return a bug that is new or has changed."""
        from reducekit.hunt import events

        self.changed = True
        match event:
            case events.InputTested(stats=stats):
                self.inputs, self.seconds, self.doing = stats.inputs, stats.elapsed, ""
            case events.NewBug(bug=bug, which=which):
                self.which[bug.finding.name] = which
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
            "name": bug.finding.name,
            "title": printable(bug.finding.title),
            "which": self.which.get(bug.finding.name, "an earlier search"),
            "count": bug.count,
            "size": bug.size,
            "path": str(bug.path),
            "reduced": bug.reduced_size,
            "reduced_path": str(bug.reduced_path) if reduced else None,
            "doing": printable(bug.not_reduced) or doing,
        }

    def told(self) -> dict[str, Any]:
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


def _obey(requests: IO[str], session: Any) -> None:
    """Do what is asked, in a thread of its own; stop when nobody can ask any more."""

    def listen() -> None:
        for line in requests:
            request = json.loads(line)["do"]
            if request in ("pause", "resume", "skip_pass"):
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
    """Do the task in the first line of standard input."""
    # Whatever is printed by others must not be taken for what we tell.
    out, sys.stdout = sys.stdout, sys.stderr
    task = json.loads(sys.stdin.readline())
    try:
        TASKS[task["kind"]](task, out, sys.stdin)
    except ReducekitError as error:
        notes = getattr(error, "__notes__", ())
        _say(out, error="\n".join([str(error), *notes]))
    except (OSError, ValueError, TypeError) as error:
        _say(out, error=f"{type(error).__name__}: {error}")
    _say(out, over=True)


if __name__ == "__main__":
    main()
