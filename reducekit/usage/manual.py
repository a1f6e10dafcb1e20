"""The manual page, made of plain data: commands with their options, in roff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Section(NamedTuple):
    """A part of the page: what it is about, paragraphs, and options with what they do."""

    title: str
    paragraphs: Sequence[str] = ()
    options: Sequence[tuple[str, str]] = ()
    level: int = 1


def manual(name: str, version: str, sections: Iterable[Section]) -> str:
    """Return a manual page of section 1."""
    lines = [f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"']
    for section in sections:
        lines.append(f'.{"SH" if section.level == 1 else "SS"} "{_plain(section.title)}"')
        for number, paragraph in enumerate(section.paragraphs):
            if number:
                lines.append(".PP")
            lines.append(_line(paragraph))
        for spelled, what in section.options:
            lines += [".TP", rf"\fB{_plain(spelled)}\fR", _line(what)]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")


def _line(text: str) -> str:
    """Return a text that is no request, whatever it begins with."""
    return rf"\&{_plain(text)}"
