"""Chains of writes and array conditionals become shorter, reads see through them."""

from __future__ import annotations

from reducekit.frontends.btor.model.dag import Array
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.redirections import Redirections


class Chains:
    """The pass over writes and array conditionals, each to become an array it is made of.

    A read of a write may also become the value that was written. Any run of a chain goes in
    one step: a search over items halves long ones.
    """

    name = "chains"

    def problem(self, view: BtorView) -> Redirections | None:
        """Return the links of chains."""
        dag = view.dag
        steps: list[tuple[int, int]] = []
        further: list[tuple[int, int]] = []
        for line, code in enumerate(dag.op):
            if code == Op.WRITE:
                source = dag.arguments(line)[0]
                if dag.sort[source] == dag.sort[line]:
                    steps.append((line, source))
            elif code == Op.ITE and isinstance(dag.sorts[dag.sort[line]], Array):
                _, yes, no = dag.arguments(line)
                for each, into in ((yes, steps), (no, further)):
                    if dag.sort[each] == dag.sort[line]:
                        into.append((line, each))
            elif code == Op.READ:
                source = dag.arguments(line)[0]
                if dag.op[source] == Op.WRITE:
                    further.append((line, dag.arguments(source)[2]))
        found = [*further, *steps]
        return Redirections(view, found, "shorten chains") if found else None
