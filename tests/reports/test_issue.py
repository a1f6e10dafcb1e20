from pathlib import Path

import pytest

from reducekit.reports.account import account
from reducekit.reports.issue import issue
from tests.reports.journals import write

TEXTS = [b"(assert true)\n(check-sat)\n(exit)", b"(check-sat)\n"]
VERSION = "Solver 9.8\nbuilt with -O3"


def text(tmp_path: Path, command: str, result: bytes = TEXTS[1]) -> str:
    path = tmp_path / "in.reduced.smt2.journal"
    found = write(path, [TEXTS[0] + result, result], command=command, stderr=b"boom")
    return issue(account(found, path), VERSION)


def test_for_z3_it_has_the_fields_of_its_form(tmp_path: Path) -> None:
    said = text(tmp_path, "/opt/z3-4.15/bin/z3 -T:5 FILE")
    for field in (
        "### Bug Category\nCrash/Assertion failure", "### Bug Description\nsignal SIGSEGV",
        "### Minimal Reproduction\n```smt2\n(check-sat)\n```", "### Expected Behavior",
        "### Actual Behavior\n(on the input before it was reduced)\n"
        "```\n$ z3 -T:5 in.reduced.smt2\nboom\n(signal SIGSEGV)",
        "### Z3 Version\nSolver 9.8", "### Platform",
    ):  # fmt: skip
        assert field in said, field
    assert said.startswith("# z3: ")
    assert "Reduced from 44 to 12 bytes by reducekit 1.2.3 (4 checks)." in said


def test_for_cvc5_it_has_the_lines_of_its_template(tmp_path: Path) -> None:
    said = text(tmp_path, "cvc5 --check-models FILE")
    assert "**Describe the bug**" in said
    assert "**Command line arguments**: `--check-models FILE`" in said
    assert "**cvc5 version/commit**: Solver 9.8  " in said
    assert "**`configure.sh` output**  \n```\nSolver 9.8\nbuilt with -O3\n```" in said


@pytest.mark.parametrize("name", ["bitwuzla", "boolector", "my-solver"])
def test_for_others_it_is_a_transcript(name: str, tmp_path: Path) -> None:
    said = text(tmp_path, f"{name} FILE")
    assert said.startswith(f"# {name}: signal SIGSEGV\n")
    assert f"$ {name} in.reduced.smt2\nboom\n(signal SIGSEGV)" in said
    assert "Version: Solver 9.8" in said


def test_an_input_with_fences_does_not_end_the_block(tmp_path: Path) -> None:
    said = text(tmp_path, "z3 FILE", b'(echo "```` @all")\n')
    assert '\n`````smt2\n(echo "```` @all")\n`````\n' in said


def test_a_long_input_is_to_be_attached(tmp_path: Path) -> None:
    said = text(tmp_path, "z3 FILE", b"(check-sat)" * 10_000)
    assert "`in.reduced.smt2`, attached (110,000 bytes)" in said
    assert len(said) < 2000


def test_what_a_solver_says_is_no_markup(tmp_path: Path) -> None:
    path = tmp_path / "in.reduced.smt2.journal"
    ending: dict[str, object] = {"failure": "signal SIGABRT, <b>*assertion*</b>"}
    said = issue(account(write(path, TEXTS, command="z3 FILE", ending=ending), path), VERSION)
    assert "&#60;b&#62;\\*assertion\\*&#60;/b&#62;" in said
    title, _, rest = said.partition("\n")
    assert title == "# z3: signal SIGABRT, <b>*assertion*</b>"
    assert "<b>" not in rest
