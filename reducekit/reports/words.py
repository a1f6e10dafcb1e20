"""Text of files and programs, made fit to be shown: all visible, and not too long."""

from __future__ import annotations


def visible(text: str) -> str:
    """Return a text with what cannot be printed spelled out; line ends and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def decoded(text: bytes) -> str:
    """Return bytes as visible text."""
    return visible(text.decode("utf-8", "backslashreplace").replace("\r\n", "\n"))


def shortened(line: str, most: int) -> str:
    """Return a line of at most about `most` characters: its middle goes."""
    if len(line) <= most:
        return line
    half = most // 2
    return f"{line[:half]} [{len(line) - 2 * half:,} more characters] {line[-half:]}"


def excerpt(text: bytes, lines: int, columns: int) -> list[str]:
    """Return the first lines of a text, and how many more there are."""
    most = lines * columns
    found = decoded(text[: 4 * most]).splitlines()
    shown = [shortened(line, columns) for line in found[:lines]]
    more = text.count(b"\n", 0, len(text)) + (not text.endswith(b"\n") and bool(text)) - len(shown)
    return [*shown, f"[{more:,} more lines]"] if more > 0 else shown
