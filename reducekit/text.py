"""Makes bytes and words of unknown origin fit for a terminal, a table or a message."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 check`, `1,000 checks`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def without_mark(text: bytes) -> bytes:
    """Return a text without the byte order mark that editors on Windows put before it."""
    return text.removeprefix(BOM_UTF8)


def printable(data: bytes | str, keep: str = "") -> str:
    """Return text in which every character can be printed, or is one of `keep`.

    Without line ends to keep it stays on its line.

    Bytes are read as UTF-8. What is not UTF-8, and characters that are not printable, become
    escapes as Python writes them (`\\x1b`, `\\n`, `\\u202e`), so that no solver output can
    clear a terminal or forge a line. Backslashes stay as they are.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def printable_lines(data: bytes | str) -> str:
    """Return printable text that keeps its lines and tabs."""
    if isinstance(data, bytes):
        data = data.replace(b"\r\n", b"\n")
    return printable(data, keep="\n\t")


def shortened(data: bytes | str, most: int) -> str:
    """Return printable text, cut after `most` characters; `...` marks the rest."""
    # A character takes four bytes at most, and shows as one or more: no need to look at all.
    shown = printable(data[: 4 * (most + 1)])
    return shown if len(shown) <= most else f"{shown[:most]}..."


def without_middle(line: str, most: int) -> str:
    """Return a line of at most about `most` characters: its middle goes."""
    half = most // 2
    shorter = f"{line[:half]} [{len(line) - 2 * half:,} more characters] {line[-half:]}"
    return shorter if len(line) > most and len(shorter) < len(line) else line


def not_text(data: bytes) -> str | None:
    """Return what to say of an output that is no text but binary data; None if it is text."""
    return f"{len(data):,} bytes, not text" if b"\0" in data else None


def excerpt(text: bytes, lines: int, columns: int) -> list[str]:
    """Return the first lines of a text, printable, and how many more there are."""
    binary = not_text(text)
    if binary is not None:
        return [f"[{binary}]"]
    found = printable_lines(text[: 4 * lines * columns]).splitlines()
    shown = [without_middle(line, columns) for line in found[:lines]]
    more = text.count(b"\n") + (not text.endswith(b"\n") and bool(text)) - len(shown)
    return [*shown, f"[{more:,} more lines]"] if more > 0 else shown


def with_places(text: str, places: Mapping[str, str]) -> str:
    """Return a text with the values of its placeholders."""
    for place, value in places.items():
        text = text.replace(place, value)
    return text
