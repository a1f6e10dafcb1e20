"""Guesses: small parts of a script that are likely to fail as the whole does.

Where a solver proves a query in one run and loses it in another, three kinds of assertions count:
those of the proof (an unsat core), those that distracted the other run (quantifiers with
instances), and the ground ones, which say what is asked. Measured on unstable queries of verifiers,
these parts often fail in the same way; where none does, that has cost a check each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducekit.frontends.smt2.answers.cores import core_of, only
from reducekit.frontends.smt2.answers.instances import instances
from reducekit.frontends.smt2.answers.variants import pieces
from reducekit.frontends.smt2.language.commands import read_commands
from reducekit.frontends.smt2.language.parser import parse
from reducekit.offers import Probe

_QUANTIFIER = re.compile(rb"\(\s*(?:forall|exists)\b")


def guesses(text: bytes, good: Sequence[Probe], bad: Probe) -> list[bytes]:
    """Return parts of a script, the smallest first; none if no run tells of a core.

    Two runs are made where all goes well, one more for each that tells nothing.
    """
    script = pieces(text, 0)
    if script is None:
        return []
    core = next(filter(None, (core_of(text, each) for each in good)), None)
    if core is None:
        return []
    counted = instances(text, bad) or {}
    instantiated = {place for place, count in counted.items() if count}
    ground = {
        each.place
        for each in script
        if each.head == b"assert" and _QUANTIFIER.search(each.text) is None
    }
    uses = read_commands(parse(text)).uses
    found = [only(script, uses, part) for part in (core, core | instantiated | ground)]
    return sorted(set(found) - {only(script, uses, range(len(script)))}, key=len)
