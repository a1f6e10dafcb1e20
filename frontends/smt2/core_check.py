"""Checks that the unsat core that a solver names is unsatisfiable: it is solved again.

A test for `--oracle`: `python -m reducekit.frontends.smt2.core_check SOLVER [OPTION...] FILE` asks
the solver for a core of the script, and then about the script with the assertions of the core only.
`SOLVER [OPTION...] -- OTHER [OPTION...] FILE` has another solver answer that. The exit code is 0 if
the answer is `sat`, so the core is wrong. It is 1 if there is no core or it is `unsat`, and 2 if
that cannot be decided; a line on stderr says why.

The last answer counts where there are several; the status in the script is taken out, as solvers
compare their answer with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from reducekit.errors import ParseError
from reducekit.frontends.model_verdict import Finding, ended, printed
from reducekit.frontends.smt2.answers.assertions import core_of, part_of
from reducekit.frontends.smt2.language.commands import without_status
from reducekit.frontends.smt2.language.parser import parse
from reducekit.offers import Probe
from reducekit.oracle.responses import read_answers

_MODULE = "reducekit.frontends.smt2.core_check"


def judge(
    text: bytes, solver: Callable[[bytes], bytes], other: Callable[[bytes], bytes]
) -> Finding:
    """Return what is wrong with the core that a solver names of a script.

    `solver` and `other` run on a script and return what they print. Raises ParseError if the text
    is no script.
    """
    plain = without_status(text)
    parse(plain)
    core = core_of(plain, Probe(0, solver))
    if core is None:
        return Finding()
    answer = read_answers(other(part_of(plain, core)))[-1:]
    if answer == (b"sat",):
        return Finding(wrong=f"the core of {len(core)} assertions is satisfiable")
    if answer == (b"unsat",):
        return Finding()
    said = answer[0].decode() if answer else "no answer"
    return Finding(unknown=f"the core of {len(core)} assertions is not decided: {said}")


def main(words: Sequence[str]) -> int:
    """Run the solvers on the file, and return the exit code."""
    *commands, path = words or ("",)
    at = commands.index("--") if "--" in commands else len(commands)
    first, second = commands[:at], commands[at + 1 :] or commands[:at]
    if not first:
        print(f"usage: python -m {_MODULE} SOLVER [OPTION...] [-- OTHER ...] FILE", file=sys.stderr)
        return 2
    try:
        return ended(judge(Path(path).read_bytes(), _runs(first), _runs(second)))
    except (OSError, ParseError) as error:
        return ended(Finding(unknown=str(error)))


def _runs(solver: Sequence[str]) -> Callable[[bytes], bytes]:
    return lambda text: printed(solver, text, ".smt2")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
