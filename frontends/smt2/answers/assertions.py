"""Which assertions of a script count, and where they come from: cores, instances, guesses, labels.

Where a solver proves a query in one run and loses it in another, three kinds of assertions count:
those of the proof (an unsat core), those that distracted the other run (quantifiers with
instances), and the ground ones, which say what is asked. Measured on unstable queries of verifiers,
these parts often fail in the same way, so they are guessed first; where none does, that has cost a
check each.

z3 (`smt.qi.profile`) and cvc5 (`--output inst`) count instances by `:qid`, which several
quantifiers may share, and which others lack. So all quantifiers of an assertion get a `:qid` of its
own for the run that is asked; solvers use them for messages only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from reducekit.change import Template
from reducekit.errors import ParseError
from reducekit.frontends.smt2.answers.variants import MOVABLE, Piece, pieces
from reducekit.frontends.smt2.language.commands import (
    Links,
    head_of,
    name_of,
    read_commands,
    symbol,
)
from reducekit.frontends.smt2.language.parser import SYMBOL, parse
from reducekit.offers import Part, Probe

_QUANTIFIER = re.compile(rb"\(\s*(?:forall|exists)\b")
_LABEL = re.compile(rb":(?:named|qid)\s+(%s)" % SYMBOL)
_NEWLINE = re.compile(rb"\n")
_CORES = b"(set-option :produce-unsat-cores true)\n"
_BODY = re.compile(rb"\(\s*assert\b")
_CORE = re.compile(rb"^unsat[ \t\r]*\n\(((?:\|[^|]*\||[^)|])*)\)", re.MULTILINE)
_NAME = re.compile(rb"\|[^|]*\||[^\s()|]+")
_QUANTIFIERS = frozenset((b"forall", b"exists"))
_QID = b"reducekit!%d"
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


def only(script: Sequence[Piece], uses: Links, part: Collection[int]) -> bytes:
    """Return the script with a part of its assertions, and the declarations that these need."""
    kept = {
        each.place
        for each in script
        if (each.place in part if each.head == b"assert" else each.head not in MOVABLE)
    }
    todo = list(kept)
    while todo:
        new = set(uses[todo.pop()]) - kept
        kept |= new
        todo += new
    return b"".join(text for each in script if each.place in kept for text in each[2:]) + b"\n"


def part_of(text: bytes, part: Collection[int]) -> bytes:
    """Return the same of a text. Raises ParseError if that is no script."""
    return only(pieces(text, 0) or [], read_commands(parse(text)).uses, part)


def core_of(text: bytes, probe: Probe) -> set[int] | None:
    """Return the assertions that the solver names; None if it names none."""
    variant = pieces(text, probe.variant) or []
    last = max((at for at, each in enumerate(variant) if each.head.startswith(b"check-sat")),
               default=-1)  # fmt: skip
    parts, names = [_CORES], dict[bytes, int]()
    for at, each in enumerate(variant):
        written = each.text
        if each.head == b"assert" and at < last:
            named = name_of(written)
            name = named or b"reducekit!%d" % each.place
            names[symbol(name)] = each.place
            if named is None:
                body = written[_BODY.match(written).end() : -1]  # type: ignore[union-attr]
                written = b"(assert (!%s :named %s))" % (body, name)
        parts += each.gap, written
        if at == last:
            parts.append(b"\n(get-unsat-core)\n")
            break
    found = _CORE.findall(probe.run(b"".join(parts)))
    core = _NAME.findall(found[-1]) if found else []
    return {names[symbol(each)] for each in core if symbol(each) in names} or None


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
            written = tagged(each.text, _QID % each.place)
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
    edits: dict[int, Template] = {}
    for node in range(1, len(document)):
        if head_of(document, node) not in _QUANTIFIERS:
            continue
        *_, body = document.children(node)
        parts = list(document.children(body))
        known = [at for at, each in enumerate(parts[:-1]) if document.source(each) == b":qid"]
        if head_of(document, body) != b"!":
            edits[body] = (b"(! ", body, b" :qid %s)" % name)
        elif known:
            edits[parts[known[0] + 1]] = (name,)
        else:
            edits[parts[-1]] = (parts[-1], b" :qid " + name)
    return document.render(edits)


def guesses(text: bytes, good: Sequence[Probe], bad: Probe) -> list[bytes]:
    """Return parts of a script, the smallest first; none if no run tells of a core.

    Two runs are made where all goes well, one more for each that tells nothing.
    """
    script = pieces(text, 0)
    if script is None:
        return []
    core = next(filter(None, (core_of(text, each) for each in good)), None)
    if core is None:
        return []
    counted = instances(text, bad) or {}
    instantiated = {place for place, count in counted.items() if count}
    ground = {
        each.place
        for each in script
        if each.head == b"assert" and _QUANTIFIER.search(each.text) is None
    }
    uses = read_commands(parse(text)).uses
    found = [only(script, uses, part) for part in (core, core | instantiated | ground)]
    return sorted(set(found) - {only(script, uses, range(len(script)))}, key=len)


class _Assertion(NamedTuple):
    name: str
    line: int
    """From 1."""
    atoms: tuple[bytes, ...]
    """What it consists of, without layout and comments."""


def labels(texts: Sequence[bytes]) -> list[Part]:
    """Return the assertions of the last text, and where in the first one they come from.

    The names are those that verifiers give: `:named`, else the `:qid` of the first quantifier. A
    reduction renames what it can, in many small steps, so assertions are followed from text to
    text: the closer the texts between are, the more is found. Texts that are no scripts are left
    out; there are no parts if the first or the last is one.
    """
    read = [_assertions(each) for each in texts]
    if not read or read[0] is None or read[-1] is None:
        return []
    known = [each for each in read if each is not None]
    first, last = known[0], known[-1]
    origins: list[int | None] = list(range(len(first)))
    for old, new in pairwise(known):
        origins = [None if at is None else origins[at] for at in _followed(old, new)]
    return [
        Part(
            each.name if origin is None else first[origin].name,
            None if origin is None else first[origin].line,
            each.line,
        )
        for each, origin in zip(last, origins, strict=True)
    ]


def _assertions(text: bytes) -> list[_Assertion] | None:
    with suppress(ParseError):
        document = parse(text)
        newlines = [found.start() for found in _NEWLINE.finditer(text)]
        return [
            _Assertion(
                _name(document.source(node)),
                bisect_right(newlines, document.start[node]) + 1,
                tuple(
                    document.source(each)
                    for each in range(node + 1, document.stop[node])
                    if document.stop[each] == each + 1
                ),
            )
            for node in document.children(0)
            if head_of(document, node) == b"assert"
        ]
    return None


def _name(command: bytes) -> str:
    name = name_of(command)
    if name is None and (found := _LABEL.search(command)) is not None:
        name = found[1]
    return symbol(name or b"").decode(errors="replace")


def _followed(old: Sequence[_Assertion], new: Sequence[_Assertion]) -> list[int | None]:
    """Return for each new assertion the old one that it comes from, if any is like it."""
    before, after = ([each.atoms for each in both] for both in (old, new))
    found: list[int | None] = []
    for kind, low, high, begin, end in SequenceMatcher(None, before, after, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and high - low == end - begin):
            found += range(low, high)
        elif kind != "delete":
            found += _nearest(old[low:high], new[begin:end], low)
    return found


def _nearest(
    old: Sequence[_Assertion], new: Sequence[_Assertion], base: int
) -> Iterator[int | None]:
    """Yield where new assertions come from, in order: by name, else by what they have in common."""
    words = [frozenset(each.atoms) for each in old]
    begin = 0
    for each in new:
        own = frozenset(each.atoms)
        best = max(
            range(begin, len(old)),
            key=lambda at: (bool(each.name) and each.name == old[at].name, len(own & words[at])),
            default=None,
        )
        if best is None or len(own & words[best]) < 2:  # all have the word `assert`
            yield None
            continue
        begin = best + 1
        yield base + best
