"""The driver of cluster.py, on a small input."""

import pytest

from benchmarks import cluster


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
