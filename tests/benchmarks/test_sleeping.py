"""The driver of sleeping oracles: all of it, on small inputs."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.sleeping import INPUTS, SHELL, main, measure, oracle_in


@pytest.mark.slow
def test_quick(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--workers", "1,8"])
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("| ")
    ]
    head, *found = rows
    assert [row[:2] for row in found] == [
        ["scattered", "1"],
        ["scattered", "8"],
        ["declared", "1"],
        ["declared", "8"],
    ]
    checks, runs, left = (head.index(name) for name in ("checks", "runs", "commands left"))
    for serial, parallel in (found[:2], found[2:]):
        assert serial[checks] == serial[runs]
        assert int(parallel[runs]) >= int(parallel[checks])
        assert serial[left] == parallel[left]
    assert found[0][left] == "2"


def test_both_oracles_say_the_same(tmp_path: Path) -> None:
    compiled, script = oracle_in(tmp_path), tmp_path / "script"
    script.write_text(SHELL)
    script.chmod(0o755)
    made = INPUTS["declared"](200)
    full, less = tmp_path / "full", tmp_path / "less"
    full.write_bytes(made.text)
    less.write_bytes(made.text.replace(b"-fun n", b"-fun m", 1))
    for oracle in (compiled, script):
        for path, said in ((full, 0), (less, 1)):
            command = [str(oracle), "0.001", str(made.needed), str(path)]
            assert subprocess.run(command, check=False).returncode == said
    assert measure(made, 1, script, 0.001).checks == measure(made, 1, compiled, 0.001).checks
