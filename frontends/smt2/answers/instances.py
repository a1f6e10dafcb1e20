"""How often the quantifiers of each assertion were instantiated in a run, as its solver tells.

z3 (`smt.qi.profile`) and cvc5 (`--output inst`) count instances by `:qid`, which several
quantifiers may share, and which others lack. So all quantifiers of an assertion get a `:qid` of its
own for the run that is asked; solvers use them for messages only.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from reducekit.document import Document
from reducekit.frontends.smt2.answers.variants import pieces
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.parser import parse
from reducekit.offers import Probe

_QUANTIFIERS = frozenset((b"forall", b"exists"))
_NAME = b"reducekit!%d"
_WAYS = (
    (
        b"(set-option :smt.qi.profile true)\n",
        re.compile(rb"^\[quantifier_instances\] *reducekit!([0-9]+) *: *([0-9]+) :", re.MULTILINE),
    ),
    (
        b"(set-option :output inst)\n",
        re.compile(rb"^\(num-instantiations \|?reducekit!([0-9]+)\|? ([0-9]+)\)", re.MULTILINE),
    ),
)
"""How z3 and cvc5 are asked, and how they tell: the assertion and a number to be added up."""


def instances(text: bytes, probe: Probe) -> dict[int, int] | None:
    """Return how many instances the quantified assertions have, by the places of their commands.

    The run is on the variant of the text that the probe names. None: its solver tells of none, or
    the text is no script. The second way costs a run where the first tells nothing.
    """
    script = pieces(text, probe.variant)
    if script is None:
        return None
    quantified, parts = set[int](), list[bytes]()
    for each in script:
        written = each.text
        if each.head == b"assert":
            written = tagged(each.text, _NAME % each.place)
            if written != each.text:
                quantified.add(each.place)
        parts += each.gap, written
    asked = b"".join(parts) + b"\n"
    for option, pattern in _WAYS if quantified else ():
        counts: Counter[int] = Counter()
        for place, count in pattern.findall(probe.run(option + asked)):
            counts[int(place)] += int(count)
        if counts:
            return {place: counts[place] for place in quantified}
    return None


def tagged(command: bytes, name: bytes) -> bytes:
    """Return a command with a name as the `:qid` of all of its quantifiers."""
    document = parse(command)
    edits = list[tuple[int, int, bytes]]()
    for node in range(1, len(document)):
        if head_of(document, node) in _QUANTIFIERS:
            edits += _edits(document, list(document.children(node))[-1], name)
    done, parts = 0, list[bytes]()
    for begin, end, new in sorted(edits):
        parts += command[done:begin], new
        done = end
    return b"".join((*parts, command[done:]))


def _edits(document: Document, body: int, name: bytes) -> list[tuple[int, int, bytes]]:
    """Return which spans to replace so that the body of a quantifier has a name."""
    begin, end = document.start[body], document.end[body]
    if head_of(document, body) != b"!":
        return [(begin, begin, b"(! "), (end, end, b" :qid %s)" % name)]
    parts = list(document.children(body))
    for keyword, value in pairwise(parts):
        if document.source(keyword) == b":qid":
            return [(document.start[value], document.end[value], name)]
    return [(end - 1, end - 1, b" :qid %s" % name)]
