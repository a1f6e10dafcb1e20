"""The files of docs/cluster.md, as they stand: for Slurm (with a cluster in its place), and TLS."""

import re
import subprocess
import sys
import types
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from tests.executors.runner import sh

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "cluster.md"
SLURM, TLS = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def works(connection: Connection) -> bool:
    oracle = Oracle((sh('grep -q x "$1"'),), ExitZero())
    with ClusterExecutor(connection, oracle, 1) as it:
        assert connection.client.direct_to_workers
        it.submit(0, b"x", Limits(wall=30.0))
        while not (finished := it.wait(30)):
            pass
        return finished[0].interesting


@pytest.mark.slow
def test_the_file_for_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    given: dict[str, Any] = {}

    class SLURMCluster(LocalCluster):
        """Takes the arguments of the real one."""

        def __init__(self, **arguments: Any) -> None:
            given.update(arguments)
            super().__init__(  # type: ignore[no-untyped-call]
                n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs=50
            )

        def scale(self, *numbers: Any, **named: Any) -> Any:
            given.setdefault("workers", *numbers)
            return super().scale(*numbers, **named)  # type: ignore[no-untyped-call]

    module = types.ModuleType("dask_jobqueue")
    module.SLURMCluster = SLURMCluster  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    path = tmp_path / "slurm.yaml"
    path.write_text(SLURM)
    spec = ClusterSpec.parse(str(path))
    assert spec.wait == 600
    assert spec.workers == 8
    with Connection(replace(spec, workers=1)) as connection:  # as many as this machine can bear
        assert works(connection)
    assert given["workers"] == 1
    assert (given["queue"], given["cores"], given["walltime"]) == ("normal", 16, "04:00:00")


@pytest.mark.slow
def test_the_file_for_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-keyout", "me-key.pem", "-out", "me.pem", "-subj", "/CN=me"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    (tmp_path / "ca.pem").write_bytes((tmp_path / "me.pem").read_bytes())
    keys = ("--tls-ca-file", "ca.pem", "--tls-cert", "me.pem", "--tls-key", "me-key.pem")
    with ExitStack() as stack:

        def start(*words: str) -> None:
            log = stack.enter_context(open(f"{words[0]}.log", "wb"))
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--no-dashboard", *keys],
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)

        start("scheduler", "--protocol", "tls", "--host", "127.0.0.1", "--port", "0",
              "--scheduler-file", "about.json")  # fmt: skip
        start("worker", "--protocol", "tls", "--scheduler-file", "about.json", "--no-nanny")
        while not (found := re.search(r'"address": "(tls://[^"]+)"', _read("about.json"))):
            pass
        address = found[1]
        Path("tls.yaml").write_text(TLS.replace("tls://HOST:8786", address))
        with Connection(ClusterSpec.parse("tls.yaml")) as connection:
            assert works(connection)


def _read(name: str) -> str:
    path = Path(name)
    return path.read_text() if path.exists() else ""
