"""The last word of a reduction: what became smaller, what it cost, how to see the failure again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.oracle.outcome import Outcome
from reducekit.verdicts import Counts

SCHEMA = 1
_LINES = 12  # of output in the summary
_COLUMNS = 300
_OTHERS = 8  # lines about other failures, and about changes of this one


@dataclass(frozen=True, slots=True)
class Shown:
    """A run of a command on the result, as a user can repeat it; the outcome if it was made."""

    command: str
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Other:
    """Another failure met on the way: how often, on how few bytes, and the file that holds them."""

    failure: str
    count: int
    size: int
    file: Path | None


@dataclass(frozen=True, slots=True)
class Changed:
    """The failure was another one from an accepted text on."""

    before: str
    after: str
    size: int
    step: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the summary tells.

    `counts.checks` are the oracle's runs on candidates; `runs` are all runs of
    commands: a check may run two, and there are those on the input, the empty
    file and the result. `seconds` is wall time and covers all of them.
    `verified` is None when the result was not checked once more.
    """

    input: Path
    output: Path
    before: Mapping[str, int]
    after: Mapping[str, int]
    counts: Counts
    runs: int
    seconds: float
    failure: str
    shown: Sequence[Shown]
    stopped: str | None
    verified: bool | None
    changed: Sequence[Changed] = ()
    others: Sequence[Other] = ()

    def text(self) -> str:
        """Return the summary for people."""
        counts = self.counts
        rows = [
            (name, f"{before:,}", f"{self.after[name]:,}", before, self.after[name])
            for name, before in self.before.items()
            if name in self.after and (before or self.after[name])
        ]
        first = max((len(row[0]) for row in rows), default=0)
        second = max((len(row[1]) for row in rows), default=0)
        third = max((len(row[2]) for row in rows), default=0)
        first = max(first, len("other failures" if self.others else "failure"))
        lines = [str(self.output)]
        for name, old, new, before, after in rows:
            share = f"  ({_percent(after / before)})" if before else ""
            lines.append(f"  {name:<{first}}  {old:>{second}} -> {new:<{third}}{share}".rstrip())
        cost = [
            f"{counts.checks:,} (runs of commands in all: {self.runs:,})",
            f"cache hits: {counts.hits:,}",
        ]
        if counts.void:
            cost.append(f"unread: {counts.void:,}")
        cost.append(f"{self.seconds:.1f} s")
        lines += [
            f"  {'checks':<{first}}  {', '.join(cost)}",
            f"  {'failure':<{first}}  {self.failure}",
        ]
        lines += _few(
            f"  {'changed' if number == 0 else '':<{first}}  the failure changed on the way: "
            f"{_line(each.before)} -> {_line(each.after)} "
            f"at {each.size:,} bytes (step {each.step:,})"
            for number, each in enumerate(self.changed)
        )
        lines += _few(
            f"  {'other failures' if number == 0 else '':<{first}}  {each.count:,} x "
            f"{_line(each.failure)} ({each.size:,} bytes{f': {each.file}' if each.file else ''})"
            for number, each in enumerate(self.others)
        )
        if self.stopped:
            lines.append(f"  {'stopped':<{first}}  {self.stopped}; this is the best so far")
        lines.append("")
        for each in self.shown:
            lines.append(f"$ {each.command}")
            if each.outcome is not None:
                lines += _excerpt(each.outcome.stdout)
                lines += _excerpt(each.outcome.stderr)
                lines.append(f"({each.outcome.describe()})")
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
                "runs": self.runs,
                "seconds": round(self.seconds, 3),
                "failure": self.failure,
                "see_again": [each.command for each in self.shown],
                "stopped": self.stopped,
                "verified": self.verified,
                "changed": [
                    {"from": each.before, "to": each.after, "bytes": each.size, "step": each.step}
                    for each in self.changed
                ],
                "other_failures": [
                    {
                        "failure": each.failure,
                        "count": each.count,
                        "bytes": each.size,
                        "file": None if each.file is None else str(each.file),
                    }
                    for each in self.others
                ],
            }
        )


def error_json(message: str, exit_code: int) -> str:
    """Return, as one line of JSON, why there is no summary."""
    return json.dumps({"schema": SCHEMA, "error": message, "exit_code": exit_code})


def _percent(share: float) -> str:
    return f"{100 * share:.{1 if share >= 0.1 else 2}f} %"


def _excerpt(text: bytes) -> list[str]:
    """Return the first lines of an output, fit for a terminal."""
    lines = text.decode("utf-8", "backslashreplace").expandtabs().splitlines()
    shown = [_line(line) for line in lines[:_LINES]]
    return shown + ([f"... {len(lines) - _LINES} more lines"] if len(lines) > _LINES else [])


def _line(text: str) -> str:
    """Return a line fit for a terminal."""
    line = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return line if len(line) <= _COLUMNS else f"{line[:_COLUMNS]}..."


def _few(rows: Iterable[str]) -> list[str]:
    """Return the first rows, and how many more there are."""
    lines = list(rows)
    if len(lines) <= _OTHERS:
        return lines
    return [*lines[: _OTHERS - 1], f"  ... {len(lines) - _OTHERS + 1} more"]
