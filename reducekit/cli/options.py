"""What the options of several commands have in common: types, and tables of options."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

MOST_JOBS = 1024


class _Seconds(click.FloatRange):
    """A time that the system calls can take; `nan` compares with nothing, so it is asked for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a time in seconds (a number, not nan).", param, ctx)
        return found


class _Jobs(click.IntRange):
    """A number of jobs, or `auto`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return min(MOST_JOBS, len(os.sched_getaffinity(0)))
        return super().convert(value, param, ctx)


SECONDS = _Seconds(min=0, min_open=True, max=10_000_000)
JOBS = _Jobs(min=1, max=MOST_JOBS)
MEGABYTES = click.IntRange(min=1, max=10_000_000)
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
