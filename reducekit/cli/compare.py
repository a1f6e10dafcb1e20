"""`reducekit compare`: runs each algorithm, or any reducer, on each file, and prints tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from reducekit import quantities
from reducekit.cli.command import PATH, Command, adding, declared, file, flag, number
from reducekit.cli.process import INTERRUPTED, ProcessContext, read_text, say
from reducekit.cli.reduce import failure_from
from reducekit.compare import reducers, tables
from reducekit.compare.runs import Run
from reducekit.compare.sessions import Algorithm, Case, algorithms_of, labels_of, open_case, run_all
from reducekit.compare.tables import chart
from reducekit.errors import UsageError
from reducekit.option import Option
from reducekit.session import Failure, Options
from reducekit.session.cluster import connected
from reducekit.session.place.inputs import format_of
from reducekit.session.place.output import OutputFile, write_file
from reducekit.text import printable_lines

_STRATEGIES = "ddmin,hdd,hdd+,hdd*,bfs,lw,deltabtor,changeref,changeref+,combine,auto"
_SWITCH = {"on": "simplify=on", "off": "simplify=off", "both": "simplify=on,off"}

_OPTIONS = (
    Option(
        "strategies",
        "Algorithms, separated by commas; auto is the default, NAME:quick and "
        "NAME:thorough set the effort.",
        default=_STRATEGIES,
        metavar="NAMES",
    ),
    Option("format", "Format of the files (default: by suffix or content).", metavar="NAME"),
    Option("simplify", "Short for --set simplify=... (BTOR).", "choice", "on", tuple(_SWITCH)),
    Option(
        "settings",
        "Set an option of the format; several comma-separated values are compared.",
        "texts",
        (),
        metavar="NAME=VALUES",
        spelled="set",
    ),
    number("cap", "Stop each algorithm after N checks on a file (default: no limit).", least=1),
    number(
        "jobs",
        "Run N algorithms on a file in parallel, with one check each. Does not change "
        "counts, unless checks come close to their time limit.",
        1,
        short="j",
        least=1,
    ),
    *declared(Options, ("cluster", "ship", "local_slots")),
    Option(
        "programs",
        "Compare programs instead; the command contains {input}, {output} and "
        "{oracle}. Requires --oracle.",
        "texts",
        (),
        metavar="NAME=COMMAND",
        spelled="reducer",
    ),
    Option(
        "max_time", "Stop each --reducer after S seconds.", read=quantities.seconds, metavar="S"
    ),
    file("markdown", "Write the tables to FILE."),
    file("tsv", "Write one line per run to FILE, with its sizes over the checks."),
    file("curve", "Draw the sizes over the checks as SVG."),
    flag("json", "Print one JSON object."),
    flag("quiet", "Show no progress.", short="q"),
)


@click.command(
    "compare",
    cls=Command,
    epilog="If each file has its own test, use {dir} in a command for the folder of the file, and "
    "{stem} for its name without the suffix: reducekit compare cases/*/input.btor "
    "--oracle '{dir}/oracle'. As everywhere, {} is the candidate.",
)
@click.argument("files", nargs=-1, required=True, type=PATH)
@adding((*declared(Failure), *_OPTIONS))
@click.pass_obj
def compare(process: ProcessContext, /, files: tuple[Path, ...], **values: Any) -> int:
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
        with process.interrupts.allowed():
            cluster = connected(values["cluster"], values["ship"], values["local_slots"], stack)
        if cluster is not None:
            cluster.listen(lambda said: say(f"reducekit: note: {said}"))
        chosen = {name: {each.settings for each in algorithms[name]} for name in formats}
        cases = [
            open_case(path, label, name, chosen[name], failure, interrupts, cluster)
            for path, label, name in zip(files, labels, formats, strict=True)
        ]
        runs, interrupted = _compare_algorithms(process, cases, algorithms, values)
    if runs:
        print(tables.as_json(runs) if values["json"] else tables.markdown(runs).rstrip("\n"))
    texts = {"markdown": tables.markdown, "tsv": tables.tsv, "curve": chart}
    _write(process, outputs, {name: texts[name](runs) for name in outputs})
    return INTERRUPTED if interrupted else 0


def _compare_algorithms(
    process: ProcessContext,
    cases: Sequence[Case],
    algorithms: Mapping[str, Sequence[Algorithm]],
    values: Mapping[str, Any],
) -> tuple[list[Run], bool]:
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


def _compare_programs(
    process: ProcessContext,
    files: Sequence[Path],
    labels: Sequence[str],
    failure: Failure,
    values: Mapping[str, Any],
) -> int:
    programs = [reducers.Reducer.of(each) for each in values["programs"]]
    problems = [reducers.Problem.of(*each, failure) for each in zip(files, labels, strict=True)]
    for name in ("curve", "json", "cluster"):
        if values[name]:
            raise UsageError(f"--{name} is for algorithms; it has no effect with --reducer")
    outputs = _outputs(values)
    rows: list[reducers.Measured] = []
    measuring = reducers.measure_all(problems, programs, values["max_time"])
    interrupted = False
    try:
        with process.interrupts.allowed():
            for row in measuring:
                rows.append(row)
                if not values["quiet"]:
                    say(reducers.line(row))
    except KeyboardInterrupt:
        interrupted = True
    if rows:
        print(reducers.markdown(rows), end="")
    texts = {"markdown": reducers.markdown, "tsv": reducers.tsv}
    _write(process, outputs, {name: texts[name](rows) for name in outputs})
    return INTERRUPTED if interrupted else 0


def _outputs(values: Mapping[str, Any]) -> dict[str, OutputFile]:
    given = {name: values[name] for name in ("markdown", "tsv", "curve") if values[name]}
    return {name: OutputFile(path) for name, path in given.items()}


def _write(
    process: ProcessContext, outputs: Mapping[str, OutputFile], texts: Mapping[str, str]
) -> None:
    for name, output in outputs.items():
        with process.interrupts.held():
            write_file(output.path, printable_lines(texts[name]).encode())
