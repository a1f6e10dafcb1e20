"""Reduces the trace of a case by a command line, such as that of another version of reducekit."""

import json
import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks.faults.field import LIMITS, Case
from benchmarks.faults.reduce import SHARES, Reduced
from reducekit.compare.reducers import run
from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer
from reducekit.journal.store import journal_path, load

OURS = (
    f"{sys.executable} -m reducekit trace {{input}} -o {{output}} --model {{api}} "
    "--library {engine} --fault {fault} {hang} --max-time {cap} --json -q"
)
"""The command line of this version: what is in braces is filled in for each case."""
_ELSEWHERE = {"PYTHONSAFEPATH": "1"}
"""So that another Python imports its own version, not the one of the current folder."""
_GRACE = 30.0
"""Seconds beyond the cap after which a reducer that does not stop by itself is stopped."""


def covers(case: Case) -> bool:
    """Say whether a reducer that only sees how a replay ends can reduce the trace of a case.

    A wrong answer is not recognised by that.
    """
    return case.kind != "wrong"


def words(template: str, case: Case, files: tuple[Path, Path], cap: float) -> list[str]:
    """Return the command line for a case. `{hang}` is the time limit of a run, for a hang only."""
    places = {
        "{input}": str(files[0]),
        "{output}": str(files[1]),
        "{api}": case.api,
        "{engine}": case.engine,
        "{fault}": case.fault,
        "{cap}": f"{cap:g}",
        "{hang}": f"--timeout {LIMITS.wall:g}" if case.kind == "hang" else "",
    }
    for place, value in places.items():
        template = template.replace(place, value)
    return shlex.split(template)


def reduce_by(template: str, case: Case, text: bytes, cap: float) -> Reduced:
    """Reduce a trace by a command for at most `cap` seconds; without a result, it stays as it is.

    Nothing ends that is refused, such as a trace that does not fail every time.

    The runs are those of the summary that the command prints as JSON, all that it made included;
    what it took to a size is read from the journal next to the output, where checks are counted.
    """
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        files = Path(folder) / "input.trace", Path(folder) / "output.trace"
        files[0].write_bytes(text)
        command = words(template, case, files, cap)
        cost = run(command, cap + _GRACE, environment=_ELSEWHERE)
        left = files[1].read_bytes() if files[1].exists() else text
        until = _until(case, files[1])
    try:
        summary = json.loads(cost.out)
    except ValueError:
        summary = {}
    calls, settings = size(case, left)
    return Reduced(
        case.name,
        calls,
        settings,
        int(summary.get("runs", 0)),
        cost.cpu,
        "after" in summary and summary["stopped"] is None and not cost.capped,
        fails(case, left),
        until,
        left,
    )


def size(case: Case, text: bytes) -> tuple[int, int]:
    """Return how many calls a trace has without and with the name of `option`."""
    model = load_model(case.api)
    names = [call.name for call in read_trace(text, model.formats[0]).calls]
    settings = names.count(model.options.call)
    return len(names) - settings - names.count("return"), settings


def fails(case: Case, text: bytes) -> bool:
    """Say whether the replay of a trace ends as the case says."""
    calls = read_trace(text, load_model(case.api).formats[0]).calls
    with ReplayServer(case.library, patch=case.patch) as server:
        outcome = server.replay(calls, LIMITS)
    return outcome.kind == {"hang": "timeout", "wrong": "ok"}.get(case.kind, "signal")


def _until(case: Case, output: Path) -> tuple[int | None, ...]:
    """Return after how many checks each share of the calls was left, None where it never was."""
    try:
        journal = load(journal_path(output))
        sizes = [
            (size(case, text)[0], journal.steps[number].checks)
            for number, _, text in journal.walk()
        ]
    except (UsageError, ParseError):
        sizes = []
    return tuple(
        next((checks for calls, checks in sizes if calls <= max(1.0, share * case.calls)), None)
        for share in SHARES
    )
