"""`reducekit isolate`, as it is typed."""

from __future__ import annotations

from tests.cli.tool import Tool

GOOD = "(declare-const x Int)\n(assert (> x 1))\n(assert (< x 9))\n(check-sat)\n"
BAD = "(declare-const x Int)\n(assert (>= x 2))\n(assert (< x 9))\n(push 1)\n(check-sat)\n"


def test_the_difference_that_is_needed(tool: Tool) -> None:
    tool.write("good.smt2", GOOD)
    path = tool.write("bad.smt2", BAD)
    done = tool("isolate", path, "--baseline", "good.smt2", "--oracle", "grep -q '>='")
    assert done.code == 0, done.err
    assert path.with_name("bad.reduced.smt2").read_text() == GOOD.replace("(> x 1)", "(>= x 1)")
    assert "changes" in done.out
    assert "what is left of the difference:" in done.err
    assert "\n-(assert (> x 1))\n+(assert (>= x 1))\n" in done.err


def test_what_it_cannot_do_without(tool: Tool) -> None:
    path = tool.write("bad.smt2", BAD)
    done = tool("isolate", path, "--oracle", "true")
    assert done.code == 2
    assert "Missing option '--baseline'" in done.err
    tool.write("good.smt2", GOOD)
    done = tool("isolate", path, "--baseline", "good.smt2", "--oracle", "grep -q assert")
    assert done.code == 1
    assert (
        "the baseline fails in the same way (the test accepts the file): give one that passes"
        in (done.err)
    )
    done = tool("isolate", path, "--baseline", "none.smt2", "--oracle", "true")
    assert done.code == 2
    assert "none.smt2" in done.err
