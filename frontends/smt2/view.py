"""A parsed script, and what is found out about it, each when first asked for."""

from __future__ import annotations

from array import array
from dataclasses import replace
from functools import cached_property

from reducekit.document import Document
from reducekit.frontends.smt2.commands import Commands, Links, read_commands
from reducekit.frontends.smt2.script import Script, analyse
from reducekit.frontends.smt2.terms import Terms


class ScriptView:
    """A script as the passes see it."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @cached_property
    def commands(self) -> Commands:
        """The commands and what they define and use, by name."""
        return read_commands(self.document)

    @cached_property
    def scoped_commands(self) -> Commands:
        """The commands and what they use, by what each name means where it stands."""
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
        """Scopes, references and sorts of all terms."""
        return analyse(self.document)

    @cached_property
    def terms(self) -> Terms:
        """What is needed to build changes of terms."""
        return Terms(self.script)
