"""Sessions on a cluster: the same bytes as here, with workers that are killed on the way."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reducekit.errors import UsageError
from reducekit.events import Accepted, Checked, Event, Notice
from reducekit.session import Options, Session
from reducekit.session.cluster import Cluster
from reducekit.session.report import Report
from tests.clusters import Killer, Machines, local_cluster, machines, processes_with

LINES = [b"(assert (> x%d %d))\n" % (each, each * each % 97) for each in range(18)]
TEXT = b"".join(LINES)
KILLS = 6


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interestingness test: four of the lines are needed, and any two of six others."""
    path = tmp_path_factory.mktemp("cluster") / "oracle"
    path.write_text(
        "#!/bin/sh\n"
        "sleep 0.01\n"
        'text=$(cat "$1")\n'
        'has() { case $text in *" x$1 "*) ;; *) return 1 ;; esac }\n'
        "has 3 && has 6 && has 15 && has 17 || exit 1\n"
        "count=0\n"
        "for each in 8 9 10 11 12 13; do has $each && count=$((count + 1)); done\n"
        "[ $count -ge 2 ]\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    with machines(4) as found:
        yield found


def reduced(oracle: Path, notices: list[str] | None = None, **more: Any) -> Report[bytes]:
    def listen(event: Event) -> None:
        if isinstance(event, Notice) and notices is not None:
            notices.append(event.text)

    # A limit of its own: on a busy machine, what reaches that of the best file runs once more.
    options = Options(input=TEXT, format="text", oracle=[str(oracle)], width=6, timeout=60, **more)
    return Session(options, listen).run()


@pytest.fixture(scope="module")
def here(oracle: Path) -> Report[bytes]:
    return reduced(oracle, jobs=3)


@pytest.mark.slow
def test_the_same_bytes_as_here(oracle: Path, here: Report[bytes], cluster: Machines) -> None:
    there = reduced(oracle, cluster=cluster.address)
    assert here.text.count(b"x") == 6
    assert there.text == here.text
    assert there.counts.checks == here.counts.checks


@pytest.mark.slow
def test_this_machine_takes_over_when_no_worker_is_left(oracle: Path, here: Report[bytes]) -> None:
    notices: list[str] = []
    with local_cluster(1, 2) as cluster:
        options = {"cluster": cluster.scheduler_address, "local_slots": 2}

        def listen(event: Event) -> None:
            if isinstance(event, Notice):
                notices.append(event.text)
            elif isinstance(event, Accepted):
                cluster.scale(0)

        chosen = Options(input=TEXT, format="text", oracle=[str(oracle)], width=6, **options)
        there = Session(chosen, listen).run()
    assert there.text == here.text
    assert any("on this machine" in each for each in notices)


@pytest.mark.slow
def test_a_cluster_that_sessions_share(oracle: Path, cluster: Machines) -> None:
    with Cluster(cluster.address) as shared:
        texts = [reduced(oracle, cluster=shared, max_checks=20).text for _ in range(2)]
    assert texts[0] == texts[1] != TEXT


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": "nowhere"}, "'nowhere' is no cluster: expected tcp://HOST:PORT"),
        ({"cluster": "local:0"}, "is no cluster"),
        ({"cluster": "missing.yaml"}, "the cluster file missing.yaml cannot be read"),
        ({"ship": [Path("x")]}, "`ship` requires `cluster`"),
        ({"local_slots": 1}, "`local_slots` requires `cluster`"),
        ({"cluster": "local:1", "ship": [Path("/nowhere")]}, "/nowhere cannot be read"),
    ],
)
def test_what_is_refused(oracle: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        reduced(oracle, **options)


def test_a_function_runs_here_only() -> None:
    options = Options(input=TEXT, format="text", interesting=bool, cluster="local:1")
    with pytest.raises(UsageError, match="`cluster` requires `command`"):
        Session(options).run()


def test_without_dask_it_says_what_to_type(oracle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="pip install distributed pyyaml"):
        reduced(oracle, cluster="local:1")


@pytest.mark.slow
def test_the_same_bytes_and_no_orphan_after_many_kills(
    oracle: Path, here: Report[bytes], cluster: Machines
) -> None:
    """A worker is killed whenever some checks have come back since the last kill."""
    checked = 0

    def listen(event: Event) -> None:
        nonlocal checked
        checked += isinstance(event, Checked)

    options = Options(
        input=TEXT,
        format="text",
        oracle=[str(oracle)],
        width=6,
        timeout=60,
        cluster=cluster.address,
    )
    with Killer(cluster, most=KILLS, pause=0.1, due=lambda kills: checked > 8 * kills) as killer:
        while killer.kills < KILLS:
            there = Session(options, listen).run()
            assert there.text == here.text
            assert there.counts.checks == here.counts.checks
    assert processes_with(str(oracle)) == []
