"""`reducekit report` and `history --plot`, on journals of real runs."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from tests.cli.tool import Tool

pytestmark = pytest.mark.reduction

SCRIPT = "(set-logic ALL)\n" + "".join(f"(assert (= {n} {n}))\n" for n in range(40)) + "(exit)\n"


@pytest.fixture
def reduced(tool: Tool) -> Tool:
    tool.write("in.smt2", SCRIPT)
    tool.ok("smt2", "in.smt2", "--oracle", "grep -q 17")
    return tool


@pytest.mark.slow
def test_the_report_stands_beside_the_output(reduced: Tool) -> None:
    done = reduced("report", "in.reduced.smt2")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("in.reduced.smt2.html: ")
    html = (reduced.folder / "in.reduced.smt2.html").read_text()
    assert f"<b>{len(SCRIPT):,}</b>bytes before" in html
    assert "<td>commands</td>" in html
    assert len(html) < 150_000
    assert reduced("report", "in.reduced.smt2.journal", "-o", "-").out == html


def test_of_a_stopped_run_too(tool: Tool) -> None:
    tool.write("in.smt2", SCRIPT)
    stopped = tool("smt2", "in.smt2", "--oracle", "grep -q 17", "--max-checks", "1")
    assert stopped.code == 5
    assert "after 1 check;" in " ".join(stopped.out.split())
    done = tool("report", "in.reduced.smt2", "-o", "-")
    assert '<p class="quiet">' in done.out
    assert "The search finished" not in done.out


@pytest.mark.slow
def test_the_issue_text_has_the_solver_s_version(tool: Tool) -> None:
    solver = tool.folder / "boolector"
    solver.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 3.2.9 && exit\n'
        'grep -q 17 "$1" && echo "boolector: assertion x failed" >&2 && kill -6 $$\nexit 0\n'
    )
    solver.chmod(0o755)
    tool.write("in.smt2", SCRIPT)
    assert tool("smt2", "in.smt2", "--cmd", str(solver)).code == 0
    done = tool("report", "in.reduced.smt2", "--issue")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# boolector: signal SIGABRT")
    assert "Version: 3.2.9" in done.out
    assert "boolector: assertion x failed" in done.out
    assert "<dd><code>3.2.9</code></dd>" in tool("report", "in.reduced.smt2", "-o", "-").out


def test_it_counts_checks_as_the_summary_does(tool: Tool) -> None:
    """Not the look-ahead, and not the empty file."""
    tool.write("in.smt2", SCRIPT)
    done = tool("smt2", "in.smt2", "--oracle", "grep -q 17", "--jobs", "2", "--json")
    checks = json.loads(done.out)["checks"]
    assert f"({checks:,} checks)" in tool("report", "in.reduced.smt2", "--issue").out


@pytest.mark.slow
def test_an_issue_has_the_numbers_that_were_printed(tool: Tool) -> None:
    tool.write("in.smt2", SCRIPT)
    line = '(error "line 3 column 11: an invalid model was generated")'
    test = tool.script("z3", f"grep -q 17 \"$1\" || exit 0\necho '{line}'\nexit 1")
    assert tool("smt2", "in.smt2", "--cmd", f"{test} {{}}").code == 0
    said = tool("report", "in.reduced.smt2", "--issue").out
    assert said.startswith(f"# z3: exit status 1, {line}\n")
    assert "line N" not in said
    assert f"{tool.folder}/" not in said


def test_nothing_to_report(tool: Tool) -> None:
    tool.write("in.smt2", SCRIPT)
    done = tool("report", "in.smt2")
    assert done.code == 2
    assert "in.smt2 is not a reducekit journal" in done.err


def test_it_does_not_overwrite_the_journal(reduced: Tool) -> None:
    done = reduced("report", "in.reduced.smt2", "-o", "in.reduced.smt2.journal")
    assert done.code == 2
    assert "the journal itself" in done.err


@pytest.mark.slow
def test_the_curve_is_a_picture(reduced: Tool) -> None:
    done = reduced("history", "in.reduced.smt2", "--plot", "curve.svg")
    assert (done.code, done.err) == (0, "")
    root = ElementTree.parse(reduced.folder / "curve.svg").getroot()
    lines = [each for each in root.iter() if "line" in each.get("class", "").split()]
    assert len(lines) == 4
    done = reduced("history", "in.reduced.smt2", "--plot", "curve.png")
    assert done.code == 2
    assert "curve.png must have the suffix .svg" in done.err


def test_a_reduction_can_end_with_its_report(tool: Tool) -> None:
    tool.write("in.smt2", SCRIPT)
    done = tool.ok("smt2", "in.smt2", "--oracle", "grep -q 17", "--report", "r.html")
    html = (tool.folder / "r.html").read_text()
    assert "The search finished. The result was checked again" in html
    assert "<dt>Python</dt>" in html
    assert "$ grep -q 17 in.reduced.smt2" in html.replace("&#x27;", "'")
    done = tool("smt2", "in.smt2", "--oracle", "grep -q 17", "--report", "r.html", "--no-journal")
    assert done.code == 2
    assert "--no-journal" in done.err
