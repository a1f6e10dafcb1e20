"""Every call of the models of solvers, in a lawful trace on a real library.

A step is a call, with `=RESULT` where the answer follows from the formula. An empty line
ends a trace.
"""

import os
from pathlib import Path

import pytest

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from tests.frontends.trace.player.test_stock_cadical import stock

TRACES = {
    "cadical": """
init; configure plain=1; set seed 3=1; trace_proof NAME=1; add 1; add 2; add 0; add -1; add 0;
vars=2; active=0; redundant=0; solve=10; val 1=-1; val 2=2; conclude; flush_proof_trace;
close_proof_trace; fixed 1=-1; stats; statistics; resources; dump; reset

init; resize 4; add 1; add 2; add 0; irredundant=1; phase -1; unphase 1; solve=10; flippable
3=1; flip 3=1; is_witness 1=0; reset

init; declare_more_variables 2=2; declare_one_more_variable=3; vars=3; freeze 1; frozen 1=1; add
1; add 2; add 0; simplify 1=0; melt 1; frozen 1=0; reset

init; limit conflicts 100=1; optimize 1; add 1; add 2; add 0; assume -1; assume -2; solve=20;
failed -1=1; failed -2=1; solve=10; assume -1; reset_assumptions; solve=10; reset

init; add -1; add 0; constrain 1; constrain 0; solve=20; constraint_failed=1; solve=10;
constrain 1; constrain 0; reset_constraint; solve=10; reset

init; add 1; add 2; add 0; assume -1; propagate=10; implied; lookahead; cubing 2; solve=10; assume
-1; propagate_assumptions=10; implied; reset

init; add 1; add 2; add 0; connect mock-propagator; observe 1; observe 2; observed 1=1;
is_decision 1=0; lemma -1; lemma 0; force_backtrack 0; solve=10; val 1=-1; val 2=2; unobserve 1;
observed 1=0; reset_observed_vars; observed 2=0; disconnect mock-propagator; reset
""",
    "lingeling": """
init; option seed 3; add 1; add 2; add 0; maxvar=2; freeze 1; frozen 1=1; frozen 2=0; freeze 2;
setphase 1; resetphase 1; setimportant 2; chkclone; inconsistent=0; sat=10; deref 1; setphases;
changed=0; usable 1=1; reusable 1=1; reduce; flush; stats; assume -1; assume -2; sat=20; failed
-1=1; failed -2=1; melt 1; frozen 1=0; release

init; add 1; add -2; add 0; add -1; add 2; add 0; incvar=3; freeze 1; freeze 2; simp 1; repr 2;
assume -1; fixate; fixed 1=-1; sat=10; deref 1=-1; deref 2=-1; release

init; add 1; add 2; add 0; add -1; add -2; add 0; lkhd; release

init; add 1; add 2; add 0; add -1; add -2; add 0; sat=10; reusable 1; release

init; option plain 1; add 1; add 2; add 0; add -1; add 2; add 0; sat=10; deref 2=1; reusable
1=1; reuse 1; add 1; add 0; sat=10; deref 1=1; release
""",
    "ipasir": """
signature; init; signature; set_terminate; set_learn 3; add 1; add 2; add 0; add -1; add 0;
solve=10; val 1=-1; val 2=2; assume -2; solve=20; failed -2=1; release; signature
""",
    "picosat": """
init; set_verbosity 0; set_plain 1; set_seed 3; set_propagation_limit 1000;
set_global_default_phase 1; enable_trace_generation=0; save_original_clauses; measure_all_calls;
inc_max_var=1; adjust 4; variables=4; set_default_phase_lit 3 -1; set_more_important_lit 3;
set_less_important_lit 4; add 1; add 2; add 0; add -1; add 0; added_original_clauses=2; sat
-1=10; res=10; deref 1=-1; deref 2=1; deref 3=-1; deref_partial 2=1; deref_toplevel 1=-1;
changed; remove_learned 50; sat -1=10; simplify; reset_phases; reset_scores; inconsistent=0;
assume -2; sat -1=20; failed_assumption -2=1; failed_assumptions; reset

init; set_default_phase_lit 1 1; set_default_phase_lit 2 -1; add 1; add 2; add 0; sat -1=10;
deref 1=1; deref 2=-1; reset

init; add 1; add 2; add 0; push=3; context=3; add -1; add 0; add -2; add 0; sat -1=20;
failed_context 3=1; pop=0; context=0; sat -1=10; reset
""",
    "minisat": """
new; okay=1; new_var=1; new_var=2; new_var=3; n_vars=3; add_clause 1 2=1; n_clauses=1; add_clause
-1=1; value 1=-1; value 2=1; value 3=0; value -2=-1; simplify=1; set_polarity 3; solve=1;
model_value 1=-1; model_value 2=1; model_value 3=1; set_polarity -3; solve=1; model_value 3=-1;
n_learnts=0; set_conf_budget 10; set_prop_budget 100; solve_limited -3=1; model_value 3=-1;
model_value -3=1; set_prop_budget 0; solve_limited 3=-1; budget_off; solve_limited 3 -2=0;
conflict -2=1; conflict 3=0; okay=1; add_clause=0; okay=0; simplify=0; solve=0; delete

new; new_var=1; new_var=2; set_decision_var -1; set_decision_var 2; solve=1; model_value 1=0;
set_decision_var 1; set_polarity 2; solve=1; model_value 1=-1; model_value 2=1; delete
""",
    "cvc5": """
new; set_logic ALL; set_option produce-models true; bv_sort 8=s; boolean_sort=b; integer_sort=z;
array_sort s s=as; fun_sort s s b=fs; const as A=A; const s x=x; const z n=n; fun fs g=g; bv 8
5=five; apply g x five=p; push 1; store A x five=W; select W x=r; distinct r five=d; check_sat=3;
assert d; check_sat=5; pop 1; check_sat=3; assert p; not p=np; simplify np=snp; check_sat_assuming
snp=5; check_sat_assuming p=3; integer 3=three; add n three=n3; sub n3 three=m; eq n m=e; not
e=ne; check_sat_assuming ne=5; eq x five=is5; assert is5; check_sat=3; get_value x=v; get_value
r=vr; kind_of v; get_sort r=rs; const rs y=y; is_equal x x=1; is_equal x y=0; delete
""",
    "boolector": """
new=b; set_opt b 1 incremental 1; set_opt b 0 model-gen 1; set_sat_solver b lingeling; first_opt
b=0; next_opt b 0=1; has_opt b 0=1; get_opt b 1=1; get_opt_min b 1=0; get_opt_max b 1=1;
get_opt_dflt b 1=0; get_opt_lng b 1; get_opt_shrt b 1; get_opt_desc b 1; bitvec_sort b 8=s;
bool_sort b=o; var b s x=x; var b s y=y; set_symbol b y why; get_symbol b y; get_node_id b x=2;
set_btor_id b x 7; match_node_by_id b 2=x2; match_node_by_symbol b x=x3; match_node b x=x4; ult
b x4 y=same; get_width b x=8; var b o q=q; var_mark_bool b q; is_var b x=1; ult b x y=lt; ugt b
x y=gt; assert b lt; assume b gt; sat b=20; failed b gt=1; assume b lt; limited_sat b -1 -1=10;
get_value b x=vx; get_value b y=vy; ult b vx vy=v; is_bv_const_one b v=1; is_const b vx=1;
bv_assignment b x=a; free_bv_assignment b a; push b 1; assert b gt; sat b=20; pop b 1; sat b=10;
assume b gt; reset_assumptions b; sat b=10; add_output b lt; assume b gt; fixate_assumptions b;
sat b=20; simplify b=20; chkclone b; get_refs b; reset_time b; reset_stats b; print_stats b;
release b x2; release_all b; delete b

new=b; bitvec_sort b 2=i; bitvec_sort b 8=s; copy_sort b s=s2; array_sort b i s2=as;
bitvec_sort_get_width b s=8; is_bitvec_sort b s=1; is_array_sort b as=1; is_fun_sort b s=0;
array b as A=A; uf b as f=f; is_array b A=1; is_array_var b A=1; is_uf b f=1; is_fun b f=1;
get_index_width b A=2; get_fun_arity b f=1; get_width b A=8; fun_get_domain_sort b A=d;
fun_get_codomain_sort b A=c; is_bitvec_sort b d=0; bitvec_sort_get_width b c=8; get_sort b
A=as2; is_array_sort b as2=1; param b s p=p; is_param b p=1; is_bound_param b p=0; var b i j=j;
constd b s 5=k; write b A j k=W; read b W j=r; is_equal_sort b r k=1; const_array b as k=K; true
b=t; cond b t W A=C; eq b C W=cw; is_bv_const_one b cw=1; read b K j=kj; ne b r kj=bad; assert b
bad; sat b=20; release_sort b s2; delete b

new=b; bitvec_sort b 8=s; zero b s=z; one b s=e; ones b s=m; min_signed b s=lo; max_signed b
s=hi; is_bv_const_zero b z=1; is_bv_const_one b e=1; is_bv_const_ones b m=1;
is_bv_const_min_signed b lo=1; is_bv_const_max_signed b hi=1; is_bv_const_zero b e=0; get_bits b
lo; const b 10000101=c1; slice b c1 6 0=c2; uext b c2 1=c; consth b s 5=h; int b 5 s=n; eq b c
h=ch; eq b h n=hn; is_bv_const_one b ch=1; is_bv_const_one b hn=1; release_all b; delete b

new=b; set_msg_prefix b p; set_opt b 0 model-gen 1; bitvec_sort b 8=s; bool_sort b=o; fun_sort b s
s o=fs; is_fun_sort b fs=1; uf b fs g=g; get_fun_arity b g=2; var b s x=x; var b s y=y; apply b 2
x y g=gxy; apply b 2 y x g=gyx; fun_sort_check b 2 x y g=-1; bitvec_sort b 4=s4; var b s4 w=w;
fun_sort_check b 2 x w g=1; ne b gxy gyx=d; assert b d; param b s p=p; param b s q=q; add b p
q=pq; fun b 2 p q pq=f; is_fun b f=1; get_fun_arity b f=2; apply b 2 x y
f=fxy; constd b s 7=k; eq b fxy k=e; assert b e; get_btor x;
dump_smt2 b; dump_smt2_node b d; sat b=10; print_model b smt2;
print_value_smt2 b x x; print_value_smt2 b y; uf_assignment b g; free_uf_assignment b i v 2;
get_value b fxy=v; eq b v k=vk; is_bv_const_one b
vk=1; delete b

new=b; bitvec_sort b 4=s; param b s p=p; param b s q=q; zero b s=z; ugte b p z=pz; forall b 1 p
pz=a; ult b q z=qz; exists b 1 q qz=x; not b x=nx; assert b a; assert b nx; sat b=10; delete b

new=b; bitvec_sort b 4=s; param b s q=q; zero b s=z; ult b q z=qz; exists b 1 q qz=x; assert b x;
sat b=20; delete b

new=b; bitvec_sort b 4=s; var b s x=x; redor b x=r; assert b r; dump_btor b; dump_btor_node b r;
delete b

new=b; set_opt b 0 model-gen 1; bitvec_sort b 4=s; array_sort b s s=as; array b as A=A; var b s
x=x; zero b s=z; read b A x=r; eq b r z=e; assert b e; get_bits b z=bits; free_bits b bits; sat
b=10; array_assignment b A; free_array_assignment b i v 1; delete b
""",
}  # fmt: skip

# What follows for 200 and 3, numbers of 8 bits (-56 if signed); then for 200 alone, by a number.
_BINARY = {
    "add": 203,
    "sub": 197,
    "mul": 88,
    "udiv": 66,
    "sdiv": 238,
    "urem": 2,
    "srem": 254,
    "smod": 1,
    "xor": 203,
    "and": 0,
    "or": 203,
    "xnor": 52,
    "nand": 255,
    "nor": 52,
    "sll": 64,
    "srl": 25,
    "sra": 249,
    "rol": 70,
    "ror": 25,
    "concat": 51203,
    "ult": 0,
    "slt": 1,
    "ulte": 0,
    "slte": 1,
    "ugt": 1,
    "sgt": 0,
    "ugte": 1,
    "sgte": 0,
    "eq": 0,
    "ne": 1,
    "uaddo": 0,
    "saddo": 0,
    "usubo": 0,
    "ssubo": 0,
    "umulo": 1,
    "smulo": 1,
    "sdivo": 0,
}
_UNARY = {
    "not": 55,
    "neg": 56,
    "inc": 201,
    "dec": 199,
    "redor": 1,
    "redxor": 1,
    "redand": 0,
    "copy": 200,
    "uext 8": 200,
    "sext 8": 65480,
    "repeat 2": 51400,
    "roli 3": 70,
    "rori 3": 25,
    "slice 7 4": 12,
}
_WIDTHS = {"concat": 16, "uext": 16, "sext": 16, "repeat": 16, "slice": 4}
_BITS = {"red", "ult", "slt", "ugt", "sgt", "eq", "ne", "uad", "sad", "usu", "ssu", "umu", "smu"}


def _arithmetic() -> str:
    """Return a trace of Boolector that makes terms of constants, and asks what they are."""
    steps = ["new=b", "bitvec_sort b 8=s", "unsigned_int b 200 s=x", "unsigned_int b 3 s=y"]
    steps += ["false b=no", "true b=yes", "implies b no yes=yes1", "iff b no yes=no1"]
    steps += ["is_bv_const_one b yes1=1", "is_bv_const_zero b no1=1"]
    for text, value in [*_BINARY.items(), *_UNARY.items()]:
        name, *numbers = text.split()
        one = (name[:3] in _BITS and name != "neg") or name == "sdivo"
        width = 1 if one else _WIDTHS.get(name, 8)
        given = " ".join(["x", "y"] if text in _BINARY else ["x", *numbers])
        steps += [
            *(f"{name} b {given}=r-{name}", f"get_width b r-{name}={width}"),
            *(f"bitvec_sort b {width}=s-{name}", f"unsigned_int b {value} s-{name}=v-{name}"),
            *(f"eq b r-{name} v-{name}=e-{name}", f"is_bv_const_one b e-{name}=1"),
        ]
    return ";".join([*steps, "delete b"])


_SHARED = "and or xor nand nor xnor add sub mul udiv urem sdiv srem smod".split()  # noqa: SIM905
# What follows for the same numbers in cvc5, and what is true of them.
_CVC5 = {
    **{
        f"bv{name} x y": _BINARY[name]
        for name in [
            "and",
            "or",
            "xor",
            "nand",
            "nor",
            "xnor",
            "add",
            "sub",
            "mul",
            "udiv",
            "urem",
            "sdiv",
            "srem",
            "smod",
        ]
    },
    "bvshl x y": _BINARY["sll"],
    "bvlshr x y": _BINARY["srl"],
    "bvashr x y": _BINARY["sra"],
    "concat x y": _BINARY["concat"],
    "bvnot x": _UNARY["not"],
    "bvneg x": _UNARY["neg"],
    "bvredor x": 1,
    "bvredand x": 0,
    "extract 7 4 x": _UNARY["slice 7 4"],
    "repeat 2 x": _UNARY["repeat 2"],
    "zero_extend 8 x": _UNARY["uext 8"],
    "sign_extend 8 x": _UNARY["sext 8"],
    "rotate_left 3 x": _UNARY["roli 3"],
    "rotate_right 3 x": _UNARY["rori 3"],
}
_TRUE_OF = {
    "bvult x y": 0, "bvule x y": 0, "bvugt x y": 1, "bvuge x y": 1,
    "bvslt x y": 1, "bvsle x y": 1, "bvsgt x y": 0, "bvsge x y": 0,
    "lt i j": 1, "leq i j": 1, "gt i j": 0, "geq i j": 0, "eq i j": 0, "distinct i j": 1,
    "and t f": 0, "or t f": 1, "xor t f": 1, "implies t f": 0, "not f": 1, "ite t t f": 1,
}  # fmt: skip


def _terms() -> str:
    """Return a trace of cvc5 that makes terms of constants, and proves what they are."""
    steps = ["new", "bv 8 200=x", "bv 8 3=y", "integer -2=i", "integer 7=j", "true=t", "false=f"]
    for number, (text, value) in enumerate(_CVC5.items()):
        width = {"concat": 16, "repeat": 16, "extract": 4}.get(text.split()[0], 8)
        width = 16 if "extend" in text else 1 if "red" in text else width
        steps += [f"{text}=r{number}", f"bv {width} {value}=v{number}"]
        steps += [f"distinct r{number} v{number}=d{number}", f"check_sat_assuming d{number}=5"]
    for number, (text, value) in enumerate(_TRUE_OF.items()):
        steps += [f"{text}=b{number}", f"not b{number}=n{number}"]
        steps += [f"check_sat_assuming b{number}={3 if value else 5}"]
        steps += [f"check_sat_assuming n{number}={5 if value else 3}"]
    return ";".join([*steps, "delete"])


NOT_PLAYED = {
    "cadical": {
        "reserve": "3.0 has `resize` in its place; the last test plays it on 1.9.5",
        "lookahead_cubes": "CaDiCaL records it without the depth that it was called with",
        "continue": "mobical's own, the library has no such method",
        "max_alloc": "mobical's own, a limit for its process",
        "leak_alloc": "mobical's own, a limit for its process",
    },
    "lingeling": dict.fromkeys(
        ("meltall", "cassume", "negass", "reconstk"),
        "recorded by Lingeling, read by none of its interpreters",
    ),
    "boolector": {"clone": "a trace has one object"},
}


def _value(word: str) -> Value:
    return int(word) if word.lstrip("-").isdigit() else word


def calls_of(line: str) -> list[Call]:
    """Read the calls of a trace."""
    calls = []
    for step in line.split(";"):
        text, _, result = step.strip().partition("=")
        name, *words = text.split()
        calls.append(Call(name, tuple(map(_value, words)), 0, _value(result) if result else None))
    return calls


CASES = [(api, line) for api, text in TRACES.items() for line in text.split("\n\n")]
CASES += [("boolector", _arithmetic()), ("cvc5", _terms())]
OF_DEBIAN = {
    "picosat": pytest.mark.debian("picosat"),
    "minisat": pytest.mark.debian("minisat", "g++"),
}


def marks(api: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a test that wants the library of an API."""
    return [OF_DEBIAN[api]] if api in OF_DEBIAN else []


@pytest.mark.parametrize(
    ("api", "line"), [pytest.param(*case, marks=marks(case[0])) for case in CASES]
)
def test_a_call_gives_the_true_answer(
    api: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calls = calls_of(line)
    assert first_violation(calls, load_model(api)) is None
    library = find_library(api, stock("bitwuzla") if api == "cadical" else None)
    with ReplayServer(library) as server:
        outcome = server.replay(calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")
    wrong = {
        (at, call.name): (call.result, got)
        for at, (call, got) in enumerate(zip(calls, outcome.results, strict=True))
        if isinstance(call.result, int) and got != call.result
    }
    assert not wrong
    assert os.listdir(tmp_path) == []  # trace_proof writes no file


@pytest.mark.parametrize("api", [pytest.param(api, marks=marks(api)) for api in TRACES])
def test_no_call_of_a_model_is_without_a_trace(api: str) -> None:
    played = {call.name for each, line in CASES if each == api for call in calls_of(line)}
    left_out = NOT_PLAYED.get(api, {})
    assert set(load_model(api).calls) - played == set(left_out)
    interface = find_library(api, stock("bitwuzla") if api == "cadical" else None).interface
    assert not set(left_out) & set(interface.calls)


@pytest.mark.parametrize("native", [True, False])
def test_boolectors_own_recording_is_played_to_its_end(native: bool) -> None:
    text = (Path(__file__).parents[1] / "recorded" / "boolector.trace").read_bytes()
    trace = read_trace(text)
    assert {"fun_sort", "apply", "fun", "array_assignment"} <= {call.name for call in trace.calls}
    with ReplayServer(find_library("boolector"), native=native) as server:
        outcome = server.replay(trace.calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")
    answers = [
        (call.result, got)
        for call, got in zip(trace.calls, outcome.results, strict=True)
        if call.name == "sat"
    ]
    assert answers
    assert all(recorded == got for recorded, got in answers)


def test_reserve_is_played_by_a_library_that_has_it() -> None:
    calls = calls_of("init; reserve 4; vars=4; add -4; add 0; solve=10; val 4=-4; reset")
    with ReplayServer(find_library("cadical", "cadical195")) as server:
        outcome = server.replay(calls)
    assert (outcome.kind, outcome.results[2], outcome.results[5]) == ("ok", 4, 10)
