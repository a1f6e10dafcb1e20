"""Outcomes of foreign interpreters, told apart by the `[classify]` table of a model."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable

from reducekit.frontends.trace.model.definition import Sign
from reducekit.oracle.outcome import Outcome


def classified(table: Iterable[tuple[str, Iterable[Sign]]], outcome: Outcome) -> str | None:
    """Return the name of the first entry that has a sign which fits; None if there is none."""
    for name, signs in table:
        if any(_fits(sign, outcome) for sign in signs):
            return name
    return None


def _fits(sign: Sign, outcome: Outcome) -> bool:
    """Return whether all that the sign gives is so. A signal is also known by a shell's status."""
    number = outcome.signal
    if sign.signal is not None:
        wanted = signal.Signals[sign.signal]
        if number != wanted and outcome.status != 128 + wanted:
            return False
    if sign.exit is not None and sign.exit != outcome.status:
        return False
    streams = ((sign.stdout, outcome.stdout), (sign.stderr, outcome.stderr))
    return all(
        pattern is None or re.search(pattern.encode(), text) is not None
        for pattern, text in streams
    )
