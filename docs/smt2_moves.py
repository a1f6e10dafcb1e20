"""Generates the page of all moves on SMT-LIB scripts, `docs/smt2-moves.md`, from the code.

`python -m docs.smt2_moves`
"""

import inspect
from collections.abc import Sequence
from pathlib import Path

from reducekit.format import help_of
from reducekit.frontends.smt2.graph import moves
from reducekit.frontends.smt2.graph.closing import CLOSING, LATE, RARE
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.passes.graph import IN_PLACE
from reducekit.frontends.smt2.passes.thorough import KICKS
from reducekit.frontends.smt2.schedule import own_schedule

PAGE = Path(__file__).resolve().with_name("smt2-moves.md")
_DESCENT = (
    moves.far,
    moves.direct,
    moves.to_constants,
    moves.to_declared,
    moves.to_fresh,
    moves.drops,
    moves.bindings,
    moves.expanded,
    moves.unbound,
)
_HEAD = """# Moves on SMT-LIB scripts

What the default strategy tries on a script, in this order. Generated from the code by
`python -m docs.smt2_moves`.

reducekit reads a script as one graph of terms: equal terms are one node, and a let only affects
printing. So a move on a node applies to all its uses at once. Every candidate is well-sorted as far
as the sorts are known, and no bound variable leaves its binder.

- Ill-sorted candidates are tried only with `--unchecked`, if the failure is a parse or sort error,
  or if the command does not read scripts. One check finds that out, where the failure needs no
  check-sat: such a command accepts a bare term in place of a command. With `--strict` only scripts
  of the SMT-LIB standard are tried.
- A rejected move is not tried again until something near it has changed: its replacement, or the
  terms directly above it with their other arguments.
- A kind of move that rarely helps on this input is postponed until after the closing moves.
"""


_ELSEWHERE = {
    # By name of a move or pass: its theory, and its counterparts in other reducers.
    "far": ("any", ""),
    "direct": ("any", "ddSMT ReplaceByChild"),
    "to_constants": ("any", "ddSMT Constants"),
    "to_declared": ("any", "ddSMT ReplaceByVariable"),
    "to_fresh": ("any", "ddSMT IntroduceFreshVariable"),
    "drops": ("any", "ddSMT BinaryReduction, EraseNode"),
    "bindings": ("any", "ddSMT LetElimination"),
    "expanded": ("any", "ddSMT LetSubstitution"),
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
            known = stage_of.setdefault((each.name, _first(help_of(each))), [])
            if when not in known:
                known.append(when)
    rows = [(name, what, ", ".join(when)) for (name, what), when in stage_of.items()]
    lines = [_HEAD, "## Passes", ""]
    lines += _table(("pass", "what it does", "when"), rows)
    lines += ["", "## How the graph is printed", ""]
    lines += [f"- {IN_PLACE}: those named by a `define-fun` without parameters"]
    lines += [f"- {style.value}" for style in Style]
    lines += ["", "## Moves on a node, the heaviest node first", ""]
    lines += _table(_COLUMNS, [_row(f.__name__, f) for f in _DESCENT])
    lines += ["", "## Closing moves, on a small graph", ""]
    lines += _table(_COLUMNS, [_row(name, f) for name, f in CLOSING])
    lines += ["", "## Late moves, if nothing else helps", ""]
    lines += _table(_COLUMNS, [_row(name, f) for name, f in LATE])
    lines += ["", "## Moves that rarely help, with `--effort thorough`", ""]
    lines += _table(_COLUMNS, [_row(name, f) for name, f in RARE])
    lines += ["", "## Kicks, with `--effort thorough`", ""]
    kicks = dict.fromkeys(KICKS)
    lines += _table(("kick", "what it does"), [(f.__name__, _what(f)) for f in kicks])
    return "\n".join(lines) + "\n"


_COLUMNS = ("move", "theory", "what it does", "who else has it")


def _row(name: str, code: object) -> tuple[str, str, str, str]:
    """Return a row of a move; each has to be in the table above."""
    theory, others = _ELSEWHERE[name]
    return name, theory, _what(code), others


def _what(code: object) -> str:
    """Return the first paragraph of a docstring."""
    return _first(inspect.getdoc(code) or "")


def _first(said: str) -> str:
    return " ".join(said.split("\n\n")[0].split())


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
