"""Checks that the model that a SAT or MaxSAT solver prints satisfies its clauses.

The test of `--wrong-model`: `python -m reducekit.frontends.cnf.model_check SOLVER [OPTION...]
FILE`. The exit code is 0 if a clause is false, so the model is wrong. It is 1 if there is no model
or it is correct, and 2 if that cannot be decided; a line on stderr says why.

A model is what the SAT and MaxSAT competitions ask of solvers: `s SATISFIABLE` or `s OPTIMUM
FOUND`, and lines with `v` that hold literals, the last one 0, or since MaxSAT 2022 a digit for each
variable. Soft clauses may be false.
"""

from __future__ import annotations

import re
import sys

from reducekit.frontends import model_verdict
from reducekit.frontends.cnf.reader import View, is_list
from reducekit.frontends.model_verdict import Finding

_FOUND = re.compile(rb"^s (?:SATISFIABLE|OPTIMUM FOUND)[ \t\r]*$", re.MULTILINE)
_VALUES = re.compile(rb"^v[ \t]([^\n]*)", re.MULTILINE)
_LITERALS = re.compile(rb"(?:\s*-?(?:0|[1-9][0-9]*)(?!\S))*\s*")
_DIGITS = re.compile(rb"\s*[01]{2,}\s*")


def has_model(output: bytes) -> bool:
    """Return whether a solver says that it has found a model."""
    return _FOUND.search(output) is not None


def judge(text: bytes, output: bytes) -> Finding:
    """Evaluate the clauses of a formula under the model in a solver's output.

    Raises ParseError if the text is no formula.
    """
    view = View(text)
    if view.format not in ("cnf", "wcnf", "xcnf", "knf"):
        return Finding(unknown=f"models of {view.format} are not checked")
    if not has_model(output):
        return Finding()
    said = b" ".join(_VALUES.findall(output))
    if not said.strip():
        return Finding(unknown="no model: there is no line with 'v'")
    if _DIGITS.fullmatch(said):
        true = {at if digit == 0x31 else -at for at, digit in enumerate(said.strip(), 1)}
    elif _LITERALS.fullmatch(said):
        true = set(map(int, said.split())) - {0}
    else:
        return Finding(unknown="the lines with 'v' are neither literals nor digits")
    twice = min((each for each in true if each > 0 and -each in true), default=0)
    if twice:
        return Finding(wrong=f"variable {twice} is both true and false in the model")
    unknown = ""
    for number, (prefix, literals) in enumerate(view.lines(), 1):
        if is_list(prefix) or (view.format == "wcnf" and not view.is_hard(prefix)):
            continue
        yes = sum(each in true for each in literals)
        unset = len(literals) - yes - sum(-each in true for each in literals)
        if prefix == b"x":
            holds, fails = not unset and yes % 2 == 1, not unset and yes % 2 == 0
        else:
            bound = int(prefix[2:]) if prefix[:1] == b"k" else 1
            holds, fails = yes >= bound, yes + unset < bound
        if holds:
            continue
        if fails:
            return Finding(wrong=f"clause {number} is false under the model")
        unknown = unknown or f"clause {number} has no value under the model"
    return Finding(unknown=unknown)


if __name__ == "__main__":
    module = "reducekit.frontends.cnf.model_check"
    sys.exit(model_verdict.main(sys.argv[1:], module, judge))
