"""Shared by the passes on single lines: texts of references, unused lines, redirections."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.dag import ROOTS, Dag, line_of
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.search.problem import NOTHING, Closure, Items, Selection

_LASTING = frozenset({*map(int, ROOTS), int(Op.SORT)})
_BELONGING = frozenset({int(Op.INIT), int(Op.NEXT)})


def word(view: BtorView, reference: int) -> bytes:
    """Return how a reference is written."""
    return view.ids[reference] if reference >= 0 else b"-" + view.ids[~reference]


def dropped(view: BtorView, lines: Iterable[int]) -> list[Edit]:
    """Return the edits that drop lines."""
    return [Edit(view.line_nodes[line], ()) for line in lines]


def belonging(view: BtorView, line: int) -> list[int]:
    """Return the `init` and `next` lines of a state or variable."""
    dag = view.dag
    return [
        user
        for user in view.users[line]
        if dag.op[user] in _BELONGING and dag.arguments(user)[0] == line
    ]


def _foreign_users(view: BtorView, line: int) -> int:
    """Count the users of a line, apart from its own init and next."""
    return sum(not _belongs(view.dag, each, line) for each in view.users[line])


def idle(view: BtorView, gone: Collection[int], kept: Collection[int] = ()) -> list[int]:
    """Return the lines that become unused when the lines `gone` are removed.

    Lines used only by unused lines are unused, too. So is a state, with its `init` and `next`,
    if these are its last users. Lines in `kept` (they get new users), roots and sorts are not.
    """
    dag = view.dag
    out = set(gone)
    found: list[int] = []
    left: dict[int, int] = {}  # users that stay, apart from the line's own init and next
    work = list(out)
    while work:
        user = work.pop()
        for line in set(map(line_of, dag.arguments(user))):
            if line in out:
                continue
            if line not in left:
                left[line] = _foreign_users(view, line)
            left[line] -= not _belongs(dag, user, line)
            if left[line] or line in kept or dag.op[line] in _LASTING:
                continue
            for each in (line, *belonging(view, line)):
                if each not in out:
                    out.add(each)
                    found.append(each)
                    work.append(each)
    return sorted(found)


def below_inits(dag: Dag) -> bytearray:
    """Mark the lines below an `init` value, which must not contain an input."""
    marks = bytearray(len(dag))
    work = [line_of(dag.arguments(line)[1]) for line in dag.lines_of(Op.INIT)]
    while work:
        line = work.pop()
        if not marks[line]:
            marks[line] = 1
            work += [line_of(each) for each in dag.arguments(line)]
    return marks


class Redirections(Items):
    """Replacements of lines by others, as items; a replaced line is removed.

    Each of `steps` is a line and its replacement, a reference of the same sort to a line above
    it. If several steps for a line are taken, the last one counts and the earlier ones are
    orphaned. If the replacement is itself replaced, users follow. `weights` are 1, as each step
    removes one node.
    """

    def __init__(self, view: BtorView, steps: Sequence[tuple[int, int]], what: str) -> None:
        self.view = view
        self.steps = steps
        self.what = what
        self.weights: Sequence[int] = [1] * len(steps)
        self._items: dict[int, list[int]] = {}
        for item, (line, _) in enumerate(steps):
            self._items.setdefault(line, []).append(item)

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        alike = {
            item for each in chosen for item in self._items[self.steps[each][0]] if item < each
        }
        return Closure(NOTHING, alike - set(chosen) - set(taken))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the edits of all steps that are chosen or taken.

        Lines that were unused and are needed again are restored.
        """
        _, before = self._edits(self._meaning(taken))
        edits, gone = self._edits(self._meaning([*taken, *chosen]))
        nodes = self.view.line_nodes
        back = [Edit(nodes[line], (nodes[line],)) for line in sorted(before - gone)]
        return Change((*edits, *back, *dropped(self.view, sorted(gone))), self.what)

    def _meaning(self, items: Collection[int]) -> dict[int, int]:
        """Return the replacement of each line; the last step of a line counts."""
        meaning: dict[int, int] = {}
        for item in sorted(items, reverse=True):
            line, target = self.steps[item]
            meaning.setdefault(line, target)
        return meaning

    def _edits(self, meaning: Mapping[int, int]) -> tuple[list[Edit], set[int]]:
        """Return the edits of users, and all removed lines."""
        view, dag = self.view, self.view.dag
        gone = set(meaning)
        for line in meaning:
            gone.update(belonging(view, line))
        edits: list[Edit] = []
        kept: set[int] = set()
        for line in meaning:
            for user in view.users[line]:
                if user in gone:
                    continue
                for position, each in enumerate(dag.arguments(user)):
                    if line_of(each) == line:
                        found = _resolved(each, meaning)
                        kept.add(line_of(found))
                        node = view.argument_node(user, position)
                        edits.append(Edit(node, (word(view, found),)))
        gone.update(idle(view, gone, kept))
        return edits, gone


def _resolved(reference: int, meaning: Mapping[int, int]) -> int:
    """Follow a reference to its final replacement. Each step leads up, so this terminates."""
    while (line := line_of(reference)) in meaning:
        reference = meaning[line] if reference >= 0 else ~meaning[line]
    return reference


def _belongs(dag: Dag, user: int, line: int) -> bool:
    """Return whether a user is only the `init` or `next` of a state."""
    return dag.op[user] in _BELONGING and dag.arguments(user)[0] == line
