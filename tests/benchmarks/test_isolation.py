"""The benchmark of `isolate` still runs: dd finds one change where one side alone needs all."""

from __future__ import annotations

from pathlib import Path

from benchmarks.isolation import OneSided, case, measured
from reducekit.frontends.isolate import Isolate


def test_both_sides_leave_less(tmp_path: Path) -> None:
    each = case(1, needed=3, together=0)
    _, one_side, _ = measured(each, OneSided, tmp_path)
    checks, both_sides, _ = measured(each, Isolate, tmp_path)
    assert (one_side, both_sides) == (3, 1)
    assert checks <= 7
