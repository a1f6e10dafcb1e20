"""The requests of the page: each public method of `Api` is one, from JSON to JSON."""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from reducekit import registry
from reducekit.errors import ParseError, ReducekitError, UsageError
from reducekit.hunt.inputs import own_generation
from reducekit.journal import Contents, journal_path
from reducekit.reports.account import account
from reducekit.reports.film import film_of
from reducekit.reports.issue import issue
from reducekit.reports.page import page
from reducekit.session import Failure, Options
from reducekit.ui.catalogue import catalogue, likenesses
from reducekit.ui.documents import (
    RUNS,
    Documents,
    Folders,
    Journals,
    Settings,
    diagram_of,
    difference,
    rows,
    shown,
    summary,
    text_of,
)
from reducekit.ui.runs import Runs, RunState

_SECONDS = 120  # time limit for generating a random input
_EARLIER = 12  # reductions of earlier servers that are offered
_COMPARED = 1 << 21  # bytes of a text that is sent with the next one
_LIKENED = 100_000  # bytes of a text on which algorithms are compared: up to 2 s
_EXAMPLE_SEED, _EXAMPLE_NODES = 11, 80
_EXAMPLE_TEST = "grep -q redxor {}"
_FROM_PAGE = frozenset(
    (
        *("command", "oracle", "reference", "slower_than", "exit_code", "match_out", "match_err"),
        *("ignore_out", "ignore_err", "stdin", "timeout", "cpu", "memory", "effort", "lenient"),
        *("cost", "at_least", "times", "regression", "unstable"),
        *("jobs", "width", "fast", "max_checks", "max_time", "until", "patience"),
    )
)
"""The session options that the page may set; output paths are not among them."""
_FAILURE = {each.name for each in fields(Failure)}


class Api:
    """The state of the server, and the requests."""

    def __init__(self, folders: Folders, settings: Settings) -> None:
        self.folders = folders
        self.settings = settings
        self.runs = Runs()
        self.documents = Documents(self.runs.wake)
        self._journals = Journals()
        self._scratch = tempfile.TemporaryDirectory(prefix="reducekit-ui-")

    def hello(self) -> dict[str, Any]:
        """Return everything that the page needs at the start."""
        return {
            **catalogue(),
            "folder": os.getcwd(),
            "folders": [str(root) for root in self.folders.roots],
            "settings": self.settings.load(),
            "settings_path": str(self.settings.path),
            "documents": [summary(each) for each in self.documents.all()],
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
        return summary(self.documents.add(found.name, self.folders.read(found), path=found))

    def add(self, name: str, data: str) -> dict[str, Any]:
        """Open a text from the browser, dropped on the page or typed. `data` is base64."""
        try:
            text = base64.b64decode(data, validate=True)
        except binascii.Error:
            raise UsageError("the text is damaged") from None
        # Only the last part of the name, without what file names cannot have.
        bare = name.replace("\\", "/").rpartition("/")[2].replace("\0", "")
        return summary(self.documents.add(bare[:200] or "text", text))

    def close(self, document: int) -> dict[str, Any]:
        """Close a text."""
        self.documents.close(document)
        return {}

    def text(self, document: int) -> dict[str, Any]:
        """Return an open text."""
        found = self.documents.get(document)
        return {"text": shown(found.text), "size": len(found.text)}

    def diagram(self, document: int) -> dict[str, Any]:
        """Return the diagram of a text."""
        found = self.documents.get(document)
        return diagram_of(found.format, found.text)

    def alike(self, document: int) -> dict[str, str]:
        """Return the algorithms that search a text as another one does, and which one."""
        found = self.documents.get(document)
        if len(found.text) > _LIKENED:
            return {}
        try:
            return dict(likenesses(registry.frontend(found.format), found.text))
        except ParseError:
            return {}

    def best(self, run: int, *, diagram: bool) -> dict[str, Any]:
        """Return the best text of a run so far, and its diagram."""
        state = self._run(run)
        if state.output is None:
            raise UsageError("this run has no output")
        try:
            text = state.output.read_bytes()
        except OSError:
            text = b"" if state.document is None else self.documents.get(state.document).text
        return self._shown(state, text, diagram=diagram)

    def look(self, run: int, step: int, *, diagram: bool) -> dict[str, Any]:
        """Return the text of a step of a run, its diagram, and the text before if it is short."""
        journal = self._journal(run)
        text = text_of(journal, step)
        base = text_of(journal, journal.steps[step].base) if step else text
        before = shown(base) if len(base) <= _COMPARED else None
        return {**self._shown(self._run(run), text, diagram=diagram), "before": before}

    def _shown(self, state: RunState, text: bytes, *, diagram: bool) -> dict[str, Any]:
        """Return a text of a run, and its diagram or why there is none."""
        found: dict[str, Any] = {"text": shown(text), "size": len(text)}
        if diagram:
            try:
                found["diagram"] = diagram_of(state.format, text)
            except ReducekitError as error:
                found["no_diagram"] = str(error)
        return found

    def save(
        self,
        path: str,
        *,
        document: int | None = None,
        run: int | None = None,
        step: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """Write an open text, the best text of a run, or that of a step, in an opened folder."""
        if run is None:
            if document is None:
                raise UsageError("there is no text to save")
            text = self.documents.get(document).text
        else:
            found = self._journal(run)
            text = text_of(found, found.current if step is None else step)
        return {"path": str(self.folders.write(path, text, replace=replace))}

    def example(self) -> dict[str, Any]:
        """Open a random circuit; return it and a test that accepts it."""
        values = {"nodes": _EXAMPLE_NODES}
        found = self.generate("btor", _EXAMPLE_SEED, values)
        return {"document": found, "test": _EXAMPLE_TEST}

    def keep(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Save the options to their file."""
        if not isinstance(values, dict):
            raise UsageError("options must be a table")
        self.settings.save(values)
        return {"path": str(self.settings.path)}

    def run(self, document: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Run the command on a text."""
        found = self.documents.get(document)
        failure = {name: options[name] for name in _FAILURE & options.keys() & _FROM_PAGE}
        if not failure.get("command") and not failure.get("oracle"):
            raise UsageError("Which program? Type its command first")
        path = Path(self._scratch.name) / f"{found.number}{found.file_suffix}"
        path.write_bytes(found.text)
        task = {"failure": failure, "input": str(path), "suffix": found.file_suffix}
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
        """Start a reduction for each strategy, in parallel."""
        found = self.documents.get(document)
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
        source = folder / f"input{found.file_suffix}"
        source.write_bytes(found.text)
        numbers = []
        for strategy in dict.fromkeys(strategies):
            name = strategy.replace("*", "-star").replace("+", "-plus").replace("/", "-")
            output = folder / f"{name}{found.file_suffix}"
            places = {"input": str(source), "output": str(output), "strategy": strategy}
            task = {
                "format": found.format,
                "format_options": chosen,
                "options": {**options, **places},
            }
            command = str(options.get("command") or options.get("oracle") or "")
            state = self.runs.start(
                "reduce",
                strategy,
                task,
                name=found.name,
                document=found.number,
                output=output,
                command=command,
                format=found.format,
                origin=found.origin,
            )
            numbers.append(state.number)
        return {"runs": numbers, "folder": str(folder)}

    def generate(
        self,
        format: str,  # noqa: A002
        seed: int,
        values: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Generate a random input, and open it."""
        if own_generation(format) is None:
            raise UsageError(f"there is no generator for {format}")
        suffix = registry.frontend_class(format).suffix
        output = Path(self._scratch.name) / f"seed-{seed}{suffix}"
        task = {"format": format, "seed": seed, "values": values, "output": str(output)}
        state = self.runs.start("generate", f"{format}, seed {seed}", task)
        if not self.runs.wait_for_end(state.number, _SECONDS):
            self.runs.ask(state.number, "stop")
            raise UsageError("generating took too long: ask for a smaller input")
        if state.error:
            raise UsageError(state.error)
        found = self.documents.add(output.name, output.read_bytes(), format=format)
        return {**summary(found), "generated": state.result}

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
        """Search for failures of programs on random inputs, and reduce them."""
        if not programs and not registry.frontend_class(format).offers("testing"):
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

    def earlier(self) -> dict[str, Any]:
        """Return the reductions in the first opened folder, the latest first."""
        paths = (self.folders.roots[0] / RUNS).glob("*/*.journal")
        found = []
        for path in sorted(paths, key=lambda each: -each.lstat().st_mtime)[:_EARLIER]:
            with contextlib.suppress(UsageError):
                output = path.with_suffix("")
                steps = self._journals.of(self.folders.inside(output)).steps
                about = {"path": str(output), "name": output.parent.name, "title": output.stem}
                found.append({**about, "before": steps[0].size, "size": steps[-1].size})
        return {"runs": found}

    def revive(self, path: str) -> dict[str, Any]:
        """Show a reduction of an earlier server, with its steps."""
        output = self.folders.inside(path)
        journal = self._journals.of(output)
        first, last = journal.steps[0], journal.steps[journal.current]
        state = {
            "before": first.size, "size": last.size, "checks": journal.steps[-1].checks,
            "accepted": len(journal.steps) - 1, "seconds": journal.steps[-1].seconds,
        }  # fmt: skip
        run = self.runs.adopt(
            output.stem,
            name=output.parent.name,
            output=output,
            format=registry.guess_format(output.name, text_of(journal, journal.current)),
            state=state,
            points=[[step.checks, step.seconds, step.size] for step in journal.steps],
        )
        return {"run": run.number}

    def control(self, run: int, request: str) -> dict[str, Any]:
        """Pause, resume or stop a run, skip its current pass, or remove it from the page."""
        if request not in ("pause", "resume", "skip_pass", "stop", "remove"):
            raise UsageError(f"unknown request to a run: {request!r}")
        self._run(run)
        self.runs.ask(run, request)
        return {}

    def passes(self, run: int, off: Sequence[str]) -> dict[str, Any]:
        """Skip these passes of a run from now on, and no others."""
        self._run(run)
        self.runs.ask(run, "passes", off=[str(each) for each in off])
        return {}

    def history(self, run: int) -> dict[str, Any]:
        """Return the accepted steps of a reduction."""
        return rows(self._journal(run))

    def step(self, run: int, step: int) -> dict[str, Any]:
        """Open the text of a step, to look at it or to continue from there."""
        found = self._journal(run)
        text = text_of(found, step)
        state = self._run(run)
        name, format_name = f"step-{step}", None
        if state.document is not None:
            before = self.documents.get(state.document)
            stem = Path(before.name).stem
            name, format_name = f"{stem}@{state.title}-{step}{before.suffix}", before.format
        origin = state.origin or found.steps[0].size
        return summary(self.documents.add(name, text, format=format_name, origin=origin))

    def diff(self, run: int, old: int, new: int, *, other: int | None = None) -> dict[str, Any]:
        """Return the diff of two steps; with `other`, the second step is of that run."""
        first = self._journal(run)
        second = first if other is None else self._journal(other)
        return difference(text_of(first, old), text_of(second, new))

    def report(self, run: int, *, text: str) -> dict[str, Any]:
        """Return the report of a reduction; the text of a bug report if `text` is "issue"."""
        state = self._run(run)
        assert state.output is not None
        found = account(self._journal(run), journal_path(state.output))
        found = replace(found, origin=state.origin)
        name = f"{state.output.parent.name}.{state.output.stem}"  # of the text, and the algorithm
        return {
            "text": issue(found, None) if text == "issue" else page(found, film_of(found.found)),
            "name": name,
        }

    def _run(self, number: int) -> RunState:
        try:
            return self.runs.get(number)
        except KeyError:
            raise UsageError(f"there is no run {number}") from None

    def _journal(self, run: int) -> Contents:
        return self._journals.of(self._run(run).output)

    def stop(self) -> None:
        """End all runs, and remove their temporary files."""
        self.runs.close()
        self._scratch.cleanup()


assert {each.name for each in fields(Options)} >= _FROM_PAGE
