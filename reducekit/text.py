"""Makes bytes and words of unknown origin fit for a terminal, a table or a message."""

from __future__ import annotations


def printable(data: bytes | str) -> str:
    """Return text in which every character can be printed and stays on its line.

    Bytes are read as UTF-8. What is not UTF-8, and characters that are not printable, become
    escapes as Python writes them (`\\x1b`, `\\n`, `\\u202e`), so that no solver output can
    clear a terminal or forge a line. Backslashes stay as they are.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shortened(data: bytes | str, most: int) -> str:
    """Return printable text, cut off after `most` characters; `...` stands for the rest."""
    # A character takes four bytes at most, and shows as one or more: no need to look at all.
    shown = printable(data[: 4 * (most + 1)])
    return shown if len(shown) <= most else f"{shown[:most]}..."
