"""Reads pseudo-Boolean constraints and objectives (OPB), and soft constraints (WBO).

The format is that of the PB competitions (Roussel & Manquinho), linear or not: `min: 1 x1 x2;`
and `[4] 2 ~x1 +1 x2 >= 2;`, where `[4]` is the cost of a soft constraint and terms are products of
literals. Relations and names that only some solvers read are read, too.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reducekit.change import Edit
from reducekit.frontends.common.statements import Grammar, Statements
from reducekit.frontends.common.variables import TRUE, Image, image_of

if TYPE_CHECKING:
    from reducekit.frontends.common.drawing import Part

_NAME = rb"[A-Za-z_][^\s~;<>=!*:\[\]]*+"
NAME = re.compile(_NAME + rb":?")
"""A name, or `min:` and the like."""
_HEADER = re.compile(rb"(#variable=[ \t]*)([0-9]{1,18})([ \t]+#constraint=[ \t]*)([0-9]{1,18})")
_HOLDS: Mapping[bytes, Callable[[int, int], bool]] = {
    b">=": operator.ge, b"=": operator.eq, b"<=": operator.le,
    b">": operator.gt, b"<": operator.lt, b"!=": operator.ne,
}  # fmt: skip
Products: TypeAlias = Sequence[tuple[int, Sequence[int]]]
"""Coefficients with the literals of a product each."""


def _expected(before: bytes) -> str:
    last = before[-1:]
    if last in (b"", b"c", b"e"):
        return "a constraint such as '2 x1 +1 ~x2 >= 2;', 'min: ...;' or 'soft: ...;'"
    after = {b"r": "a number", b"n": "a variable", b"s": "a number or ';'"}
    if before.rfind(b"r") > before.rfind(b"e"):
        after[b"n"] = "';'"
    return after.get(last, "a term, a relation or ';'")


class Statement(NamedTuple):
    """A constraint, or an objective: then there are no relation and no degree."""

    head: bytes
    """`min:`, `soft:`, or the cost of a soft constraint in brackets; empty for others."""
    terms: Products
    relation: bytes
    degree: int | None


class View(Statements):
    """A parsed file. Kinds: m `min:`, s `soft:`, w a cost, n a number, v a literal, r relation."""

    grammar = Grammar(
        word=re.compile(
            rb"^[ \t]*(\*[^\n]*)|((?:min|max):)|(soft:)|(\[[ \t]*[0-9]++[ \t]*\])"
            rb"|([<>!]?=|[<>])|([-+]?[0-9]++)(?![^\s;~])|(~?" + _NAME + rb")|(;)|(\S)",
            re.MULTILINE,
        ),
        letters=b" cmswrnve?",
        statement=rb"(?:m(?:n?v+)*+|sn?|w?(?:n?v+)*+rn)e",
        begun=rb"m(?:n?v+)*+n?|sn?|w?(?:n?v+)*+(?:rn?|n)?",
        end=b"e",
        leaves=b"mswrnv",
        sign=b"~",
        delimiters=b" \t\r\n;<>=!~[]",
        expected=_expected,
    )

    heading = _HEADER

    def __init__(self, text: bytes) -> None:
        super().__init__(text)
        self.constraints = self.kinds.count(b"r")
        numbers = (int(each[1:19]) for each in self.names if re.fullmatch(rb"x[0-9]{1,18}", each))
        self.largest = max(numbers, default=len(self.variables))
        """The least number of variables for a header."""

    def statement(self, at: int) -> Statement:
        """Return a statement."""
        head, terms, relation, degree = b"", list[tuple[int, list[int]]](), b"", None
        before = ""
        for kind, word in self.words(at):
            if kind in "msw":
                head = word
            elif kind == "r":
                relation = word
            elif kind == "n" and (relation or head == b"soft:"):
                degree = int(word)
            elif kind == "n":
                terms.append((int(word), []))
            else:
                if before not in ("n", "v"):
                    terms.append((1, []))
                terms[-1][1].append(self.literal(word))
            before = kind
        return Statement(head, terms, relation, degree)

    def parts(self) -> Iterator[Part]:
        """Return constraints, and the objective; a negative coefficient counts as a negation."""
        from reducekit.frontends.common.drawing import Part

        for at, node in enumerate(self.nodes):
            head, terms, relation, degree = self.statement(at)
            label = f"{head.decode()} {relation.decode()} {'' if degree is None else degree}"
            literals = [lit if many >= 0 else -lit for many, each in terms for lit in each]
            what = "constraint" if self.counts(at) else "objective"
            yield Part(label.strip(), what, "root", node, literals)

    def counts(self, at: int) -> bool:
        return self.kinds[self.nodes[at] + 1] not in b"ms"

    def head(self, fewer: int, variables: int | None = None) -> list[Edit]:
        if self.header < 0:
            return []
        text = self.document.source(self.header)
        most = b"%d" % variables if variables is not None else rb"\g<2>"
        left = b"%d" % (self.constraints - fewer)
        return [Edit(self.header, (_HEADER.sub(rb"\g<1>" + most + rb"\g<3>" + left, text, 1),))]

    def written(self, statement: Statement) -> bytes:
        """Return the text of a statement."""
        head, terms, relation, degree = statement
        words = [head]
        for coefficient, literals in terms:
            words += (b"%d" % coefficient, *map(self.spelled, literals))
        words += (relation, b"" if degree is None else b"%d" % degree)
        return b" ".join(filter(None, words)) + b";"

    def replaced(self, at: int, image: Image) -> bytes | None:
        statement = self.statement(at)
        terms, constant = _products(statement.terms, image)
        degree = statement.degree
        if degree is not None:
            degree -= constant
            if not terms and _HOLDS[statement.relation](0, degree):
                return None
            terms = terms or [(0, statement.terms[0][1][:1])]  # it stays false
        return self.written(statement._replace(terms=terms, degree=degree))


def _products(terms: Products, image: Image) -> tuple[Products, int]:
    """Return terms after a replacement of variables, and the constant that is left of some."""
    found: Counter[tuple[int, ...]] = Counter()
    constant = 0
    for coefficient, literals in terms:
        after = {image_of(each, image) for each in literals}
        if -TRUE in after or any(-each in after for each in after):
            continue
        key = tuple(sorted(after - {TRUE}, key=abs))
        if len(key) == 1 and key[0] < 0 and key[0] not in literals:  # many solvers read no ~
            constant += coefficient
            coefficient, key = -coefficient, (-key[0],)
        if key:
            found[key] += coefficient
        else:
            constant += coefficient
    return [(coefficient, key) for key, coefficient in found.items() if coefficient], constant


def problems(view: View) -> list[str]:
    """Return what is wrong with a file that can be read: what its header says."""
    found = _HEADER.search(view.document.source(view.header)) if view.header >= 0 else None
    if found is None:
        return []
    variables, constraints = int(found[2]), int(found[4])
    wrong = []
    if variables < view.largest:
        wrong.append(f"the header says {variables} variables, but x{view.largest} is used")
    if constraints != view.constraints:
        wrong.append(f"the header says {constraints} constraints, but there are {view.constraints}")
    return wrong
