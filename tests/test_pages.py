"""The pages of docs by their numbers: short how-tos, short sentences, short paragraphs."""

import re
from pathlib import Path

import pytest

from docs.cli_commands import NAMES

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = {path.name: path for path in sorted(DOCS.glob("*.md"))}
_INDEX = PAGES["index.md"].read_text(encoding="utf-8")
_HOW_TO = re.search(r":caption: How to\n:hidden:\n(.*?)```", _INDEX, re.DOTALL)
HOW_TOS = [f"{name}.md" for name in _HOW_TO[1].split()] if _HOW_TO else []
_NOT_PROSE = re.compile(r"(?ms)^(`{3,}|:{3,}).*?^\1$|^(?: {4}|\|).*?$|<!--.*?-->")
_END = re.compile(r"[.:;!?](?=[\s)\]*]|$)")


def prose(text: str) -> list[str]:
    """Return the paragraphs and list items of a page, without headings, blocks and tables."""
    bare = _NOT_PROSE.sub("", text)
    bare = re.sub(r"(?m)^\s*(?:[-*]|\d+\.) ", "\n\n", bare)
    return [each for each in re.split(r"\n\s*\n", bare) if each.strip() and each.strip()[0] != "#"]


def words(text: str) -> int:
    """Return how many words a reader sees: code in a line is one word, a link is its text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "x", text))
    return len(re.findall(r"[\w'/%&.-]*\w[\w'/%&.-]*", text))


@pytest.mark.parametrize("name", HOW_TOS)
def test_a_how_to_is_short(name: str) -> None:
    count = sum(map(words, prose(PAGES[name].read_text(encoding="utf-8"))))
    assert count <= 900, f"docs/{name}: {count} words; move facts to a page that explains them"


@pytest.mark.parametrize("name", [name for name in PAGES if name != "smt2-moves.md"])
def test_sentences_and_paragraphs_are_short(name: str) -> None:
    paragraphs = prose(PAGES[name].read_text(encoding="utf-8"))
    long = [each for each in paragraphs if each.strip().count("\n") > 4]
    assert not long, f"more than five lines: {long[0]}"
    for paragraph in paragraphs:
        text = re.sub(r"`[^`]*`|\([^)]*\)", "x", paragraph)
        for sentence in _END.split(" ".join(text.split())):
            assert words(sentence) <= 30, f"{words(sentence)} words: {sentence}"


def test_every_command_has_a_page() -> None:
    assert [path.stem for path in sorted((DOCS / "cli").glob("*.md"))] == sorted(NAMES)


def test_a_long_sentence_is_seen() -> None:
    page = "# Title\n\nOne `a b` two.\n\n    code\n\n| a |\n\n- item\n- other\n"
    assert [each.strip() for each in prose(page)] == ["One `a b` two.", "item", "other"]
    assert words("One `a b` [two three](x.md).") == 4
