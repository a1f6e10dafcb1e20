"""The pages of docs by their numbers: short how-tos, short sentences, short paragraphs."""

import re
from pathlib import Path

import pytest

from docs.cli_commands import NAMES

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("design/*.md")),
]
_INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
_HOW_TO = re.search(r":caption: How to\n:hidden:\n(.*?)```", _INDEX, re.DOTALL)
HOW_TOS = _HOW_TO[1].split() if _HOW_TO else []
_NOT_PROSE = re.compile(r"(?ms)^(`{3,}|:{3,})(?!\{glossary).*?^\1$|^(?: {4}|\|).*?$|<!--.*?-->")
_END = re.compile(r"[.!?](?=[\s)\]*]|$)")
_LINE = 120


def prose(text: str) -> list[str]:
    """Return the paragraphs and list items of a page, without headings, blocks and tables."""
    bare = _NOT_PROSE.sub("", text)
    bare = re.sub(r"(?m)^\s*(?:[-*]|\d+\.) ", "\n\n", bare)
    return [each for each in re.split(r"\n\s*\n", bare) if each.strip() and each.strip()[0] != "#"]


def seen(text: str) -> str:
    """Return what a reader sees of a text: a link is its words."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def words(text: str) -> int:
    """Return how many words a reader sees: code in a line is one word."""
    return len(re.findall(r"[\w'/%&.-]*\w[\w'/%&.-]*", re.sub(r"`[^`]*`", "x", seen(text))))


@pytest.mark.parametrize("name", HOW_TOS)
def test_a_how_to_is_short(name: str) -> None:
    count = len((DOCS / f"{name}.md").read_text(encoding="utf-8").split())
    assert count <= 900, f"docs/{name}: {count} words; move facts to a page that explains them"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_and_paragraphs_are_short(page: Path) -> None:
    paragraphs = [seen(each) for each in prose(page.read_text(encoding="utf-8"))]
    long = [each for each in paragraphs if len(each) > 5 * _LINE]
    assert not long, f"more than five lines: {long[0]}"
    sentences = [each for paragraph in paragraphs for each in _END.split(paragraph)]
    assert [(words(each), each) for each in sentences if words(each) > 30] == []


def test_every_command_has_a_page() -> None:
    assert [path.stem for path in sorted((DOCS / "cli").glob("*.md"))] == sorted(NAMES)


def test_a_long_sentence_is_seen() -> None:
    page = "# Title\n\nOne `a b` two.\n\n    code\n\n| a |\n\n- item\n- other\n"
    assert [each.strip() for each in prose(page)] == ["One `a b` two.", "item", "other"]
    assert words("One `a b` [two three](x.md).") == 4
