"""Passes chosen by name, and a result that is laid out."""

import pytest

from reducekit import registry
from reducekit.frontends.smt2 import Smt2
from reducekit.reduction import PassChoice
from tests.cli.inprocess import Shell, shell

pytestmark = pytest.mark.reduction

__all__ = ["shell"]

SCRIPT = """\
(set-logic QF_LIA)
(declare-fun a () Int)
(declare-fun b () Int)
(assert (and (> a 1) (< b (+ a 7 b)) (= (+ a b) 12) (distinct a b (* 2 a) (* 3 b)) (>= a b)))
(check-sat)
"""


def test_names_that_there_are_not(shell: Shell) -> None:
    assert "unknown format 'smt3'; known: aiger, btor" in shell("passes", "smt3").err
    shell.write("in.smt2", SCRIPT)
    done = shell("smt2", "in.smt2", "--oracle", "true", "--only", "commads")
    assert done.code == 2
    assert "--only: unknown pass 'commads'. Did you mean 'commands'?" in done.err
    done = shell("text", "in.smt2", "--oracle", "true", "--only", "tokens", "--without", "Tokens")
    assert "--only and --without exclude every pass" in done.err


def test_only_and_without(shell: Shell) -> None:
    shell.write("in.smt2", SCRIPT)
    shell.script("test.sh", "grep -q distinct $1 && grep -q 'a ()' $1")
    assert shell("smt2", "in.smt2", "--oracle", "./test.sh", "--only", "commands", "-q").code == 0
    assert shell.read("in.reduced.smt2").splitlines() == SCRIPT.splitlines()[1:4]
    history = shell("history", "in.reduced.smt2").out
    assert " commands  drop commands" in history
    assert "layout" not in history
    done = shell("smt2", "in.smt2", "--oracle", "./test.sh", "--without", "Commands", "-q")
    assert done.code == 0
    assert "of another run" in done.err or done.err == ""
    history = shell("history", "in.reduced.smt2").out
    assert "layout" in history or "graph" in history
    assert " commands  drop" not in history


def test_blanks_and_dashes_are_the_same() -> None:
    schedule = registry.frontend("btor").schedule("own")
    chosen = PassChoice(("ALL-widths", "short_cuts")).of(schedule)
    assert [each.name for each in chosen.once] == ["short-cuts", "all widths"]
    assert not chosen.rounds


def test_pretty(shell: Shell) -> None:
    shell.write("in.smt2", SCRIPT)
    shell.script("test.sh", "tr '\\n' ' ' < $1 | grep -q 'and.*distinct' && grep -q check-sat $1")
    arguments = ("smt2", "in.smt2", "--oracle", "./test.sh", "--only", "layout")
    assert shell(*arguments, "--pretty", "-q").code == 0
    assert shell.read("in.reduced.smt2") == (
        "(set-logic QF_LIA)\n(declare-fun a () Int)\n(declare-fun b () Int)\n"
        "(assert\n  (and\n    (> a 1)\n    (< b (+ a 7 b))\n    (= (+ a b) 12)\n"
        "    (distinct a b (* 2 a) (* 3 b))\n    (>= a b)))\n(check-sat)\n"
    )
    # It is run in that form before it is written.
    shell.script("test.sh", "grep -q 'and.*distinct' $1")
    done = shell(*arguments, "--pretty", "--restart")
    assert "the pretty-printed result does not fail; keeping the original layout" in done.err
    assert shell.read("in.reduced.smt2") == SCRIPT


def test_pretty_keeps_the_tokens_and_is_linear() -> None:
    text = b'(echo "a  b\n c")(assert (let ((|x  y| 1) (z 2)) (= |x  y| z)))(exit)'
    assert Smt2().pretty(text) == (
        b'(echo "a  b\n c")\n(assert (let ((|x  y| 1) (z 2)) (= |x  y| z)))\n(exit)\n'
    )
    deep = b"(assert " + b"(not " * 50_000 + b"true" + b")" * 50_001
    laid_out = Smt2().pretty(deep)
    assert len(laid_out) < 60 * 50_000
    assert laid_out.split() == Smt2().pretty(laid_out).split()


def test_each_pass_on_clauses_says_what_it_does(shell: Shell) -> None:
    lines = [
        each.split("  ") for each in shell("passes", "cnf").out.splitlines() if each[:1] == " "
    ]
    said = [words[-1].strip() for words in lines]
    assert "Drops clauses, and lists of variables" in said
    names = {words[1] for words in lines}  # a pass may stand in two stages
    assert len(set(said)) == len(names) > 10
