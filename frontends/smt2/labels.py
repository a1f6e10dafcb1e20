"""The names that verifiers give to assertions and quantifiers."""

from __future__ import annotations

import re

from reducekit.frontends.smt2.commands import head_of, symbol
from reducekit.frontends.smt2.parser import parse

_LABEL = re.compile(rb""":(?:named|qid)\s+(\|[^|]*\||[^\s()"|;:]+)""")
_NAMED = re.compile(rb""":named\s+(\|[^|]*\||[^\s()"|;:]+)\s*\)\s*\)\Z""")


def labels(text: bytes) -> list[str]:
    """Return of each assertion its `:named`, else its first `:qid`, else ''. Raises ParseError."""
    document = parse(text)
    found = []
    for node in document.children(0):
        if head_of(document, node) == b"assert":
            source = document.source(node)
            match = _NAMED.search(source) or _LABEL.search(source)
            found.append("" if match is None else symbol(match[1]).decode(errors="replace"))
    return found
