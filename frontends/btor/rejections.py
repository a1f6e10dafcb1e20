"""Which failures of a hunt are no bugs, and what is left of a reduced file, to tell bugs apart."""

from __future__ import annotations

import re

from reducekit.frontends.btor.model.operators import CONSTANTS, DECLARATIONS, Op
from reducekit.frontends.btor.model.reader import read

_LACKING = re.compile(
    r"""\b(?:not|un)[ -]?(?:yet[ ]|currently[ ])?supported\b | \bremoved[ ]support\b
    | \b(?:does|do|can)[ ]?not[ ](?:yet[ ]|currently[ ])?(?:support|handle)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A program has no such feature, as Boolector has no `next` from 1.5 on."""
_DECLINED = re.compile(
    r"""\b(?:invalid|unknown|undefined|unexpected)\b | \bexpect(?:s|ed|ing)\b | \bparse[ ]error\b
    | \bnot[ ]a[ ]power[ ]of[ ]two\b | \bdoes[ ]not[ ]match\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A program finds a file ill-formed, as that of another dialect is for it."""
_USUAL = (
    CONSTANTS | (DECLARATIONS - {Op.FAIR, Op.JUSTICE})
    | {Op.INPUT, Op.STATE, Op.ROOT, Op.NOT, Op.AND, Op.OR, Op.PROXY}
)  # fmt: skip
"""They are in nearly all files, or hold the rest together."""


def rejects(line: str, *, well_formed: bool) -> bool:
    """Return whether the failure line of a run says that a program need not accept its input."""
    if _LACKING.search(line) is not None:
        return True
    return not well_formed and _DECLINED.search(line) is not None


def skeleton(text: bytes) -> str:
    """Return the operators of a file, in one line, without those that say little."""
    codes = sorted({*read(text, any_ending=True).op} - _USUAL)
    return ", ".join(Op(code).name.lower() for code in codes) or "nothing"
