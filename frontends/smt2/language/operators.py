"""The table of operators, of each theory, with the sorts of what they take and return; logics.

A line has names, the sorts of the arguments and that of the result. A mark behind a sort says more:

    +   more of this sort may follow
    *   more may follow, and fewer are enough, but one
    ?   may be left out
    !   a literal, where the operator is drawn at random; Char! is one of one letter

Sort rules (`theories`), random scripts and mutants (`generate`) read it. Random scripts have the
ranks as they stand here, so a rank that stands twice is drawn twice as often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from string import ascii_letters
from typing import NamedTuple

from reducekit.frontends.smt2.language.sorts import Sort

# Words for sorts. What has an apostrophe is any sort or number, the same one in all of a line.
_SORTS: Mapping[str, Sort] = {
    "V": ("BitVec", "'n"),
    "F": ("FloatingPoint", "'e", "'s"),
    "A": ("Array", "'I", "'E"),
    "Q": ("Seq", "'E"),
    "S": "'S",
    "I": "'I",
    "E": "'E",
    "T": ("Set", "'E"),
    "B": ("Bag", "'E"),
    "K": ("FiniteField", "'n"),
    "G": ("->", "'I", "'E"),
    "P": ("->", "'E", "Bool"),
    "TI": ("Set", "'I"),
    "BI": ("Bag", "'I"),
    "Column": ("Set", ("Tuple", "'E")),
    "Relation": ("Set", ("Tuple", "'E", "'E")),
    "Rows": ("Bag", ("Tuple", "'E")),
    "Table": ("Bag", ("Tuple", "'E", "'E")),
    "Bit": ("BitVec", 1),
    "Code": ("BitVec", 18),
    "FT": ("FiniteSet", "'E"),
    "FI": ("FiniteSet", "Int"),
    "CharTest": ("Array", "Char", "Bool"),
    "N": ("Nullable", "'E"),
    "Unit": ("Tuple",),
    "RM": "RoundingMode",
}

DIALECTS = "dialects"
"""In place of a theory: what scripts of one solver have, or old ones. Never drawn at random.

An operator that has ranks here has no others, so this also says where solvers take more.
"""
# Below the theories that its lines need: those that need two of them are there where both are.
_TABLE = """
core
    true false : -> Bool
    not : Bool -> Bool
    and or xor => : Bool Bool* -> Bool
    and or : Bool Bool Bool -> Bool
    = distinct : S S+ -> Bool
    distinct : S S S -> Bool
    ite : Bool S S -> S
ints
    - abs : Int -> Int
    + - : Int Int* -> Int
    + : Int Int Int -> Int
    * : Int! Int* -> Int
    div mod : Int Int!+ -> Int
    < <= > >= : Int Int+ -> Bool
reals
    - : Real -> Real
    + - : Real Real* -> Real
    * : Real! Real* -> Real
    / : Real Real!+ -> Real
    < <= > >= : Real Real+ -> Bool
nonlinear ints
    * div mod : Int Int -> Int
nonlinear reals
    * / : Real Real -> Real
mixed
    to_real : Int -> Real
    to_int : Real -> Int
    is_int : Real -> Bool
bitvectors
    bvnot bvneg : V -> V
    bvand bvor bvxor bvnand bvnor bvxnor : V V+ -> V
    bvadd bvsub bvmul : V V+ -> V
    bvudiv bvurem bvsdiv bvsrem bvsmod : V V+ -> V
    bvshl bvlshr bvashr : V V+ -> V
    bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge : V V -> Bool
    bvcomp : V V -> Bit
floats
    fp.abs fp.neg : F -> F
    fp.add fp.sub fp.mul fp.div : RM F F -> F
    fp.fma : RM F F F -> F
    fp.sqrt fp.roundToIntegral : RM F -> F
    fp.rem fp.min fp.max : F F -> F
    fp.leq fp.lt fp.geq fp.gt fp.eq : F F+ -> Bool
    fp.isNormal fp.isSubnormal fp.isZero fp.isInfinite fp.isNaN fp.isNegative : F -> Bool
    fp.isPositive : F -> Bool
rare bitvectors
    bvnego : V -> Bool
    bvuaddo bvsaddo bvumulo bvsmulo bvusubo bvssubo bvsdivo : V V -> Bool
cvc5
    set.union set.inter set.minus : T T* -> T
    set.insert : E T -> T
    set.singleton : E -> T
    set.member : E T -> Bool
    set.subset : T T -> Bool
    set.choose : T -> E
    bag.union_max bag.union_disjoint bag.inter_min : B B+ -> B
    bag.difference_subtract bag.difference_remove : B B+ -> B
    bag.member : E B -> Bool
    bag.subbag : B B -> Bool
    ff.add ff.mul : K K* -> K
    ff.neg : K* -> K
cvc5 ints
    set.card : T -> Int
    bag : E Int -> B
    bag.count : E B -> Int
    bag.card : B -> Int
cvc5 bitvectors
    bvredor bvredand : V -> Bit
rare cvc5
    set.is_empty set.is_singleton : T -> Bool
rare cvc5 bitvectors
    bvite : Bit V V -> V
    bvultbv bvsltbv : V V -> Bit
cvc5 relations
    rel.transpose rel.tclosure : Relation -> Relation
    rel.join : Relation Relation -> Relation
    rel.join : Column Relation -> Column
    rel.product : Column Column -> Relation
    table.product : Rows Rows -> Table
rare cvc5 relations
    rel.iden : Column -> Relation
cvc5 higher-order
    @ : G I -> E
    set.map : G TI -> T
    set.filter : P T -> T
    bag.map : G BI -> B
    bag.filter : P B -> B
cvc5 heap
    sep : Bool Bool+ -> Bool
    sep : Bool Bool Bool -> Bool
    wand : Bool Bool+ -> Bool
    sep.emp : -> Bool
cvc5 strings
    str.rev str.to_lower str.to_upper : String -> String
cvc5 strings ints
    str.update : String Int String -> String
    str.indexof_re : String RegLan Int? -> Int
cvc5 sequences ints
    seq.rev : Q -> Q
    seq.update : Q Int Q -> Q
    seq.replace_all : Q Q Q -> Q
z3 bitvectors
    bvredor bvredand : V -> Bit
    ext_rotate_left ext_rotate_right : V V+ -> V
    bvumul_noovfl bvsmul_noovfl bvsmul_noudfl : V V -> Bool
z3 ints
    rem : Int Int!+ -> Int
z3 arrays
    default : A -> E
z3 strings bitvectors
    str.from_ubv str.from_sbv : V -> String
z3 sequences ints
    seq.last_indexof : Q Q -> Int
rare bitvectors ints
    ubv_to_int sbv_to_int : V -> Int
floats reals
    fp.to_real : F -> Real
arrays
    select : A I -> E
    store : A I E -> A
strings
    str.++ : String String* -> String
    str.< str.<= : String String+ -> Bool
    str.prefixof str.suffixof str.contains : String String -> Bool
    str.is_digit : String -> Bool
    str.replace str.replace_all : String String String -> String
    str.replace_re str.replace_re_all : String RegLan String -> String
    str.in_re : String RegLan -> Bool
    str.to_re : String! -> RegLan
    re.none re.all re.allchar : -> RegLan
    re.++ re.union re.inter re.diff : RegLan RegLan* -> RegLan
    re.* re.+ re.opt re.comp : RegLan* -> RegLan
    re.range : Char! Char! -> RegLan
strings ints
    str.len str.to_int str.to_code : String -> Int
    str.at : String Int -> String
    str.substr : String Int Int -> String
    str.indexof : String String Int? -> Int
    str.from_int str.from_code : Int -> String
sequences ints
    seq.++ : Q Q* -> Q
    seq.unit : E -> Q
    seq.len : Q -> Int
    seq.at : Q Int -> Q
    seq.nth : Q Int -> E
    seq.extract : Q Int Int -> Q
    seq.contains seq.prefixof seq.suffixof : Q Q -> Bool
    seq.indexof : Q Q Int? -> Int
    seq.replace : Q Q Q -> Q
dialects
    and or : -> Bool
    implies && || : Bool Bool* -> Bool
    iff : Bool Bool+ -> Bool
    if : Bool S S -> S
    ^ ** : Int Int* -> Int
    ^ ** : Real Real* -> Real
    /0 /_total : Real Real+ -> Real
    div0 mod0 div_total mod_total : Int Int+ -> Int
    to_real : Int -> Real
    to_real : Real -> Real
    divisible : Int Int -> Bool
    int.pow2 pow2 int.log2 : Int -> Int
    int.ispow2 : Int -> Bool
    piand : Int Int Int -> Int
    exp log sqrt sin cos tan csc sec cot asin acos atan : Real -> Real
    arcsin arccos arctan arccsc arcsec arccot : Real -> Real
    sinh cosh tanh asinh acosh atanh real.exp real.sin : Real -> Real
    atan2 : Real Real -> Real
    real.pi pi euler : -> Real
    fmf.card : S Int -> Bool
    array-ext : A A -> I
    eqrange : A A I I -> Bool
    bvrol bvror bvudiv0 bvurem0 bvsdiv0 bvsrem0 bvsmod0 bvudiv_i bvurem_i : V V+ -> V
    bvsdiv_i bvsrem_i bvsmod_i bvudiv_total bvurem_total : V V+ -> V
    bvinc bvdec : V -> V
    bvudivo : V V -> Bool
    bvulebv bvslebv : V V -> Bit
    bvredxor : V -> Bit
    bv2nat bv2int bvsize : V -> Int
    bool-to-bv bool2bv : Bool -> Bit
    RNE RNA RTP RTN RTZ roundNearestTiesToEven roundNearestTiesToAway : -> RM
    roundTowardPositive roundTowardNegative roundTowardZero : -> RM
    fp.min_i fp.max_i : F F -> F
    ff.bitsum : K K* -> K
    str.concat : String String* -> String
    str.> str.>= : String String+ -> Bool
    str.last_indexof : String String -> Int
    str.replaceall : String String String -> String
    str.to.int str.to-int : String -> Int
    int.to.str str.from-int : Int -> String
    str.tolower str.toupper : String -> String
    str.update : Q Int Q -> Q
    str.to.re : String -> RegLan
    str.in.re : String RegLan -> Bool
    str.unit : Char -> String
    re.or re.and : RegLan RegLan* -> RegLan
    re.complement re.reverse re.derivative : RegLan* -> RegLan
    re.range : String String -> RegLan
    re.diff re.xor : RegLan RegLan+ -> RegLan
    re.^ : RegLan Int -> RegLan
    re.loop : RegLan Int Int? -> RegLan
    re.of.pred : CharTest -> RegLan
    re.nostr re.empty re.full : -> RegLan
    char.<= char.< : Char Char -> Bool
    char.to_int char.to-int : Char -> Int
    char.is_digit : Char -> Bool
    char.to_bv : Char -> Code
    char.from_bv : Code -> Char
    seq.concat : Q Q* -> Q
    seq.nth_i seq.nth_u : Q Int -> E
    seq.replace_re seq.replace_re_all : Q RegLan Q -> Q
    seq.to_re seq.to.re : Q -> RegLan
    seq.in_re seq.in.re : Q RegLan -> Bool
    set.intersect union intersection set.complement complement : T T* -> T
    set.minus set.difference setminus set.symdiff : T T+ -> T
    singleton : E -> T
    card : T -> Int
    choose : T -> E
    set.in : E FT -> Bool
    set.size : FT -> Int
    set.range : Int Int -> FI
    bag.make : E Int -> B
    bag.setof bag.duplicate_removal : B -> B
    bag.choose : B -> E
    bag.is_singleton : B -> Bool
    bag.from_set : T -> B
    bag.to_set : B -> T
    tuple.unit tuple : -> Unit
    nullable.some : E -> N
    nullable.val : N -> E
    nullable.is_null nullable.is_some : N -> Bool
    pto : I E -> Bool
"""
EXTENSIONS = ("cvc5", "z3")
"""In place of theories: operators and sorts that one solver has."""
HIGHER, RELATIONS, HEAP = "higher-order", "relations", "heap"
"""In place of theories of cvc5: functions as values, relations and tables, separation logic."""
RARE = frozenset({"rare"})
"""In place of a theory: operators that older solvers lack, as they are new in SMT-LIB 2.7."""


# The parts of a name, in their order (SMT-LIB, "Logics": naming conventions).
_NAME = re.compile(
    r"""(?P<closed>QF_)? (?P<arrays>AX?)? (?P<functions>UF)? (?P<bitvectors>BV)? (?P<floats>FP)?
        (?P<datatypes>DT)? (?P<strings>S)? (?P<linear>[LN])?
        (?P<arithmetic>IRA|IA|RA|IDL|RDL)?""",
    re.VERBOSE,
)
_ARITHMETIC = {
    "IA": {"ints"},
    "RA": {"reals"},
    "IRA": {"ints", "reals", "mixed"},
    "IDL": {"int differences"},
    "RDL": {"real differences"},
}
_ALL = frozenset((
    "arrays", "functions", "bitvectors", "floats", "datatypes", "strings", "ints", "reals", "mixed",
    "nonlinear", "sequences", "quantifiers",
))  # fmt: skip


def theories_in(logic: str) -> frozenset[str] | None:
    """Return the theories of a logic by name, and "quantifiers"; None for other names."""
    if logic == "ALL":
        return _ALL
    found = _NAME.fullmatch(logic)
    parts = {} if found is None else {k: v for k, v in found.groupdict().items() if v}
    arithmetic, linear = parts.get("arithmetic"), parts.get("linear")
    needs_degree = arithmetic in ("IA", "RA", "IRA")
    if not parts.keys() - {"closed"} or bool(linear) != needs_degree:
        return None
    theories = parts.keys() & {"arrays", "functions", "bitvectors", "floats", "datatypes"}
    theories |= _ARITHMETIC.get(arithmetic or "", set())
    others = {
        "strings": "strings" in parts,
        "nonlinear": linear == "N",
        "quantifiers": "closed" not in parts,
    }
    return frozenset(theories.union(name for name, there in others.items() if there))


class Signature(NamedTuple):
    """Operators of one rank. Those of `literals` are places of arguments that are literals.

    Up to `optional` of the last arguments may be left out. If it `repeats`, more of the last sort
    may follow.
    """

    names: tuple[str, ...]
    parameters: tuple[Sort, ...]
    result: Sort
    literals: frozenset[int] = frozenset()
    optional: int = 0
    repeats: bool = False


@cache
def all_signatures() -> tuple[tuple[str, Signature], ...]:
    """Return each line of the table, with the theories that it needs."""
    found, theories = [], ""
    for line in _TABLE.strip().splitlines():
        if " : " in line:
            found.append((theories, _line(line)))
        else:
            theories = line
    return tuple(found)


def signatures(theories: Iterable[str]) -> Iterator[Signature]:
    """Yield the operators of theories."""
    there = {"core", *theories}
    return (each for needed, each in all_signatures() if there.issuperset(needed.split()))


@cache
def of_one_rank(theories: frozenset[str]) -> Mapping[bytes, tuple[bytes, ...]]:
    """Return for each operator of theories those that take and return the same sorts."""
    ranks: dict[object, list[bytes]] = {}
    for each in signatures(theories):
        kind = (each.parameters, each.result, each.literals)
        ranks.setdefault(kind, []).extend(name.encode() for name in each.names)
    found: dict[bytes, tuple[bytes, ...]] = {}
    for names in ranks.values():
        for name in names:
            found[name] = (*found.get(name, ()), *names)
    return found


def of_one_sort(word: str, theories: Iterable[str], *, returned: bool) -> frozenset[bytes]:
    """Return the operators whose arguments all have one sort, such as V, and perhaps the result."""
    sort = _SORTS[word]
    return frozenset(
        name.encode()
        for each in signatures(theories)
        if {*each.parameters} == {sort} and (each.result == sort) == returned
        for name in each.names
    )


def _line(line: str) -> Signature:
    names, _, rank = line.partition(" : ")
    arguments, _, result = rank.rpartition("-> ")
    words = arguments.split()
    marks = words[-1].lstrip(ascii_letters) if words else ""
    return Signature(
        tuple(names.split()),
        tuple(_sort(word) for word in words),
        _sort(result),
        frozenset(at for at, word in enumerate(words) if "!" in word),
        len(words) - 1 if "*" in marks else int("?" in marks),
        "*" in marks or "+" in marks,
    )


def _sort(word: str) -> Sort:
    return _SORTS.get(word := word.rstrip("+*?!"), word)
