"""The drivers of cluster.py and cluster_model.py: all of them, on small inputs."""

from __future__ import annotations

import pytest

from benchmarks import cluster, cluster_model


@pytest.mark.slow
def test_quick(capsys: pytest.CaptureFixture[str]) -> None:
    cluster.main(["--quick", "--rounds", "1", "--processes", "2", "--inputs", "scattered"])
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("| scattered")]
    assert [row.split("|")[2].strip() for row in rows] == [
        "1 local",
        "8 local",
        "8 on Dask",
        "8 on Dask, width 10",
    ]
    assert "| sent to the workers |" in out


@pytest.mark.slow
def test_the_model_is_the_simulators_where_checks_take_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster_model.main(["--workers", "16", "--inputs", "scattered"])
    lines = capsys.readouterr().out.splitlines()
    (ideal,) = [line for line in lines if line.startswith("| ideal")]
    (longest,) = [line for line in lines if line.startswith("| 60 s")]
    speed = ideal.split("|")[2].strip()
    assert longest.split("|")[2].strip() == f"{speed} / {speed}"


def test_the_time_of_the_client_bounds_what_many_workers_gain() -> None:
    found = cluster_model.Simulated(rounds=10, runs=1000)
    few, many = (cluster_model.seconds(found, workers, 0.05, 3.0) for workers in (10, 1000))
    assert few >= 1000 * (cluster_model.CANDIDATE + 3 * cluster_model.SIZE)
    assert many > few
