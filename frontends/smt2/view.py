"""A parsed script, and what is found out about it, each when first asked for."""

from __future__ import annotations

from functools import cached_property

from reducekit.document import Document
from reducekit.frontends.smt2.commands import Commands, read_commands
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
    def script(self) -> Script:
        """Scopes, references and sorts of all terms."""
        return analyse(self.document)

    @cached_property
    def terms(self) -> Terms:
        """What is needed to build changes of terms."""
        return Terms(self.script)
