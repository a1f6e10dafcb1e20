"""Distinguishes bugs that programs report in the same words, wherever they are in the code.

An invalid model, a wrong answer or a plain signal names no place in the code, so inputs for many
bugs land in one bucket. Once reduced they differ: in the functions on the stack of a crash,
otherwise in the operators and sorts that are left. That is the `mark` of a bug.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from reducekit.errors import ParseError
from reducekit.frontend import Frontend
from reducekit.hunt.findings import Finding
from reducekit.offers import ReadsFailures
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Disagree, MemoryFault, SameSignature
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.stack import crash_under_gdb, under_gdb

SAMPLES = 20
"""The number of inputs of a bucket that are reduced to distinguish bugs; others are only counted.
"""
SECONDS = 20.0
"""The time limit of each of these reductions but the first, which has none."""
_PATIENCE = 30.0  # seconds for the debugger
_NO_PLACE = re.compile(
    rb"(?:invalid|incorrect|wrong) (?:model|proof|unsat core|witness|lemma)|ERRORS SATISFYING"
    rb"|(?:model|proof|core)[ -]?(?:check|validation)|check_?(?:model|unsat|proof)"
    rb"|seg(?:mentation )?fault|bus error|floating point exception|illegal instruction|^aborted"
    rb"|caught signal|core dumped|unsoundness|expected result",
    re.IGNORECASE,
)


def can_tell(frontend: Frontend, finding: Finding) -> bool:
    """Return whether a finding may be several bugs, which its format can distinguish."""
    if not isinstance(frontend, ReadsFailures):
        return False
    criterion = finding.criterion
    if isinstance(criterion, SameSignature) and criterion.expected.limit is None:
        line = criterion.expected.line
        return line is None or _NO_PLACE.search(line) is not None
    return isinstance(criterion, (Disagree, MemoryFault))


def mark_of(
    frontend: Frontend, text: bytes, commands: Sequence[Command], criterion: Criterion, path: Path
) -> str:
    """Return what a reduced text shows of its bug, as one line.

    `path` is the file with the text.
    """
    crashed = isinstance(criterion, SameSignature) and criterion.expected.signal is not None
    if (crashed or isinstance(criterion, MemoryFault)) and (
        stack := _stack(commands[0].with_options_of(text), path)
    ):
        return f"in {stack}"
    assert isinstance(frontend, ReadsFailures)
    try:
        return f"with {frontend.skeleton(text)}"
    except ParseError:
        return "not parsed"


def _stack(command: Command, path: Path) -> str:
    """Return the innermost functions of a crash, if a debugger is installed and finds them."""
    gdb = under_gdb(command)
    if gdb is None or command.stdin or command.in_folder is not None:
        return ""
    with subprocess.Popen(
        gdb.argv(str(path)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            said = process.communicate(timeout=_PATIENCE)[0]
        except subprocess.TimeoutExpired:
            return ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    found = crash_under_gdb(Outcome(process.returncode, None, said, b"", None, 0.0))
    return found.describe() if found is not None and found.named else ""
