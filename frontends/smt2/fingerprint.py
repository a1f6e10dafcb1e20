"""Hashes scripts independently of the names of their symbols."""

from __future__ import annotations

import re
from hashlib import blake2b

TOKEN = re.compile(rb'"[^"]*"|\|[^|]*\||[^\s()"|]+|[()"|]')
_MOST = 1 << 12
"""Longer scripts get no fingerprint: two are hardly ever equal, and it would take time."""
_DECLARING = (b"declare-", b"define-")


def fingerprint(text: bytes) -> bytes | None:
    """Return a hash of a script in which declared names are replaced by numbers.

    The order of declarations matters. Bound names, and names that a command declares together
    with others, such as constructors, are not replaced.
    """
    if len(text) > _MOST:
        return None
    tokens: list[bytes] = TOKEN.findall(text)
    names = {
        name
        for before, command, name in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if command.startswith(_DECLARING) and before == b"("
    }
    names.discard(b"(")
    numbers: dict[bytes, bytes] = {}
    written = [
        numbers.setdefault(token, b"|%d" % len(numbers)) if token in names else token
        for token in tokens
    ]
    return blake2b(b" ".join(written), digest_size=16).digest()
