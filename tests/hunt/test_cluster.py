"""Hunts on a cluster: each seed once, the same bugs as here, and nothing again after a kill."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reducekit.errors import UsageError
from reducekit.hunt import Hunt, HuntOptions, HuntStats
from reducekit.hunt.events import HuntEvent, HuntNotice, InputTested
from reducekit.hunt.folder import NAME
from reducekit.hunt.testers import CHUNK
from tests.clusters import Killer, Machines, below, machines

COUNT = 40


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    with machines(4) as found:
        yield found


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Crashes on some inputs, in two ways; notes which inputs it was run on."""
    path = tmp_path / "program.py"
    path.write_text(
        f"#!{sys.executable} -IS\n"
        "import hashlib, os, sys, time\n"
        "text = open(sys.argv[1]).read()\n"
        "with open(sys.argv[0] + '.log', 'a') as log:\n"
        "    log.write(hashlib.sha256(text.encode()).hexdigest() + '\\n')\n"
        "if ' mul ' in text:\n"
        "    os.abort()\n"
        "if ' udiv ' in text:\n"
        "    sys.exit('error: no division')\n"
    )
    path.chmod(0o755)
    return path


def options(program: Path, folder: str, **more: Any) -> HuntOptions:
    return HuntOptions(
        format="btor",
        folder=program.parent / folder,
        programs=[str(program)],
        count=more.pop("count", COUNT),
        reduce=more.pop("reduce", False),
        format_options={"nodes": 60, "depth": 20},
        **more,
    )


def hunted(chosen: HuntOptions, notices: list[str] | None = None) -> HuntStats:
    def listen(event: HuntEvent) -> None:
        if isinstance(event, HuntNotice) and notices is not None:
            notices.append(event.text)

    return Hunt(chosen, listen).run()


def runs_of(program: Path) -> Counter[str]:
    return Counter(Path(f"{program}.log").read_text().split())


def files_of(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.suffix == ".btor"}


@pytest.mark.slow
def test_the_same_bugs_on_the_same_inputs_as_here(program: Path, cluster: Machines) -> None:
    here = hunted(options(program, "here"))
    before = runs_of(program)
    there = hunted(options(program, "there", cluster=cluster.address))
    assert here.inputs == there.inputs == COUNT
    assert len(there.bugs) == 2
    assert {n: b.count for n, b in there.bugs.items()} == {n: b.count for n, b in here.bugs.items()}
    assert files_of(program.parent / "there") == files_of(program.parent / "here")
    assert runs_of(program) == before + before  # no seed was tested twice


@pytest.mark.slow
def test_bugs_are_reduced_on_the_cluster_while_workers_are_killed(
    program: Path, cluster: Machines
) -> None:
    address = cluster.address
    with Killer(cluster, most=3, pause=0.7):
        stats = hunted(options(program, "there", cluster=address, reduce=True, count=8))
    hunted(options(program, "here", count=8))
    found = files_of(program.parent / "there")
    assert stats.inputs == 8
    assert files_of(program.parent / "here").items() <= found.items()
    assert len(found) == 2 * len(stats.bugs) > 0


def inputs_of(folder: Path) -> int:
    """Return how many inputs the record of a hunt says were tested."""
    with contextlib.suppress(FileNotFoundError):
        (hunt,) = json.loads((folder / NAME).read_text())["hunts"].values()
        return int(hunt["next"])
    return 0


@pytest.mark.slow
def test_killed_and_started_again_it_repeats_nothing(program: Path, cluster: Machines) -> None:
    address, folder = cluster.address, program.parent / "failures"
    words = ["hunt", "btor", "--cmd", str(program), "--count", "5000", "--no-reduce"]
    words += ["--nodes", "60", "--depth", "20", "--out", str(folder), "--cluster", address]
    process = subprocess.Popen(
        [sys.executable, "-m", "reducekit", *words], stdout=subprocess.DEVNULL
    )
    # A hunt goes on at the first input of a group, so the first group has to be over.
    while inputs_of(folder) < CHUNK:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = Path(folder / NAME).read_text()
    notices: list[str] = []

    def listen(event: HuntEvent) -> None:
        if isinstance(event, HuntNotice):
            notices.append(event.text)
        elif isinstance(event, InputTested):
            hunt.stop()

    hunt = Hunt(options(program, "failures", cluster=address, count=5000), listen)
    hunt.run()
    assert any("continuing after" in each for each in notices)
    assert Path(folder / NAME).read_text() != done
    # What was under way at the kill is made once more, nothing else.
    repeated = sum(count - 1 for count in runs_of(program).values())
    assert repeated <= 2 * 4 * 10 * 5


@pytest.mark.slow
def test_a_hunt_that_is_done_is_done(program: Path, cluster: Machines) -> None:
    chosen = options(program, "there", cluster=cluster.address, count=20)
    first, runs = hunted(chosen), runs_of(program)
    again = hunted(chosen)
    assert first.inputs == again.inputs == 20
    assert again.bugs == first.bugs
    assert runs_of(program) == runs


@pytest.mark.slow
def test_a_bug_that_was_not_reduced_when_the_hunt_was_killed(
    program: Path, cluster: Machines
) -> None:
    address = cluster.address
    first = hunted(options(program, "there", cluster=address, count=20))
    path = program.parent / "there" / NAME
    state = json.loads(path.read_text())
    (hunt,) = state["hunts"].values()
    # As if each bug were first met, and not reduced yet, on the first seed.
    hunt["pending"] = dict.fromkeys(first.bugs, 1)
    path.write_text(json.dumps(state))
    again = hunted(options(program, "there", cluster=address, count=20, reduce=True))
    assert again.inputs == first.inputs == 20
    assert '"pending": {}' in path.read_text()
    shown = {each.name for each in again.bugs.values() if each.reduced_path.exists()}
    assert shown
    assert {each.count for each in again.bugs.values()} == {
        each.count for each in first.bugs.values()
    }


@pytest.mark.slow
def test_a_library_of_a_format_is_tested_on_the_cluster(tmp_path: Path, cluster: Machines) -> None:
    def stats(folder: str, **more: Any) -> HuntStats:
        chosen = HuntOptions(format="trace", folder=tmp_path / folder, count=40, **more)
        return hunted(chosen)

    here, there = stats("here"), stats("there", cluster=cluster.address)
    assert there.inputs == 40
    assert there.counts == here.counts


@pytest.mark.slow
def test_restart_begins_with_the_first_seed(tmp_path: Path, cluster: Machines) -> None:
    chosen = HuntOptions(
        format="btor",
        folder=tmp_path / "out",
        programs=["true"],
        cluster=cluster.address,
        restart=True,
        count=3,
    )
    assert [hunted(chosen).inputs for _ in range(2)] == [3, 3]


def test_a_file_that_is_no_progress(program: Path, cluster: Machines) -> None:
    chosen = options(program, "there", cluster=cluster.address, count=3)
    os.mkdir(chosen.folder)
    (chosen.folder / NAME).write_text("[]")
    with pytest.raises(UsageError, match="is not a hunt state file"):
        hunted(chosen)


@pytest.mark.slow
@pytest.mark.nightly
def test_tasks_whose_workers_go_while_others_are_idle(program: Path) -> None:
    hold, log = Path(f"{program}.hold"), Path(f"{program}.log")
    hold.touch()
    program.write_text(
        program.read_text() + "while os.path.exists(sys.argv[0] + '.hold'):\n    time.sleep(0.05)\n"
    )

    with machines(1) as cluster, ThreadPoolExecutor(1) as threads:
        chosen = options(program, "there", cluster=cluster.address, count=10)
        there = threads.submit(hunted, chosen)
        while not log.exists():
            time.sleep(0.05)
        fresh = cluster.add_one()
        while not below(fresh):  # its checker
            time.sleep(0.05)
        time.sleep(2)  # it answers meanwhile: nothing else would be heard of it later
        cluster.kill_all_but_the_last()
        hold.unlink()
        assert there.result().inputs == 10


@pytest.mark.slow
def test_each_seed_once_while_workers_are_killed(program: Path, cluster: Machines) -> None:
    count, kills = 60, 3
    hunted(options(program, "here", count=count))
    before = runs_of(program)
    log = Path(f"{program}.log")
    log.unlink()

    def due(made: int) -> bool:
        """After each twelfth run: a worker that has begun, with others that go on, is killed."""
        return log.exists() and len(log.read_text().split()) > 12 * made

    with Killer(cluster, most=kills, pause=0.1, due=due) as killer:
        there = hunted(options(program, "there", cluster=cluster.address, count=count))
    assert killer.kills == kills
    assert there.inputs == count
    assert files_of(program.parent / "there") == files_of(program.parent / "here")
    assert there.counts["killed their workers"] == 0
    assert runs_of(program).keys() == before.keys()
