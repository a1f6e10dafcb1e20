"""Times, sizes and numbers as people type them (`90s`, `4G`, `auto`, `SIGSEGV`), for every face.

Each function takes text or a number, and raises ValueError with what was expected.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from typing import NamedTuple

MOST_JOBS = 1024
_LARGEST = 10**7  # seconds, or megabytes: what system calls can take
_MEGABYTE = 10**6
_TIMES = {"": 1, "ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_SIZES = {"": _MEGABYTE, "K": 10**3, "M": _MEGABYTE, "G": 10**9, "T": 10**12}
_QUANTITY = re.compile(r"\s*\+?((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*([a-z]*)\s*", re.I)
_RATIO = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*x\s*")


class Slowness(NamedTuple):
    """How slow a run has to be: in seconds, or as a multiple of another one's time."""

    seconds: float | None
    ratio: float | None


def seconds(given: object) -> float:
    """Return the seconds of a number, or of text such as `90`, `90s` or `1.5h`."""
    number = _in_units(given, _TIMES)
    if number is None or not 0 < number <= _LARGEST:
        raise ValueError(f"{given!r} is not a time: expected seconds, or a unit as in 90s, 2m, 1h")
    return number


def size(given: object) -> int:
    """Return the bytes of a number of bytes, or of text such as `4G`; without unit: megabytes."""
    number = _in_units(given, _SIZES)
    if number is None or not 1 <= number <= _LARGEST * _MEGABYTE:
        raise ValueError(f"{given!r} is not a size: expected megabytes, or a unit as in 500M, 4G")
    return round(number)


def slowness(given: object) -> Slowness:
    """Return the seconds of a number or text, or the ratio of text such as `10x`."""
    if isinstance(given, Slowness):
        return given
    ratio = _RATIO.fullmatch(given) if isinstance(given, str) else None
    return Slowness(seconds(given), None) if ratio is None else Slowness(None, float(ratio[1]))


def count(given: object) -> int:
    """Return a number of things, which may be 0."""
    return _whole(given, 0, None)


def number(given: object) -> float:
    """Return a number above 0."""
    found = _in_units(given, {"": 1.0})
    if found is None or found <= 0:
        raise ValueError(f"{given!r} is not a number above 0")
    return found


def positive(given: object) -> int:
    """Return a number of things, at least one."""
    return _whole(given, 1, None)


def processors() -> int:
    """Return how many processors this process may use; of all, where a system cannot say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs(given: object) -> int:
    """Return a number of jobs; `auto`: one for each processor."""
    if given == "auto":
        return min(MOST_JOBS, processors())
    return _whole(given, 1, MOST_JOBS, " or auto")


def width(given: object) -> int:
    """Return a number of candidates tried at once."""
    return _whole(given, 1, MOST_JOBS)


def exit_code(given: object) -> int:
    """Return an exit status; the name of a signal makes it a negative number."""
    if isinstance(given, str) and given.strip()[:1].isalpha():
        name = given.strip().upper()
        found = signal.Signals.__members__.get(name if name.startswith("SIG") else f"SIG{name}")
        if found is not None:
            return -int(found)
    return _whole(given, -64, 255, " or the name of a signal, such as SIGSEGV")


def _whole(given: object, least: int, most: int | None, other: str = "") -> int:
    try:
        number = int(given) if isinstance(given, str | int) else None
    except ValueError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{given!r} is not a number {bounds}{other}")
    return number


def _in_units(given: object, units: Mapping[str, float]) -> float | None:
    """Return a number, or what text with a unit says; None for anything else."""
    if not isinstance(given, str):
        return float(given) if isinstance(given, int | float) else None
    match = _QUANTITY.fullmatch(given)
    if match is None:
        return None
    unit = match[2]
    spellings = (unit, unit.lower(), unit.upper().removesuffix("B").removesuffix("I"))
    found = next((units[each] for each in spellings if each in units), None)
    return None if found is None else float(match[1]) * found
