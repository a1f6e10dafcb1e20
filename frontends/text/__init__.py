"""The text frontend: reduces any text as lines, groups in parentheses, and tokens.

It is for formats that have no frontend of their own, and for files that are broken
(`--lenient`). It knows no grammar, so most candidates are no valid files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reducekit.frontend import Frontend, Schedule, by_size
from reducekit.frontends.text.passes import (
    TextView,
    blanks,
    drop_groups,
    drop_lines,
    drop_tokens,
    parse_lines,
)
from reducekit.search.strategy import Passes

__all__ = ["Text", "TextView", "parse_lines"]


class Text(Frontend):
    """The frontend for any text; `suffix` is that of the files that the program is given."""

    name = "text"
    title = "any text, by lines and tokens"

    examples = (
        "reducekit text in.txt --cmd './solver --opt'",
        "reducekit text in.txt --oracle ./test.sh -o small.txt",
    )

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def parse(self, text: bytes) -> TextView:
        return TextView(parse_lines(text))

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(drop_lines, drop_groups, drop_tokens, blanks))

    def order(self, text: bytes) -> Any:
        return by_size(text)

    def measure(self, view: TextView) -> Mapping[str, int]:
        return {
            "bytes": len(view.document.text),
            "lines": len(view.lines),
            "tokens": len(view.document) - 1 - len(view.lines),
        }
