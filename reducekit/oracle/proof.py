"""A wrong proof: a solver answers unsat and writes a proof, and a checker rejects that.

The kind of failure, and its test: `python -m reducekit.oracle.proof SOLVER {then} CHECKER FILE`.
The exit code is 0 if the checker rejects the proof, 1 if it accepts it or there is none, and 2 if
that cannot be decided.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.oracle.command import FILE, PLACE, Command, Words
from reducekit.oracle.criterion import Criterion, Kind, Making
from reducekit.oracle.printed import ExitZero
from reducekit.runtime import own_python

PROOF, THEN = "{proof}", "{then}"
_UNSAT = re.compile(rb"^(?:s UNSATISFIABLE|unsat)\s*$", re.MULTILINE)
_VERIFIED = re.compile(rb"^(?:[sc] )?VERIFIED\b", re.MULTILINE)
_REJECTED = re.compile(rb"\b(?:NOT VERIFIED|INVALID|rejected)\b")


@dataclass(frozen=True, kw_only=True)
class WrongProof(Kind):
    """A checker rejects the proof that a solver writes."""

    proof: Words | None = None
    checker: Words | None = None

    def commands(self, made: Making) -> tuple[Command, ...]:
        """Return the command of the test. Raises UsageError."""
        if self.proof is None or self.checker is None:
            raise UsageError("`proof` and `checker` require each other: give both")
        words = own_python("-m", "reducekit.oracle.proof")
        solver, checker = made(self.proof), made(self.checker)
        if not any(PROOF in word for word in solver.words):
            raise UsageError("`proof`: write {proof} where the solver takes the name of its proof")
        for each in (*solver.words, THEN, *checker.words):
            words.append(each.replace(PLACE, FILE))
        return (Command(tuple(words)),)

    def criterion(self) -> Criterion:
        return ExitZero(words="the checker rejects the proof")


def _placed(words: Sequence[str], file: str, proof: str) -> list[str]:
    """Return the words of a program with the names of both files: the input's comes first."""
    found = list(words)
    if not any(PROOF in each for each in found):
        found.append(PROOF)
    if not any(FILE in each for each in found):
        found.insert(next(at for at, each in enumerate(found) if PROOF in each), FILE)
    return [each.replace(FILE, file).replace(PROOF, proof) for each in found]


def main(words: Sequence[str]) -> int:
    """Run the solver and the checker on a file; return the exit code."""
    if THEN not in words:
        print("usage: python -m reducekit.oracle.proof SOLVER {then} CHECKER FILE", file=sys.stderr)
        return 2
    *programs, file = words
    at = programs.index(THEN)
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof"
        try:
            solved = _run(_placed(programs[:at], file, str(proof)))
            if solved.returncode != 20 and not _UNSAT.search(solved.stdout):
                return 1
            if not proof.exists():
                print("the solver wrote no proof", file=sys.stderr)
                return 1
            checked = _run(_placed(programs[at + 1 :], file, str(proof)))
        except OSError as error:
            print(error, file=sys.stderr)
            return 2
    said = checked.stdout + checked.stderr
    sys.stderr.buffer.write(said[-2000:])
    if _REJECTED.search(said) or (checked.returncode > 0 and not _VERIFIED.search(said)):
        return 0
    return 1 if checked.returncode >= 0 else 2


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
