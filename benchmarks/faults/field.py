"""The field as plain data: one line of a table for each fault, and how its trace is made again."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import (
    Fault,
    Library,
    Patch,
    ReplayOutcome,
    find_library,
    read_fault,
    resolve,
)
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.run import Limits

FIELD = Path(__file__).parent / "field.tsv"
THIRDS = ("tune", "choose", "report")
LIMITS = Limits(wall=1.0, cpu=5, memory=4 << 30, output=1 << 20)
"""Of a replay: what runs out of time hangs. Without a fault, none of these traces takes a third."""
_SIGNAL = {4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}


@dataclass(frozen=True, slots=True)
class Case:
    """A fault, and the trace that shows it.

    `attempt` is its number among all faults that were tried. `options` says whether the trace
    sets random options, `variables` how many it begins with at most (0: as the model says).
    `kind` is how it shows: crash, hang, wrong or contract (a crash in a function of the API
    itself, where broken contracts are found too); `end` is the signal, or what is wrong.
    `calls` and `settings` count the calls of the trace without and with the name of `option`.
    """

    attempt: int
    third: str
    engine: str
    api: str
    fault: str
    options: bool
    variables: int
    seed: int
    kind: str
    end: str
    calls: int
    settings: int

    @property
    def name(self) -> str:
        """A short name, the same in all tables."""
        return f"{self.kind}-{self.attempt:05}"

    @property
    def library(self) -> Library:
        """The library that the fault is seeded into."""
        return find_library(self.api, self.engine)

    @property
    def patch(self) -> Patch:
        """The fault as it is applied."""
        fault = read_fault(self.fault)
        assert isinstance(fault, Fault)
        return resolve(fault, self.library.path)


def read_field(path: Path = FIELD) -> list[Case]:
    """Return the cases that were found so far; none if there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if line[0] != "#"), delimiter="\t")
        return [_case(row) for row in rows]


def write_field(cases: Iterable[Case], path: Path = FIELD) -> None:
    """Write the cases, with the versions of what the faults are in."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {versions()}\n")
        names = [each.name for each in fields(Case)]
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(case) for case in cases)


def versions() -> str:
    """Return the versions of the packages that the libraries are in."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in ("python-sat", "pyboolector"))


def _case(row: dict[str, str]) -> Case:
    numbers = {
        name: int(row[name]) for name in ("attempt", "variables", "seed", "calls", "settings")
    }
    return Case(**{**row, **numbers, "options": row["options"] == "True"})  # type: ignore[arg-type]


def generator(api: str, *, options: bool, variables: int) -> Generator:
    """Return what makes the traces of a case."""
    return Generator(load_model(api), options=options, variables=variables or None)


def trace_of(case: Case) -> bytes:
    """Make the trace of a case again, by playing it against the faulty library."""
    makes = generator(case.api, options=case.options, variables=case.variables)
    with LiveReplay(case.library, patch=case.patch) as live:
        live.begin(LIMITS, alone=True)
        made = makes.generate(case.seed, live.play)
        live.finish()
    return print_trace(made.recorded(), load_model(case.api).formats[0])


def is_of(case: Case, calls: int) -> bool:
    """Return whether a trace with this many calls can be the recorded one.

    After a change to the generator or the API model, the same seed makes another trace. A trace of
    a wrong answer is not checked: generation depends on answers, which vary between machines.
    """
    return case.kind == "wrong" or calls == case.calls + case.settings


def shown(outcome: ReplayOutcome) -> tuple[str, str]:
    """Return how a fault shows in the way a replay ended, and the end; "" if it does not."""
    if outcome.kind == "timeout":
        return "hang", "hang"
    if outcome.kind == "signal" and outcome.signal in _SIGNAL:
        return "crash", _SIGNAL[outcome.signal]
    return "", ""
