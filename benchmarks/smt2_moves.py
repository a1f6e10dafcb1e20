"""Writes the page of all moves on SMT-LIB scripts from the code: `docs/smt2-moves.md`.

`python -m benchmarks.smt2_moves`
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

from reducekit.frontends.smt2.graph.closing import CLOSING, LATE, RARE
from reducekit.frontends.smt2.graph.kicks import KICKS
from reducekit.frontends.smt2.graph.moves import Moves
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.passes.graph import IN_PLACE, AsWritten
from reducekit.frontends.smt2.schedule import SizeLimited, own_schedule

PAGE = Path(__file__).resolve().parents[1] / "docs" / "smt2-moves.md"
_DESCENT = (
    Moves.far,
    Moves.direct,
    Moves.to_constants,
    Moves.to_declared,
    Moves.to_fresh,
    Moves.drops,
    Moves.unbound,
)
_HEAD = """# Moves on SMT-LIB scripts

What the default strategy tries on a script, in the order in which it tries it. Made from the code
by `python -m benchmarks.smt2_moves`.

A script is read as one graph of terms: equal terms are one node, and a let is only a way to print.
So a move on a node acts on all its uses at once. Every candidate is well sorted where the sorts are
known, and no bound variable leaves its binder.

- What is no script of well-sorted terms is tried only where the failure is a parse or sort error,
  where the command takes a naked term for a command (so it does not read scripts; that is asked
  where no check-sat is needed), or with
  `--unchecked`. With `--strict` nothing else is tried than scripts of the SMT-LIB standard.
- What was refused is not tried again where nothing near it has changed: what comes in its place,
  and the terms right above it with all beside it.
- A kind of move that rarely helps on this input is put off until after the closing moves.
"""


_ELSEWHERE = {
    # By the name of a move or pass: its theory, and what the other reducers call what is like it.
    "far": ("any", ""),
    "direct": ("any", "ddSMT ReplaceByChild"),
    "to_constants": ("any", "ddSMT Constants"),
    "to_declared": ("any", "ddSMT ReplaceByVariable"),
    "to_fresh": ("any", "ddSMT IntroduceFreshVariable"),
    "drops": ("any", "ddSMT BinaryReduction, EraseNode"),
    "unbound": ("quantifiers", ""),
    "unlet": ("any", "ddSMT LetSubstitution"),
    "values": ("Core, bit-vectors", "ddSMT EvalExtend"),
    "lift": ("bit-vectors", "ddSMT TransformToBool, ElimBVComp"),
    "merge": ("any", "SFC (identifiers)"),
    "widths": ("bit-vectors, arrays, functions", "ddSMT BVReduceBW in part"),
    "resort": (
        "all with declared symbols; floating point",
        "",
    ),
    "edge": ("any", ""),
    "exist": ("any", ""),
    "shorter": (
        "all with relations; bit-vectors; regular expressions",
        "ddSMT StrengthenRelation, SeqNthUnit, IteToBVComp, ReflexiveNand,"
        " ZeroExtendPredicate, ExtractZeroExtend, StringReplaceAll",
    ),
    "negations": (
        "Core, quantifiers, relations",
        "ddSMT NegateRelation, NegateQuantifier, DeMorgan, DoubleNegation,"
        " EliminateFalseEquality, XORRemoveConstant",
    ),
    "eliminate": ("any", "ddSMT EliminateVariable"),
    "flip": ("Core, bit-vectors", "ddSMT DoubleNegation in part"),
    "literals": (
        "arithmetic, bit-vectors, strings",
        "ddSMT SimplifyConstant, SimplifyConstants, StringSimplifyConstant",
    ),
    "indices": ("bit-vectors, strings, Ints", ""),
    "inline": ("any", "ddSMT InlineDefinedFuns"),
    "nested": ("quantifiers", ""),
}


def page() -> str:
    """Return the page."""
    schedule = own_schedule()
    stages = (
        ("first", schedule.prepare),
        ("once", schedule.once),
        ("in rounds", schedule.rounds),
        ("at the end", schedule.closing),
        ("with thorough effort", schedule.thorough),
    )
    stage_of: dict[tuple[str, str], list[str]] = {}
    for when, passes in stages:
        for each in passes:
            inner = each
            while isinstance(inner, SizeLimited | AsWritten):
                inner = inner.inner
            known = stage_of.setdefault((inner.name, _what(type(inner))), [])
            if when not in known:
                known.append(when)
    rows = [(name, what, ", ".join(when)) for (name, what), when in stage_of.items()]
    lines = [_HEAD, "## Passes", ""]
    lines += _table(("pass", "what it does", "when"), rows)
    lines += ["", "## How the graph is printed", ""]
    lines += [f"- {IN_PLACE}: what `define-fun` names, without parameters"]
    lines += [f"- {style.value}" for style in Style]
    lines += ["", "## Moves on a node, the heaviest node first", ""]
    lines += _table(_COLUMNS, [_row(f.__name__, f) for f in _DESCENT])
    lines += ["", "## Closing moves, on a small graph", ""]
    lines += _table(_COLUMNS, [_row(name, f) for name, f in CLOSING])
    lines += ["", "## Late moves, where nothing else helps", ""]
    lines += _table(_COLUMNS, [_row(name, f) for name, f in LATE])
    lines += ["", "## Moves that rarely help, with `--effort thorough`", ""]
    lines += _table(_COLUMNS, [_row(name, f) for name, f in RARE])
    lines += ["", "## Kicks, with `--effort thorough`", ""]
    kicks = dict.fromkeys(KICKS)
    lines += _table(("kick", "what becomes what"), [(f.__name__, _what(f)) for f in kicks])
    return "\n".join(lines) + "\n"


_COLUMNS = ("move", "theory", "what becomes what", "who else has it")


def _row(name: str, code: object) -> tuple[str, str, str, str]:
    """Return a row of a move; each has to be in the table above."""
    theory, others = _ELSEWHERE[name]
    return name, theory, _what(code), others


def _what(code: object) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((inspect.getdoc(code) or "").split("\n\n")[0].split())


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
