"""What programs print about a file that they need not accept, such as one of another dialect."""

from __future__ import annotations

import re

_REFUSED = re.compile(
    r"""\b(?:not|un)[ -]?(?:yet[ ]|currently[ ])?supported\b | \bremoved[ ]support\b
    | \b(?:does|do|can)[ ]?not[ ](?:yet[ ]|currently[ ])?(?:support|handle)\b
    | \b(?:invalid|unknown|undefined|unexpected)\b | \bexpect(?:s|ed|ing)\b | \bparse[ ]error\b
    | \bnot[ ]a[ ]power[ ]of[ ]two\b | \bdoes[ ]not[ ]match\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def rejects(line: str) -> bool:
    """Return whether a failure line says that a program need not accept its input."""
    return _REFUSED.search(line) is not None
