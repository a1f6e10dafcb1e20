"""Makes random mutants of SMT-LIB and BTOR inputs, most of which still parse.

A mutant is made of a generated input, of a sample, or of a given text, in a few steps: bytes,
words, lines and subtrees; declarations dropped, operators, operands and widths changed. A step
that makes the text unparsable is usually undone, so that the code after the parser is exercised.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from reducekit import registry
from reducekit.errors import ParseError
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import OPERATORS, Dialect, spellings
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.smt2 import Smt2
from reducekit.offers import Generates, with_defaults

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
_SMT2_WORDS = b"""
assert declare-fun declare-const declare-sort define-sort define-fun define-fun-rec push
pop let forall exists lambda match par as const _ ! :named :pattern is map extract
zero_extend to_fp Int Bool Real BitVec Array Seq Set FloatingPoint -> nil cons true false
and = ite + select store concat bvadd bvslt bvnot fp.add str.++ seq.unit x y f |x| 0 1 8
-1 2.5 #b01 #xff "s" reset check-sat repeat rotate_left not distinct bv3 undeclared () (_)
(!) (as) (x) (forall) #x
""".split()
_SMT2_WORDS += [
    b"(_ BitVec 2147483648)",
    b"(_ bv3 65537)",
    b"(_ bv3 2147483648)",
    b"(_ extract 1 0)",
]
_SMT2_WORDS += [
    b"(forall ((x Int)))",
    b"(let ((x true)) x)",
    b"(_ FloatingPoint 2 2)",
    b"(as q (Set Int))",
]
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
_BTOR_WORDS = b"bitvec array 0 1 -1 2 4 8 4294967295 2147483647 01 1x ;".split()
_FORMS = (
    *(b"(not %b)", b"(let ((x %b)) x)", b"(forall ((x Int)) %b)", b"(! %b :named m)", b"(%b)"),
    *(b"(ite true %b 0)", b"(concat %b x)", b"((_ extract 1 0) %b)", b"(as %b Int)", b"(= %b)"),
    *(b"(select %b)", b"(exists ((x Und)) %b)", b"(bvadd %b u)", b"(forall ((x Int)) (f %b))"),
)
"""What may come around a term."""
_ANY_WORDS = (
    *(b"4294967295", b"2147483648", b"-1", b"9" * 5000, b"\0", b"\r", b"\xef\xbb\xbf", b";", b'"'),
    *(b"|", b"(", b")", b"\xff\xfe", b"\x1b[31m", b"0" * 400, b"a" * 3000),
)


def _generated(format_name: str, chance: random.Random) -> bytes:
    """Return an input that `reducekit generate` makes."""
    frontend = registry.frontend(format_name)
    assert isinstance(frontend, Generates)
    generation = frontend.generation()
    seed = chance.randrange(1 << 30)
    given: dict[str, Any] = {"seed": seed}
    if format_name == "smt2":
        given |= {"logic": "any", "asserts": 3, "levels": 3, "symbols": 2}
    else:
        dialects = [each.value for each in Dialect if each is not Dialect.BTOR_2007]
        nodes, registers = chance.randint(4, 40), chance.randint(0, 3)
        given |= {"vary": True, "nodes": nodes, "variables": 4, "dialect": chance.choice(dialects)}
        given |= {"arrays": chance.randint(0, 2), "max_width": 8, "roots": 2}
        given |= {"registers": 0 if given["dialect"] == Dialect.FUN else registers}
    options = with_defaults(generation.options, {k: v for k, v in given.items() if k != "seed"})
    with generation.make({**options, "seed": seed, "default_seed": seed}) as generator:
        return generator.generate(seed).text


# Steps on any text ------------------------------------------------------------------------------


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


def _lines(text: bytes, chance: random.Random) -> bytes:
    """Drop, repeat or move a line."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = lines[at := chance.randrange(len(lines))]
    if chance.random() < 0.7:
        del lines[at]
    if chance.random() < 0.5:
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _special(text: bytes, chance: random.Random) -> bytes:
    """Put something unusual somewhere."""
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_ANY_WORDS) + text[at:]


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


_RAW: Sequence[Step] = (_flip, _cut, _repeat, _truncate, _lines, _special, _encoded)


# Steps on scripts -------------------------------------------------------------------------------


def _subtree(text: bytes, chance: random.Random) -> bytes:
    """Replace a node with another node, nothing, a form around itself, or a word."""
    document = Smt2().parse(text).document
    if len(document) < 3:
        return text
    node, other = chance.randrange(1, len(document)), chance.randrange(1, len(document))
    source, begin, end = document.source(node), document.start[node], document.end[node]
    kind = chance.random()
    if kind < 0.35:
        new = document.source(other)
    elif kind < 0.45:
        new = b""
    elif kind < 0.6:
        new = chance.choice(_SMT2_WORDS)
    elif kind < 0.7:
        sample = Smt2().parse(chance.choice(SMT2_SAMPLES)).document
        new = sample.source(chance.randrange(1, len(sample)))
    elif kind < 0.74 and source.isdigit():
        new = chance.choice((b"0", b"1", b"4294967295", b"4294967296", b"9" * 5000))
    elif kind < 0.76:
        form = chance.choice((b"(not ", b"(let ((x true)) ", b"(f ", b"("))
        depth = chance.choice((3, 300, 3000))
        new = form * depth + source + b")" * depth
    else:
        form = chance.choice(_FORMS)
        new = form.replace(b"%b", source)
    return text[:begin] + new + text[end:]


def _arity(text: bytes, chance: random.Random) -> bytes:
    """Give an application another operator, more operands, fewer or none; or only name it."""
    document = Smt2().parse(text).document
    lists = [each for each in range(1, len(document)) if document.stop[each] > each + 1]
    if not lists:
        return text
    node = chance.choice(lists)
    head, *operands = (document.source(each) for each in document.children(node))
    kind = chance.random()
    if kind < 0.3:
        other = chance.choice((text, *SMT2_SAMPLES))
        there = Smt2().parse(other).document
        heads = [each + 1 for each in range(len(there) - 1) if there.stop[each] > each + 1]
        head = there.source(chance.choice(heads)) if heads else head
    elif kind < 0.5:
        operands = operands[: chance.randrange(len(operands) + 1)]
    elif kind < 0.7:
        operands.insert(chance.randrange(len(operands) + 1), chance.choice([head, *operands]))
    elif kind < 0.85:
        chance.shuffle(operands)
    new = head if kind > 0.95 else b"(" + b" ".join([head, *operands]) + b")"
    return text[: document.start[node]] + new + text[document.end[node] :]


def _undeclare(text: bytes, chance: random.Random) -> bytes:
    """Drop a command, mostly a declaration."""
    document = Smt2().parse(text).document
    commands = list(document.children(0))
    declared = [each for each in commands if document.source(each).startswith(b"(declare")]
    some = declared if declared and chance.random() < 0.8 else commands
    if not some:
        return text
    node = chance.choice(some)
    return text[: document.start[node]] + text[document.end[node] :]


_SMT2_STEPS: Sequence[Step] = (*[_subtree, _arity] * 5, *[_undeclare] * 2, *_RAW)


def smt2(seed: int, inputs: Sequence[bytes] = ()) -> bytes:
    """Return the mutant of a script for a seed."""
    return _mutant("smt2", seed, inputs, SMT2_SAMPLES, _SMT2_STEPS)


# Steps on graphs --------------------------------------------------------------------------------


def _line_words(text: bytes, chance: random.Random) -> tuple[Dag, list[list[bytes]], int] | None:
    """Return the graph, the words of each of its lines, and a line; None where there is none."""
    dag = read(text, any_ending=True)
    if not len(dag):
        return None
    lines = [text[begin:end].split() for begin, end in zip(dag.start, dag.end, strict=True)]
    return dag, lines, chance.randrange(len(lines))


def _joined(lines: Sequence[Sequence[bytes]]) -> bytes:
    return b"".join(b" ".join(line) + b"\n" for line in lines)


def _operator(text: bytes, chance: random.Random) -> bytes:
    """Give a line another operator, mostly one of the same shape."""
    found = _line_words(text, chance)
    if found is None:
        return text
    dag, lines, at = found
    rows = spellings(dag.dialect)
    own = rows[lines[at][1]]
    alike = [
        row.name
        for row in rows.values()
        if (row.header, row.operands, row.result) == (own.header, own.operands, own.result)
        and row.numbers == own.numbers
    ]
    names = alike if chance.random() < 0.9 else [each.name for each in OPERATORS]
    lines[at][1] = chance.choice(names)
    return _joined(lines)


def _operand(text: bytes, chance: random.Random) -> bytes:
    """Let an operand refer to another line, mostly one of the same sort, or its complement."""
    found = _line_words(text, chance)
    if found is None:
        return text
    dag, lines, at = found
    first = len(lines[at]) - (dag.offset[at + 1] - dag.offset[at])
    if first == len(lines[at]):
        return text
    word = chance.randrange(min(first, 3), len(lines[at]))
    ids = {b"%d" % ident: line for line, ident in enumerate(dag.ids)}
    old = ids.get(lines[at][word].lstrip(b"-"))
    others = [b"%d" % dag.ids[line] for line in range(at)]
    if old is not None and chance.random() < 0.9:
        others = [each for each in others if dag.sort[ids[each]] == dag.sort[old]]
    if others:
        lines[at][word] = chance.choice((b"", b"", b"-")) + chance.choice(others)
    return _joined(lines)


def _width(text: bytes, chance: random.Random) -> bytes:
    """Change a number wherever it stands as a width, or one number of a line."""
    found = _line_words(text, chance)
    if found is None:
        return text
    dag, lines, at = found
    number = chance.choice((b"1", b"2", b"3", b"4", b"7", b"16", b"33", b"65537", b"1000000"))
    if chance.random() < 0.01:
        number = b"2147483647"
    rows = spellings(dag.dialect)
    if dag.dialect is Dialect.BTOR2:
        places = [(i, 3) for i, line in enumerate(lines) if line[1:3] == [b"sort", b"bitvec"]]
    else:
        heads = {"w": (2,), "wi": (2, 3), "wp": (2, 3)}
        places = [
            (i, j) for i, line in enumerate(lines) for j in heads.get(rows[line[1]].header, ())
        ]
    if chance.random() < 0.3:
        words = [j for j, word in enumerate(lines[at]) if j and word.isdigit()]
        if words:
            lines[at][chance.choice(words)] = number
    elif places:
        line, word = chance.choice(places)
        old = lines[line][word]
        for i, j in places:
            if lines[i][j] == old:
                lines[i][j] = number
    return _joined(lines)


def _insert(text: bytes, chance: random.Random) -> bytes:
    """Repeat a line with a new id, at the end or right after it, and sometimes use it."""
    found = _line_words(text, chance)
    if found is None:
        return text
    dag, lines, at = found
    ident = b"%d" % (max(dag.ids) + chance.choice((1, 1, 1, 7, 1 << 20)))
    copy = [ident, *lines[at][1:]]
    if dag.dialect is not Dialect.BTOR2 and chance.random() < 0.5:
        lines.insert(at + 1, copy)
        for later in lines[at + 2 :]:
            if chance.random() < 0.3:
                later[2:] = [ident if each == lines[at][0] else each for each in later[2:]]
    else:
        lines.append(copy)
        code = lines[at][1]
        sort = copy[2] if len(copy) > 2 else b"1"
        if chance.random() < 0.5 and code not in (b"sort", b"bad", b"justice", b"root"):
            name = chance.choice((b"root", b"not", b"neg", b"proxy", b"output", b"bad", b"next"))
            words = [b"%d" % (int(ident) + 1), name, sort, ident]
            if name in (b"output", b"bad"):
                del words[2]
            lines.append(words)
    return _joined(lines)


def _delete(text: bytes, chance: random.Random) -> bytes:
    """Drop a line; another one of its sort is used in its place, if there is one above."""
    found = _line_words(text, chance)
    if found is None:
        return text
    dag, lines, at = found
    old = lines[at][0]
    above = [line for line in range(at) if dag.sort[line] == dag.sort[at]]
    if above:
        new = lines[chance.choice(above)][0]
        for line in lines[at + 1 :]:
            line[2:] = [
                new if each == old else b"-" + new if each == b"-" + old else each
                for each in line[2:]
            ]
    del lines[at]
    return _joined(lines)


def _word(text: bytes, chance: random.Random) -> bytes:
    """Replace a word by another one."""
    words = text.split(b" ")
    words[chance.randrange(len(words))] = chance.choice((*_BTOR_WORDS, *words))
    return b" ".join(words)


_BTOR_STEPS: Sequence[Step] = (
    *[_operator, _operand, _width, _insert] * 3,
    *[_delete, _word] * 2,
    *_RAW,
)


def btor(seed: int, inputs: Sequence[bytes] = ()) -> bytes:
    """Return the mutant of a BTOR file for a seed."""
    return _mutant("btor", seed, inputs, BTOR_SAMPLES, _BTOR_STEPS)


def _mutant(
    format_name: str,
    seed: int,
    inputs: Sequence[bytes],
    samples: Sequence[bytes],
    steps: Sequence[Step],
) -> bytes:
    """Return an input after some random steps."""
    chance = random.Random(f"{format_name} {seed}")
    kind = chance.random()
    if inputs and kind < 0.6:
        text = chance.choice(inputs)
    elif kind < 0.8:
        text = _generated(format_name, chance)
    else:
        text = chance.choice(samples)
    frontend = registry.frontend(format_name)
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
