"""A parsed script, with analyses that are computed on first use."""

from __future__ import annotations

from array import array
from dataclasses import replace
from functools import cached_property

from reducekit.document import Document
from reducekit.frontends.smt2.language.commands import Commands, Links, read_commands
from reducekit.frontends.smt2.language.script import Script, analyse
from reducekit.frontends.smt2.language.terms import Terms


class ScriptView:
    """A script, as seen by the passes."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @cached_property
    def commands(self) -> Commands:
        """The commands with their definitions and uses, by name only."""
        return read_commands(self.document)

    @cached_property
    def scoped_commands(self) -> Commands:
        """The commands with their uses, resolved by scope."""
        script, commands = self.script, self.commands
        used, ends = array("i"), array("i", [0])
        homes = [script.command_of(each.node) for each in script.definitions]
        for index, node in enumerate(commands.nodes):
            refs = script.refs[node : self.document.stop[node]]
            used.extend(sorted({homes[each] for each in set(refs) if each >= 0} - {index}))
            ends.append(len(used))
        uses = Links(ends, used)
        return replace(commands, users=uses.reversed(len(commands.nodes)), uses=uses)

    @cached_property
    def script(self) -> Script:
        """The scopes, references and sorts of all terms."""
        return analyse(self.document)

    @cached_property
    def terms(self) -> Terms:
        """The facts needed to build changes of terms."""
        return Terms(self.script)
