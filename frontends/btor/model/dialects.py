"""Detects the dialect of a BTOR file."""

from __future__ import annotations

import re

from reducekit.frontends.btor.model.operators import Dialect

_ARRAY_LINES = re.compile(rb"^[ \t]*([0-9]+)[ \t]+(array|cond)[ \t]+([^;\r\n]*)", re.MULTILINE)


def _has(text: bytes, *names: bytes) -> bool:
    return any(_first(text, name) is not None for name in names)


def detect(text: bytes) -> Dialect:
    """Return the dialect of a text, by what only that dialect has; `btor1` where all would do.

    Never fails: the reader refuses lines of no dialect. A `sort` line means BTOR2,
    wherever it stands, as `.btor` files may contain either.
    """
    if _first(text, b"sort") is not None:
        return Dialect.BTOR2
    if _has(text, b"lambda", b"apply", b"param"):
        return Dialect.FUN
    if _has(text, b"acond", b"anext"):
        return Dialect.BTOR1
    write = _first(text, b"write")
    if write is not None:
        # write W array index value, or with the index width as second.
        return Dialect.OLD if len(write.split()) == 4 else Dialect.BTOR1
    if _conditional_on_arrays(text):
        return Dialect.OLD
    if _has(text, b"umul", b"smul", b"umod"):
        return Dialect.BTOR_2007
    # `nego` outlived the change of `write` by a month; without any write it is as old.
    return Dialect.BTOR1 if _first(text, b"nego") is None else Dialect.OLD


def _first(text: bytes, name: bytes) -> bytes | None:
    """Return what follows an operator up to a comment, in the first line that has it."""
    if name not in text:
        return None
    found = re.search(rb"^[ \t]*[0-9]+[ \t]+" + name + rb"[ \t]+([^;\r\n]*)", text, re.MULTILINE)
    return found.group(1) if found is not None else None


def _conditional_on_arrays(text: bytes) -> bool:
    """Return whether a `cond` chooses between arrays (of a file without `write`)."""
    if _first(text, b"array") is None or _first(text, b"cond") is None:
        return False
    arrays: set[bytes] = set()
    for ident, name, rest in _ARRAY_LINES.findall(text):
        words = rest.split()
        if name == b"array":
            arrays.add(ident)
        elif len(words) == 4 and words[2] in arrays:
            return True
    return False
