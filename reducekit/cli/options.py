"""What the options of several commands have in common: types, and tables of options."""

from __future__ import annotations

import math
import os
import re
import signal
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

MOST_JOBS = 1024


_TIMES = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_SIZES = {"K": 1e-3, "M": 1, "G": 1e3, "T": 1e6}
_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]+)\s*")


def _in_units(value: Any, units: Mapping[str, float]) -> Any:
    """Return a number for text such as `90s` or `4G`; all else as it is."""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    unit = match[2]
    for spelled in (unit, unit.lower(), unit.upper().removesuffix("B").removesuffix("I")):
        if spelled in units:
            return float(match[1]) * units[spelled]
    return value


class _Seconds(click.FloatRange):
    """A time that the system calls can take; `nan` compares with nothing, so it is asked for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(_in_units(value, _TIMES), param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a time in seconds (a number, not nan).", param, ctx)
        return found


class _Megabytes(click.IntRange):
    """A size in megabytes, or with a unit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = _in_units(value, _SIZES)
        if isinstance(found, float):
            found = max(1, round(found))
        return super().convert(found, param, ctx)


class _ExitCode(click.IntRange):
    """An exit status, or the name of a signal."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.strip()[:1].isalpha():
            name = value.strip().upper()
            name = name if name.startswith("SIG") else f"SIG{name}"
            if name not in signal.Signals.__members__:
                self.fail(f"{value!r} is no signal (such as SIGSEGV) and no number.", param, ctx)
            return -int(signal.Signals[name])
        return super().convert(value, param, ctx)


class _Jobs(click.IntRange):
    """A number of jobs, or `auto`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return min(MOST_JOBS, len(os.sched_getaffinity(0)))
        if isinstance(value, str) and not value.strip().lstrip("+-").isdigit():
            self.fail(f"{value!r} is neither a number nor auto.", param, ctx)
        return super().convert(value, param, ctx)


SECONDS = _Seconds(min=0, min_open=True, max=10_000_000)
JOBS = _Jobs(min=1, max=MOST_JOBS)
MEGABYTES = _Megabytes(min=1, max=10_000_000)
EXIT_CODE = _ExitCode(min=-64, max=255)
PATH = click.Path(path_type=Path)

Function = Callable[..., Any]
Option = Callable[[Any], Any]
"""Adds an option to a command, as what `click.option` returns."""


def adding(options: Iterable[Option]) -> Callable[[Function], Function]:
    """Return what adds options to a command, in the order of the help."""
    table = list(options)

    def add(function: Function) -> Function:
        for option in reversed(table):
            function = option(function)
        return function

    return add


CLUSTER: tuple[Option, ...] = (
    click.option(
        "--cluster",
        metavar="WHERE",
        help="Run checks on a cluster: tcp://HOST:PORT of a Dask scheduler, local:N for N "
        "workers here, or a YAML file; default for --jobs: all that its workers can run.",
    ),
    click.option(
        "--ship",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Send a program or file of the command along to the workers. Repeatable.",
    ),
    click.option(
        "--local-slots",
        type=click.IntRange(min=0, max=MOST_JOBS),
        default=0,
        metavar="N",
        help="When no worker of the cluster is left, make N checks at a time here.",
    ),
)
"""Of all commands whose checks can run on a cluster."""
