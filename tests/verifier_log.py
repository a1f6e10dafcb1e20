"""A log as verifiers write it: axioms, then a block for each query, of which one is expensive.

python -m tests.verifier_log [BLOCKS] > log.smt2
"""

import sys

_AXIOMS = (
    ("(x T)", "(>= (len x) 0)", "(len x)"),
    ("(x T) (y T)", "(= (len (app x y)) (+ (len x) (len y)))", "(app x y)"),
    ("(x T) (y T) (i Int)", "(=> (< i (len x)) (= (at (app x y) i) (at x i)))", "(at (app x y) i)"),
    ("(x T) (i Int)", "(=> (ok x) (>= (at x i) 0))", "(at x i) (ok x)"),
    ("(x T) (y T)", "(=> (and (ok x) (ok y)) (ok (app x y)))", "(ok x) (ok y) (app x y)"),
)
_PRELUDE = """(set-option :auto_config false)
(set-option :smt.mbqi false)
(declare-sort T 0)
(declare-fun len (T) Int)
(declare-fun app (T T) T)
(declare-fun at (T Int) Int)
(declare-fun ok (T) Bool)
"""
_PROVED = (
    "(=> (> (len a) {0}) (> (len (app a b)) {0}))",
    "(=> (< {0} (len a)) (= (at (app a b) {0}) (at a {0})))",
    "(=> (and (ok a) (ok b)) (>= (at (app a b) {0}) 0))",
)
_HOLES = 5


def _pigeons() -> str:
    """Return that more pigeons than holes do not fit, as lengths of lists: many conflicts."""
    birds, holes = range(_HOLES + 1), range(_HOLES)
    here = [[f"(= (at a {bird}) {hole})" for hole in holes] for bird in birds]
    pairs = [(one, other) for other in birds for one in range(other)]
    together = [f"(and {here[a][hole]} {here[b][hole]})" for hole in holes for a, b in pairs]
    nests = " ".join(f"(or {' '.join(each)})" for each in here)
    return f"(=> (and {nests}) (or {' '.join(together)}))"


def log(blocks: int, failing: int) -> str:
    """Return a log of so many queries, all proved; that of block `failing` takes many steps."""
    lines = [_PRELUDE]
    for number, (bound, body, pattern) in enumerate(_AXIOMS):
        lines.append(
            f"; axiom {number}\n(assert (! (forall ({bound}) (! {body}\n"
            f"  :qid |Listsdfy.{number + 12}:9|\n  :skolemid |{number}|\n"
            f"  :pattern ({pattern}))) :named ax{number}))\n"
        )
    for number in range(blocks):
        goal = _pigeons() if number == failing else _PROVED[number % 3].format(number % 7)
        lines.append(
            f"(push 1)\n; query {number}\n(declare-const a T)\n(declare-const b T)\n"
            f"(assert (not {goal}))\n(check-sat)\n(pop 1)\n"
        )
    return "".join(lines)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    sys.stdout.write(log(count, count * 6 // 10))
