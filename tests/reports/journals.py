"""Journals for the tests, written as a reduction writes them."""

import json
from collections.abc import Sequence
from pathlib import Path

from reducekit.journal import Contents, Head, digest, load, open_journal
from reducekit.run import Outcome


def head(
    text: bytes, command: str = "z3 FILE", criterion: str = "", frontend: str = "smt2"
) -> Head:
    return Head.of(
        text,
        version="1.2.3",
        frontend=frontend,
        strategy="adaptive",
        commands=[command],
        criterion=criterion or "the command's own failure",
        settings={"width": "2", "timeout": "None"},
    )


def write(
    path: Path,
    texts: Sequence[bytes],
    *,
    command: str = "z3 FILE",
    criterion: str = "",
    frontend: str = "smt2",
    what: str = "drop commands",
    name: str = "commands",
    stderr: bytes = b"",
    ending: dict[str, object] | None = None,
    passes: bool = True,
) -> Contents:
    """Write a journal in which each text was accepted at the third check after the last."""
    begin = head(texts[0], command, criterion, frontend)
    with open_journal(path, begin, texts[0], resume=False) as journal:
        journal.golden([[Outcome(None, 11, b"", stderr, None, 0.25)]])
        checks = 0
        for number, text in enumerate(texts[1:], 1):
            for miss in range(2):
                journal.verdict(digest(b"%d %d" % (number, miss)), False, 0.25)
            journal.verdict(digest(text), True, 0.25)
            checks += 3
            journal.step(text, what, name, seconds=checks / 4, checks=checks)
        if passes:
            journal.verdict(digest(b"last"), False, 0.25)
            journal.pass_ended(name, 1, checks=checks + 1, seconds=(checks + 1) / 4)
        if ending is not None:
            journal.note("ended", "")
            journal.note("report", json.dumps(ending))
    return load(path)
