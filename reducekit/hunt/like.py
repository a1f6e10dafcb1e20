"""A hunt for a smaller input with the failure of a given file: `hunt FORMAT --like FILE`.

So a failure is had without reducing a file that is too large for it (Artho, Biere, Seidl:
Model-based testing for verification back-ends, TAP 2013, section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reducekit.errors import NotInterestingError, ParseError
from reducekit.hunt import store
from reducekit.hunt.campaign import Campaign
from reducekit.hunt.events import HuntStats, InputResult

SHOWN = "failure of the file"
"""The counter for inputs that show it."""
SMALLER = "smaller than the file"
"""The counter for those that were smaller than all before."""


@dataclass(frozen=True, slots=True)
class Like:
    """The failures of a file, by the names of their findings."""

    path: Path
    text: bytes
    titles: Mapping[str, str]
    order: Callable[[bytes], Any]

    def only_smaller(
        self, result: InputResult, folder: Path, suffix: str, pending: Mapping[str, int]
    ) -> tuple[InputResult, list[str]]:
        """Return a result without failures of the file that a smaller input shows.

        Also returns the names of those that it keeps, after removing what `folder` has of them. A
        `pending` one is kept, as its input is tested again.
        """
        found, smaller, shown = [], [], 0
        for each in result.findings:
            shown += each.name in self.titles
            if each.name in self.titles and pending.get(each.name) != result.input.number:
                bug = store.bug_of(folder, suffix, each.name, each, result)
                files = [path for path in (bug.path, bug.reduced_path) if path.exists()]
                known = [self.text, *(path.read_bytes() for path in files)]
                if self.order(result.input.text) >= min(map(self.order, known)):
                    continue
                store.remove(bug)
                smaller.append(each.name)
            found.append(each)
        counts = {**result.counts, SHOWN: shown, SMALLER: len(smaller)}
        return replace(result, findings=tuple(found), counts=counts), smaller

    def summary(self, stats: HuntStats) -> str:
        """Return a sentence on how many inputs show the failure."""
        shown, smaller = stats.counts[SHOWN], stats.counts[SMALLER]
        return f"{shown:,} fail like {self.path}, {smaller:,} of them smaller than any before"


def like_file(path: Path, campaign: Campaign) -> Like:
    """Test a file, and return its failures. Raises NotInterestingError if there are none."""
    (result,) = (each for each in campaign.test_file(path) if each is not None)
    text = result.input.text
    titles = {each.name: each.title for each in result.findings}
    if not titles:
        said = "" if result.rejection is None else f' ("{result.rejection.message}")'
        said = " in the time limit" if result.timed_out else said
        raise NotInterestingError(f"`like`: {path} shows no failure{said}, so none can be hunted")
    with suppress(ParseError):
        campaign.frontend.parse(text)  # traces are ordered by the calls of their format
    return Like(path, text, titles, campaign.frontend.order)
