"""Logs of verifiers: thousands of queries, each in a scope of its own with names of its own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from reducekit.api import reduce
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.passes.scopes import ScopeItems, blocks
from reducekit.frontends.smt2.view import ScriptView
from tests.cli.conftest import tool
from tests.cli.tool import Tool
from tests.solvers import z3
from tests.verifier_log import log

__all__ = ["tool"]

CHECKOUT = Path(__file__).resolve().parents[3]


def fails(text: bytes) -> bool:
    """Return whether all queries are proved, the expensive one too, and no name clashes.

    This is what `--match-out '^unknown'` with few steps and `--also-match` with many ask for.
    """
    document = parse(text)
    scopes: list[tuple[set[bytes], list[bytes]]] = [(set(), [])]
    expensive = False
    for node in document.children(0):
        head, *words = (document.source(each) for each in document.children(node))
        if head == b"push":
            scopes.append((set(), []))
        elif head == b"pop":
            if len(scopes) == 1:
                return False
            scopes.pop()
        elif head.startswith(b"declare-"):
            if any(words[0] in names for names, _ in scopes):
                return False  # declared twice
            scopes[-1][0].add(words[0])
        elif head == b"assert":
            scopes[-1][1].append(words[0])
        elif head == b"check-sat":
            goals = [term for _, terms in scopes for term in terms if term.startswith(b"(not ")]
            if not goals:
                return False  # not proved
            expensive |= any(b"(at a 5)" in goal for goal in goals)
    return expensive


@pytest.mark.parametrize(
    ("queries", "checks"), [(50, 23), pytest.param(2000, 27, marks=pytest.mark.slow)]
)
def test_the_failing_query_is_found_in_a_logarithm_of_checks(queries: int, checks: int) -> None:
    # Without the pass, 50 queries take 172 checks, and 200 take 504.
    report = reduce(
        log(queries, queries * 6 // 10).encode(),
        fails,
        only=["layout", "blocks", "commands", "scopes"],
    )
    assert b"(push 1)" not in report.text
    assert report.text.count(b"(assert") == 1
    assert report.counts.checks == checks


NESTED = b"""(push 1)
(declare-const a Int)
(push 1)
(assert (> a 0))
(pop 1)
(assert (> a 1))
(pop 1)
(push 2)
(pop 2)
(push 1)
(check-sat)
"""


def test_a_scope_goes_with_those_inside_it() -> None:
    view = ScriptView(parse(NESTED))
    items = ScopeItems(view.document, view.commands)
    assert [len(nodes) for nodes in items.nodes] == [4, 3, 2]  # the last one stays open
    assert items.close(frozenset({0}), frozenset()).required == {1}
    assert items.close(frozenset({0}), frozenset({1})).required == frozenset()
    assert items.close(frozenset({2}), frozenset()).required == frozenset()
    assert len(items.change(frozenset({0, 1}), frozenset()).edits) == 7
    assert blocks.problem(view) is None, "few scopes: the pass *scopes* tries each"
    assert blocks.problem(ScriptView(parse(4 * NESTED))) is not None


@pytest.mark.slow
def test_the_command_of_the_document(tool: Tool) -> None:
    text = (CHECKOUT / "docs" / "verifiers.md").read_text(encoding="utf-8")
    words = re.search(r"^    reducekit (smt2 .*)$", text, re.MULTILINE)
    assert words is not None
    tool.write("log.smt2", log(20, 12))
    done = tool(*shlex.split(words[1].replace("'z3 ", f"'{z3('4.8.5.0')} ")), "-q")
    assert done.code == 0, done.err
    result = (tool.folder / "log.reduced.smt2").read_text()
    assert "(at a 5)" in result
    assert result.count("(check-sat)") == 1
