"""The status that a script claims: what its writer expected a solver to answer.

It is true of the script as it was written. Parts of it may be answered otherwise, and solvers that
compare their answer with it then fail: z3 with an error, cvc5 with an abort.
"""

from __future__ import annotations

import re

_CLAIM = re.compile(rb"(^|\))([ \t]*)\(\s*set-info\s+:status\s+([^\s()|\";]+)\s*\)", re.MULTILINE)


def status_of(text: bytes) -> str | None:
    """Return `sat` or `unsat` if a script claims this once; None otherwise."""
    claims = [found[3].decode(errors="replace") for found in _CLAIM.finditer(text)]
    return claims[0] if len(claims) == 1 and claims[0] in ("sat", "unsat") else None


def without_status(text: bytes) -> bytes:
    """Return a script that claims nothing; its other lines keep their numbers."""
    return _CLAIM.sub(rb"\1\2", text) if b":status" in text else text
