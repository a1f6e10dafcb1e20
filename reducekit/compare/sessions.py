"""Runs algorithms on files that fail: one session each, several at a time in threads.

A verdict is a fact about a text, so the sessions on a file share it: a text that one has tried
costs the next nothing, and all get the same verdicts. Each session still counts its own checks, so
its counts are as if it ran alone, whatever the number of threads.
"""

from __future__ import annotations

import shlex
import threading
from collections import Counter
from collections.abc import Collection, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, get_args

from reducekit import registry
from reducekit.compare.runs import Point, Run, Settings
from reducekit.errors import NotInterestingError, UsageError
from reducekit.events import Accepted, Checked, Event
from reducekit.executors import marks
from reducekit.executors.executor import Executor, Finished
from reducekit.format import Effort, Format
from reducekit.journal import digest
from reducekit.offers import FormatOption
from reducekit.oracle.criterion import Everything, Oracle, verdict
from reducekit.reduction.control import POLL
from reducekit.run import Guard, Limits
from reducekit.runtime import only_new
from reducekit.session import Failure, Options, Session
from reducekit.session.cluster import Cluster
from reducekit.session.failure import Opener, Words
from reducekit.session.place.inputs import naming, read_text
from reducekit.session.runs.run import opener_of
from reducekit.text import with_places

_ON_OFF = {"on": True, "off": False}


@dataclass(frozen=True, slots=True)
class Case:
    """A file that fails, and what all sessions on it share."""

    label: str
    format: str
    options: Options  # of its sessions, without the algorithm and the settings of the format

    @property
    def text(self) -> bytes:
        """The text to reduce."""
        assert isinstance(self.options.input, bytes)
        return self.options.input


def open_case(
    path: Path,
    label: str,
    format_name: str,
    settings: Collection[Settings],
    failure: Failure,
    guard: Guard,
    cluster: Cluster | None = None,
) -> Case:
    """Read a file and make sure that it fails, by a session without any check.

    It is parsed with every combination of settings. Checks run on the `cluster`, if given. Raises
    UsageError, ParseError or NotInterestingError.
    """
    text = read_text(path)
    with guard.allowed(), naming(str(path)):
        for each in settings:
            frontend_with(format_name, each).parse(text)
    failure = filled(failure, path)
    chosen = {field.name: getattr(failure, field.name) for field in fields(Failure)}
    options = Options(
        input=text,
        name=str(path),
        format=format_name,
        journal=False,
        patience=None,
        cluster=cluster,
        **chosen,
    )
    shared = SharedOracle(opener_of(options, registry.frontend(format_name).suffix, guard))
    options = replace(options, opener=shared.open, cluster=None)
    try:
        report = Session(replace(options, max_checks=0), guard=guard).run()
    except NotInterestingError as error:
        error.args = (f"{path}: {error}", *error.args[1:])
        raise
    if report.interrupted:
        raise KeyboardInterrupt
    return Case(label, format_name, options)


def labels_of(files: Sequence[Path]) -> list[str]:
    """Return short names for files: without suffixes, or those of their folders, or whole paths.

    A file called `input` is named after its folder. Raises UsageError for duplicate files.
    """
    folders = [path.absolute().parent.name for path in files]
    stems = [path.stem for path in files]
    short = [
        folder if stem == "input" and folder else stem
        for stem, folder in zip(stems, folders, strict=True)
    ]
    for labels in (short, folders, [str(path) for path in files]):
        if len(set(labels)) == len(files) and all(labels):
            return labels
    raise UsageError("a file is given twice")


def combinations(format_name: str, settings: Sequence[str]) -> list[Settings]:
    """Return all combinations of the values of `NAME=VALUE,VALUE` for options of a format.

    If an option is given twice, the last one counts; options that the format lacks are left out.
    Raises UsageError for an option that no format has, and for an invalid value.
    """
    declared = {option.name: option for option in registry.frontend_class(format_name).options}
    wanted: dict[str, list[str]] = {}
    for each in settings:
        spelled, equals, values = each.partition("=")
        name = spelled.replace("-", "_")
        if not equals or not values:
            raise UsageError(f"expected NAME=VALUE or NAME=VALUE,VALUE, not {each!r}")
        if name in declared:
            wanted[name] = values.split(",")
            continue
        classes = map(registry.frontend_class, registry.names(registry.FRONTENDS))
        known = {option.name for found in classes for option in found.options}
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"unknown format option {name!r}: {', '.join(sorted(known))}{hint}")
    found: list[Settings] = [()]
    for name, chosen in wanted.items():
        for value in chosen:
            _value(declared[name], value)
        found = [(*before, (name, value)) for value in chosen for before in found]
    return found


def frontend_with(format_name: str, settings: Settings) -> Format:
    """Return a new frontend with these settings: some frontends remember what they have seen."""
    declared = {option.name: option for option in registry.frontend_class(format_name).options}
    values = {name: _value(declared[name], value) for name, value in settings}
    return registry.frontend(format_name, **values)


def _value(option: FormatOption, value: str) -> str | bool:
    allowed = tuple(_ON_OFF) if option.kind == "flag" else option.choices
    if allowed and value not in allowed:
        raise UsageError(f"{option.name} must be {' or '.join(allowed)}, not {value!r}")
    return _ON_OFF[value] if option.kind == "flag" else value


def filled(failure: Failure, path: Path) -> Failure:
    """Fill the folder and the name of a file into the placeholders of its commands."""
    places = {"{dir}": str(path.parent), "{stem}": path.stem}

    def fill(command: Words) -> Words:
        if isinstance(command, str):
            return with_places(command, {key: shlex.quote(each) for key, each in places.items()})
        return [with_places(word, places) for word in command]

    return failure.with_commands(fill)


class _Key(NamedTuple):
    """Identifies a text. The golden run checks one text several times: those are numbered."""

    text: bytes
    golden_run: int | None


class _Check(NamedTuple):
    ticket: int
    key: _Key
    text: bytes
    limits: Limits


class SharedOracle:
    """Stores the verdicts of one case; `opener` opens the executor that runs unknown texts.

    Invariant: for each key in `_running`, exactly one client has a check in its own executor.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._changed = threading.Condition()
        self._known: dict[_Key, Finished] = {}
        self._running: set[_Key] = set()

    def open(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor for one session; it runs one check at a time."""
        return _Client(self, oracle)


class _Client(Executor):
    """The view of one session: its own executor, which is opened for the first unknown text."""

    def __init__(self, shared: SharedOracle, oracle: Oracle) -> None:
        self._shared = shared
        self._oracle = oracle
        self._golden = isinstance(oracle.criterion, Everything)
        self._asked = Counter[bytes]()
        self._inner: Executor | None = None
        self._check: _Check | None = None
        self._mine = False  # whether the check was submitted to the inner executor

    @property
    def free(self) -> int:
        return int(self._check is None)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        stands_for = digest(text)
        number = self._asked[stands_for] if self._golden else None
        self._asked[stands_for] += 1
        self._check = _Check(ticket, _Key(stands_for, number), text, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        check = self._check
        if check is None:
            return []
        if not self._mine:
            known = self._known_or_claimed(check.key, timeout)
            if known is not None:
                self._check = None
                return [known._replace(ticket=check.ticket)]
            if not self._mine:
                return []
        try:
            if self._inner is None:
                self._inner = self._shared._opener(self._oracle, 1)
            if self._inner.free:
                self._inner.submit(check.ticket, check.text, check.limits)
            finished = self._inner.wait(timeout)
        except BaseException:
            self.cancel(check.ticket)
            raise
        if finished:
            self._release(check.key, finished[0])
            self.runs = self._inner.runs
        return finished

    def cancel(self, ticket: int) -> None:
        """Forget the check; another session that waits for it then runs it."""
        check = self._check
        if check is None or check.ticket != ticket:
            return
        if self._inner is not None:
            self._inner.cancel(ticket)
        self._release(check.key, None)

    def close(self) -> None:
        if self._check is not None:
            self.cancel(self._check.ticket)
        if self._inner is not None:
            self._inner.close()

    def _known_or_claimed(self, key: _Key, timeout: float | None) -> Finished | None:
        """Return the verdict; None if this session is to run the check, or on timeout."""
        shared = self._shared
        with shared._changed:
            if key in shared._running:
                shared._changed.wait(timeout)
            known = shared._known.get(key)
            golden = None if self._golden else shared._known.get(_Key(key.text, 0))
            if known is None and golden is not None:
                # The first golden run on a text is judged instead of running it again.
                interesting = verdict(self._oracle.criterion, golden.outcomes)
                known = golden._replace(interesting=interesting)
            if known is None and key not in shared._running:
                shared._running.add(key)
                self._mine = True
            return known

    def _release(self, key: _Key, finished: Finished | None) -> None:
        self._check = None
        if not self._mine:
            return
        self._mine = False
        shared = self._shared
        with shared._changed:
            shared._running.discard(key)
            if finished is not None:
                shared._known[key] = finished
            shared._changed.notify_all()


class Algorithm(NamedTuple):
    """A strategy by name, such as `ddmin` or `auto:quick`, with settings of the format."""

    name: str
    settings: Settings


def algorithms_of(
    names: str, settings: Sequence[str], formats: Sequence[str]
) -> dict[str, list[Algorithm]]:
    """Return the algorithms for each format: every strategy with every combination of settings.

    `names` are strategies separated by commas; `settings` are options of a format with values
    separated by commas, such as `simplify=on,off`, ignored by formats without that option. Raises
    UsageError for unknown names.
    """
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise UsageError("no algorithm is given: name some, such as --strategies ddmin,hdd,auto")
    for name in found:
        base, colon, effort = name.partition(":")
        if colon and effort not in ("quick", "thorough"):
            raise UsageError(
                f"{name!r} is neither a strategy nor one followed by :quick or :thorough"
            )
        registry.strategy(base)
    return {
        name: [Algorithm(each, chosen) for chosen in combinations(name, settings) for each in found]
        for name in formats
    }


def run_all(
    case: Case, algorithms: Sequence[Algorithm], checks: int | None, jobs: int
) -> Generator[tuple[int, Run], None, None]:
    """Run all algorithms on a case, at most `jobs` at a time, each for at most `checks` checks.

    Yields the number of an algorithm and its run as each ends. Closing the generator stops the
    running ones.
    """
    running: set[Session] = set()
    ended = threading.Event()

    def run(algorithm: Algorithm) -> Run:
        name, _, given = algorithm.name.partition(":")
        frontend = frontend_with(case.format, algorithm.settings)
        efforts: dict[str, Effort] = {each: each for each in get_args(Effort)}
        effort = efforts.get(given, "normal")
        options = replace(
            case.options, strategy=name, effort=effort, format=frontend, max_checks=checks
        )
        curve = Curve(frontend, case.text)
        session = Session(options, curve.see)
        running.add(session)
        if ended.is_set():
            session.stop()
        try:
            report = session.run()
        finally:
            running.discard(session)
        counts = report.counts
        return Run(
            format=case.format,
            file=case.label,
            algorithm=algorithm.name,
            settings=algorithm.settings,
            unit=curve.unit,
            before=curve.points[0].size,
            bytes_before=len(case.text),
            bytes_after=len(report.text),
            checks=counts.checks,
            asked=counts.checks + counts.cache_hits,
            curve=tuple(curve.points),
            stopped=report.stopped,
        )

    with only_new(), ExitStack() as stack, ThreadPoolExecutor(jobs) as pool:
        # Otherwise the first executor to close would end the adoption of orphans for all.
        stack.callback(marks.set_adopting, marks.adopting())
        marks.set_adopting(True)
        numbers = {pool.submit(run, each): number for number, each in enumerate(algorithms)}
        waiting = set(numbers)
        try:
            while waiting:
                # In slices: a signal that comes just before a wait does not end it.
                done, waiting = wait(waiting, POLL, FIRST_COMPLETED)
                for future in sorted(done, key=numbers.__getitem__):
                    yield numbers[future], future.result()
        finally:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for session in tuple(running):
                session.stop()


class Curve:
    """Follows the size of the best text over the checks of a session."""

    def __init__(self, frontend: Format, text: bytes) -> None:
        self.unit = frontend.unit
        self._frontend = frontend
        self._checks = 0
        self.points = [Point(0, self._size(text))]

    def see(self, event: Event) -> None:
        """Record an event."""
        if isinstance(event, Checked):
            self._checks += not event.remembered
        elif isinstance(event, Accepted):
            size = self._size(event.text)
            if self.points[-1].checks == self._checks and len(self.points) > 1:
                self.points.pop()
            if size != self.points[-1].size:
                self.points.append(Point(self._checks, size))

    def _size(self, text: bytes) -> int:
        if self.unit == "bytes":
            return len(text)
        return self._frontend.measure(self._frontend.parse(text))[self.unit]
