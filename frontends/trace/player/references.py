"""Which other solver checks the answers of an API: a library for SAT, a command for SMT."""

from __future__ import annotations

import shutil
from contextlib import ExitStack

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats.convert import names_of
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player.answers import AnswerChecker
from reducekit.frontends.trace.player.checker import Checker
from reducekit.frontends.trace.player.libraries import Library, find_library
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.frontends.trace.player.smt_answers import SmtAnswerChecker
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits

Reference = Library | Command
_SOLVERS = ("z3", "cvc5")


def reference_for(api: str, library: str | None, choice: str | None = None) -> Reference | None:
    """Return the solver that answers of an API are compared with, other than the one under test.

    `library` is the choice of that one, `choice` of the solver to return. None: answers of the API
    cannot be checked. Raises UsageError if no other solver is installed.
    """
    if names_of(api):
        own = library or {"ipasir": "cadical195", "lingeling": ""}.get(api, "cadical195")
        return find_library("ipasir", choice or ("cadical153" if own == "cadical195" else None))
    if not any(call.smt for call in load_model(api).calls.values()):
        return None
    if choice is not None:
        return Command.of(choice)
    for name in _SOLVERS:
        if name != api and shutil.which(name) is not None:
            return Command.of(name)
    raise UsageError(f"neither {' nor '.join(_SOLVERS)} is in PATH")


def checker_of(
    api: str, reference: Reference, server: ReplayServer, limits: Limits, stack: ExitStack
) -> Checker:
    """Return what checks answers that a server gives; the stack closes the other solver."""
    if isinstance(reference, Command):
        return SmtAnswerChecker(load_model(api), reference, limits, stack)
    return AnswerChecker(api, server, stack.enter_context(ReplayServer(reference)), limits)


def opened_checker(
    api: str, choice: str | None, server: ReplayServer, limits: Limits, stack: ExitStack
) -> Checker | None:
    """Return what checks answers that a server gives; None if it cannot be done here.

    `choice` is that of the library under test. The stack closes the other solver.
    """
    try:
        reference = reference_for(api, choice)
    except UsageError:
        return None
    return None if reference is None else checker_of(api, reference, server, limits, stack)
