"""A plug-in for reducekit: DIMACS CNF, the format of SAT solvers, and a strategy."""

import re
from array import array
from collections import namedtuple
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.format import Frontend, Schedule
from reducekit.search.problem import IndependentItems, Items, Selection, independent
from reducekit.search.selecting import Selecting, Selector
from reducekit.search.strategy import Passes, Strategy
from reducekit.strategies.topdown import top_down

_WORD = re.compile(rb"^c\b.*|(\S+)", re.MULTILINE)  # comments have no group


class View:
    """A parsed file. Node 1 is the header; then each clause, followed by its literals."""

    def __init__(self, text: bytes) -> None:
        words = [match for match in _WORD.finditer(text) if match[1]]
        for match in words[2:]:
            if not re.fullmatch(rb"-?[0-9]{1,9}", match[1]):
                raise ParseError("expected a literal, or 0 after a clause", text, match.start())
        numbers = [int(match[1]) for match in words[2:]]
        if [match[1] for match in words[:2]] != [b"p", b"cnf"] or len(numbers) < 2:
            raise ParseError("expected 'p cnf VARIABLES CLAUSES'", text, 0)
        if numbers[2:] and numbers[-1]:
            raise ParseError("expected 0 after the last clause", text, len(text))
        self.header = numbers[:2]
        self.clauses: dict[int, list[int]] = {}  # the literals of each clause, by its node
        before, first = words[3].end(), 2
        nodes = [(0, len(text), 0), (0, before, 2)]  # start, end, and one past the last below
        for at, number in enumerate(numbers):
            if at < first or number:
                continue
            clause, inner = len(nodes), [each.span() for each in words[first + 2 : at + 2]]
            self.clauses[clause] = numbers[first:at]
            # What stands between two clauses, a comment perhaps, goes with the second one.
            nodes.append((before, words[at + 2].end(), clause + 1 + len(inner)))
            nodes += [(*span, clause + 2 + n) for n, span in enumerate(inner)]
            before, first = words[at + 2].end(), at + 1
        start, end, stop = (array("i", each) for each in zip(*nodes, strict=True))
        stop[0] = len(nodes)
        self.document = Document(text, start, end, stop, b" \t\r\n")
        self.variables = sorted({abs(each) for clause in self.clauses.values() for each in clause})
        self.literals = sum(map(len, self.clauses.values()))

    def head(self, variables: int, clauses: int) -> Edit:
        """Return the edit of the header."""
        return Edit(1, (b"p cnf %d %d" % (variables, clauses),))

    def renamed(self, names: Mapping[int, int], what: str) -> Change:
        """Return the change that gives variables other names."""
        edits = [self.head(max(names.values()), len(self.clauses))]
        for clause, literals in self.clauses.items():
            for node, each in enumerate(literals, clause + 1):
                name = names[each] if each > 0 else -names[-each]
                if name != each:
                    edits.append(Edit(node, (b"%d" % name,)))
        return Change(tuple(edits), what)


class _DropClauses(IndependentItems):
    """Clauses as items; the header counts those that are left."""

    def __init__(self, view: View) -> None:
        self.view, self.nodes = view, list(view.clauses)
        self.weights: Sequence[int] = [1 + len(each) for each in view.clauses.values()]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        head = self.view.head(self.view.header[0], len(self.nodes) - len(chosen | taken))
        return Change((head, *(Edit(self.nodes[item], ()) for item in chosen)), "drop clauses")


class _MergeVariables(IndependentItems):
    """Variables, without the first: a merged one becomes the next smaller one that stays."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.weights: Sequence[int] = [1] * (len(view.variables) - 1)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        names, stays = {}, 0
        for item, variable in enumerate(self.view.variables, -1):
            stays = names[variable] = stays if item in chosen or item in taken else variable
        return self.view.renamed(names, "merge variables")


def _drop_literals(view: View) -> Items | None:
    nodes = [at + 1 + n for at, clause in view.clauses.items() for n in range(len(clause))]
    return independent([Change((Edit(node, ()),), "drop literals") for node in nodes])


def _rename(view: View) -> Items | None:  # to 1, 2, 3, ...: one item, as it means the same
    names = {variable: at for at, variable in enumerate(view.variables, 1)}
    return independent([view.renamed(names, "rename variables")] if names else [])


Pass = namedtuple("Pass", "name problem")  # `problem` says what there is to search in a View


class Cnf(Frontend):
    """The frontend that the entry point names."""

    name, title, suffix, strict = "plain-cnf", "a DIMACS CNF file", ".sat", True

    def parse(self, text: bytes) -> View:
        """Read a file."""
        return View(text)

    def schedule(self, passes: Passes) -> Schedule:
        """Return the passes, repeated while any of them helps."""
        clauses = Pass("clauses", lambda view: _DropClauses(view) if view.clauses else None)
        merges = Pass("merges", lambda view: _MergeVariables(view) if view.variables[1:] else None)
        return Schedule((clauses, Pass("literals", _drop_literals), merges, Pass("names", _rename)))

    def order(self, text: bytes) -> tuple[object, ...]:
        """A text whose header is wrong is greater than all others, so it is never a result."""
        view = View(text)
        wrong = view.header[0] < max([0, *view.variables]) or view.header[1] != len(view.clauses)
        return wrong, view.literals, len(view.variables), len(text), text

    def measure(self, view: View) -> Mapping[str, int]:
        """Count what the summary shows."""
        return {"clauses": len(view.clauses), "literals": view.literals}


@dataclass(frozen=True)
class _OneByOne(Selector):
    left: tuple[int, ...]

    def propose(self) -> Collection[int] | None:
        return self.left[-1:] or None

    def after(self, taken: Collection[int]) -> "_OneByOne":
        return _OneByOne(tuple(item for item in self.left[:-1] if item not in taken))


def _search(items: Items) -> Selecting:
    """Try items one at a time, from the last to the first."""
    return Selecting(items, _OneByOne(tuple(range(len(items.weights)))))


one_by_one = Strategy("one-by-one", _search, lambda tree: top_down(tree, _search))
