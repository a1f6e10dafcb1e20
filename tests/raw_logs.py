"""Logs as F*, Dafny, Silicon and Verus write them, with their options, echoes and comments.

    python -m tests.raw_logs TOOL [QUERIES] > log.smt2

All have the same theory of lists among axioms that no query needs. All queries are proved with a
few steps but for one: that seven pigeons do not fit into six holes.
"""

import re
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

_HOLES = 6
_IDLE = 40
_RLIMIT = 20000
"""What F* gives a query: mostly 2723280, of which the expensive query here would be proved."""


class Axiom(NamedTuple):
    """A quantified assertion."""

    name: str
    bound: str
    body: str
    pattern: str


_AXIOMS = (
    Axiom("length_is_natural", "(x L)", "(>= (len x) 0)", "(len x)"),
    Axiom("length_of_cons", "(h Int) (x L)", "(= (len (cons h x)) (+ 1 (len x)))", "(cons h x)"),
    Axiom("head_of_cons", "(h Int) (x L)", "(= (head (cons h x)) h)", "(cons h x)"),
    Axiom(
        "item_of_join", "(x L) (y L) (i Int)", "(= (at (join x y) i) (at x i))", "(at (join x y) i)"
    ),
    *(
        Axiom(f"unused_{n}", "(x L)", f"(=> (p{n} x) (p{n} (cons {n} x)))", f"(p{n} x)")
        for n in range(_IDLE)
    ),
)
_SYMBOLS = (
    "(declare-fun cons (Int L) L)",
    "(declare-fun join (L L) L)",
    "(declare-fun len (L) Int)",
    "(declare-fun at (L Int) Int)",
    "(declare-fun head (L) Int)",
    *(f"(declare-fun p{n} (L) Bool)" for n in range(_IDLE)),
)


def _goals(queries: int) -> Iterator[str]:
    """Yield what each query proves of the list `a`; the one at six tenths is expensive."""
    for number in range(queries):
        if number == queries * 6 // 10:
            yield _pigeons()
        elif number % 2:
            yield f"(> (len (cons {number} a)) 0)"
        else:
            yield f"(= (head (cons {number} a)) {number})"


def _of(goal: str, name: str) -> str:
    """Return a goal of a list with another name."""
    return re.sub(r"\ba\b", lambda _: name, goal)


def _pigeons() -> str:
    """Return that the items of a list are not all different, if they are few numbers."""
    items, numbers = range(_HOLES + 1), range(_HOLES)
    few = [" ".join(f"(= (at a {each}) {number})" for number in numbers) for each in items]
    pairs = [
        f"(and (= (at (join a a) {one}) {number}) (= (at (join a a) {two}) {number}))"
        for number in numbers
        for two in items
        for one in range(two)
    ]
    return f"(=> (and {' '.join(f'(or {each})' for each in few)}) (or {' '.join(pairs)}))"


def fstar(queries: int) -> Iterator[str]:
    """Yield the lines of `fstar.exe --log_queries`."""
    yield from (
        "; Z3 invocation started by F*",
        "; F* version: 2025.02.17 -- commit hash: unset",
        "(set-option :global-decls false)",
        "(set-option :smt.mbqi false)",
        "(set-option :auto_config false)",
        "(set-option :produce-unsat-cores true)",
        "(set-option :model true)",
        "(set-option :smt.case_split 3)",
        "(set-option :smt.relevancy 2)",
        "(set-option :rewriter.enable_der false)",  # older releases lack these two
        "(set-option :rewriter.sort_disjunctions false)",
        "(declare-sort L)",
        *_SYMBOLS,
        "; end prelude",
        "(push) ;; push{1",
    )
    for name, bound, body, pattern in _AXIOMS:
        yield ";;;;;;;;;;;;;;;;Fact-ids: Name Lists.length; Namespace Lists"
        yield f"(assert (! (forall ({bound}) (! {body}\n  :pattern ({pattern})"
        yield f"  :qid {name})) :named equation_Lists.{name}))"
    for number, goal in enumerate(_goals(queries)):
        labels = [f"label_{number}_{each}" for each in (2, 1)]
        yield from (
            "(push) ;; push{0",
            "; <fuel='2' ifuel='1'>",
            "(declare-fun a () L)",
            *(f"(declare-fun {label} () Bool)" for label in labels),
            "; Encoding query formula : forall (a: list int). ...",
            f"; ;; def=Lists.fst({number + 9},2-{number + 9},40)",
            f"(assert (! (not (implies {labels[0]} (or {labels[1]} {goal}))) :named @query))",
            f"(assert (! {labels[0]} :named @assumed))",
            f"(assert (! (not {labels[1]}) :named @denied))",
            f"(set-option :rlimit {_RLIMIT})",
            '(echo "<initial_stats>")',
            '(echo "<statistics>") (get-info :all-statistics) (echo "</statistics>")',
            '(echo "</initial_stats>")',
            '(echo "<result>")',
            "(check-sat)",
            '(echo "</result>")',
            "(set-option :rlimit 0)",
            '(echo "<reason-unknown>") (get-info :reason-unknown) (echo "</reason-unknown>")',
            '(echo "<unsat-core>")\n(get-unsat-core)\n(echo "</unsat-core>")',
            '(echo "<labels>")',
            *(f'(echo "{label}")\n(eval {label})' for label in labels),
            '(echo "</labels>")',
            '(echo "Done!")',
            "(pop) ;; 0}pop",
            f"; QUERY ID: (Lists.lemma_{number}, 1)\n; STATUS: unsat",
        )


def dafny(queries: int) -> Iterator[str]:
    """Yield the lines of Boogie's prover log, as `dafny verify --solver-log` writes it."""
    yield from (
        "(set-option :print-success false)",
        "(set-info :smt-lib-version 2.6)",
        "(set-option :auto_config false)",
        "(set-option :type_check true)",
        "(set-option :smt.case_split 3)",
        "(set-option :smt.qi.eager_threshold 100)",
        "(set-option :smt.delay_units true)",
        "(set-option :smt.arith.solver 2)",
        "(set-option :smt.mbqi false)",
        "(set-option :model.compact false)",
        "(set-option :model.v2 true)",
        "(set-option :pp.bv_literals false)",
        "; done setting options\n\n",
        "(declare-sort L 0)",
        *_SYMBOLS,
        "(declare-fun ControlFlow (Int Int) Int)",
        "(declare-fun tickleBool (Bool) Bool)",
        "(assert (and (tickleBool true) (tickleBool false)))",
    )
    for number, (_, bound, body, pattern) in enumerate(_AXIOMS):
        yield f"(assert (forall ({bound}) (! {body}"
        yield f" :qid |Listsdfy.{number + 12}:9|\n :skolemid |{number}|"
        yield f" :pattern ( {pattern})\n)))"
    yield "; Valid\n"
    for number, goal in enumerate(_goals(queries)):
        yield from (
            "(push 1)",
            f"(declare-fun |a#{number}| () L)",
            f"(set-info :boogie-vc-id Impl$$_module.__default.lemma__{number})",
            "(set-option :timeout 0)",
            "(set-option :rlimit 0)",
            "(assert (not",
            " (=> (= (ControlFlow 0 0) 3) (let ((anon0_correct  (=> (= (ControlFlow 0 3) (- 0 2))",
            f" {_of(goal, f'|a#{number}|')})))",
            " anon0_correct))\n))",
            "(check-sat)",
            "(get-info :rlimit)",
            "(pop 1)\n; Valid",
        )


def silicon(queries: int) -> Iterator[str]:
    """Yield the lines of `silicon --proverLogFile`, where the answers stand in comments."""
    yield from (
        '(get-info :version)\n; (:version "4.8.7")\n; Started: 2024-05-01 10:00:00',
        "; Silicon.version: 1.1-SNAPSHOT\n; Verifier id: 00",
        "; " + "-" * 60 + "\n; Begin preamble\n; ////////// Static preamble",
        "(set-option :print-success true) ; Boogie: false",
        "(set-option :global-decls true) ; Necessary for push pop mode",
        "(set-option :auto_config false)",
        "(set-option :smt.restart_strategy 0)",
        "(set-option :smt.restart_factor |1.5|)",
        "(set-option :smt.case_split 3)",
        "(set-option :smt.delay_units true)",
        "(set-option :smt.delay_units_threshold 16)",
        "(set-option :nnf.sk_hack true)",
        "(set-option :type_check true)",
        "(set-option :smt.bv.reflect true)",
        "(set-option :smt.mbqi false)",
        '(set-option :smt.qi.cost "(+ weight generation)")',
        "(set-option :smt.qi.eager_threshold 1000)",
        "(set-option :smt.qi.max_multi_patterns 1000)",
        "(set-option :smt.phase_selection 0)",
        "(set-option :sat.phase caching)",
        "(set-option :nlsat.randomize true)",
        "(set-option :smt.arith.random_initial_value true)",
        "(set-option :smt.random_seed 0)",
        "(declare-datatypes (($Snap 0)) ((\n    ($Snap.unit)\n"
        "    ($Snap.combine ($Snap.first $Snap) ($Snap.second $Snap)))))",
        "(declare-sort $Ref 0)\n(declare-const $Ref.null $Ref)\n(declare-sort $FPM)",
        "(define-sort $Perm () Real)\n(define-const $Perm.Write $Perm 1.0)",
        "(define-fun $Perm.isValidVar ((p $Perm)) Bool (<= 0.0 p))",
        "; ////////// Sorts\n(declare-sort L 0)",
        "; ////////// Symbols",
        *_SYMBOLS,
        "; ////////// Axioms",
    )
    for name, bound, body, pattern in _AXIOMS:
        yield f"(assert (forall ({bound}) (!\n  {body}\n  :pattern ({pattern})"
        yield f"  :qid |prog.{name}|)))"
    yield "; End preamble\n; State saturation: after preamble"
    yield "(set-option :timeout 100)\n(check-sat)\n; unknown"
    for number, goal in enumerate(_goals(queries)):
        name = f"a@{number}@01"
        yield from (
            f"; ---------- lemma_{number} ----------",
            f"(declare-const {name} L)",
            "(push) ; 1",
            "; [eval] length(a) >= 0\n(set-option :timeout 10000)",
            "(push) ; 2",
            f"(assert (not {_of(goal, name)}))",
            "(check-sat)\n; unsat",
            "(pop) ; 2\n; 0.00s\n; (get-info :all-statistics)",
            f"(assert {_of(goal, name)})",
            "(pop) ; 1",
        )


def verus(queries: int) -> Iterator[str]:
    """Yield the lines of `verus --log smt`."""
    yield from (
        "(set-option :auto_config false)",
        "(set-option :smt.mbqi false)",
        "(set-option :smt.case_split 3)",
        "(set-option :smt.qi.eager_threshold 100.0)",
        "(set-option :smt.delay_units true)",
        "(set-option :smt.arith.solver 2)",
        "(set-option :smt.arith.nl false)",
        "(set-option :pi.enabled false)",
        "(set-option :rewriter.sort_disjunctions false)",
        "\n;; Prelude\n\n;; AIR prelude\n(declare-sort %%Function%% 0)\n",
        "(declare-sort L 0)",
        *_SYMBOLS,
        "\n;; MODULE 'root module'\n",
    )
    for name, bound, body, pattern in _AXIOMS:
        yield f"(assert\n (forall ({bound}) (!\n   {body}\n   :pattern ({pattern})"
        yield f"   :qid internal_lists__{name}_definition\n   :skolemid skolem_{name}\n)))"
    for number, goal in enumerate(_goals(queries)):
        yield from (
            f"\n;; Function-Def lists::lemma_{number}",
            f";; src/lists.rs:{number + 7}:1: {number + 7}:40 (#0)",
            "(get-info :all-statistics)",
            "(push)",
            " (declare-const a! L)\n (declare-const %%location_label%%0 Bool)",
            " (declare-const %%query%% Bool)",
            " (assert\n  (=>\n   %%query%%\n   (not",
            f"    (=> %%location_label%%0\n     {_of(goal, 'a!')}\n ))))",
            " (assert\n  %%query%%\n )\n (assert\n  %%location_label%%0\n )",
            " (get-info :version)\n (set-option :rlimit 30000000)",
            " (check-sat)",
            " (set-option :rlimit 0)",
            "(pop)",
        )


TOOLS: dict[str, Callable[[int], Iterator[str]]] = {
    "fstar": fstar,
    "dafny": dafny,
    "silicon": silicon,
    "verus": verus,
}

if __name__ == "__main__":
    made = TOOLS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    sys.stdout.writelines(f"{line}\n" for line in made)
