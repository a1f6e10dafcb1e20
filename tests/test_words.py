"""Constructions that read as translated do not occur in anything that people read."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
READ = (
    "*.md",
    "docs/*.md",
    "examples/*.md",
    "benchmarks/*.md",
    "reducekit/**/*.py",
    "reducekit/ui/static/*.js",
    "reducekit/ui/static/*.html",
    "frontends/**/*.py",
    "frontends/**/*.toml",
    "strategies/*.py",
    "benchmarks/**/*.py",
)
"""Everything that people read."""

CONSTRUCTIONS = {
    "no": r"(?<!there )\b(?:is|are|was|were) none\b(?! of| the wiser)",
    "whose": r"(?<!\bany )(?<!each )(?<!some )(?<!last )(?<!one )(?<!many )(?<!all )of which\b",
    "the rest, the result": r"\b[Ww]hat (?:is|was|are|were) (?:left|lost|made)\b",
    "next to, with, compared with": r"\b[Bb]eside\b",
    "again, another": r"(?<!\\)\b[Aa]new\b",
    "gets, is called, distinguished": r"\b[Tt]old\b",
    "fixed": r"\b[Mm]ended\b",
}
"""Constructions that read as translated, by what an engineer writes instead."""
NAMES = re.compile(r"`[^`]*`|commands beside it|\"beside\"")
"""Code in a text, a pass and a hook."""


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are read: of Python its comments and strings."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield from enumerate(token.string.splitlines(), token.start[0])


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, str]]:
    """All of these lines, with their places, without names."""
    paths = {path for pattern in READ for path in CHECKOUT.glob(pattern)}
    assert len(paths) > 300
    return [
        (f"{path}:{number}: {line.strip()}", NAMES.sub("", line))
        for path in sorted(paths - {CHECKOUT / "CHANGELOG.md"})
        for number, line in prose(path)
    ]


@pytest.mark.parametrize("instead", CONSTRUCTIONS)
def test_a_construction_does_not_occur(lines: list[tuple[str, str]], instead: str) -> None:
    search = re.compile(CONSTRUCTIONS[instead]).search
    assert [place for place, line in lines if search(line)] == []
