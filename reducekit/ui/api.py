"""What the page can ask for: each public method of `Api` is one request, from JSON to JSON."""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from reducekit import __version__, registry
from reducekit.errors import ReducekitError, UsageError
from reducekit.journal import Contents, journal_path, load
from reducekit.offers import FormatOption
from reducekit.reports import account, issue, page
from reducekit.reports.steps import changes
from reducekit.session import Failure, Options
from reducekit.ui.documents import Document, Documents
from reducekit.ui.folders import Folders
from reducekit.ui.pictures import diagram_json, shown
from reducekit.ui.runs import Runs, RunState
from reducekit.ui.settings import Settings

_SECONDS = 120  # for a random input to be made
_LONGEST_DIFF = 4 << 20  # bytes
_DRAWN = 2 << 20  # bytes of a text that is drawn: some 3 s and 200,000 nodes
_FROM_PAGE = frozenset(
    (
        *("command", "oracle", "reference", "slower_than", "exit_code", "match_out", "match_err"),
        *("ignore_out", "ignore_err", "stdin", "timeout", "cpu", "memory", "effort", "lenient"),
        *("jobs", "width", "fast", "max_checks", "max_time", "until", "patience"),
    )
)
"""Options of a session that the page may set; where files go is not among them."""


class Api:
    """The state of the server, and the requests."""

    def __init__(self, folders: Folders, settings: Settings) -> None:
        self.folders = folders
        self.settings = settings
        self.documents = Documents()
        self.runs = Runs()
        self._journals: dict[Path, tuple[tuple[int, int], Contents]] = {}
        self._lock = threading.Lock()
        self._scratch = tempfile.TemporaryDirectory(prefix="reducekit-ui-")

    def hello(self) -> dict[str, Any]:
        """Tell all that the page needs to begin with."""
        return {
            "version": __version__,
            "folder": os.getcwd(),
            "folders": [str(root) for root in self.folders.roots],
            "formats": [_format(name) for name in registry.names(registry.FRONTENDS)],
            "strategies": registry.names(registry.STRATEGIES),
            "default_strategy": registry.DEFAULT,
            "settings": self.settings.load(),
            "settings_path": str(self.settings.path),
            "documents": [_summary(each) for each in self.documents.all()],
            "processors": len(os.sched_getaffinity(0)),
        }

    def list(self, path: str) -> dict[str, Any]:
        """List a folder."""
        folder = self.folders.inside(path)
        return {
            "path": str(folder),
            "roots": [str(root) for root in self.folders.roots],
            "up": None if folder in self.folders.roots else str(folder.parent),
            "entries": [asdict(each) for each in self.folders.entries(folder)],
        }

    def open(self, path: str) -> dict[str, Any]:
        """Open a file."""
        found = self.folders.inside(path)
        return _summary(self.documents.add(found.name, self.folders.read(found), path=found))

    def add(self, name: str, data: str) -> dict[str, Any]:
        """Open a text that the browser has: dropped on the page, or typed. `data` is base64."""
        try:
            text = base64.b64decode(data, validate=True)
        except binascii.Error:
            raise UsageError("the text is damaged") from None
        return _summary(self.documents.add(_bare(name), text))

    def close(self, document: int) -> dict[str, Any]:
        """Close a text."""
        self.documents.close(document)
        return {}

    def text(self, document: int) -> dict[str, Any]:
        """Return an open text."""
        found = self.documents.get(document)
        return {"text": shown(found.text), "size": len(found.text)}

    def diagram(self, document: int) -> dict[str, Any]:
        """Return what there is to draw of a text."""
        found = self.documents.get(document)
        return _diagram(found.format, found.text)

    def best(self, run: int, *, diagram: bool) -> dict[str, Any]:
        """Return the best text of a run so far, and what there is to draw of it."""
        state = self._run(run)
        if state.output is None:
            raise UsageError("this run has no output")
        try:
            text = state.output.read_bytes()
        except OSError:
            text = b"" if state.document is None else self.documents.get(state.document).text
        found: dict[str, Any] = {"text": shown(text), "size": len(text)}
        if diagram:
            format_name = None
            if state.document is not None:
                format_name = self.documents.get(state.document).format
            try:
                found["diagram"] = _diagram(format_name, text)
            except ReducekitError as error:
                found["no_diagram"] = str(error)
        return found

    def save(self, document: int, path: str, *, replace: bool = False) -> dict[str, Any]:
        """Write a text to a file in an opened folder."""
        found = self.documents.get(document)
        return {"path": str(self.folders.write(path, found.text, replace=replace))}

    def keep(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the options in their file."""
        if not isinstance(values, dict):
            raise UsageError("options are a table")
        self.settings.save(values)
        return {"path": str(self.settings.path)}

    def run(self, document: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Run the command on a text."""
        found = self.documents.get(document)
        failure = {name: options[name] for name in _FAILURE & options.keys() & _FROM_PAGE}
        if not failure.get("command") and not failure.get("oracle"):
            raise UsageError("Which program? Type its command first")
        path = self._on_disk(found)
        task = {"failure": failure, "input": str(path), "suffix": _suffix(found)}
        title = str(failure.get("command") or failure.get("oracle"))
        state = self.runs.start("run", title, task, document=found.number)
        return {"run": state.number}

    def reduce(
        self,
        document: int,
        strategies: Sequence[str],
        options: Mapping[str, Any],
        format_options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Start a reduction by each strategy, side by side."""
        found = self.documents.get(document)
        if found.format is None:
            raise UsageError(f"no format reads {found.name}: choose one")
        unknown = options.keys() - _FROM_PAGE
        if unknown:
            raise UsageError(f"the page cannot set the option {min(unknown)!r}")
        if not strategies:
            raise UsageError("choose an algorithm")
        for strategy in strategies:
            registry.strategy(strategy)
        own = registry.frontend_class(found.format).options
        chosen = {each.name: each.default for each in own}
        chosen.update({k: v for k, v in (format_options or {}).items() if k in chosen})
        folder = self.folders.new_folder(Path(found.name).stem or "text")
        source = folder / f"input{_suffix(found)}"
        source.write_bytes(found.text)
        numbers = []
        for strategy in dict.fromkeys(strategies):
            output = folder / f"{_file_name(strategy)}{_suffix(found)}"
            task = {
                "format": found.format,
                "format_options": chosen,
                "options": {
                    **options,
                    "input": str(source),
                    "output": str(output),
                    "strategy": strategy,
                },
            }
            state = self.runs.start("reduce", strategy, task, document=found.number, output=output)
            numbers.append(state.number)
        return {"runs": numbers, "folder": str(folder)}

    def generate(
        self,
        format: str,  # noqa: A002
        seed: int,
        values: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Make a random input, and open it."""
        generation = registry.frontend_class(format).generation()
        if generation is None:
            raise UsageError(f"there is no generator for {format}")
        suffix = registry.frontend_class(format).suffix
        output = Path(self._scratch.name) / f"seed-{seed}{suffix}"
        task = {"format": format, "seed": seed, "values": values, "output": str(output)}
        state = self.runs.start("generate", f"{format}, seed {seed}", task)
        if not self.runs.wait_for_end(state.number, _SECONDS):
            self.runs.ask(state.number, "stop")
            raise UsageError("this takes too long: ask for a smaller one")
        if state.error:
            raise UsageError(state.error)
        found = self.documents.add(output.name, output.read_bytes(), format=format)
        return {**_summary(found), "generated": state.result}

    def hunt(
        self,
        format: str,  # noqa: A002
        programs: Sequence[str],
        values: Mapping[str, Any],
        seed: int,
        count: int | None = None,
        reference: str | None = None,
        *,
        reduce: bool = True,
    ) -> dict[str, Any]:
        """Look for failures of programs on random inputs, and reduce what is found."""
        if not programs and registry.frontend_class(format).testing() is None:
            raise UsageError("Which program? Type its command first")
        folder = self.folders.new_folder("bugs")
        options = {
            "format": format,
            "folder": str(folder),
            "programs": list(programs),
            "reference": reference,
            "seed": seed,
            "count": count,
            "reduce": reduce,
            "format_options": dict(values),
        }
        state = self.runs.start("hunt", f"{format}: {', '.join(programs)}", {"options": options})
        return {"run": state.number, "folder": str(folder)}

    def control(self, run: int, request: str) -> dict[str, Any]:
        """Pause, resume, skip the pass of, or stop a run."""
        if request not in ("pause", "resume", "skip_pass", "stop"):
            raise UsageError(f"a run cannot {request!r}")
        self._run(run)
        self.runs.ask(run, request)
        return {}

    def history(self, run: int) -> dict[str, Any]:
        """Return the accepted steps of a reduction."""
        found = self._journal(run)
        return {
            "current": found.current,
            "steps": [
                [step.number, step.base, step.size, step.checks, round(step.seconds, 2),
                 step.pass_name, step.what[:200]]
                for step in found.steps
            ],
        }  # fmt: skip

    def step(self, run: int, step: int) -> dict[str, Any]:
        """Open the text of a step, to look at it or to go on from there."""
        found = self._journal(run)
        self._check_step(found, step)
        state = self._run(run)
        name, format_name = f"step-{step}", None
        if state.document is not None:
            before = self.documents.get(state.document)
            stem = Path(before.name).stem
            name, format_name = f"{stem}@{state.title}-{step}{before.suffix}", before.format
        return _summary(self.documents.add(name, found.text(step), format=format_name))

    def diff(self, run: int, old: int, new: int, *, other: int | None = None) -> dict[str, Any]:
        """Return what is different between two steps; `other`: the second is of another run."""
        first = self._journal(run)
        second = first if other is None else self._journal(other)
        self._check_step(first, old)
        self._check_step(second, new)
        before, after = first.text(old), second.text(new)
        return {
            "old": len(before),
            "new": len(after),
            "lines": [[line.sign, line.text] for line in changes(before, after)],
        }

    def report(self, run: int, *, text: str) -> dict[str, Any]:
        """Return the report of a reduction, or (`text`: issue) the text of a bug report."""
        state = self._run(run)
        assert state.output is not None
        told = account(self._journal(run), journal_path(state.output))
        return {"text": issue(told, None) if text == "issue" else page(told), "name": told.name}

    def _run(self, number: int) -> RunState:
        try:
            return self.runs.get(number)
        except KeyError:
            raise UsageError(f"there is no run {number}") from None

    def _journal(self, run: int) -> Contents:
        """Return the journal of a run; parsed again only when it has grown."""
        state = self._run(run)
        if state.output is None:
            raise UsageError("this run keeps no history")
        path = journal_path(state.output)
        try:
            status = path.stat()
        except OSError:
            raise UsageError("there is no history yet") from None
        stamp = (status.st_size, status.st_mtime_ns)
        with self._lock:
            known = self._journals.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
        found = load(path)
        if not found.steps:
            raise UsageError("there is no history yet")
        with self._lock:
            self._journals = {path: (stamp, found)}
        return found

    def _check_step(self, found: Contents, number: int) -> None:
        if not 0 <= number < len(found.steps):
            raise UsageError(f"there is no step {number}")

    def stop(self) -> None:
        """End all runs, and remove what was only for them."""
        self.runs.close()
        self._scratch.cleanup()

    def _on_disk(self, document: Document) -> Path:
        """Return a file that holds a text."""
        path = Path(self._scratch.name) / f"{document.number}{_suffix(document)}"
        path.write_bytes(document.text)
        return path


_FAILURE = {each.name for each in fields(Failure)}
assert {each.name for each in fields(Options)} >= _FROM_PAGE


def _format(name: str) -> dict[str, Any]:
    frontend = registry.frontend_class(name)
    generation = frontend.generation()
    return {
        "name": name,
        "title": frontend.title or name,
        "suffixes": list(dict.fromkeys([frontend.suffix, *frontend.suffixes])),
        "options": [_option(each) for each in frontend.options],
        "generation": None
        if generation is None
        else {
            "help": generation.help,
            "noun": generation.noun,
            "seed": generation.default_seed,
            "options": [_option(each) for each in generation.options],
        },
    }


def _option(option: FormatOption) -> dict[str, Any]:
    found = asdict(option)
    found["long"] = option.long
    return found


def _summary(document: Document) -> dict[str, Any]:
    return {
        "number": document.number,
        "name": document.name,
        "path": None if document.path is None else str(document.path),
        "size": len(document.text),
        "format": document.format,
    }


def _diagram(format_name: str | None, text: bytes) -> dict[str, Any]:
    if format_name is None:
        raise UsageError("no format reads this text")
    if len(text) > _DRAWN:
        raise UsageError(f"drawn up to {_DRAWN:,} bytes; this text has {len(text):,}")
    frontend = registry.frontend(format_name)
    diagram = frontend.diagram(frontend.parse(text))
    if diagram is None:
        raise UsageError(f"there is nothing to draw of {format_name}")
    return diagram_json(diagram, text)


def _suffix(document: Document) -> str:
    if document.suffix:
        return document.suffix
    return registry.frontend_class(document.format).suffix if document.format else ""


def _bare(name: str) -> str:
    """Return the last part of a name, without what no file name has."""
    bare = name.replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return bare[:200] or "text"


def _file_name(strategy: str) -> str:
    """Return a strategy's name as that of a file."""
    return strategy.replace("*", "-star").replace("+", "-plus").replace("/", "-")
