"""Comparisons on a cluster: the same counts as here."""

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from reducekit.compare.sessions import algorithms_of, open_case, run_all
from reducekit.run import NoSignals
from reducekit.session import Failure
from reducekit.session.cluster import Cluster
from tests.clusters import local_cluster

TEXT = "".join(f"(declare-const x{each} Int)\n(assert (> x{each} 0))\n" for each in range(8))


@pytest.mark.slow
def test_the_same_runs_as_here(tmp_path: Path) -> None:
    path = tmp_path / "input.smt2"
    path.write_text(TEXT)
    algorithms = algorithms_of("ddmin,halving,bfs", [], ["smt2"])["smt2"]
    failure = Failure(oracle=["grep", "-q", "assert .* x5 "])
    found = []
    for shared in (False, True):
        with ExitStack() as stack:
            cluster = None
            if shared:
                address = stack.enter_context(local_cluster(2, 1)).scheduler_address
                cluster = stack.enter_context(Cluster(address))
            case = open_case(path, "x", "smt2", {()}, failure, NoSignals(), cluster)
            ended = stack.enter_context(closing(run_all(case, algorithms, None, 3)))
            found.append(dict(ended))
    assert found[0] == found[1]
    assert len(found[0]) == 3
