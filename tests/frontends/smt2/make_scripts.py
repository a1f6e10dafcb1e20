"""Random well-sorted scripts with all that makes changing a script hard: binders, scopes, names."""

from collections.abc import Mapping
from random import Random

Scope = Mapping[str, str]
"""Visible variables and their sorts."""

ARRAY = "(Array Int Int)"
BV4, BV8 = "(_ BitVec 4)", "(_ BitVec 8)"
SORTS = ("Bool", "Int", "Real", BV4, BV8, ARRAY, "U", "Lst")
_NAMES = ("x", "y", "|x y|")  # few, so that they shadow each other
_HEAD = (
    "(declare-sort U 0)",
    "(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))",
    "(define-sort Index () Int)",
    "(declare-fun f (Int Index) Int)",
    "(declare-fun p (U) Bool)",
    "(declare-fun g (Int) U)",
    *(f"(declare-fun |c {number}| () {sort})" for number, sort in enumerate(SORTS)),
    "(declare-const x Int)",
    "(define-fun twice ((n Int) (unused Bool)) Int (+ n n))",
    "(define-fun yes () Bool (p (g 7)))",
)
# The result sort: templates with the sorts of the arguments in braces.
_GRAMMAR: Mapping[str, tuple[str, ...]] = {
    "Bool": (
        *("true", "yes", "(not {Bool})", "(and {Bool} {Bool} {Bool})", "(or false {Bool})"),
        *("(and true {Bool})", "(=> {Bool} {Bool})", "(= {Int} {Int})", "(p {U})", "(= {U} {U})"),
        *("(distinct {Int} {Int} {Int})", "(< {Int} {Int})", "(bvult {BV4} {BV4})"),
        *("(= {ARRAY} {ARRAY})", "((_ is cons) {Lst})", "(<= {Real} {Real})", "(= {Lst} {Lst})"),
        *("(forall ((@ Int)) {+Int Bool})", "(exists ((@ U) (z Bool)) {+U Bool})"),
        "(forall ((@ Int)) (! (< (f @ 1) {+Int Int}) :pattern ((f @ 1))))",
    ),
    "Int": (
        *("7", "(- 5)", "(+ {Int} {Int} {Int})", "(* 2 {Int})", "(- {Int})", "(f {Int} {Int})"),
        *("(select {ARRAY} {Int})", "(head {Lst})", "(twice {Int} {Bool})", "(div {Int} 3)"),
        "(match {Lst} ((nil {Int}) ((cons @ rest) {+Int Int})))",
    ),
    "Real": ("2.5", "(+ {Real} {Real})", "(to_real {Int})", "(/ {Real} 3.0)"),
    BV4: (
        *("#b0101", "(bvor #x0 {BV4})", "(bvand #b1111 {BV4})", "((_ extract 5 2) {BV8})"),
        *("(bvadd {BV4} {BV4})", "(bvnot {BV4})", "(bvmul {BV4} {BV4})"),
    ),
    BV8: (
        *("#x0f", "(_ bv3 8)", "(concat {BV4} {BV4})", "(bvand (_ bv255 8) {BV8})"),
        "((_ zero_extend 4) {BV4})",
    ),
    ARRAY: ("(store {ARRAY} {Int} {Int})", "((as const (Array Int Int)) {Int})"),
    "U": ("(g {Int})",),
    "Lst": ("nil", "(cons {Int} {Lst})", "(tail {Lst})"),
}  # fmt: skip
_SHORT = {"BV4": BV4, "BV8": BV8, "ARRAY": ARRAY}


def term(sort: str, scope: Scope, depth: int, choose: Random) -> str:
    """Return a term of a sort over the variables of a scope."""
    variables = [name for name, other in scope.items() if other == sort]
    if depth == 0 or choose.random() < 0.15:
        return choose.choice(variables)
    kind = choose.random()
    if kind < 0.1:
        parts = (term(each, scope, depth - 1, choose) for each in ("Bool", sort, sort))
        return f"(ite {' '.join(parts)})"
    if kind < 0.25:
        bound = choose.choice(SORTS)
        name = choose.choice(_NAMES)
        value = term(bound, scope, depth - 1, choose)
        second = term("Bool", scope, depth - 1, choose)
        inner = {**scope, name: bound, "q": "Bool"}
        return (
            f"(let (({name} {value}) (q {second})) {term(sort, whole(inner), depth - 1, choose)})"
        )
    name = choose.choice(_NAMES[:2])
    pieces = choose.choice(_GRAMMAR[sort]).replace("@", name).split("{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        hole, rest = piece.split("}", 1)
        inner = dict(scope)
        if hole[0] == "+":
            bound, hole = hole[1:].split(" ")
            inner[name] = bound
        out += [term(_SHORT.get(hole, hole), whole(inner), depth - 1, choose), rest]
    return "".join(out)


def whole(scope: Scope) -> Scope:
    """Return a scope with the constants that are never shadowed: one of each sort at least."""
    return {**scope, **{f"|c {number}|": sort for number, sort in enumerate(SORTS)}}


def script(choose: Random) -> bytes:
    """Return a script of a few asserts, some of them named, some in scopes of their own."""
    lines = list(_HEAD)
    locals_, named = [set[str]()], ""
    scope = dict(whole({"x": "Int"}))
    for number in range(choose.randint(1, 6)):
        kind = choose.random()
        if kind < 0.15:
            lines.append("(push 1)")
            locals_.append(set())
        elif kind < 0.25 and len(locals_) > 1:
            lines.append("(pop 1)")
            for name in locals_.pop():
                del scope[name]
        elif kind < 0.35:
            sort = choose.choice(SORTS)
            body = term(sort, scope, 2, choose)
            lines.append(f"(define-fun d{number} () {sort} {body})")
            scope[f"d{number}"] = sort
            locals_[-1].add(f"d{number}")
        elif kind < 0.45:
            sort = choose.choice(SORTS)
            lines.append(f"(declare-const e{number} {sort})")
            scope[f"e{number}"] = sort
            locals_[-1].add(f"e{number}")
        elif kind < 0.55:
            lines.append(f"(assert (! {term('Bool', scope, 2, choose)} :named n{number}))")
            scope[f"n{number}"] = "Bool"
            locals_[-1].add(f"n{number}")
            named = f"n{number}"
        else:
            lines.append(f"(assert {term('Bool', scope, 3, choose)})")
        if choose.random() < 0.2:
            lines.append("(check-sat)")
            lines.append(f"(get-value ({term('Int', scope, 2, choose)} |c 1|))")
    if named in scope:
        lines.append(f"(check-sat-assuming ({named}))")
    lines += ["(check-sat)", "(exit)"]
    return "\n".join(lines).encode() + b"\n"
