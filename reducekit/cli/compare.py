"""`reducekit compare`: each algorithm on each file, and the tables of what came of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from reducekit.cli import INTERRUPTED
from reducekit.cli import comparison_report as report
from reducekit.cli.comparison import Point, Run
from reducekit.cli.comparison_cases import Case, case_of, labels_of
from reducekit.cli.comparison_chart import chart
from reducekit.cli.comparison_jobs import side_by_side
from reducekit.cli.executors import Executors
from reducekit.cli.group import Surroundings
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.options import PATH
from reducekit.cli.settings import oracle_options, oracle_settings_from
from reducekit.cli.streams import say
from reducekit.errors import UsageError
from reducekit.events import Accepted, Checked, Event
from reducekit.executors.executor import Executor, Finished
from reducekit.frontend import Frontend, Quick
from reducekit.frontends.btor import Btor
from reducekit.golden import limits_for
from reducekit.journal import digest
from reducekit.oracle.oracle import Oracle
from reducekit.output import OutputFile
from reducekit.reduction import Budget, Reduction
from reducekit.registry import strategy
from reducekit.search.problem import Strategy

_STRATEGIES = "ddmin,hdd,hdd+,hdd*,bfs,lw,deltabtor,changeref,changeref+,combine,auto"
_UNITS = ("nodes", "calls")
"""What files are measured in where their format counts it; in bytes elsewhere."""
Switch = Literal["on", "off", "both"]
_SWITCH: dict[Switch, tuple[bool, ...]] = {"on": (True,), "off": (False,), "both": (True, False)}


@click.command(
    "compare",
    epilog="Where each file has a test of its own, {dir} in a command stands for the folder of the "
    "file and {stem} for its name without the ending: reducekit compare cases/*/input.btor "
    "--oracle '{dir}/oracle'. As everywhere, {} stands for the candidate.",
)
@click.argument("files", nargs=-1, required=True, type=PATH)
@oracle_options
@click.option(
    "--strategies",
    default=_STRATEGIES,
    show_default=True,
    metavar="NAMES",
    help="The algorithms, with commas between; auto is the default of the format, and NAME:quick "
    "is one with --effort quick.",
)
@click.option("--frontend", metavar="NAME", help="The format of the files; default: by the ending.")
@click.option(
    "--simplify",
    type=click.Choice(tuple(_SWITCH)),
    default="on",
    show_default=True,
    help="BTOR: let the algorithms apply rules such as and(x, 0) = 0.",
)
@click.option(
    "--cap",
    type=click.IntRange(min=1),
    metavar="N",
    help="End each algorithm after N checks on a file; default: when it ends by itself.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Run N algorithms on a file at a time, each with one check at a time. Counts stay the "
    "same, unless checks come close to their time limit.",
)
@click.option("--markdown", type=PATH, metavar="FILE", help="Write the tables to FILE.")
@click.option(
    "--tsv",
    type=PATH,
    metavar="FILE",
    help="Write a line for each run to FILE, with the sizes over the checks.",
)
@click.option(
    "--curve",
    type=PATH,
    metavar="FILE",
    help="Draw the sizes over the checks into FILE, an SVG picture.",
)
@click.option("--json", is_flag=True, help="Print all as one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    files: tuple[Path, ...],
    strategies: str,
    frontend: str | None,
    simplify: Switch,
    cap: int | None,
    jobs: int,
    markdown: Path | None,
    tsv: Path | None,
    curve: Path | None,
    json: bool,
    quiet: bool,
    **values: Any,
) -> int:
    """Run each algorithm on each of FILES, and compare how far it gets in how many checks.

    Checks are texts given to the oracle, equal ones counted once for each algorithm (and run
    once for all of them). The tables are those of Vida's thesis (Linz 2008, chapter 5):
    checks, sizes, percent of the size for each check, averages; and besides, the sizes after
    so many checks, and when the default is where each other algorithm ends.
    """
    settings = oracle_settings_from(values)
    algorithms = _algorithms(strategies)
    writers = _writers((markdown, report.markdown), (tsv, report.tsv), (curve, chart))
    interrupts = surroundings.interrupts
    with interrupts.allowed():
        labels = labels_of(files)
        cases = [
            case_of(path, label, frontend, settings, interrupts)
            for path, label in zip(files, labels, strict=True)
        ]
    runs: list[Run] = []
    interrupted = False
    try:
        with interrupts.allowed():
            for case in cases:
                switch = _SWITCH[simplify]
                found: dict[int, Run] = {}
                try:
                    with closing(_runs(case, algorithms, switch, cap, jobs, interrupts)) as ended:
                        for number, run in ended:
                            found[number] = run
                            if not quiet:
                                say(_line(run))
                finally:
                    runs += (found[number] for number in sorted(found))
    except KeyboardInterrupt:
        interrupted = True
    if runs:
        print(report.as_json(runs) if json else report.markdown(runs), end="\n" if json else "")
    for file, written in writers:
        with interrupts.held():
            file.write(written(runs).encode())
        if file.trouble is not None:
            raise UsageError(f"{file.path} cannot be written: {file.trouble.strerror}")
    return INTERRUPTED if interrupted else 0


def _algorithms(given: str) -> list[str]:
    """Read the names. Raises UsageError for one that is not known, or none at all."""
    found = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not found:
        raise UsageError("which algorithms? Say --strategies ddmin,hdd,auto")
    for name in found:
        _strategy(name)
    return found


def _strategy(name: str) -> tuple[Strategy, bool]:
    """Return the strategy of that name, and whether it is a quick one. Raises UsageError."""
    base, colon, effort = name.partition(":")
    if colon and effort != "quick":
        raise UsageError(f"{name!r} is neither a strategy nor one with :quick behind it")
    return strategy(base), bool(colon)


_Writer = tuple[OutputFile, Callable[[Sequence[Run]], str]]


def _writers(*files: tuple[Path | None, Callable[[Sequence[Run]], str]]) -> list[_Writer]:
    """Return the files to be written and what makes their texts. Raises UsageError."""
    return [(OutputFile(path), make) for path, make in files if path is not None]


def _runs(
    case: Case,
    algorithms: Sequence[str],
    switch: Sequence[bool],
    cap: int | None,
    jobs: int,
    interrupts: Interrupts,
) -> Generator[tuple[int, Run], None, None]:
    """Run all algorithms on a file; yield what each came to, and its number among them."""
    if case.format != Btor.name:
        switch = switch[:1]
    suffix = case.frontend(switch[0]).suffix
    wanted = [(name, simplify) for simplify in switch for name in algorithms]
    with Executors(interrupts, suffix) as executors:
        executor = executors.open(Oracle(case.commands, case.golden.criterion), jobs)
        tasks = [partial(_run, case, *each, cap, interrupts) for each in wanted]
        with closing(side_by_side(executor, jobs, tasks)) as ended:
            yield from ended


class _Curve:
    """Follows the size of the best text over the checks of a run."""

    def __init__(self, frontend: Frontend, text: bytes, interrupts: Interrupts) -> None:
        self._frontend = frontend
        self._interrupts = interrupts
        measured = frontend.measure(frontend.parse(text))
        self.unit = next((unit for unit in _UNITS if unit in measured), "bytes")
        self.checks = 0
        self.points = [Point(0, self._size(text))]

    def see(self, event: Event) -> None:
        """Take an event in."""
        self._interrupts.check()
        if isinstance(event, Checked):
            self.checks += not event.remembered
        elif isinstance(event, Accepted):
            size = self._size(event.text)
            if self.points[-1].checks == self.checks and len(self.points) > 1:
                self.points.pop()
            if size != self.points[-1].size:
                self.points.append(Point(self.checks, size))

    def _size(self, text: bytes) -> int:
        if self.unit == "bytes":
            return len(text)
        return self._frontend.measure(self._frontend.parse(text))[self.unit]


def _run(
    case: Case,
    name: str,
    simplify: bool,
    cap: int | None,
    interrupts: Interrupts,
    executor: Executor,
) -> Run:
    """Run an algorithm on a file, one check at a time."""
    algorithm, quick = _strategy(name)
    frontend = case.frontend(simplify)
    if quick:
        frontend = Quick(frontend)
    curve = _Curve(frontend, case.text, interrupts)

    def witness(text: bytes, finished: Finished) -> None:
        seconds = sum(outcome.seconds for outcome in finished.outcomes)
        case.verdicts[digest(text)] = finished.interesting, seconds

    criterion = case.golden.criterion
    reduction = Reduction(
        frontend,
        algorithm,
        executor,
        partial(limits_for, criterion, case.limits),
        budget=Budget(cap),
        listen=curve.see,
        witness=witness,
    )
    reduction.know(b"", interesting=case.empty)
    reduction.recall(case.verdicts)
    result = reduction.run(case.text, case.golden.seconds)
    return Run(
        format=case.format,
        file=case.label,
        algorithm=name,
        simplify=simplify if case.format == Btor.name else None,
        unit=curve.unit,
        before=curve.points[0].size,
        bytes_before=len(case.text),
        bytes_after=len(result.text),
        checks=result.counts.checks,
        asked=result.counts.checks + result.counts.hits,
        curve=tuple(curve.points),
        stopped=result.stopped,
    )


def _line(run: Run) -> str:
    how = "" if run.simplify is None else f", simplification {'on' if run.simplify else 'off'}"
    early = f" (stopped {run.stopped})" if run.stopped else ""
    return (
        f"{run.file}, {run.algorithm}{how}: {run.before:,} -> {run.after:,} {run.unit} "
        f"in {run.checks:,} checks{early}"
    )
