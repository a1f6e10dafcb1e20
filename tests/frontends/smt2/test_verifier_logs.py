"""Logs of verifiers: thousands of queries, each in a scope of its own with names of its own."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from reducekit.api import reduce
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.drop import ScopeItems, blocks
from tests.cli.conftest import tool
from tests.cli.tool import Tool
from tests.raw_logs import TOOLS
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


PAGE = (CHECKOUT / "docs" / "verifiers.md").read_text(encoding="utf-8")
COMMANDS = {
    words.partition(".")[0].removeprefix("smt2 "): words
    for words in re.findall(r"^    reducekit (smt2 .*)$", PAGE, re.MULTILINE)
}


MORE = ("silicon", "verus")
"""Logs of these two are much like the others: CI leaves them out."""


def test_the_document_has_a_command_for_each_tool() -> None:
    assert set(COMMANDS) == set(TOOLS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name in MORE)) for name in TOOLS],
)
def test_from_the_raw_log_to_its_axioms(tool: Tool, name: str) -> None:
    (tool.folder / "z3").symlink_to(z3("4.8.5.0"))
    tool.environment["PATH"] = f"{tool.folder}{os.pathsep}{os.environ['PATH']}"
    text = "".join(f"{line}\n" for line in TOOLS[name](60))
    assert text.count("(push") >= 60
    tool.write(f"{name}.smt2", text)
    done = tool(*shlex.split(COMMANDS[name]), "--json")
    assert done.code == 0, done.err
    result = (tool.folder / f"{name}.reduced.smt2").read_text()
    assert result.count("(check-sat)") == 1
    assert "push" not in result
    assert 2 <= result.count("(assert") <= 3
    assert result.count("forall") == 1
    assert "(at (join x y) i)" in result
    report = json.loads(done.out)
    assert "item_of_join" in str(report["left"]) or "Listsdfy.15:9" in str(report["left"])
    assert not report["changed"], "an error of `eval` or an option may go with its command"


@pytest.mark.slow
def test_a_raw_log_of_fstar_is_answered_in_spite_of_its_errors(tool: Tool) -> None:
    solver = z3("4.8.5.0")
    tool.write("log.smt2", "".join(f"{line}\n" for line in TOOLS["fstar"](4)))
    given = ["smt2", "log.smt2", "--cmd", f"{solver} sat.random_seed={{seed}}", "--unstable", "8"]
    done = tool(*given)
    assert done.code == 1
    assert "of 8 runs at least 1 answer and 1 do not; 0 were answered, 8 were not" in done.err
    assert "all 8 answered unsat, unknown" in done.err
