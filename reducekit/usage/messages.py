"""The summary of a reduction, and messages of the engine in the words of the command line.

The engine names options as in Python, between backquotes, and says how a golden run failed. Which
command-line options help is added here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from reducekit.errors import OtherFormatError, ReducekitError
from reducekit.session.report import Remaining, Report
from reducekit.session.runs.golden import GoldenRunError, Problem
from reducekit.text import excerpt, printable, printable_lines, shortened

_SPELLED = {"command": "--cmd", "journal": "--no-journal", "output": "-o", "lenient": "--lenient"}
_OPTION = re.compile(r"`([a-z][a-z_]*)`")

ADVICE: Mapping[Problem, str] = {
    "passes": """\
Say what is wrong with it:
  --oracle CMD       CMD exits with 0 if the failure shows (an interestingness test)
  --match-out REGEX  the output matches (--match-err for stderr, --exit-code for the status)
  --reference CMD    another program gives the right answer
  --slower-than S    it takes too long""",
    "flaky": """\
Make the runs repeatable (a seed, one thread, a longer --timeout), or say with
--oracle, --exit-code, --match-out or --match-err what all have in common, or
with --repeat 2-of-5 how often it has to show.""",
    "rare": """\
Ask for fewer, or for more runs (such as --repeat 1-of-10), or say with --oracle,
--exit-code, --match-out or --match-err what the runs have in common.""",
}
_LINES = 12  # of output in the summary
_COLUMNS = 300
_ROWS = 8  # lines about other failures, and about changes of this one
_PARTS = 20  # lines about the remaining parts of the input
_line = partial(shortened, most=_COLUMNS)
_SHORT = 10  # lines of a result that a terminal shows
_COLOURS = {"bytes": "1;32", "failure": "31", "stopped": "33", "$": "1", "next:": "36"}


def spelled(message: str) -> str:
    """Spell the options of a message as on the command line: `max_time` is --max-time."""
    return _OPTION.sub(lambda match: _SPELLED.get(match[1], option(match[1])), message)


def option(name: str) -> str:
    """Return how an option is spelled on the command line."""
    return "--" + name.replace("_", "-")


def explained(error: ReducekitError) -> str:
    """Return the whole message for an error, with its notes and advice."""
    lines = [spelled(str(error)), *map(spelled, getattr(error, "__notes__", ()))]
    if isinstance(error, OtherFormatError):
        named = shlex.quote(error.name)
        lines = [
            f"{str(error).partition(':')[0]}: reducekit {error.found} {named}",
            "(--lenient reduces it all the same, as any text)",
        ]
    if isinstance(error, GoldenRunError) and error.problem in ADVICE:
        lines += ["", ADVICE[error.problem]]
    return "\n".join(lines)


def summary(report: Report[bytes]) -> str:
    """Return the summary of a report, in lines suitable for a terminal and a bug report."""
    both = {
        name: (old, report.after[name])
        for name, old in report.before.items()
        if name in report.after
    }
    sizes = {name: each for name, each in both.items() if any(each)}
    label = max(map(len, (*sizes, "other failures" if report.others else "failure")))
    counts = report.counts
    cost = f"{counts.checks:,} (runs of commands in all: {report.runs:,})"
    cost += f", cache hits: {counts.cache_hits:,}"
    cost += f", unread: {counts.discarded:,}" if counts.discarded else ""
    lines = [
        str(report.output or "standard output"),
        *_sizes(sizes, label),
        f"  {'checks':<{label}}  {cost}, {report.seconds:.1f} s",
        f"  {'failure':<{label}}  {report.failure}",
    ]
    lines += _few(
        f"  {'changed' if number == 0 else '':<{label}}  the failure changed on the way: "
        f"{_line(each.before)} -> {_line(each.after)} "
        f"at {each.size:,} bytes (step {each.step:,})"
        for number, each in enumerate(report.changed)
    )
    lines += _few(
        f"  {'other failures' if number == 0 else '':<{label}}  {each.count:,} x "
        f"{_line(each.failure)} ({each.size:,} bytes{f': {each.file}' if each.file else ''})"
        for number, each in enumerate(report.others)
    )
    if report.places is not None and not report.places.same:
        lines.append(f"  {'place':<{label}}  {_line(report.places.describe())}")
    lines += _few(
        (
            f"  {'left' if number == 0 else '':<{label}}  {_line(each)}"
            for number, each in enumerate(_left(report.left))
        ),
        _PARTS,
    )
    if report.stopped:
        more = "; run the same command again to continue" if report.early and report.output else ""
        lines.append(f"  {'stopped':<{label}}  {report.stopped}; this is the best so far{more}")
    lines.append("")
    for run in report.reproducers:
        lines.append(f"$ {run.command}")
        if run.outcome is None:
            lines.append(f"(not run again{': interrupted' if report.interrupted else ''})")
        else:
            lines += [*_excerpt(run.outcome.stdout), *_excerpt(run.outcome.stderr)]
            lines.append(f"({run.outcome.describe()})")
    return "\n".join(lines)


def ending(report: Report[bytes], *, colour: bool, journal: bool) -> str:
    """Return the summary, a short result, and what to type next, as a terminal shows them."""
    lines = printable_lines(summary(report)).split("\n")
    if report.output is not None:
        shown = excerpt(report.text, _SHORT + 1, _COLUMNS)
        lines += ["", *shown] if len(shown) <= _SHORT else []
        if journal and not report.early:
            where = printable(shlex.quote(str(report.output)))
            lines += ["", f"next: reducekit report {where} --issue"]
    words = (line.split(maxsplit=1)[:1] for line in lines)
    codes = [_COLOURS.get("".join(word)) for word in words] if colour else [None] * len(lines)
    return "\n".join(
        f"\x1b[{code}m{line}\x1b[m" if code else line
        for code, line in zip(codes, lines, strict=True)
    )


def _sizes(sizes: Mapping[str, tuple[int, int]], label: int) -> Iterator[str]:
    """Yield each measure before and after, in columns."""
    old_width = max((len(f"{before:,}") for before, _ in sizes.values()), default=0)
    new_width = max((len(f"{after:,}") for _, after in sizes.values()), default=0)
    for name, (before, after) in sizes.items():
        ratio = after / before if before else 0.0
        share = f"  ({100 * ratio:.{1 if ratio >= 0.1 else 2}f} %)" if before else ""
        old, new = f"{before:>{old_width},}", f"{after:<{new_width},}"
        yield f"  {name:<{label}}  {old} -> {new}{share}".rstrip()


def _left(remaining: Sequence[Remaining]) -> list[str]:
    """Return a line for each part, most frequently instantiated first."""
    lines = []
    for each in sorted(remaining, key=lambda each: -max(each.good or 0, each.bad or 0)):
        where = "" if each.line is None else f"line {each.line}: "
        name = each.name or "(no name)"
        runs = (("good", each.good), ("bad", each.bad))
        counts = [f"{run} {count:,}" for run, count in runs if count is not None]
        lines.append(f"{where}{name}" + (f" (instances: {', '.join(counts)})" if counts else ""))
    return lines


def _excerpt(text: bytes) -> list[str]:
    """Return the first lines of an output, suitable for a terminal."""
    lines = text.decode("utf-8", "backslashreplace").expandtabs().splitlines()
    shown = [_line(line) for line in lines[:_LINES]]
    return shown + ([f"... {len(lines) - _LINES} more lines"] if len(lines) > _LINES else [])


def _few(rows: Iterable[str], most: int = _ROWS) -> list[str]:
    """Return the first rows, and how many were left out."""
    lines = list(rows)
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"  ... {len(lines) - most + 1} more"]
