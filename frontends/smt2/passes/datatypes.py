"""Passes on datatype declarations and tactics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.scopes import Definition
from reducekit.frontends.smt2.language.terms import Terms
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.passes import pass_
from reducekit.search.problem import IndependentItems, LeafTree, Move, Selection

# Of Z3, like `apply` and the combinators: the standard has no tactics.
_TACTICS = frozenset(b"check-sat-using apply".split())
_SIMPLE = (b"skip", b"simplify")
"""Tactics that can replace any other."""


@dataclass(frozen=True, slots=True)
class Member:
    """A constructor or selector that can be dropped, and the nodes that are dropped with it."""

    node: int
    container: int
    least: int
    """The number of members that the container has to keep."""
    along: Sequence[int]
    applied: Sequence[int] = ()
    """The lists to replace by their bare name once no member of the container is left."""


class MemberItems(IndependentItems):
    """Constructors and selectors as items."""

    def __init__(
        self, members: Sequence[Member], sizes: dict[int, int], bases: dict[int, set[int]]
    ) -> None:
        self.members = members
        self.sizes = sizes
        self.bases = bases
        """By list of constructors: those without a field of a sort declared in the same command.
        A datatype needs one of these to have a value."""
        self.weights: Sequence[int] = [1 + len(each.along) for each in members]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop members, but not the last constructor of a datatype or the last base constructor."""
        dropped = [self.members[item] for item in chosen | taken]
        gone = Counter(each.container for each in dropped)
        if not self._keeps_values(dropped, gone):
            return Change(())
        edits: list[Edit] = []
        emptied: list[Edit] = []
        for item in sorted(chosen):
            each = self.members[item]
            edits += (Edit(node, ()) for node in (each.node, *each.along))
            if gone[each.container] == self.sizes[each.container]:
                emptied += (Edit(node, (node + 1,)) for node in each.applied)
        return Change((*edits, *emptied), "drop members")

    def _keeps_values(self, dropped: Sequence[Member], gone: Mapping[int, int]) -> bool:
        """Return whether each datatype still has a constructor, and one to begin a value with.

        A datatype must be inhabited (standard 2.7, section 4.2.3, well-founded datatypes): solvers
        reject the declaration otherwise, so such a candidate would be a check for nothing.
        """
        if any(self.sizes[each.container] - gone[each.container] < each.least for each in dropped):
            return False
        nodes = {each.node for each in dropped}
        return not any(self.bases.get(each) and self.bases[each] <= nodes for each in gone)


@pass_("datatype members")
def members(view: ScriptView) -> MemberItems | None:
    """Removes unused constructors, selectors and datatypes."""
    terms = view.terms
    document, script = terms.document, terms.script
    parent = document.parent
    constructors = {
        definition.node: index
        for index, definition in enumerate(script.definitions)
        if definition.kind == "constructor"
    }
    used = terms.references
    found: list[Member] = []
    sizes: dict[int, int] = {}
    bases: dict[int, set[int]] = {}
    selectors = _selectors(terms)
    for node, index in constructors.items():
        element = _element(terms, node, constructors)
        container = parent[element]
        sizes[container] = sizes.get(container, 0) + 1
        if _is_base(terms, element, script.definitions[index].binder):
            bases.setdefault(container, set()).add(element)
        own = selectors.get(element, [])
        uses = _Uses(terms, index)
        if uses.cases is not None and not any(each in used for each in own):
            found.append(Member(element, container, 1, uses.cases))
        arguments = [list(document.children(each))[1:] for each in uses.applied]
        if not uses.others and all(len(each) == len(own) for each in arguments):
            sizes[element] = len(own)
            found += _fields(terms, element, own, arguments, uses.applied)
    for element, heads, body in _datatypes_without_uses(terms):
        sizes[heads] = len(list(document.children(heads)))
        found.append(Member(element, heads, 1, [body]))
    return MemberItems(found, sizes, bases) if found else None


def _selectors(terms: Terms) -> dict[int, list[int]]:
    """Return the selectors of each constructor, by its node."""
    parent = terms.document.parent
    found: dict[int, list[int]] = {}
    for index, definition in enumerate(terms.script.definitions):
        if definition.kind == "selector":
            found.setdefault(parent[parent[definition.node]], []).append(index)
    return found


def _fields(
    terms: Terms,
    element: int,
    selectors: Sequence[int],
    arguments: Sequence[Sequence[int]],
    applied: Sequence[int],
) -> Iterator[Member]:
    """Yield the fields of a constructor that nothing reads: no selector, no pattern variable."""
    used = terms.references
    for number, selector in enumerate(selectors):
        along = [group[number] for group in arguments]
        bound = (terms.bound_at(node) for node in along)
        if selector in used or any(variable in used for variable in bound if variable >= 0):
            continue
        place = terms.document.parent[terms.script.definitions[selector].node]
        yield Member(place, element, 0, along, applied)


def _is_base(terms: Terms, constructor: int, command: int) -> bool:
    """Return whether a constructor has no field of a sort declared by the same command."""
    definitions, refs = terms.script.definitions, terms.script.refs
    used = (refs[node] for node in range(constructor, terms.document.stop[constructor]))
    return not any(
        each >= 0 and definitions[each].kind == "sort" and definitions[each].binder == command
        for each in used
    )


def _datatypes_without_uses(terms: Terms) -> Iterator[tuple[int, int, int]]:
    """Yield the datatypes declared together with others that are used only by themselves.

    For each: the node of its head, the list that contains it, and the node of its constructors.
    """
    document = terms.document
    for index, definition in enumerate(terms.script.definitions):
        if definition.kind != "sort":
            continue
        body, element = body_of(terms, definition), document.parent[definition.node]
        if body < 0 or element == definition.binder:
            continue
        # Its own constructors, selectors and cases use it: those uses go with it.
        own = [index, *(terms.bound_at(node) for node in range(body, document.stop[body]))]
        if _are_used_within(terms, own, body):
            yield element, document.parent[element], body


def _are_used_within(terms: Terms, definitions: Iterable[int], body: int) -> bool:
    """Return whether definitions are used only within a node; -1: no definition."""
    last = terms.document.stop[body]
    uses = (use for each in definitions if each >= 0 for use in terms.references[each])
    return all(body <= use < last for use in uses)


class _Uses:
    """How a constructor is used."""

    def __init__(self, terms: Terms, index: int) -> None:
        document, script = terms.document, terms.script
        parent, name = document.parent, script.definitions[index].name
        cases: list[int] = []
        self.applied: list[int] = []
        """Its applications, and its patterns with variables."""
        self.others = False
        """Whether it has a use from which no argument can be dropped."""
        uses = terms.references[index]
        for use in uses:
            above = parent[use]
            case = _case(terms, use)
            if case >= 0:
                cases.append(case)
            if above == use - 1 and case != above:
                self.applied.append(above)
            elif case < 0 and not _is_tester(terms, use, name):
                self.others = True
        self.cases = cases if len(cases) == len(uses) else None
        """The match cases that use it; None if it is used anywhere else."""


def _case(terms: Terms, use: int) -> int:
    """Return the match case in whose pattern a constructor is used; -1 if there is none."""
    document = terms.document
    parent, is_term = document.parent, terms.script.is_term
    node = parent[use]
    for case in (node, parent[node]):
        if case <= 0 or is_term[case] or parent[case] <= 0:
            return -1
        if head_of(document, parent[parent[case]]) == b"match":
            return case if use <= case + 2 else -1
    return -1


def _is_tester(terms: Terms, use: int, name: bytes) -> bool:
    """Return whether a constructor is used in a tester (`is`)."""
    source = terms.document.source
    return source(use - 1) == b"is" or source(use) == b"is-" + name


def _element(terms: Terms, node: int, constructors: dict[int, int]) -> int:
    """Return the node of a whole constructor: its list, or its bare name (standard 2.5, Z3)."""
    document = terms.document
    above = document.parent[node]
    siblings = list(document.children(above))
    if siblings[0] != node or any(each in constructors for each in siblings[1:]):
        return node
    return above


def body_of(terms: Terms, definition: Definition) -> int:
    """Return the node with the constructors of a datatype; -1 for anything else."""
    document = terms.document
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


class TacticTree(LeafTree):
    """The tactics in Z3's commands: each can be dropped, or replaced by a part or a simple one."""

    def __init__(self, view: ScriptView) -> None:
        self.document = view.document
        commands = view.commands
        self.roots: Sequence[int] = [
            each
            for node, name in zip(commands.nodes, commands.names, strict=True)
            if name in _TACTICS
            for each in list(self.document.children(node))[1:]
        ]
        self.keep = frozenset(self.roots)

    def weight(self, node: int) -> int:
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return the removal, if allowed, and the replacements by parts and simple tactics."""
        found = []
        if node not in self.keep:
            found.append(Move(Change((Edit(node, ()),), "drop tactic"), ()))
        parts = reversed(self.children(node, frozenset()))
        found += [Move(Change((Edit(node, (each,)),), "tactic"), (each,)) for each in parts]
        # `skip` does nothing and `simplify` always ends, so whatever follows them is still reached.
        own = self.document.source(node)
        simple = [each for each in _SIMPLE if len(each) < len(own) and own[:1] != b":"]
        return found + [Move(Change((Edit(node, (each,)),), "tactic"), ()) for each in simple]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the parts of a tactic, without the name of the combinator."""
        return list(self.document.children(node))[1:]


@pass_("tactics")
def tactics(view: ScriptView) -> TacticTree | None:
    """Removes tactics, or replaces them by one of their parts, `skip` or `simplify`."""
    tree = TacticTree(view)
    return tree if tree.roots else None
