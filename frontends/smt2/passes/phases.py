"""The substitution phases of the ddSMT paper, in its order, for the classic strategies.

Niemetz and Biere, ddSMT: A Delta Debugger for the SMT-LIB v2 Format, SMT 2013, section 2.2: scopes
level by level, then commands, then the terms of define-fun, assert and get-value commands, with the
same steps for each kind. The paper repeats each step to a fixpoint; here the rounds do that, as
they end only when no step succeeds.

Unlike in the paper's tool, no step leaves a dangling name: let variables that would leave their
scope are replaced by constants, and a term with a `:named` name that is used elsewhere is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice

from reducekit.change import Change, Edit
from reducekit.format import Schedule
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.constants import literal_value
from reducekit.frontends.smt2.language.operators import theories_in
from reducekit.frontends.smt2.language.script import Script
from reducekit.frontends.smt2.language.sorts import Sort, print_sort
from reducekit.frontends.smt2.language.view import ScriptView, subterms
from reducekit.frontends.smt2.passes.drop import Drop, Scopes
from reducekit.frontends.smt2.passes.lists import PATTERNS
from reducekit.search.problem import IndependentChanges, IndependentItems, Selection

# The commands with terms that the paper treats, in its order, each with the related commands of
# later versions of the standard.
_KINDS: Sequence[tuple[str, frozenset[bytes]]] = (
    ("define-fun", frozenset(b"define-fun define-fun-rec define-funs-rec define-const".split())),
    ("assert", frozenset((b"assert",))),
    ("get-value", frozenset((b"get-value",))),
)
# A get-value does not refer to a check-sat before one of these.
_BARRIERS = frozenset(b"push pop reset reset-assertions".split())

Substitute = Callable[[ScriptView, int], "tuple[Edit, ...] | None"]
"""The edits of a step for a term, the term's own first; None if the step does not apply."""


@dataclass(frozen=True)
class Phase:
    """Substitutes terms in one kind of command, or replaces those of a sort by fresh variables."""

    kind: str
    commands: Collection[bytes]
    step: str
    theories: Collection[str]
    """A logic of the script must have one of these; empty for Core."""
    substitute: Substitute | str
    """How, or the sort of the terms to replace by variables."""

    @property
    def name(self) -> str:
        """The kind of command and the step, as in `assert: let to body`."""
        return f"{self.kind}: {self.step}"

    def problem(self, view: ScriptView) -> IndependentItems | None:
        """Return the substitutions of all terms, in the order of the text."""
        script, document = view.script, view.document
        if not applies(script, self.theories):
            return None
        nodes, changes = [], []
        for node in terms_of(script, self.commands):
            if isinstance(self.substitute, str):
                # Replacing a variable by a variable gains nothing.
                compound = document.stop[node] > node + 1
                fits = compound and _is_of(script.sort[node], self.substitute)
                if not fits or is_constant(script, node):
                    continue
                edits: tuple[Edit, ...] | None = (Edit(node, ()),)
            else:
                edits = self.substitute(view, node)
            if edits is not None and not view.lost(edits[0]):
                nodes.append(node)
                changes.append(Change(edits, self.name))
        if not nodes:
            return None
        if isinstance(self.substitute, str):
            return FreshItems(self.name, script, nodes)
        return IndependentChanges(changes, [document.size(node) for node in nodes])


class FreshItems(IndependentItems):
    """Terms as items: taking one replaces it by a variable, declared before the command.

    An edit of a node overrides an earlier one, so a command's declarations are always rebuilt
    from all items taken in it.
    """

    def __init__(self, what: str, script: Script, nodes: Sequence[int]) -> None:
        document = script.document
        self.what = what
        self.document = document
        self.nodes = nodes
        stop, source = document.stop, document.source
        taken = {source(node) for node in range(1, len(document)) if stop[node] == node + 1}
        names = (b"v%d" % each for each in count())
        free = (name for name in names if not taken.intersection((name, b"|%b|" % name)))
        self.names = list(islice(free, len(nodes)))
        self.declarations: list[bytes] = []
        self.places: list[int] = []
        """The command before which each item's variable is declared."""
        for node, name in zip(nodes, self.names, strict=True):
            sort = script.sort[node]
            assert sort is not None
            self.declarations.append(b"(declare-fun %s () %s)\n" % (name, print_sort(sort)))
            self.places.append(_place(script, script.command_of(node)))

    @property
    def weights(self) -> Sequence[int]:
        return [self.document.size(node) for node in self.nodes]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Replace the chosen terms by variables; declare those that occur in the result."""
        edits = [Edit(self.nodes[item], (self.names[item],)) for item in sorted(chosen)]
        touched = {self.places[item] for item in chosen}
        declarations: dict[int, list[bytes | int]] = {place: [] for place in touched}
        behind = 0
        for item in sorted(chosen | taken):
            # Terms are in document order, so a term inside another one comes after it.
            if self.nodes[item] >= behind:
                behind = self.document.stop[self.nodes[item]]
                if self.places[item] in touched:
                    declarations[self.places[item]].append(self.declarations[item])
        edits.extend(Edit(place, (*lines, place)) for place, lines in declarations.items())
        return Change(tuple(edits), self.what)


def applies(script: Script, theories: Collection[str]) -> bool:
    """Return whether a logic of a script has one of these theories; an unknown logic has all."""
    document = script.document
    known = [
        theories_in(document.source(command + 2).decode("ascii", "replace"))
        for command, name in zip(script.commands, script.names, strict=True)
        if name == b"set-logic" and document.stop[command] == command + 3
    ]
    return not theories or any(
        each is None or not each.isdisjoint(theories) for each in known or [None]
    )


def terms_of(script: Script, commands: Collection[bytes]) -> Iterator[int]:
    """Yield all terms in commands of these names, in document order, without patterns."""
    document, is_term, stop = script.document, script.is_term, script.document.stop
    patterns = any(word in document.text for word in PATTERNS)
    for command, name in zip(script.commands, script.names, strict=True):
        if name not in commands:
            continue
        last = stop[command]
        spans: dict[int, int] = {}
        """By the first term of a pattern: the node after the pattern."""
        for node in range(command, last - 1) if patterns else ():
            if stop[node] == node + 1 and document.source(node) in PATTERNS:
                # A list of terms, or a single one; in a damaged script an atom, with none inside.
                after = stop[node + 1]
                spans |= dict.fromkeys(range(node + 1, min(node + 3, after)), after)
        node = is_term.find(1, command, last)
        while node >= 0:
            if node not in spans:
                yield node
            node = is_term.find(1, spans.get(node, node + 1), last)


def _is_of(sort: Sort | None, name: str) -> bool:
    """Return whether a sort is `name`, with any indices."""
    return sort == name or (isinstance(sort, tuple) and sort[0] == name)


def _place(script: Script, index: int) -> int:
    """Return the command before which a symbol used in a command can be declared.

    A get-value belongs to the check-sat before it: a declaration between them
    would void the answer (standard 2.7, section 4.1.1).
    """
    if script.names[index] == b"get-value":
        for before in range(index - 1, -1, -1):
            name = script.names[before]
            if name in _BARRIERS:
                break
            if name.startswith(b"check-sat"):
                return script.commands[before]
    return script.commands[index]


# The substitutions of the steps.


_NUMBER = rb"-?[0-9]+(?:\.[0-9]*|/[0-9]+)?"
_SIGNED = rb"(?:%s|\(\s*-\s+%s\s*\))" % (_NUMBER, _NUMBER)
_CONSTANT = re.compile(
    rb"""%s | \(\s*[-/](?:\s+%s){1,3}\s*\) | true | false
        | \#b[01]+ | \#x[0-9a-fA-F]+ | \(\s*_\s+bv[0-9]+\s+[0-9]+\s*\)
    """
    % (_SIGNED, _SIGNED),
    re.VERBOSE,
)
_MOST = 11  # nodes of a quotient of three negated numbers


def is_constant(script: Script, node: int) -> bool:
    """Return whether a term is a truth value, a bit-vector or a number that is written out.

    Also a negated number and a quotient of numbers, which SMT-LIB has no literals for.
    """
    last = script.document.stop[node]
    if last > node + _MOST or any(ref >= 0 for ref in script.refs[node:last]):
        return False
    return _CONSTANT.fullmatch(script.document.source(node)) is not None


def _to_constant(sort: str, number: int, view: ScriptView, node: int) -> tuple[Edit, ...] | None:
    """Replace a non-constant term by constant `number` of its sort."""
    own = view.script.sort[node]
    if not _is_of(own, sort) or is_constant(view.script, node):
        return None
    # The paper has 0 for numbers and both truth values; `constants` has them in that order.
    constants = view.constants(own)
    return (Edit(node, (constants[number],)),) if number < len(constants) else None


def _without_units(
    operator: bytes, is_unit: Callable[[ScriptView, int], bool], view: ScriptView, node: int
) -> tuple[Edit, ...] | None:
    """Replace an application by an argument if all other arguments are units."""
    if head_of(view.document, node) != operator:
        return None
    arguments = subterms(view.script, node)
    others = [each for each in arguments if not is_unit(view, each)]
    if len(arguments) < 2 or len(others) > 1:
        return None
    # If all are units, any of them will do.
    return (Edit(node, (others[0] if others else arguments[0],)),)


def _to_part(operator: bytes, at: int, view: ScriptView, node: int) -> tuple[Edit, ...] | None:
    """Replace an application by one of its arguments of the same sort."""
    if head_of(view.document, node) != operator:
        return None
    arguments = subterms(view.script, node)
    sort = view.script.sort
    if len(arguments) != 3 or sort[arguments[at]] != sort[node]:
        return None
    return (Edit(node, (arguments[at],)),)


def _let_to_body(view: ScriptView, node: int) -> tuple[Edit, ...] | None:
    """Replace a let by its body, and its variables by constants."""
    document = view.document
    if head_of(document, node) != b"let":
        return None
    children = list(document.children(node))
    if len(children) != 3:
        return None
    # As in the paper the let goes as a whole. What it bound becomes a constant: a name without a
    # value would be an error in any solver.
    body = children[2]
    grounded = view.grounded(node, body, body)
    return None if grounded is None else (Edit(node, (body,)), *grounded)


def _is_word(word: bytes, view: ScriptView, node: int) -> bool:
    return view.document.source(node) == word and view.script.refs[node] < 0


def _is_uniform(bit: int, view: ScriptView, node: int) -> bool:
    """Return whether a term is a bit-vector literal with all bits 0, or all bits 1."""
    sort, stop = view.script.sort[node], view.document.stop
    if not isinstance(sort, tuple) or sort[0] != "BitVec" or stop[node] > node + 4:
        return False
    value = literal_value(view.document.source(node))
    if value is None or not bit:
        return value == 0
    return value.bit_length() == sort[1] and not value & (value + 1)


_BITS, INTS = ("bitvectors",), ("ints", "int differences")
REALS = ("reals", "real differences")
_STEPS: Sequence[tuple[str, Collection[str], Substitute | str]] = (
    ("bit-vectors to 0", _BITS, partial(_to_constant, "BitVec", 0)),
    ("bit-vectors to variables", _BITS, "BitVec"),
    ("bvor of 0", _BITS, partial(_without_units, b"bvor", partial(_is_uniform, 0))),
    ("bvand of ones", _BITS, partial(_without_units, b"bvand", partial(_is_uniform, 1))),
    ("Ints to 0", INTS, partial(_to_constant, "Int", 0)),
    ("Ints to variables", INTS, "Int"),
    ("Reals to 0", REALS, partial(_to_constant, "Real", 0)),
    ("Reals to variables", REALS, "Real"),
    ("let to body", (), _let_to_body),
    ("Booleans to false", (), partial(_to_constant, "Bool", 0)),
    ("Booleans to true", (), partial(_to_constant, "Bool", 1)),
    ("Booleans to variables", (), "Bool"),
    ("or of false", (), partial(_without_units, b"or", partial(_is_word, b"false"))),
    ("and of true", (), partial(_without_units, b"and", partial(_is_word, b"true"))),
    ("store to array", ("arrays",), partial(_to_part, b"store", 0)),
    ("ite to left", (), partial(_to_part, b"ite", 1)),
    ("ite to right", (), partial(_to_part, b"ite", 2)),
)


def paper_schedule() -> Schedule:
    """Return the paper's rounds: the first drops only asserts, later ones all commands."""
    terms = tuple(Phase(kind, commands, *step) for kind, commands in _KINDS for step in _STEPS)
    return Schedule(
        once=(Scopes(), Drop("asserts", only=(b"assert",)), *terms),
        rounds=(Scopes(), Drop("commands", keep=(b"set-logic", b"exit")), *terms),
    )
