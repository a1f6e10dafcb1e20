"""The text of a bug report to a solver's developers, with what they ask for.

z3 has a form with named fields (`.github/ISSUE_TEMPLATE/01-bug-report.yml`), cvc5 a template
(`bug_report.md`); Bitwuzla and Boolector have none, and there a report that gets an answer is a
transcript: the command, what it prints, the input. What nobody but the reporter can know is
left open, in angle brackets.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from reducekit.reports.account import Account
from reducekit.reports.ending import Ending, Run, ending
from reducekit.text import excerpt, printable_lines

_LINES, _COLUMNS = 60, 400
_INLINE = 60_000
"""Bytes of an input that goes into the text; trackers refuse texts above 64 KiB."""

VERSION_OPTIONS: Mapping[str, str] = {"cvc5": "--show-config"}
"""What makes a solver tell its version and how it was built; else `--version`."""


def program(told: Account) -> str | None:
    """Return the program that the command runs, as it was typed; None if that cannot be said."""
    head = told.found.head
    assert head is not None
    try:
        words = shlex.split(head.commands[0]) if head.commands else []
    except ValueError:
        return None
    return words[0] if words else None


def issue(told: Account, version: str | None) -> str:
    """Return the text as Markdown; `version` is what the solver says of itself, if anything."""
    last = ending(told.found)
    name = PurePath(program(told) or "").name
    solver = next((each for each in _FORMS if name.startswith(each)), "")
    lines = [f"# {_title(told, solver or name)}", ""]
    lines += _FORMS.get(solver, _transcript)(told, last, version)
    head = told.found.head
    assert head is not None
    lines += [
        "",
        f"Reduced from {len(told.before):,} to {len(told.after):,} bytes by reducekit "
        f"{head.version} ({told.checks:,} checks).",
    ]
    return "\n".join([*lines, ""])


def _z3(told: Account, last: Ending, version: str | None) -> Iterator[str]:
    yield "### Bug Category"
    yield _category(told)
    yield "\n### Bug Description"
    yield _failure(told)
    yield "\n### Minimal Reproduction"
    yield from _input(told)
    yield "\n### Expected Behavior"
    yield _expected(told, last)
    yield "\n### Actual Behavior"
    yield from _runs(told, last)
    yield "\n### Z3 Version"
    yield _version(version)
    yield "\n### Platform"
    yield _system(last)
    yield "\n### Interface Used"
    yield "Command line (z3 executable)"


def _cvc5(told: Account, last: Ending, version: str | None) -> Iterator[str]:
    head = told.found.head
    assert head is not None
    yield "**Describe the bug**"
    yield _failure(told)
    yield f"\nExpected: {_expected(told, last)}\n"
    yield from _input(told)
    yield ""
    yield from _runs(told, last)
    arguments = " ".join(head.commands[0].split(" ")[1:]) if head.commands else ""
    yield f"\n**Command line arguments**: `{printable_lines(arguments)}`  "
    yield f"**cvc5 version/commit**: {_version(version).splitlines()[0]}  "
    yield f"**Operating system**: {_system(last)}  "
    yield "\n**`configure.sh` options**  "
    yield "<as built, or: release binary>"
    yield "\n**`configure.sh` output**  "
    yield from _fenced((version or "<paste it here>").splitlines(), "")


def _transcript(told: Account, last: Ending, version: str | None) -> Iterator[str]:
    yield _failure(told)
    yield ""
    yield from _runs(told, last)
    yield ""
    yield from _input(told)
    yield f"\nExpected: {_expected(told, last)}"
    yield f"Version: {_version(version)}"
    yield f"System: {_system(last)}"


_FORMS = {"z3": _z3, "cvc5": _cvc5, "bitwuzla": _transcript, "boolector": _transcript}


def _title(told: Account, name: str) -> str:
    failure = printable_lines(_failure(told)).split("\n")[0]
    return f"{name}: {failure}"[:120] if name else failure[:120]


def _failure(told: Account) -> str:
    return printable_lines(told.failure)


def _category(told: Account) -> str:
    said = _failure(told).lower()
    if "signal" in said or "assert" in said:
        return "Crash/Assertion failure"
    if "disagree" in said or "invalid model" in said:
        return "Incorrect result (SAT/UNSAT/Unknown)"
    if "takes" in said or "slow" in said:
        return "Performance regression"
    return "Other"


def _expected(told: Account, last: Ending) -> str:
    if len(last.last_runs) > 1:
        other = last.last_runs[1]
        said = " ".join((other.stdout or other.stderr).split())[:200]
        return f"`{printable_lines(other.command)}` says: {printable_lines(said)}"
    if _category(told).startswith("Crash"):
        return "an answer, or a message about the input"
    return "<what should happen instead>"


def _runs(told: Account, last: Ending) -> Iterator[str]:
    runs: Sequence[Run] = last.last_runs[:1]
    if not runs:
        head, golden = told.found.head, told.found.golden
        assert head is not None
        for command in head.commands[:1]:
            outcome = golden.runs[0][0] if golden is not None and golden.runs else None
            out = "" if outcome is None else outcome.stdout.decode("utf-8", "backslashreplace")
            err = "" if outcome is None else outcome.stderr.decode("utf-8", "backslashreplace")
            ended = None if outcome is None else outcome.describe()
            runs = [Run(command.replace("FILE", told.name), ended, out, err)]
            yield "(on the input before it was reduced)"
    for run in runs:
        lines = [f"$ {run.command}"]
        for stream in (run.stdout, run.stderr):
            lines += excerpt(stream.encode("utf-8", "surrogatepass"), _LINES, _COLUMNS)
        yield from _fenced([*lines, *([f"({run.ended})"] if run.ended else [])], "")


def _input(told: Account) -> Iterator[str]:
    head = told.found.head
    assert head is not None
    if len(told.after) > _INLINE:
        yield f"`{printable_lines(told.name)}`, attached ({len(told.after):,} bytes)"
        return
    language = head.frontend if head.frontend == "smt2" else ""
    text = told.after.decode("utf-8", "backslashreplace")
    yield from _fenced(text.rstrip("\n").split("\n"), language)


def _fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    """Yield a code block that nothing within can end."""
    longest = max((len(part) for line in lines for part in _ticks(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + language
    yield from (printable_lines(line) for line in lines)
    yield fence


def _ticks(line: str) -> Iterator[str]:
    run = ""
    for c in line:
        if c == "`":
            run += c
        elif run:
            yield run
            run = ""
    if run:
        yield run


def _version(version: str | None) -> str:
    known = version and version.strip()
    return printable_lines(known) if known else "<version or commit>"


def _system(last: Ending) -> str:
    return printable_lines(last.versions.get("system", "<operating system>"))
