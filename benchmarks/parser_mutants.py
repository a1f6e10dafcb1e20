"""Mutates inputs of every format at random; most mutants still parse.

A mutant is made of a generated input, of a sample, or of a given text, in a few steps: bytes,
words, lines and parenthesised parts are dropped, repeated, moved and replaced. A step that makes
the text unparsable is usually undone, so that the code after the parser is exercised.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from benchmarks.texts import READ, text_of
from reducekit import registry
from reducekit.errors import ParseError
from reducekit.frontends.cnf.generate import FORMATS
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.offers import with_defaults

Step = Callable[[bytes, random.Random], bytes]
"""Changes a text in one place."""
LARGEST = 20_000
"""Bytes of a file that is worth mutating."""

# Inputs -----------------------------------------------------------------------------------------

SMT2_SAMPLES = (
    b"""(set-logic ALL)(declare-sort U 0)(declare-sort P 1)(define-sort I () Int)
(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-datatypes ((Par 1)) ((par (X) ((mk (fst X) (snd (Par X))) (none)))))
(declare-fun f (Int I) Int)(declare-fun g (U) U)(declare-const x Int)(declare-const |y z| U)
(define-fun-rec h ((n Int)) Int (ite (<= n 0) 0 (h (- n 1))))
(define-funs-rec ((ev ((n Int)) Bool) (od ((n Int)) Bool)) ((od (- n 1)) (ev (- n 1))))
(push 1)(assert (! (forall ((a Int) (b U)) (! (= (f a x) 7) :pattern ((f a x)))) :named n1))
(assert (match (cons 1 nil) ((nil false) ((cons p q) (> p 0)))))(check-sat)
(pop 1)(assert (let ((v (f x 1)) (w (g |y z|))) (and (= v x) (= w w) (exists ((x Int)) (< x v)))))
(assert ((_ is cons) (tail nil)))(check-sat-assuming (n1))
(get-value (x (f x x)))(exit)
""",
    b"""(declare-const a (_ BitVec 8))(declare-const b (_ BitVec 8))(declare-const m
(Array (_ BitVec 8) (Array Int (_ BitVec 4))))(declare-fun k ((_ BitVec 8) Bool) (_ BitVec 4))
(define-fun two ((p (_ BitVec 8)) (q Bool)) (_ BitVec 4)
((_ extract 5 2) (bvmul p (concat #xf #b0101))))
(assert (bvult ((_ zero_extend 4) (k a true)) (bvadd b ((_ rotate_left 3) a) (_ bv200 8))))
(assert (= (select (select m a) 3) ((_ extract 7 4) (bvxor a (bvnot b))) (two b false)))
(assert (distinct ((_ repeat 2) ((_ sign_extend 1) #b101)) (bvudiv a b) ((_ int2bv 8) (bv2nat b))))
(assert (= m (store m #x0f ((as const (Array Int (_ BitVec 4))) #x3))))(check-sat)(get-model)
""",
    b"""(declare-const r RoundingMode)(declare-const s String)(declare-const q (Seq Int))
(declare-const e (Set Int))(declare-const w Real)(declare-const d (_ FloatingPoint 5 11))
(assert (fp.leq (fp.add r d ((_ to_fp 5 11) RNE 1.5)) (fp #b0 #b00001 #b0000000000)))
(assert (and (str.prefixof "a""b" s) (= (str.len s) 3) (str.in_re s (re.+ (str.to_re "x")))))
(assert (= (seq.++ q (seq.unit 1) (as seq.empty (Seq Int))) (seq.rev q)))
(assert (set.member 1 (set.union e (set.singleton 2) (as set.empty (Set Int)))))
(assert (<= (/ w 2.0) (to_real (div 3 2)) (+ 1.5 w)))
(assert (= (lambda ((x Int)) x) (lambda ((x Int)) 1)))
(minimize (+ w 1.0))(check-sat)(check-sat-using (then simplify smt))(simplify (+ 1 2))
""",
)
BTOR_SAMPLES = (
    b"1 sort bitvec 4\n2 sort bitvec 1\n3 zero 1\n4 state 1 a\n5 init 1 4 3\n6 state 1 b\n"
    b"7 input 1\n8 add 1 4 6\n9 next 1 4 8\n10 next 1 6 7\n11 eq 2 4 6\n12 bad 11 fails\n"
    b"13 redor 2 6\n14 justice 2 11 -13\n15 sort array 1 1\n16 state 15\n17 read 1 16 4\n"
    b"18 write 15 16 4 -17\n19 next 15 16 18\n20 ite 15 11 16 18\n21 eq 2 20 16\n22 constraint 21\n"
    b"23 fair -11\n24 output 17\n25 slice 2 8 3 3\n26 sort bitvec 8\n27 concat 26 4 6\n"
    b"28 uext 26 6 4\n29 sext 26 6 4\n30 ugte 2 27 28\n31 bad 30\n32 constd 26 -5\n; end\n",
    b"1 param 4\n2 lambda 4 4 1 -1\n3 var 4\n4 apply 4 2 3\n5 array 4 4\n6 write 4 4 5 3 4\n"
    b"7 read 4 6 -3\n8 eq 1 5 6\n9 cond 4 8 7 3\n10 acond 4 4 8 5 6\n11 read 4 10 9\n"
    b"12 param 4\n13 param 4\n14 udiv 4 13 12\n15 lambda 4 4 12 14\n16 lambda 4 4 13 15\n"
    b"17 apply 4 16 3 7\n18 redor 1 17\n19 and 1 -8 18\n20 root 1 19\n",
)
BOOLECTOR = b"""\
new
return 0x1
set_opt 0x1 1 model-gen 1
bitvec_sort 0x1 8
return s1@0x1
var 0x1 s1@0x1 x
return n2@0x1
var 0x1 s1@0x1 y
return n3@0x1
add 0x1 n2@0x1 n3@0x1
return n4@0x1
eq 0x1 n4@0x1 n2@0x1
return n5@0x1
assert 0x1 n5@0x1
sat 0x1
return 10
release 0x1 n2@0x1
release_sort 0x1 s1@0x1
delete 0x1
"""
MURXLA = b"""\
27 set-murxla-options
27 new
27 set-logic QF_BV
27 set-option incremental "true value"
27 mk-sort SORT_BV 8
return s1
27 mk-const s1 "_x"
return t1
27 mk-term OP_BV_ADD SORT_BV 2 t1 t1
return t2 s1
27 assert-formula t2
27 check-sat
27 delete
"""
SAMPLES: Mapping[str, Sequence[bytes]] = {
    "smt2": SMT2_SAMPLES,
    "btor": BTOR_SAMPLES,
    "trace": (BOOLECTOR, MURXLA),
    "text": SMT2_SAMPLES,
    "isolate": BTOR_SAMPLES,
}
_SMALL: Mapping[str, Mapping[str, Any]] = {
    "smt2": {"logic": "any", "asserts": 3, "levels": 3, "symbols": 2},
    "btor": {"vary": True, "nodes": 30, "variables": 4, "max_width": 8, "roots": 2, "arrays": 1},
    "cnf": {"variables": 12},
    "aiger": {"gates": 20},
    "opb": {"variables": 12},
    "qcir": {"variables": 12},
}
"""Options of generators that make small inputs."""
_APIS = ("lingeling", "cadical", "mobical", "ipasir", "picosat", "minisat")
_NOTATIONS = {"cnf": FORMATS, "opb": ("opb", "wbo"), "aiger": ("aag", "aig")}
_WORDS = (
    *(b"4294967295", b"2147483648", b"-1", b"9" * 5000, b"\0", b"\r", b"\xef\xbb\xbf", b";", b'"'),
    *(b"|", b"(", b")", b"\xff\xfe", b"\x1b[31m", b"0" * 400, b"a" * 3000),
    *(b"x", b"0", b"1", b"2", b"-2", b"8", b"()", b"(_)", b"(as)", b"(x)", b"(forall)", b"2.5"),
    *(
        b"(let ((x true)) x)",
        b"(forall ((x Int)) x)",
        b"(_ BitVec 2147483648)",
        b"(as q (Set Int))",
    ),
    *(b"(_ bv3 65537)", b"return 1", b"option", b"sat", b"0x1", b"n2@0x1"),
)


@cache
def _traces(api: str) -> Sequence[bytes]:
    """Return small traces of an API, with options and without."""
    model = load_model(api)
    made = [Generator(model, options=bool(n % 2), variables=3).generate(n).calls for n in range(8)]
    return [print_trace(calls, form) for form in model.formats for calls in made]


def _generated(format_name: str, chance: random.Random) -> bytes | None:
    """Return an input that `reducekit generate` makes; None if the format has no generator."""
    if format_name == "trace":
        return chance.choice(_traces(chance.choice(_APIS)))
    if format_name == "text":
        language = chance.choice([*READ])
        return text_of(language, chance, 30 * 100 ** chance.random()).encode()
    frontend = registry.frontend(format_name)
    generation, seed = frontend.generation(), chance.randrange(1 << 30)
    if generation is None:
        return None
    given = dict(_SMALL[format_name])
    if format_name in _NOTATIONS:
        given["notation"] = chance.choice(_NOTATIONS[format_name])
    if format_name == "btor":
        given["dialect"] = chance.choice(("btor-old", "btor1", "btor1+fun", "btor2"))
    options = with_defaults(generation.options, given)
    with generation.make({**options, "seed": seed, "default_seed": seed}) as generator:
        return generator.generate(seed).text


# Steps ------------------------------------------------------------------------------------------


def _span(text: bytes, chance: random.Random, most: int = 40) -> tuple[int, int]:
    begin = chance.randrange(len(text) + 1)
    return begin, min(len(text), begin + chance.randrange(most))


def _flip(text: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]


def _cut(text: bytes, chance: random.Random) -> bytes:
    begin, end = _span(text, chance)
    return text[:begin] + text[end:]


def _repeat(text: bytes, chance: random.Random) -> bytes:
    begin, end = _span(text, chance)
    at = chance.randrange(len(text) + 1)
    return text[:at] + text[begin:end] + text[at:]


def _truncate(text: bytes, chance: random.Random) -> bytes:
    return text[: chance.randrange(len(text) + 1)]


def _encoded(text: bytes, chance: random.Random) -> bytes:
    """Write the text in another encoding, or with other line breaks."""
    kind = chance.randrange(5)
    if kind == 0:
        return b"\xef\xbb\xbf" + text
    if kind == 1:
        return text.decode("latin-1").encode("utf-16")
    if kind == 2:
        return text.replace(b"\n", b"\r\n")
    return text.replace(b"\n", b"\r") if kind == 3 else text.replace(b" ", b"\t")


def _lines(text: bytes, chance: random.Random) -> bytes:
    """Drop, repeat, move or shuffle lines."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    if chance.random() < 0.05:
        chance.shuffle(lines)
    line = lines[at := chance.randrange(len(lines))]
    if chance.random() < 0.7:
        del lines[at : at + chance.choice((1, 1, 5))]
    if chance.random() < 0.5:
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _word(text: bytes, chance: random.Random) -> bytes:
    """Replace a word by another, mostly one that stands in the same place of another line."""
    lines = text.split(b"\n")
    words = [line.split(b" ") for line in lines]
    at = chance.randrange(len(words))
    place = chance.randrange(len(words[at]))
    alike = [row[place] for row in words if len(row) > place]
    anywhere = [word for row in words for word in row]
    words[at][place] = chance.choice(chance.choice((alike, alike, anywhere, _WORDS)))
    return b"\n".join(b" ".join(row) for row in words)


_PAIRS = re.compile(rb"[()]|[^()\s]+")


def _parts(text: bytes) -> list[tuple[int, int]]:
    """Return the spans of the words and of what parentheses enclose."""
    found, open_ = [], list[int]()
    for match in _PAIRS.finditer(text):
        if match[0] == b"(":
            open_.append(match.start())
        elif match[0] != b")":
            found.append(match.span())
        elif open_:
            found.append((open_.pop(), match.end()))
    return found


_AROUND = (
    *(b"(not %b)", b"(let ((x %b)) x)", b"(forall ((x Int)) %b)", b"(! %b :named m)", b"(%b)"),
    *(b"(ite true %b 0)", b"(concat %b x)", b"((_ extract 1 0) %b)", b"(as %b Int)", b"(= %b)"),
    *(b"(select %b)", b"(exists ((x Und)) %b)", b"(bvadd %b u)", b"(forall ((x Int)) (f %b))"),
)
"""What may come around a term."""


def _part(text: bytes, chance: random.Random) -> bytes:
    """Replace a part with another, one of a sample, nothing, a word, or a form around itself."""
    parts = _parts(text)
    if not parts:
        return text
    (begin, end), (first, last) = chance.choice(parts), chance.choice(parts)
    kind = chance.random()
    if kind < 0.4:
        new = text[first:last]
    elif kind < 0.5:
        new = b""
    elif kind < 0.65:
        new = chance.choice(_WORDS)
    elif kind < 0.75:
        sample = chance.choice(SMT2_SAMPLES)
        new = sample[slice(*chance.choice(_parts(sample)))]
    elif kind < 0.77:
        depth = chance.choice((3, 300, 3000))
        opened = chance.choice((b"(not ", b"(let ((x true)) ", b"(f ", b"("))
        new = opened * depth + text[begin:end] + b")" * depth
    else:
        new = chance.choice(_AROUND).replace(b"%b", text[begin:end])
    return text[:begin] + new + text[end:]


_RAW: Sequence[Step] = (_flip, _cut, _repeat, _truncate, _encoded)
STEPS: Mapping[str, Sequence[Step]] = {"smt2": (*[_part] * 10, _word, _lines, *_RAW)}
"""By format; for the others, words and lines."""


def mutant(format_name: str, seed: int, inputs: Sequence[bytes] = ()) -> bytes:
    """Return an input after some random steps."""
    chance = random.Random(f"{format_name} {seed}")
    kind = chance.random()
    samples = SAMPLES.get(format_name)
    text = chance.choice(inputs) if inputs and kind < 0.6 else None
    if text is None and (kind < 0.8 or samples is None):
        text = _generated(format_name, chance)
    if text is None:
        text = chance.choice(samples or (b"",))
    frontend = registry.frontend(format_name)
    steps = STEPS.get(format_name, (*[_word, _lines] * 5, *_RAW))
    for _ in range(chance.randint(1, 8)):
        try:
            other = chance.choice(steps)(text, chance)
            if chance.random() > 0.03:
                frontend.parse(other)
        except ParseError:
            continue
        if len(other) <= 2 * LARGEST:
            text = other
    return text
