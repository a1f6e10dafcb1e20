"""Passes on functions and datatypes: their parameters, constructors, selectors and bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.scopes import Definition
from reducekit.frontends.smt2.language.sorts import print_sort
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.search.problem import IndependentItems, Selection

_DEFINES = frozenset(b"define-fun define-fun-rec define-const".split())


class Part(NamedTuple):
    """A part of a declaration that can be dropped, such as a parameter, and what depends on it."""

    whole: int
    """What it is a part of."""
    drop: Sequence[int]
    """The part itself, and what goes with it: an argument at each call."""
    replace: Sequence[Edit] = ()
    """What takes its place where it is used."""
    weight: int = 0
    possible: bool = True
    """Whether there is something to take its place."""


@dataclass(frozen=True)
class PartItems(IndependentItems):
    """Parts of declarations as items: each goes with all that depends on it, in one change.

    `rest` returns the edits of a whole that keeps a number of its parts, `least` has the fewest
    that it keeps, and `valid` returns whether some parts may go together.
    """

    what: str
    parts: Sequence[Part]
    sizes: Mapping[int, int]
    rest: Callable[[int, int], Sequence[Edit]]
    least: Mapping[int, int] = field(default_factory=dict)
    valid: Callable[[Sequence[Part]], bool] = lambda _: True

    @cached_property
    def weights(self) -> Sequence[int]:
        return [each.weight or len(each.drop) for each in self.parts]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        # An edit describes the text as parsed, so what others have taken is not in it yet: what is
        # left of a whole is counted from the items, never read off the text.
        dropped = [self.parts[item] for item in chosen | taken]
        own = [self.parts[item] for item in sorted(chosen)]
        gone = Counter(each.whole for each in dropped)
        left = {whole: self.sizes[whole] - count for whole, count in gone.items()}
        if any(count < self.least.get(whole, 0) for whole, count in left.items()):
            return Change(())
        if not self.valid(dropped) or not all(each.possible for each in own):
            return Change(())
        edits = [
            edit for each in own for edit in (*(Edit(n, ()) for n in each.drop), *each.replace)
        ]
        for whole in sorted({each.whole for each in own}):
            edits += self.rest(whole, left[whole])
        return Change(tuple(edits), self.what)


def bare(node: int) -> Edit:
    """Return the edit that makes a list its first element, as `(f)` becomes `f`."""
    return Edit(node, (node + 1,))


@pass_("parameters")
def parameters(view: ScriptView) -> PartItems | None:
    """Removes parameters of declared and defined functions."""
    document, definitions, parent = view.document, view.script.definitions, view.document.parent
    found: list[Part] = []
    sizes: dict[int, int] = {}
    uses: dict[int, Sequence[int]] = {}
    for index, definition in enumerate(definitions):
        if definition.kind not in ("fun", "define") or not definition.parameters:
            continue
        signature = _signature(view, definition)
        if signature < 0:
            continue
        nodes = list(document.children(signature))
        # A use by the name alone, as in `(_ map f)` or a query, would lose its function.
        references = view.references[index]
        if any(parent[node] != node - 1 for node in references):
            continue
        arguments = [list(document.children(parent[node]))[1:] for node in references]
        if any(len(each) != len(nodes) for each in arguments):
            continue
        uses[index], sizes[index] = [parent[node] for node in references], len(nodes)
        for number, node in enumerate(nodes):
            drop = [node, *(each[number] for each in arguments)]
            variable = view.bound_at(node + 1) if definition.kind == "define" else -1
            used = view.references[variable] if variable >= 0 else ()
            # In the body a value takes the variable's place. Any would do, as no argument
            # reaches the body any more; the smallest makes the text smallest.
            values = view.constants(definitions[variable].sort)[:1] if used else []
            replace = [Edit(each, (value,)) for value in values for each in used]
            possible = bool(values) or not used
            found.append(Part(index, drop, replace, possible=possible))
    if not found:
        return None
    return PartItems(
        "drop parameters",
        found,
        sizes,
        # A function that has no parameters left becomes a constant.
        lambda function, left: [] if left else list(map(bare, uses[function])),
    )


def _signature(view: ScriptView, definition: Definition) -> int:
    """Return the node that lists the parameters of a function; -1 if there is none."""
    document = view.document
    command, *children = document.children(definition.binder)
    kind = document.source(command)
    if kind == b"define-funs-rec":
        return document.stop[definition.node]
    if children[:1] != [definition.node] or len(children) < 3 - (kind == b"declare-rel"):
        return -1
    return children[1]


@pass_("recursive")
def recursive(view: ScriptView) -> Iterator[Change]:
    """Simplifies recursive definitions: drops unused functions, prefers define-fun.

    Functions of a define-funs-rec that no other one uses are removed. A single function left
    gets a define-fun-rec, and a function that does not call itself a define-fun.
    """
    document, references = view.document, view.references

    def is_recursive(name: int, body: int) -> bool:
        function = view.bound_at(name)
        return function < 0 or len(references.within(function, body, document.stop[body])) > 0

    for command in view.commands.nodes:
        kind = head_of(document, command)
        if kind not in (b"define-fun-rec", b"define-funs-rec"):
            continue
        name, *parts = document.children(command)
        # A function that does not call itself needs no recursive definition, which some solvers
        # read as a quantified axiom, and others not at all.
        if len(parts) == 4 and not is_recursive(parts[0], parts[3]):
            yield Change((Edit(name, (b"define-fun",)),), "define-fun")
        if len(parts) != 2:
            continue
        signatures, bodies = (list(document.children(each)) for each in parts)
        if len(signatures) != len(bodies):
            continue
        if len(bodies) == 1:
            own = list(document.children(signatures[0]))
            if len(own) == 3:
                head = b"(define-fun-rec" if is_recursive(own[0], bodies[0]) else b"(define-fun"
                spaced = [item for each in (*own, bodies[0]) for item in (b" ", each)]
                yield Change((Edit(command, (head, *spaced, b")")),), "define alone")
            continue
        idle = [
            (signature, body)
            for signature, body in zip(signatures, bodies, strict=True)
            if (function := view.bound_at(signature + 1)) >= 0
            and are_used_within(view, [function], body)
        ]
        # One has to stay, as the command defines at least one function (standard 2.7, section
        # 4.2.3).
        for signature, body in idle[len(idle) == len(bodies) :]:
            yield Change((Edit(signature, ()), Edit(body, ())), "drop function")


def are_used_within(view: ScriptView, definitions: Sequence[int], body: int) -> bool:
    """Return whether definitions are used only within a node; -1: no definition."""
    last = view.document.stop[body]
    uses = (use for each in definitions if each >= 0 for use in view.references[each])
    return all(body <= use < last for use in uses)


@pass_("inline")
def inline(view: ScriptView) -> Iterator[Change]:
    """Replaces each use of a defined constant by its value, and removes the definition."""
    document = view.document
    for index, definition in _defined(view):
        if not definition.parameters:
            # Any use may be written out, as nothing that is bound inside the value depends on where
            # it stands. With parameters the arguments would have to be substituted, which the graph
            # does (`inline`), sharing what is used twice.
            *_, value = document.children(definition.binder)
            body = document.source(value)
            edits = [Edit(node, (body,)) for node in view.references[index]]
            yield Change((Edit(definition.binder, ()), *edits), "inline")


@pass_("declare")
def declare(view: ScriptView) -> Iterator[Change]:
    """Replaces definitions by declarations, dropping their bodies."""
    for _, definition in _defined(view):
        if definition.sort is not None:
            # The body goes, and with it all that only it uses. The name stays, and may mean
            # anything.
            sorts = b" ".join(map(print_sort, definition.parameters))
            name = view.document.source(definition.node)
            text = b"(declare-fun %b (%b) %b)" % (name, sorts, print_sort(definition.sort))
            yield Change((Edit(definition.binder, (text,)),), "declare")


def _defined(view: ScriptView) -> Iterator[tuple[int, Definition]]:
    """Yield the functions that have a command of their own to define them."""
    for index, definition in enumerate(view.script.definitions):
        if definition.kind == "define" and head_of(view.document, definition.binder) in _DEFINES:
            yield index, definition


@pass_("datatype members")
def members(view: ScriptView) -> PartItems | None:
    """Removes unused constructors, selectors and datatypes."""
    document, script = view.document, view.script
    parent = document.parent
    constructors = {
        definition.node: index
        for index, definition in enumerate(script.definitions)
        if definition.kind == "constructor"
    }
    selectors: dict[int, list[int]] = {}
    """By constructor."""
    for index, definition in enumerate(script.definitions):
        if definition.kind == "selector":
            selectors.setdefault(parent[parent[definition.node]], []).append(index)
    used = view.references
    found: list[Part] = []
    sizes: dict[int, int] = {}
    least: dict[int, int] = {}
    """The number of parts that a list has to keep."""
    bases: dict[int, set[int]] = {}
    """By list of constructors: those without a field of a sort declared in the same command. A
    datatype needs one of these to have a value."""
    applied: dict[int, Sequence[int]] = {}
    """By constructor: the lists that become its bare name once it has no field left."""
    for node, index in constructors.items():
        element = _element(view, node, constructors)
        container = parent[element]
        sizes[container] = sizes.get(container, 0) + 1
        least[container] = 1
        within = {script.refs[each] for each in range(element, document.stop[element])} - {-1}
        if not any(
            script.definitions[each].kind == "sort"
            and script.definitions[each].binder == script.definitions[index].binder
            for each in within
        ):
            bases.setdefault(container, set()).add(element)
        own = selectors.get(element, [])
        cases, with_fields, others = _uses(view, index)
        if cases is not None and not any(each in used for each in own):
            found.append(Part(container, (element, *cases)))
        arguments = [list(document.children(each))[1:] for each in with_fields]
        if not others and all(len(each) == len(own) for each in arguments):
            sizes[element], applied[element] = len(own), with_fields
            for number, selector in enumerate(own):
                # A field that nothing reads: no selector, no variable of a pattern.
                along = [group[number] for group in arguments]
                bound = (view.bound_at(each) for each in along)
                if selector not in used and not any(each >= 0 and each in used for each in bound):
                    place = parent[script.definitions[selector].node]
                    found.append(Part(element, (place, *along)))
    # Datatypes declared together with others, and used only by themselves: their own constructors,
    # selectors and cases use them, and go along.
    for index, definition in enumerate(script.definitions):
        body = body_of(view, definition) if definition.kind == "sort" else -1
        element = parent[definition.node]
        if body < 0 or element == definition.binder:
            continue
        names = [index, *map(view.bound_at, range(body, document.stop[body]))]
        if are_used_within(view, names, body):
            heads = parent[element]
            sizes[heads], least[heads] = len(list(document.children(heads))), 1
            found.append(Part(heads, (element, body)))
    if not found:
        return None

    def keep_values(dropped: Sequence[Part]) -> bool:
        # A datatype must be inhabited (standard 2.7, 4.2.3, well-founded datatypes): solvers
        # reject the declaration otherwise, so such a candidate would be a wasted check.
        nodes = {each.drop[0] for each in dropped}
        return not any(bases.get(each.whole) and bases[each.whole] <= nodes for each in dropped)

    def rest(whole: int, left: int) -> Sequence[Edit]:
        return [] if left else list(map(bare, applied.get(whole, ())))

    return PartItems("drop members", found, sizes, rest, least, keep_values)


def _uses(view: ScriptView, index: int) -> tuple[list[int] | None, list[int], bool]:
    """Return how a constructor is used.

    The match cases that use it, None if it is used anywhere else; its applications, and its
    patterns with variables; whether it has a use from which no argument can be dropped.
    """
    parent, source = view.document.parent, view.document.source
    name = view.script.definitions[index].name
    cases, applied, others = list[int](), list[int](), False
    for use in view.references[index]:
        above, case = parent[use], _case(view, use)
        if case >= 0:
            cases.append(case)
        if above == use - 1 and case != above:
            applied.append(above)
        elif case < 0 and source(use - 1) != b"is" and source(use) != b"is-" + name:
            others = True  # and no tester
    return cases if len(cases) == len(view.references[index]) else None, applied, others


def _case(view: ScriptView, use: int) -> int:
    """Return the match case in whose pattern a constructor is used; -1 if there is none."""
    document = view.document
    parent, is_term = document.parent, view.script.is_term
    node = parent[use]
    for case in (node, parent[node]):
        if case <= 0 or is_term[case] or parent[case] <= 0:
            return -1
        if head_of(document, parent[parent[case]]) == b"match":
            return case if use <= case + 2 else -1
    return -1


def _element(view: ScriptView, node: int, constructors: dict[int, int]) -> int:
    """Return the node of a whole constructor: its list, or its bare name (standard 2.5, Z3)."""
    document = view.document
    above = document.parent[node]
    siblings = list(document.children(above))
    if siblings[0] != node or any(each in constructors for each in siblings[1:]):
        return node
    return above


def body_of(view: ScriptView, definition: Definition) -> int:
    """Return the node with the constructors of a datatype; -1 for anything else."""
    document = view.document
    name, *children = document.children(definition.binder)
    kind = document.source(name)
    if kind in (b"declare-datatype", b"declare-codatatype"):
        return children[1] if children[0] == definition.node and len(children) == 2 else -1
    if kind in (b"declare-datatypes", b"declare-codatatypes") and len(children) == 2:
        heads, bodies = (list(document.children(each)) for each in children)
        head = document.parent[definition.node]
        if head in heads and len(heads) == len(bodies):
            return bodies[heads.index(head)]
    return -1
