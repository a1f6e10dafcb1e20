"""Simplifies commands that ask for more than the satisfiability of all asserts."""

from __future__ import annotations

from collections.abc import Iterator

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.view import ScriptView
from reducekit.passes import pass_

_CHECKS = frozenset(b"check-sat-assuming check-sat-using check-sat-assuming-model".split())
_ASSERTS = frozenset(b"assert-soft query rule constraint assume".split())


@pass_("queries")
def queries(view: ScriptView) -> Iterator[Change]:
    """Replaces variants of `check-sat` and `assert` by the plain commands."""
    # One change each, not one for all: which of several queries fails is not known, and a plain
    # one in its place asks something else.
    document, script = view.document, view.script
    for node in view.commands.nodes:
        name = head_of(document, node)
        children = list(document.children(node))
        if name in _CHECKS:
            yield Change((Edit(node, (b"(check-sat)",)),), "check-sat")
        elif name in _ASSERTS and len(children) > 1 and script.sort[children[1]] == "Bool":
            template = (b"(assert ", children[1], b")")
            yield Change((Edit(node, template),), "assert")
