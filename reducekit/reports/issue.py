"""The text of a bug report, in the form that the solver's developers ask for.

z3 has a form with named fields (`.github/ISSUE_TEMPLATE/01-bug-report.yml`), cvc5 a template
(`bug_report.md`). Bitwuzla and Boolector have none; there, reports that get an answer are
transcripts: the command, its output, the input. What only the reporter can know is left as a
placeholder in angle brackets.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from reducekit.oracle.command import tested_words
from reducekit.oracle.last_words import last_words
from reducekit.oracle.quotes import fits, normalise
from reducekit.oracle.signature import failure_line
from reducekit.reports.account import Account, Ending, Run, ending
from reducekit.text import counted, excerpt, printable_lines

_LINES, _COLUMNS = 60, 400
_INLINE = 60_000
"""Largest input, in bytes, that is included in the text; trackers refuse texts above 64 KiB."""

VERSION_OPTIONS: Mapping[str, str] = {"cvc5": "--show-config"}
"""Options that make a solver print its version and build; `--version` for all others."""
_MARKUP = re.compile(r"[<>&*_`\[\]\\|]")
_FOLDERS = re.compile(r"(?<![\w.:/-])(?:~|\.{0,2})/(?:[^\s/'\"`]+/)*(?=[^\s/'\"`]+)")


def program(account: Account) -> str | None:
    """Return the program that the command runs, as it was typed; None if unknown.

    A test that runs in a folder with copies is no program to ask: it may clear the current one.
    """
    head = account.head
    try:
        words = tested_words(shlex.split(head.commands[0]) if head.commands else [])
    except ValueError:
        return None
    return words[0] if words and words[0] != "cd" else None


def issue(account: Account, version: str | None) -> str:
    """Return the text as Markdown; `version` is what the program prints for its version option."""
    last = ending(account.found)
    name = PurePath(program(account) or "").name if last.subject is None else last.subject["name"]
    if last.subject is not None:
        version = last.subject["version"]
    solver = next((each for each in _FORMS if name.startswith(each)), "")
    failure = printable_lines(_observed(account)).split("\n")[0]
    title = f"{solver or name}: {failure}" if solver or name else failure
    lines = [f"# {title[:120]}", ""]
    lines += _FORMS.get(solver, _transcript)(account, last, version)
    head = account.head
    by = f"by reducekit {head.version} ({counted(account.checks, 'check')})."
    sizes = f"from {account.size_before:,} to {len(account.after):,} bytes"
    return printable_lines("\n".join([*lines, "", f"Reduced {sizes} {by}", ""]))


def _z3(account: Account, last: Ending, version: str | None) -> Iterator[str]:
    yield "### Bug Category"
    yield _category(account)
    yield "\n### Bug Description"
    yield _failure(account)
    yield "\n### Minimal Reproduction"
    yield from _input(account)
    yield "\n### Expected Behavior"
    yield _expected(account, last)
    yield "\n### Actual Behavior"
    yield from _runs(account, last)
    yield "\n### Z3 Version"
    yield _version(version)
    yield "\n### Platform"
    yield _system(last)
    yield "\n### Interface Used"
    yield "Command line (z3 executable)"


def _cvc5(account: Account, last: Ending, version: str | None) -> Iterator[str]:
    head = account.head
    yield "**Describe the bug**"
    yield _failure(account)
    yield f"\nExpected: {_expected(account, last)}\n"
    yield from _input(account)
    yield ""
    yield from _runs(account, last)
    arguments = " ".join(head.commands[0].split(" ")[1:]) if head.commands else ""
    yield f"\n**Command line arguments**: `{printable_lines(arguments)}`  "
    yield f"**cvc5 version/commit**: {_version(version).splitlines()[0]}  "
    yield f"**Operating system**: {_system(last)}  "
    yield "\n**`configure.sh` options**  "
    yield "<as built, or: release binary>"
    yield "\n**`configure.sh` output**  "
    yield from _fenced(without_folders(version or "<paste it here>").splitlines(), "")


def _transcript(account: Account, last: Ending, version: str | None) -> Iterator[str]:
    yield _failure(account)
    yield ""
    yield from _runs(account, last)
    yield ""
    yield from _input(account)
    if last.subject is not None:
        yield "\n`reducekit replay` plays these calls to the library."
    yield f"\nExpected: {_expected(account, last)}"
    yield f"Version: {_version(version)}"
    yield f"System: {_system(last)}"


_FORMS = {"z3": _z3, "cvc5": _cvc5, "bitwuzla": _transcript, "boolector": _transcript}


def _failure(account: Account) -> str:
    """Return the failure as Markdown that shows it as it is."""
    return _MARKUP.sub(
        lambda found: f"&#{ord(found[0])};" if found[0] in "<>&" else f"\\{found[0]}",
        printable_lines(_observed(account)),
    )


def _observed(account: Account) -> str:
    """Return the failure with the line as printed: the one to keep has `N` for its numbers."""
    for run in ending(account.found).last_runs[:1]:
        output, errors = (each.encode("utf-8", "replace") for each in (run.stdout, run.stderr))
        end, _, kept = account.failure.partition(", ")
        for line in (failure_line(output, errors), last_words(output, errors)):
            if line is not None and fits(normalise(line), kept.encode()):
                return f"{end}, {line.decode('utf-8', 'backslashreplace')}"
    return account.failure


def without_folders(line: str) -> str:
    """Return a command or its output without the folders of this machine: nobody else has them."""
    return _FOLDERS.sub("", line)


def _category(account: Account) -> str:
    said = _failure(account).lower()
    if "signal" in said or "assert" in said:
        return "Crash/Assertion failure"
    if "disagree" in said or "invalid model" in said:
        return "Incorrect result (SAT/UNSAT/Unknown)"
    if "takes" in said or "slow" in said:
        return "Performance regression"
    return "Other"


def _expected(account: Account, last: Ending) -> str:
    if len(last.last_runs) > 1:
        other = last.last_runs[1]
        said = " ".join((other.stdout or other.stderr).split())[:200]
        return f"`{printable_lines(other.command)}` says: {printable_lines(said)}"
    if _category(account).startswith("Crash"):
        return "an answer, or a message about the input"
    return "<what should happen instead>"


def _runs(account: Account, last: Ending) -> Iterator[str]:
    runs, head, golden = list(last.last_runs[:1]), account.head, account.found.golden
    for command in () if runs else head.commands[:1]:
        yield "(on the input before it was reduced)"
        runs.append(Run(command.replace("FILE", account.name), None, "", ""))
        if golden is not None and golden.runs:
            ran = golden.runs[0][0]
            streams = (
                each.decode("utf-8", "backslashreplace") for each in (ran.stdout, ran.stderr)
            )
            runs[0] = Run(runs[0].command, ran.describe(), *streams)
    for run in runs:
        lines = [f"$ {without_folders(run.command)}"]
        for stream in (run.stdout, run.stderr):
            lines += excerpt(stream.encode("utf-8", "surrogatepass"), _LINES, _COLUMNS)
        yield from _fenced([*lines, *([f"({run.ended})"] if run.ended else [])], "")


def _input(account: Account) -> Iterator[str]:
    head = account.head
    if len(account.after) > _INLINE:
        yield f"`{printable_lines(account.name)}`, attached ({len(account.after):,} bytes)"
        return
    language = head.frontend if head.frontend == "smt2" else ""
    text = account.after.decode("utf-8", "backslashreplace")
    yield from _fenced(text.rstrip("\n").split("\n"), language)


def _fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    """Yield a code block whose fence is longer than any in its content."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + language
    yield from (printable_lines(line) for line in lines)
    yield fence


def _version(version: str | None) -> str:
    known = version and version.strip()
    return printable_lines(without_folders(known)) if known else "<version or commit>"


def _system(last: Ending) -> str:
    return printable_lines(last.versions.get("system", "<operating system>"))
