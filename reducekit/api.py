"""Reducing from Python: all that the command line can do, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack, overload

from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.events import Event
from reducekit.executors.executor import Repeat
from reducekit.format import Effort, Format
from reducekit.session.cluster import Cluster
from reducekit.session.failure import KnownFailure, Opener, Words
from reducekit.session.options import Options
from reducekit.session.report import ENCODING, Report
from reducekit.session.session import Session, ignore

Number: TypeAlias = int | str
Quantity: TypeAlias = float | str
"""A number of seconds or bytes, or text as on the command line, such as `90s` or `4G`."""
Place: TypeAlias = str | os.PathLike[str]


class ReduceOptions(TypedDict, total=False):
    """The options of `reduce` by name: those of `reducekit.Options`, which explains them."""

    command: Words | None
    oracle: Words | None
    known: KnownFailure | None
    reference: Words | None
    wrong_model: bool
    proof: Words | None
    checker: Words | None
    slower_than: Quantity | None
    slower_ratio: float | None
    unstable: int | None
    match_stack: int | str | None
    unresolved: Number | None
    good: int
    bad: int
    also_passes: Sequence[Words] | str
    also_match: Sequence[tuple[Words, str]]
    cost: str | None
    at_least: Number | float | None
    times: Number | float | None
    floor: Number | float
    regression: bool
    exit_code: Number | None
    match_out: Sequence[str] | str
    match_err: Sequence[str] | str
    ignore_out: bool
    ignore_err: bool
    stdin: bool
    shell: bool
    timeout: Quantity | None
    first_timeout: Quantity | None
    cpu: Quantity | None
    memory: Number | None
    max_output: Number | None
    more_inputs: Sequence[Path]
    name: str
    format: str | Format | None
    strategy: str
    effort: Effort
    only: Sequence[str] | str
    without: Sequence[str] | str
    pretty: bool
    lenient: bool
    jobs: Number
    width: Number | None
    fast: bool
    repeat: Repeat | str | None
    protect: Sequence[str] | str
    propose: Sequence[Words] | str
    prefer: Words | None
    prefer_first: bool
    output: Place | None
    in_place: bool
    journal: bool
    resume: bool
    restart: bool
    also_interesting: Place | None
    max_checks: Number | None
    max_time: Quantity | None
    until: Number | None
    patience: Number | None
    workdir: Place | None
    cluster: str | Cluster | None
    ship: Sequence[Place] | Place
    local_slots: Number
    opener: Opener | None


@overload
def reduce(
    input: bytes | Path,
    interesting: Callable[[bytes], bool] | None = None,
    *,
    listen: Callable[[Event], None] = ignore,
    **options: Unpack[ReduceOptions],
) -> Report[bytes]: ...


@overload
def reduce(
    input: str,
    interesting: Callable[[str], bool] | None = None,
    *,
    listen: Callable[[Event], None] = ignore,
    **options: Unpack[ReduceOptions],
) -> Report[str]: ...


def reduce(
    input: bytes | str | Path,  # noqa: A002 - what it is called everywhere
    interesting: Callable[[Any], bool] | None = None,
    *,
    listen: Callable[[Event], None] = ignore,
    **options: Unpack[ReduceOptions],
) -> Report[str] | Report[bytes]:
    """Return the report of a reduction; its `text` is the smallest one found.

    `input` is a text (`bytes` or `str`) or the `Path` of a file. What fails is said by
    `interesting`, a function that gets a candidate, returns a bool and must always say the same
    of the same text, or by the option `command` (its failure is kept) or `oracle` (exit status 0
    keeps a candidate). If the input is a `str`, so are the candidates and the report's `text`,
    otherwise they are bytes. All other options are those of `reducekit.Options`, by name, such as
    `format="btor"`, `jobs=4`, `max_time="1m"`. The format is found by the suffix of a file, or by
    the text. `listen` gets every event; without it, a notebook shows the progress. To stop or
    pause it from another thread, make a `reducekit.Session` instead.

    A file's result is written next to it, with a journal, unless `output` or `journal=False` say
    otherwise; that of a text only if `output` is given.

    Raises UsageError for options, files and commands that cannot be used, ParseError if the input
    is not of its format, NotInterestingError if it does not fail, or not every time, or if the
    empty text fails, too, TypeError if `interesting` does not return a bool, and
    KeyboardInterrupt after Ctrl-C, when what was found so far has been written.
    """
    given: dict[str, Any] = dict(options)
    _refuse_unknown(given)
    predicate = _of_text(interesting) if isinstance(input, str) and interesting else interesting
    text = _encoded(input) if isinstance(input, str) else input
    session = Session(Options(input=text, interesting=predicate, **given), listen)
    try:
        report = session.run()
    except (NotInterestingError, ParseError) as error:
        if isinstance(input, str) and os.path.isfile(input):
            error.add_note(f"a file {input} exists: pass Path({input!r})")
        raise
    if report.interrupted:
        raise KeyboardInterrupt
    return report.decoded() if isinstance(input, str) else report


def _encoded(text: str) -> bytes:
    try:
        return text.encode(*ENCODING)
    except UnicodeEncodeError as error:
        raise UsageError(f"the text cannot be written as UTF-8: {error}") from None


def _of_text(interesting: Callable[[str], bool]) -> Callable[[bytes], bool]:
    return lambda text: interesting(text.decode(*ENCODING))


def _refuse_unknown(options: Mapping[str, object]) -> None:
    known = [field.name for field in fields(Options)]
    for name in options:
        if name in known:
            continue
        from reducekit.usage.habits import python_name

        meant = python_name(name) or next(iter(get_close_matches(name, known, 1)), None)
        hint = "" if meant is None else f": did you mean `{meant}`?"
        raise UsageError(f"unknown option `{name}`{hint}")
