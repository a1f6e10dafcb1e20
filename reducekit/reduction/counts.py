"""What a reduction has cost so far, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """What a reduction has cost so far. Only `runs` depends on timing."""

    checks: int = 0
    """Candidates whose verdict took a run of the oracle."""
    cache_hits: int = 0
    """Candidates whose verdict was known already."""
    runs: int = 0
    """Runs started, also of candidates that were overtaken by an earlier one's success."""
    repeats: int = 0
    """Runs on texts that had been found interesting, to see whether they always are."""
    replayed: int = 0
    """Checks whose verdict was in the journal."""
    accepted: int = 0
    rejected: int = 0
    """Successes that did not go together with others found at the same time."""

    @property
    def discarded(self) -> int:
        """Runs whose verdict was not used."""
        return self.runs + self.replayed - self.checks - self.repeats
