"""Checks that the witness that a model checker prints for a BTOR2 file is one.

The test of `--wrong-model`: `python -m reducekit.frontends.btor.model_check CHECKER [OPTION...]
FILE`. The exit code is 0 if the simulation does not reach the property, breaks a constraint, or
finds other values of states: the witness is wrong. It is 1 if there is no witness or a correct one,
and 2 if that cannot be decided; a line on stderr says why.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reducekit.frontends import model_test
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.witness import is_claimed, judge_witness, witnesses
from reducekit.frontends.model_test import Finding


def judge(text: bytes, output: bytes) -> Finding:
    """Simulate the witnesses in a checker's output. Raises ParseError if the text is no BTOR2."""
    if not is_claimed(output):
        return Finding()
    dag = read(text, Dialect.BTOR2, any_ending=True)
    unknown = ""
    try:
        for each in witnesses(output):
            found = judge_witness(dag, each)
            if found.wrong:
                return found
            unknown = unknown or found.unknown
    except ValueError as error:
        unknown = unknown or str(error)
    return Finding(unknown=unknown)


def main(words: Sequence[str]) -> int:
    """Run the checker on the file, simulate its witness, and return the exit code."""
    return model_test.main(words, "reducekit.frontends.btor.model_check", judge)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
