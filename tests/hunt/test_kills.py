"""A hunt that is killed and started again has the bugs of one that nothing has interrupted.

`python -m benchmarks.kills` does so hundreds of times, with all commands.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from reducekit.hunt.folder import NAME
from tests.hunt.kills import found, hunted, killed, survives

BTOR = ("btor", "--nodes", "60", "--count", "12")
SMT2 = ("smt2", "--logic", "QF_BV", "--count", "12", "--jobs", "2")
TRACE = ("trace", "--variables", "12", "--count", "25")


def program(folder: Path, first: str, second: str) -> tuple[str, str]:
    """Write a solver with two bugs, which show on inputs with one word or the other."""
    path = folder / "solver"
    path.write_text(
        "#!/bin/sh\nsleep 0.01\n"
        f"grep -q '{first}' \"$1\" && {{ echo 'assertion one failed' >&2; exit 3; }}\n"
        f"grep -q '{second}' \"$1\" && {{ echo 'assertion two failed' >&2; exit 4; }}\n"
        "echo sat\n"
    )
    path.chmod(0o755)
    return "--cmd", str(path)


def reduced(bugs: Mapping[str, bytes]) -> int:
    return sum(".reduced." in name for name in bugs)


@pytest.mark.slow
def test_killed_while_a_bug_is_reduced(tmp_path: Path) -> None:
    """The reduction is finished, and no seed is tested that was done before."""
    words = (*BTOR, *program(tmp_path, " udiv ", " sra "), "--json")
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole = json.loads(hunted(tmp_path / "whole", words))
    assert killed(
        tmp_path / "killed",
        words,
        "process",
        lambda: any((tmp_path / "killed").glob("failures/*.reduced.btor")),
    )
    (before,) = json.loads((tmp_path / "killed" / "failures" / NAME).read_text())["hunts"].values()
    after = json.loads(hunted(tmp_path / "killed", words))
    assert len(before["pending"]) == 1
    assert found(tmp_path / "killed" / "failures") == found(tmp_path / "whole" / "failures")
    for each in (whole, after):
        del each["seconds"]
    assert after == whole


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_btor(tmp_path: Path, seed: int) -> None:
    words = (*BTOR, *program(tmp_path, " udiv ", " sra "))
    assert reduced(survives(tmp_path, words, seed)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_smt2(tmp_path: Path, seed: int) -> None:
    words = (*SMT2, *program(tmp_path, "bvudiv", "bvshl"))
    assert reduced(survives(tmp_path, words, seed)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_traces_of_a_library(tmp_path: Path, seed: int) -> None:
    words = (*TRACE, "--fault", "lglmelt+1:abort", "--no-compare", "--jobs", str(seed % 2 + 1))
    assert reduced(survives(tmp_path, words, seed)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_traces_in_files(tmp_path: Path, seed: int) -> None:
    words = (*TRACE, *program(tmp_path, "^melt ", "^reset"))
    assert reduced(survives(tmp_path, words, seed)) >= 1
