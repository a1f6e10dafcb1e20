"""`reducekit compare`: runs each algorithm, or any reducer, on each file, and prints tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from reducekit.cli.command import Command
from reducekit.cli.interrupts import INTERRUPTED, ProcessContext
from reducekit.cli.options import PATH, SECONDS, adding, declared
from reducekit.cli.reduce_options import failure_from, oracle_options
from reducekit.cli.streams import read_text, say
from reducekit.compare import reducer_tables, reducers, tables
from reducekit.compare.cases import Case, labels_of, open_case
from reducekit.compare.curves import chart
from reducekit.compare.runs import Run
from reducekit.compare.sessions import Algorithm, algorithms_of, run_all
from reducekit.errors import UsageError
from reducekit.session import Failure, Options
from reducekit.session.cluster import Cluster
from reducekit.session.place.inputs import format_of
from reducekit.session.place.output import OutputFile
from reducekit.text import printable_lines

_STRATEGIES = "ddmin,hdd,hdd+,hdd*,bfs,lw,deltabtor,changeref,changeref+,combine,auto"
_SWITCH = {"on": "simplify=on", "off": "simplify=off", "both": "simplify=on,off"}

_OPTIONS = (
    click.option(
        "--strategies",
        default=_STRATEGIES,
        show_default=True,
        metavar="NAMES",
        help="Algorithms, separated by commas; auto is the default, NAME:quick and NAME:thorough "
        "set the effort.",
    ),
    click.option(
        "--format", metavar="NAME", help="Format of the files (default: by suffix or content)."
    ),
    click.option(
        "--simplify",
        type=click.Choice(tuple(_SWITCH)),
        default="on",
        show_default=True,
        help="Short for --set simplify=... (BTOR).",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUES",
        help="Set an option of the format; several comma-separated values are compared.",
    ),
    click.option(
        "--cap",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop each algorithm after N checks on a file (default: no limit).",
    ),
    click.option(
        "--jobs",
        "-j",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="Run N algorithms on a file in parallel, with one check each. Does not change counts, "
        "unless checks come close to their time limit.",
    ),
    *declared(Options, ("cluster", "ship", "local_slots")),
    click.option(
        "--reducer",
        "programs",
        multiple=True,
        metavar="NAME=COMMAND",
        help="Compare programs instead; the command contains {input}, {output} and {oracle}. "
        "Requires --oracle.",
    ),
    click.option(
        "--max-time", type=SECONDS, metavar="S", help="Stop each --reducer after S seconds."
    ),
    click.option("--markdown", type=PATH, metavar="FILE", help="Write the tables to FILE."),
    click.option(
        "--tsv",
        type=PATH,
        metavar="FILE",
        help="Write one line per run to FILE, with its sizes over the checks.",
    ),
    click.option(
        "--curve",
        type=PATH,
        metavar="FILE",
        help="Draw the sizes over the checks as SVG.",
    ),
    click.option("--json", is_flag=True, help="Print one JSON object."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
)


@click.command(
    "compare",
    cls=Command,
    epilog="If each file has its own test, use {dir} in a command for the folder of the file, and "
    "{stem} for its name without the suffix: reducekit compare cases/*/input.btor "
    "--oracle '{dir}/oracle'. As everywhere, {} is the candidate.",
)
@click.argument("files", nargs=-1, required=True, type=PATH)
@oracle_options
@adding(_OPTIONS)
@click.pass_obj
def command(process: ProcessContext, /, files: tuple[Path, ...], **values: Any) -> int:
    """Compare how far each algorithm reduces each of FILES, and in how many checks.

    Checks are texts given to the oracle, counted once per algorithm if equal (and run once for all
    of them). The tables are those of Vida's thesis (Linz 2008, chapter 5), the sizes over the
    checks, and when the default reaches the final size of each other algorithm.
    """
    interrupts, failure, labels = process.interrupts, failure_from(values), labels_of(files)
    if values["programs"]:
        return _compare_programs(process, files, labels, failure, values)
    formats = [values["format"] or format_of(path, read_text(path)) for path in files]
    settings = [_SWITCH[values["simplify"]], *values["settings"]]
    algorithms = algorithms_of(values["strategies"], settings, formats)
    outputs = _outputs(values)
    with ExitStack() as stack:
        cluster = _cluster(process, values, stack)
        cases = [
            open_case(
                path,
                label,
                name,
                {each.settings for each in algorithms[name]},
                failure,
                interrupts,
                cluster,
            )
            for path, label, name in zip(files, labels, formats, strict=True)
        ]
        runs, interrupted = _compare_algorithms(process, cases, algorithms, values)
    if runs:
        print(tables.as_json(runs) if values["json"] else tables.markdown(runs).rstrip("\n"))
    texts = {"markdown": tables.markdown, "tsv": tables.tsv, "curve": chart}
    _write(process, outputs, {name: texts[name](runs) for name in outputs})
    return INTERRUPTED if interrupted else 0


def _cluster(
    process: ProcessContext, values: Mapping[str, Any], stack: ExitStack
) -> Cluster | None:
    """Connect to the cluster for checks, if there is one."""
    if values["cluster"] is None:
        for name in ("ship", "local_slots"):
            if values[name]:
                raise UsageError(f"`{name}` requires `cluster`")
        return None
    with process.interrupts.allowed():
        cluster = stack.enter_context(
            Cluster(
                values["cluster"],
                ship=values["ship"],
                local_slots=values["local_slots"],
            )
        )
    cluster.listen(lambda said: say(f"reducekit: note: {said}"))
    return cluster


def _compare_algorithms(
    process: ProcessContext,
    cases: Sequence[Case],
    algorithms: Mapping[str, Sequence[Algorithm]],
    values: Mapping[str, Any],
) -> tuple[list[Run], bool]:
    """Run the algorithms on each file; return the runs, and whether that was interrupted."""
    runs: list[Run] = []
    try:
        with process.interrupts.allowed():
            for case in cases:
                found: dict[int, Run] = {}
                wanted = algorithms[case.format]
                try:
                    with closing(run_all(case, wanted, values["cap"], values["jobs"])) as ended:
                        for number, run in ended:
                            found[number] = run
                            if not values["quiet"]:
                                say(tables.line(run))
                finally:
                    runs += (found[number] for number in sorted(found))
    except KeyboardInterrupt:
        return runs, True
    return runs, False


def _is_interrupted(
    process: ProcessContext,
    rows: list[reducers.Measured],
    measuring: Iterator[reducers.Measured],
    quiet: bool,
) -> bool:
    """Measure, adding to the rows; return whether a signal ended that."""
    try:
        with process.interrupts.allowed():
            for row in measuring:
                rows.append(row)
                if not quiet:
                    say(reducers.line(row))
    except KeyboardInterrupt:
        return True
    return False


def _compare_programs(
    process: ProcessContext,
    files: Sequence[Path],
    labels: Sequence[str],
    failure: Failure,
    values: Mapping[str, Any],
) -> int:
    """Run other reducers on each file."""
    programs = [reducers.Reducer.of(each) for each in values["programs"]]
    problems = [reducers.Problem.of(*each, failure) for each in zip(files, labels, strict=True)]
    for name in ("curve", "json", "cluster"):
        if values[name]:
            raise UsageError(f"--{name} is for algorithms; it has no effect with --reducer")
    outputs = _outputs(values)
    rows: list[reducers.Measured] = []
    measuring = reducers.measure_all(problems, programs, values["max_time"])
    interrupted = _is_interrupted(process, rows, measuring, values["quiet"])
    if rows:
        print(reducer_tables.markdown(rows), end="")
    texts = {"markdown": reducer_tables.markdown, "tsv": reducers.tsv}
    _write(process, outputs, {name: texts[name](rows) for name in outputs})
    return INTERRUPTED if interrupted else 0


def _outputs(values: Mapping[str, Any]) -> dict[str, OutputFile]:
    """Return the output files by option. Raises UsageError if one cannot be written."""
    given = {name: values[name] for name in ("markdown", "tsv", "curve") if values[name]}
    return {name: OutputFile(path) for name, path in given.items()}


def _write(
    process: ProcessContext, outputs: Mapping[str, OutputFile], texts: Mapping[str, str]
) -> None:
    """Write the files. Raises UsageError if one could not be written."""
    for name, file in outputs.items():
        with process.interrupts.held():
            file.write(printable_lines(texts[name]).encode())
        if file.write_error is not None:
            raise UsageError(f"{file.path} cannot be written: {file.write_error.strerror}")
