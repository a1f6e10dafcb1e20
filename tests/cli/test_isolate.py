"""`reducekit isolate`, as it is typed."""

import json

import pytest

from tests.cli.tool import Tool

pytestmark = pytest.mark.reduction

GOOD = "(declare-const x Int)\n(assert (> x 1))\n(assert (< x 9))\n(check-sat)\n"
BAD = "(declare-const x Int)\n(assert (>= x 2))\n(assert (< x 9))\n(push 1)\n(check-sat)\n"


def test_the_difference_that_is_needed(tool: Tool) -> None:
    tool.write("good.smt2", GOOD)
    path = tool.write("bad.smt2", BAD)
    done = tool.ok("isolate", path, "--baseline", "good.smt2", "--oracle", "grep -q '>='")
    left, passing = ((path.with_name(f"bad.reduced{each}.smt2")) for each in ("", ".passing"))
    assert left.read_text() == passing.read_text().replace("(> x", "(>= x")
    assert "changes" in done.out
    assert f"the nearest file that passes is {passing}" in done.err
    assert "remaining difference:" in done.err
    assert "\n-(assert (> x 1))\n+(assert (>= x 1))\n" in done.err


def test_a_status_that_is_no_answer(tool: Tool) -> None:
    """The test cannot judge a file that has one of two changes only, and says so by 125."""
    tool.write("good.smt2", GOOD)
    path = tool.write("bad.smt2", BAD)
    test = tool.script(
        "test.sh",
        'new() { grep -q \'>=\' "$1"; }; push() { grep -q push "$1"; }\n'
        'if new "$1"; then push "$1" || exit 125; else ! push "$1" || exit 125; exit 1; fi\n',
    )
    words = ("isolate", path, "--baseline", "good.smt2", "--oracle", test)
    part = tool(*words, "--unresolved", "125", "--max-checks", "1")
    assert part.code == 5, part.err
    done = tool.ok(*words, "--unresolved", "125", "--json")
    left, passing = ((path.with_name(f"bad.reduced{each}.smt2")) for each in ("", ".passing"))
    assert left.read_text() == BAD
    assert passing.read_text() == GOOD.replace("x 1", "x 2")
    again = tool(*words, "--unresolved", "125", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["checks"] == json.loads(done.out)["checks"]
    assert not (tool.folder / "bad.reduced.passing.1.smt2").exists()
    # Without, it moves to a file that the test could not judge.
    done = tool.ok(*words, "--restart")
    assert ">= x 2" in passing.read_text()
    assert (tool.folder / "bad.reduced.passing.1.smt2").read_text() != passing.read_text()
    assert "push" not in passing.read_text()


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
