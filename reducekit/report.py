"""The last word of a reduction: what became smaller, what it cost, how to see the failure again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reducekit.reduction import Counts

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the summary tells. `verified` is None when the last check was not made."""

    input: Path
    output: Path
    before: Mapping[str, int]
    after: Mapping[str, int]
    counts: Counts
    seconds: float
    failure: str
    see_again: str
    stopped: str | None
    verified: bool | None

    def text(self) -> str:
        """Return the summary for people."""
        wide = max(map(len, self.before))
        lines = [f"{self.output}"]
        for name, before in self.before.items():
            after = self.after.get(name)
            if after is None or (before == 0 and after == 0):
                continue
            percent = f"  ({100 * after / before:.3g} %)" if before else ""
            lines.append(f"  {name:<{wide}}  {before:>9,} -> {after:>7,}{percent}")
        counts = self.counts
        cost = f"{counts.checks:,} checks, {counts.hits:,} cache hits, {self.seconds:.1f} s"
        if counts.void:
            cost += f", {counts.void:,} checks of several jobs unread"
        lines += [f"  cost: {cost}", f"  kept: {self.failure}"]
        if self.stopped:
            lines.append(f"  stopped: {self.stopped}; the result is the best so far")
        lines.append(f"  see it again: {self.see_again}")
        return "\n".join(lines)

    def json(self) -> str:
        """Return the summary for programs, as one line of JSON."""
        return json.dumps(
            {
                "schema": SCHEMA,
                "input": str(self.input),
                "output": str(self.output),
                "before": dict(self.before),
                "after": dict(self.after),
                "checks": self.counts.checks,
                "cache_hits": self.counts.hits,
                "void": self.counts.void,
                "accepted": self.counts.accepted,
                "seconds": round(self.seconds, 3),
                "failure": self.failure,
                "see_again": self.see_again,
                "stopped": self.stopped,
                "verified": self.verified,
            }
        )
