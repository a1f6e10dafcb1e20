"""Real failures of real solvers, and the example of the ddSMT paper, from the command line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.smt2.paper import FIGURE_1
from tests.solvers import z3

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mod_by_zero.py"

FIGURE_4 = """\
#!/bin/sh
if [ `grep -c "\\<get-value\\>" $1` -ne 0 ]; then exit 1; fi
exit 0
"""
FIGURE_7 = """\
(set-logic UFNIA)
(check-sat)
(get-value (false))
(exit)
"""


def reduced(source: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    """Reduce a file; return the result and the summary."""
    output = source.with_name("reduced.smt2")
    command = [sys.executable, "-m", "reducekit", "smt2", str(source), "-o", str(output), "--json"]
    run = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    assert report["verified"] is True
    return output.read_text(), report


def generated(folder: Path) -> Path:
    path = folder / "input.smt2"
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, check=True)
    path.write_bytes(run.stdout)
    return path


@pytest.mark.slow
def test_the_example_of_the_ddsmt_paper(tmp_path: Path) -> None:
    source, script = tmp_path / "figure1.smt2", tmp_path / "figure4"
    source.write_text(FIGURE_1)
    script.write_text(FIGURE_4)
    script.chmod(0o755)
    for strategy in ("adaptive", "ddmin", "halving", "hdd"):
        result, _ = reduced(source, "--cmd", str(script), "--strategy", strategy)
        assert "get-value" in result
        assert len(result) <= len(FIGURE_7)


@pytest.mark.slow
def test_an_invalid_model(tmp_path: Path) -> None:
    """The demo: 24 kB on which z3 4.8.5 finds its own model invalid."""
    old = z3("4.8.5.0")
    result, report = reduced(generated(tmp_path), "--cmd", f"{old} model_validate=true")
    assert report["before"]["bytes"] >= 20_000
    assert report["after"]["bytes"] == len(result) <= 200
    assert "an invalid model was generated" in report["failure"]
    assert " 0)" in result
    see_again = subprocess.run(report["see_again"][0], shell=True, capture_output=True, text=True)
    assert see_again.returncode == 1
    assert "an invalid model was generated" in see_again.stdout


@pytest.mark.slow
def test_an_invalid_model_with_several_jobs(tmp_path: Path) -> None:
    old = z3("4.8.5.0")
    source = generated(tmp_path)
    command = ("--cmd", f"{old} model_validate=true")
    assert reduced(source, *command)[0] == reduced(source, *command, "-j", "4")[0]


@pytest.mark.slow
def test_an_error_that_only_one_of_two_solvers_reports(tmp_path: Path) -> None:
    """What z3 4.8.5 rejects and a new z3 does not, as an interestingness test of its own."""
    new = shutil.which("z3", path=str(Path(sys.executable).parent))
    assert new is not None
    test = tmp_path / "test"
    test.write_text(
        "#!/bin/sh\n"
        f'"{z3("4.8.5.0")}" model_validate=true "$1" | grep -q "invalid model" || exit 1\n'
        f'"{new}" model_validate=true "$1" > "$TMPDIR/out" && grep -q "^sat" "$TMPDIR/out"\n'
    )
    test.chmod(0o755)
    result, report = reduced(generated(tmp_path), "--oracle", str(test))
    assert len(result) <= 200
    assert "(check-sat)" in result
    assert report["failure"] == "the test accepts the file"
