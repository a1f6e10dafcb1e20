"""What every hunt is told on the command line: how much, where, and how hard to try."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from reducekit.cli.options import JOBS, MEGABYTES, PATH, SECONDS, Function, adding
from reducekit.registry import strategy as known_strategy


@dataclass(frozen=True, slots=True)
class HuntOptions:
    """The options as given; times are in seconds, memory is in megabytes."""

    folder: Path
    count: int | None
    max_time: float | None
    jobs: int
    timeout: float
    memory: int | None
    no_reduce: bool
    strategy: str
    quiet: bool

    @property
    def bytes(self) -> int | None:
        """The memory in bytes."""
        return None if self.memory is None else self.memory * 1_000_000


def hunt_options(
    inputs: str, run: str, memory: int | None = None
) -> Callable[[Function], Function]:
    """Return what adds the options; they speak of `inputs` and of a `run`."""
    return adding(
        [
            click.option(
                "--out",
                "folder",
                type=PATH,
                default=Path("failures"),
                show_default=True,
                metavar="DIR",
                help="The folder for the bugs; what it has is not reported as new again.",
            ),
            click.option(
                "--count",
                type=click.IntRange(min=1),
                metavar="N",
                help=f"So many {inputs}; default: no end.",
            ),
            click.option("--max-time", type=SECONDS, metavar="S", help="Stop after S seconds."),
            click.option(
                "-j",
                "--jobs",
                type=JOBS,
                default=1,
                show_default=True,
                metavar="N",
                help=f"{inputs.capitalize()} at the same time; auto: one for each processor.",
            ),
            click.option(
                "--timeout",
                type=SECONDS,
                default=10.0,
                show_default=True,
                metavar="S",
                help=f"Seconds for a {run}.",
            ),
            click.option(
                "--memory",
                type=MEGABYTES,
                default=memory,
                show_default=memory is not None,
                metavar="MB",
                help=f"Megabytes of address space for each process of a {run}.",
            ),
            click.option("--no-reduce", is_flag=True, help="Keep bugs as they were found."),
            click.option(
                "--strategy",
                default="adaptive",
                show_default=True,
                metavar="NAME",
                help="How to search while reducing.",
            ),
            click.option("-q", "--quiet", is_flag=True, help="Only the summary."),
        ]
    )


def hunt_options_from(values: dict[str, Any]) -> HuntOptions:
    """Gather the options out of a command's parameters. Raises UsageError."""
    options = HuntOptions(**{each.name: values[each.name] for each in fields(HuntOptions)})
    known_strategy(options.strategy)
    return options
