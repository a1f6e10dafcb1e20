"""What tests of models have in common: run a solver on a file, judge its output, exit with a code.

Each is a module of its format, which `--wrong-model` runs as a test.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import ParseError, missing_package

FILE = "{file}"
"""As `reducekit.oracle.command.FILE`: the placeholder for the path in the solver's words."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on a model: `wrong` names what it violates, `unknown` says why that is open.

    Both are empty if there is no model, or a correct one.
    """

    wrong: str = ""
    unknown: str = ""


def main(
    words: Sequence[str],
    module: str,
    judge: Callable[[bytes, bytes], Finding],
    question: Callable[[bytes], bytes] = bytes,
) -> int:
    """Run the solver on the file, or on what `question` makes of it, and judge its output.

    `words` are the solver with its options, and the file. Returns the exit code: 0 for a wrong
    model, 1 for none or a correct one, 2 where that cannot be decided.
    """
    if len(words) < 2:
        print(f"usage: python -m {module} SOLVER [OPTION...] FILE", file=sys.stderr)
        return 2
    *solver, path = words
    try:
        text = Path(path).read_bytes()
        finding = judge(text, printed(solver, question(text), Path(path).suffix))
    except (OSError, ParseError, ModuleNotFoundError) as error:
        finding = Finding(unknown=str(missing_package(error) or error))
    return ended(finding)


def printed(solver: Sequence[str], text: bytes, suffix: str) -> bytes:
    """Return what a solver prints to stdout for a text, as a file with that suffix.

    The path replaces `{file}` in the solver's words; otherwise it comes last.
    """
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(text)
        file.flush()
        words = [word.replace(FILE, file.name) for word in solver]
        words += [] if words != list(solver) else [file.name]
        return subprocess.run(words, capture_output=True, check=False).stdout


def is_wrong(judge: Callable[[bytes, bytes], Finding], text: bytes, output: bytes) -> bool:
    """Return whether the model in an output is wrong for a text, which may be of no format."""
    try:
        return bool(judge(text, output).wrong)
    except ParseError:
        return False  # a file of `--seeds` may be anything


def ended(finding: Finding) -> int:
    """Print what there is to say of a finding, and return its exit code."""
    if said := finding.wrong or finding.unknown:
        print(said, file=sys.stderr)
    return 0 if finding.wrong else 2 if finding.unknown else 1
