"""Small inputs of every format, and words that tests look for in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reducekit.format import Frontend
from reducekit.registry import frontend

SMT2 = """(set-logic QF_LIA)
(declare-fun needle (Int) Bool)
(declare-const x Int)
(declare-const y Int)
(assert (needle (+ x 3)))
(assert (or (< x y) (distinct y 7)))
(assert (needle (* 2 y)))
(check-sat)
"""
BTOR = """1 var 4 a
2 var 4 b
3 add 4 1 2
4 and 4 3 1
5 constd 4 7
6 ult 1 4 5
7 not 4 2
8 eq 1 7 1
9 and 1 6 8
10 root 1 9
"""
TRACE = """init
setopt verbose 0
add 1
add -2
add 0
freeze 3
assume 1
sat
return 10
deref 1
return 1
melt 3
add -3
add 0
sat
return 10
release
"""
TEXT = "".join(f"alpha{n} beta{n}\n" for n in range(6))


@dataclass(frozen=True)
class Format:
    name: str
    suffix: str
    inputs: Sequence[bytes]
    words: Sequence[str]

    def below(self, text: bytes, other: bytes) -> bool:
        """Say whether a text is strictly smaller than another in the order of the format."""
        return bool(self._frontend.order(text) < self._frontend.order(other))

    @cached_property
    def _frontend(self) -> Frontend:
        made = frontend(self.name)
        made.parse(self.inputs[0])  # the order of traces is that of the API that they name
        return made


def _lines(text: str, *removed: int) -> bytes:
    lines = text.splitlines(keepends=True)
    return "".join(line for at, line in enumerate(lines) if at not in removed).encode()


FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        Format(
            "text",
            ".txt",
            (TEXT.encode(), _lines(TEXT, 1), "".join(TEXT.splitlines(True)[::-1]).encode()),
            ("alpha0", "alpha3", "beta3", "alpha4", "beta5", "a", "2 b"),
        ),
        Format(
            "smt2",
            ".smt2",
            (SMT2.encode(), _lines(SMT2, 4), SMT2.encode() + b"(exit)\n"),
            ("assert", "distinct", "needle", "check-sat", "set-logic", "Int"),
        ),
        Format(
            "btor",
            ".btor",
            (BTOR.encode(), BTOR.replace("ult", "slt").encode()),
            (" add ", " not ", " root ", " and ", "var", " eq "),
        ),
        Format(
            "trace",
            ".trace",
            (TRACE.encode(), _lines(TRACE, 1)),
            ("add -2", "sat", "deref", "melt", "init", "return 10"),
        ),
    )
}
