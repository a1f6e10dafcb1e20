"""Reducing from Python: all that the command line can do, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from reducekit.events import Event
from reducekit.executors.repeating import Repeat
from reducekit.frontend import Effort, Frontend
from reducekit.session.cluster import Cluster
from reducekit.session.options import KnownFailure, Opener, Options, Words
from reducekit.session.report import Report
from reducekit.session.session import Session, ignore


class ReduceOptions(TypedDict, total=False):
    """The options of `reduce` by name: those of `reducekit.Options`, which explains them."""

    command: Words | None
    oracle: Words | None
    known: KnownFailure | None
    reference: Words | None
    slower_than: float | None
    slower_ratio: float | None
    also_passes: Sequence[Words]
    exit_code: int | None
    match_out: Sequence[str]
    match_err: Sequence[str]
    ignore_out: bool
    ignore_err: bool
    stdin: bool
    shell: bool
    timeout: float | None
    first_timeout: float | None
    cpu: float | None
    memory: int | None
    max_output: int | None
    name: str
    format: str | Frontend
    strategy: str
    effort: Effort
    only: Sequence[str]
    without: Sequence[str]
    pretty: bool
    lenient: bool
    jobs: int
    width: int | None
    fast: bool
    repeat: Repeat | None
    output: Path | None
    in_place: bool
    journal: bool
    resume: bool
    restart: bool
    also_interesting: Path | None
    max_checks: int | None
    max_time: float | None
    until: int | None
    patience: int | None
    workdir: Path | None
    cluster: str | Cluster | None
    ship: Sequence[Path]
    local_slots: int
    opener: Opener | None


def reduce(
    input: bytes | str | Path,  # noqa: A002 - what it is called everywhere
    interesting: Callable[[bytes], bool] | None = None,
    *,
    listen: Callable[[Event], None] = ignore,
    **options: Unpack[ReduceOptions],
) -> Report:
    """Return the report of a reduction; its `text` is the smallest one found.

    `input` is a text (`bytes` or `str`) or the `Path` of a file. What fails is said by
    `interesting`, a function that gets the bytes of a candidate and must always say the same of
    the same text, or by the option `command` (its failure is kept) or `oracle` (exit status 0
    keeps a candidate). All other options are those of `reducekit.Options`, by name, such as
    `format="btor"`, `jobs=4`, `max_time=60`. `listen` is told of every event. To stop or pause
    it from another thread, make a `reducekit.Session` instead.

    A file's result is written beside it, with a journal, unless `output` or `journal=False` say
    otherwise; that of a text only if `output` is given.

    Raises UsageError for options, files and commands that cannot be used, ParseError if the input
    is not of its format, NotInterestingError if it does not fail, or not every time, and
    KeyboardInterrupt after Ctrl-C, when what was found so far has been written.
    """
    text = input.encode() if isinstance(input, str) else input
    report = Session(Options(input=text, interesting=interesting, **options), listen).run()
    if report.interrupted:
        raise KeyboardInterrupt
    return report
