"""Passes: what may be changed in a text.

How to write a pass
===================

A reduction asks each pass what may be changed in the present text, searches that with an algorithm
which knows nothing of the format, and runs the user's test on the candidates. A pass is only the
first of these: a pure function from a parsed text (a `View`) to a list of changes. It runs nothing,
sees no verdict, and keeps nothing between two texts. A small one is a few lines:

    @pass_("comments")
    def drop_comments(view: MyView) -> Iterator[Change]:
        \"\"\"Removes comments.\"\"\"
        for node in view.comments:
            yield Change((Edit(node, ()),), "drop comment")

It appears in `reducekit passes FORMAT` and in `--only` once it stands in the frontend's `schedule`.

1. Progress is the frontend's, not the pass's
---------------------------------------------

Only a text that is strictly smaller in `Frontend.order` is accepted, and that order has no infinite
descent. So every reduction ends, whatever passes propose, in whatever order, and two passes that
undo each other cannot go on for ever: one of the two steps is upward and is refused before it runs.
Do not build a measure of progress into a pass. Do ask which step of the order a change makes
smaller: a pass whose changes are all upward costs the rendering of each and gains nothing.

Two exceptions are explicit. A pass in `Schedule.prepare` may make the text larger for a while (see
`reduction/best.py`: it is a transaction that is rolled back if it does not pay). A change that is a
`probe` is asked about and never accepted as it is.

2. List changes; do not loop
----------------------------

A loop "while something helps" in a pass would fix the algorithm, run one candidate at a time, and
hide from the search what is still to come. A list leaves all three open:

- The strategy groups the changes. Where 10 of 10,000 are needed, binary splitting takes in the
  order of 10 log2(1000) = 100 checks, a loop 10,000.
- Several workers take different parts of it, and changes found side by side are merged
  (`search/merging.py`), since each is a set of edits to the same document.
- The candidate after a failure is known before the verdict is, so it can run already.

A change describes edits to the text as it was parsed, never to the result of another change of the
list. What others have taken by then is passed to `Items.change` as `taken`. If a success opens up
what was not there before, do not look for it: the text is parsed again, and the pass is asked again
in the next round. So a single call need not reach a fixpoint.

3. Carry along what the change needs
------------------------------------

A candidate that the program under test cannot read is a check spent on nothing, and no search can
guess what was missing. So a change leaves a valid text, alone and with any others of its list:

- what requires it goes too: the users of a declaration, the `pop` of a `push`
  (`Closure.required`);
- what has lost its purpose may go too: a declaration whose last user goes (`Closure.orphaned`);
  the search tries without it if the whole fails;
- what counts others is updated: the header of a DIMACS file belongs to each removed clause.

Independent changes need none of this: yield them. Where items require each other, return `Items`
with their `close`. Where a change can only be tried if one further up failed, return a `Tree`: the
subterms of a term that could go as a whole need not be looked at. `Graph` is a tree in which a node
has several parents; `FixedSearch` is for the rare pass with an algorithm of its own.

4. Cheap to ask, and the same each time
---------------------------------------

`problem` is called for each new text, also where the pass finds nothing. List positions, and build
a change in `Items.change` when it is needed: ten million edits fill the memory, ten million numbers
do not. Never depend on time, on a `set`'s order, or on a global random generator: the same input
has to give the same result on any machine, and `--resume` relies on it. Inputs nest a million deep:
use a stack, not recursion.

5. Order changes by what they save
----------------------------------

Large before small, and backward where things are defined before they are used: users fall before
what they use, so that nothing is refuted that would succeed later (`strategies/adaptive.py`). Put
first, in the schedule, what takes away most for the fewest checks. Put last what considers single
characters or pairs: there are few left then. A change that rewrites much of the text, such as
renaming, belongs before the rounds: changes that were refuted are remembered by their surroundings
(`reduction/skips.py`), and would all have to be refuted again.

6. What makes a pass worth its place
------------------------------------

It finds what no other pass finds on some input, or the same for fewer checks. Measure both
(`python -m benchmarks.frozen`), on inputs for which it was not written: a pass that helps one of a
hundred inputs still costs the others its refuted candidates in each sweep.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from reducekit.change import Change
from reducekit.document import Document
from reducekit.search.problem import Problem, independent


class View(Protocol):
    """A parsed text, with whatever a frontend finds out about it."""

    @property
    def document(self) -> Document:
        """The text and its nodes."""


class Pass(Protocol):
    """One kind of change over a whole text. Says what may be changed; neither searches nor runs."""

    @property
    def name(self) -> str:
        """A short name, unique within the frontend."""

    def problem(self, view: Any) -> Problem | None:
        """Return what there is to search in a text of the frontend; None if nothing is."""


Found: TypeAlias = Problem | Iterable[Change] | None
"""What there is to search in a text: changes that are independent of each other, or a problem."""


@dataclass(frozen=True, slots=True)
class FunctionPass:
    """A pass made of a function by `pass_` or `when`."""

    name: str
    help: str
    """What it does; `reducekit passes` prints the first sentence."""
    find: Callable[[Any], Found]
    applies: Callable[[Any], bool]

    def problem(self, view: Any) -> Problem | None:
        """Return what the function finds."""
        found = self.find(view) if self.applies(view) else None
        return found if found is None or isinstance(found, Problem) else independent([*found])


def pass_(
    name: str, applies: Callable[[Any], bool] = lambda view: True
) -> Callable[[Callable[[Any], Found]], FunctionPass]:
    """Make a pass of the decorated function, for texts to which it `applies`.

    The function yields changes that can be made in any combination, or returns a `Problem` where
    some require others. Its docstring is the help.
    """
    return lambda find: FunctionPass(name, find.__doc__ or "", find, applies)


def when(applies: Callable[[Any], bool], *passes: Pass) -> tuple[Pass, ...]:
    """Return passes that find something only in texts to which they apply."""
    return tuple(FunctionPass(each.name, help_of(each), each.problem, applies) for each in passes)


def help_of(each: Pass) -> str:
    """Return what a pass says of itself: its help, or the docstring of its class."""
    return inspect.cleandoc(getattr(each, "help", type(each).__doc__) or "")
