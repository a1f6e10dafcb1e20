"""Checks on real workers: the same verdicts as here, whatever becomes of a worker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.executors.cluster import admission
from reducekit.executors.cluster import executor as cluster_executor
from reducekit.executors.cluster.admission import Shipped
from reducekit.executors.cluster.checking import checkers
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec
from reducekit.executors.executor import Executor, ExecutorError, Finished
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Everything, Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from tests.clusters import local_cluster, on_workers
from tests.executors.runner import NAP, marked, python, sh

LIMITS = Limits(wall=60.0)


def opened(
    connection: Connection,
    command: Command,
    criterion: Criterion | None = None,
    *,
    told: list[str] | None = None,
    shipped: tuple[Shipped, ...] = (),
) -> ClusterExecutor:
    said = [] if told is None else told
    oracle = Oracle((command,), criterion or ExitZero())
    return ClusterExecutor(connection, oracle, 4, suffix=".txt", shipped=shipped, tell=said.append)


def until(executor: Executor, count: int) -> dict[int, Finished]:
    found: dict[int, Finished] = {}
    while len(found) < count:
        found |= {each.ticket: each for each in executor.wait(30)}
    return found


def pids(connection: Connection) -> dict[str, int]:
    return on_workers(connection.address, os.getpid)


def test_verdicts_and_outputs_are_those_of_the_local_executor(connection: Connection) -> None:
    command = sh('cat "$1"; echo err >&2; grep -q x "$1"')
    texts = [b"axb", b"", b"\xff\x00x\n" * 5000, b"y" * 100, b"x"]
    oracle = Oracle((command,), Everything(1))
    with LocalExecutor(oracle, 1, ".txt") as here, opened(connection, command, Everything(1)) as it:
        for ticket, text in enumerate(texts):
            here.submit(ticket, text, LIMITS)
            (expected,) = here.wait(30)
            it.submit(ticket, text, LIMITS)
            (found,) = until(it, 1).values()
            assert (found.ticket, found.interesting) == (ticket, True)
            mine, theirs = found.outcomes[0], expected.outcomes[0]
            assert (mine.status, mine.stdout, mine.stderr) == (
                theirs.status,
                theirs.stdout,
                theirs.stderr,
            )
        assert it.runs == len(texts)


def test_threads_take_turns_as_before(connection: Connection) -> None:
    words = [sys.executable, "-c", "import sys; print(sys.getswitchinterval())"]
    usual = float(subprocess.run(words, capture_output=True, check=True).stdout)
    with opened(connection, sh("true")):
        assert sys.getswitchinterval() == usual


def test_many_checks_at_the_same_time(connection: Connection) -> None:
    with opened(connection, sh('grep -q x "$1"')) as executor:
        found: dict[int, bool] = {}
        for ticket in range(60):
            while not executor.free:
                found |= {each.ticket: each.interesting for each in executor.wait(30)}
            executor.submit(ticket, b"x" if ticket % 3 else b"y", LIMITS)
        found |= {each: done.interesting for each, done in until(executor, 60 - len(found)).items()}
    assert found == {ticket: bool(ticket % 3) for ticket in range(60)}


def test_some_checks_wait_on_the_workers(connection: Connection) -> None:
    with opened(connection, sh("sleep 0.1")) as executor:
        assert executor.free == 5  # four slots, and one that waits
        for ticket in range(5):
            executor.submit(ticket, b"x", LIMITS)
        assert executor.free == 0
        assert len(until(executor, 5)) == 5


@pytest.mark.slow
def test_this_machine_gets_no_more_checks_than_it_has_slots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_executor, "_TAKING_OVER", 0.1)
    oracle = Oracle((sh('sleep 0.05; grep -q x "$1"'),), ExitZero())
    with (
        local_cluster(1, 4) as cluster,
        Connection(ClusterSpec(address=cluster.scheduler_address, wait=20.0)) as connection,
        ClusterExecutor(connection, oracle, 4, local_slots=2) as executor,
    ):
        cluster.scale(0)
        while connection.workers:
            time.sleep(0.05)
        for ticket in range(executor.free):
            executor.submit(ticket, b"x", LIMITS)
        assert len(until(executor, 5)) == 5


def test_a_cancelled_check_is_ended_and_its_ticket_is_free_again(connection: Connection) -> None:
    with opened(connection, sh(f'grep -q x "$1" || exec sleep {NAP}')) as executor:
        executor.submit(0, b"y", LIMITS)
        while not marked():
            executor.wait(0.05)
        executor.cancel(0)
        executor.submit(0, b"x", LIMITS)
        assert until(executor, 1)[0].interesting
        while marked():
            executor.wait(0.05)


def test_closing_ends_all_checks(connection: Connection) -> None:
    with opened(connection, sh(f"exec sleep {NAP}")) as executor:
        for ticket in range(4):
            executor.submit(ticket, b"text", LIMITS)
        while len(marked()) < 4:
            executor.wait(0.05)
    assert marked() == []


@pytest.mark.slow
def test_the_base_travels_once_and_candidates_as_edits(connection: Connection) -> None:
    lines = [b"(assert (> x%d %d))\n" % (each, each * each % 7919) for each in range(20000)]
    with opened(connection, sh('test "$(wc -l < "$1")" -lt 20000')) as executor:
        executor.submit(0, b"".join(lines), LIMITS)
        until(executor, 1)
        for ticket in range(1, 41):
            cut = b"".join(lines[: ticket * 9] + lines[ticket * 9 + 5 :])
            executor.submit(ticket, cut, LIMITS)
            assert until(executor, 1)[ticket].interesting
    assert connection.sent < 2.2 * len(b"".join(lines)) / 3  # deflated, to two workers at most


def test_candidates_travel_as_edits_of_what_they_are_made_from(connection: Connection) -> None:
    lines = [b"(assert (> x%d %d))\n" % (each, each * each % 7919) for each in range(3000)]
    sent = []
    for hint in (False, True):
        with opened(connection, sh("false")) as executor:
            executor.submit(0, b"".join(lines), LIMITS)
            until(executor, 1)
            kept, before = lines, connection.sent
            for ticket in range(1, 41):
                kept = [line for each, line in enumerate(kept) if each % 50 != ticket]
                if hint:  # though no check has said that this is interesting
                    executor.build_on(b"".join(kept))
                executor.submit(ticket, b"".join(kept[ticket:]), LIMITS)
                until(executor, 1)
            sent.append(connection.sent - before)
    assert sent[1] < sent[0] / 2


def test_a_first_text_that_is_small_is_not_the_base_for_long(connection: Connection) -> None:
    lines = [b"(assert (> x%d %d))\n" % (each, each * each % 7919) for each in range(3000)]
    with opened(connection, sh("false")) as executor:
        for ticket in range(30):
            kept = lines[1500:] if ticket == 0 else lines[: ticket * 9] + lines[ticket * 9 + 5 :]
            executor.submit(ticket, b"".join(kept), LIMITS)
            until(executor, 1)
    assert connection.sent < 2.2 * len(b"".join(lines))


@pytest.mark.slow
def test_checks_of_a_killed_worker_are_made_elsewhere(connection: Connection) -> None:
    told: list[str] = []
    first = next(iter(pids(connection).values()))
    with opened(connection, sh('sleep 1; grep -q x "$1"'), told=told) as executor:
        executor.ready(2)
        for ticket in range(4):
            executor.submit(ticket, b"x" if ticket % 2 else b"y", LIMITS)
        executor.wait(0.1)
        os.kill(first, signal.SIGKILL)
        found = until(executor, 4)
    assert {each: done.interesting for each, done in found.items()} == {
        0: False,
        1: True,
        2: False,
        3: True,
    }
    assert any("made elsewhere" in each for each in told)


def test_no_check_outlives_a_killed_worker(connection: Connection) -> None:
    with opened(connection, sh(f"exec sleep {NAP}")) as executor:
        for ticket in range(4):
            executor.submit(ticket, b"text", LIMITS)
        while len(marked()) < 4:
            executor.wait(0.05)
        for pid in pids(connection).values():
            os.kill(pid, signal.SIGKILL)
        for ticket in range(4):
            executor.cancel(ticket)
        end = time.monotonic() + 20
        while marked() and time.monotonic() < end:
            time.sleep(0.05)
        assert marked() == []


@pytest.mark.slow
def test_the_answer_of_each_worker_that_lacks_the_program(connection: Connection) -> None:
    missing = Command(("/nowhere/solver",))
    with pytest.raises(UsageError, match="there is no program /nowhere/solver") as caught:
        opened(connection, missing)
    assert all(each in str(caught.value) for each in connection.workers)
    assert "`ship`" in str(caught.value)


def test_another_version_of_ours_is_said(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "__version__", "9.9")
    with pytest.raises(UsageError, match=r"it has reducekit \S+, and this is 9\.9"):
        opened(connection, sh("true"))


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "has-an-x.py"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('x' not in open(sys.argv[1]).read())"
    )
    path.chmod(0o755)
    return path


def test_a_file_that_is_sent_along(connection: Connection, script: Path) -> None:
    shipped = Shipped.read([script])
    commands = [
        Command.of([str(script)]),
        Command.of([sys.executable, str(script)]),
        Command.of(f"{script.name} $1", shell=True),
    ]
    script.unlink()
    for command in commands:
        with opened(connection, command, shipped=shipped) as executor:
            executor.submit(0, b"x", LIMITS)
            executor.submit(1, b"y", LIMITS)
            found = until(executor, 2)
            assert (found[0].interesting, found[1].interesting) == (True, False)


def test_a_worker_that_cannot_run_checks_any_more_is_left_out(
    connection: Connection, script: Path
) -> None:
    told: list[str] = []
    shipped = Shipped.read([script])
    with opened(connection, Command.of([str(script)]), shipped=shipped, told=told) as executor:
        first = next(iter(executor.workers))
        folder = on_workers(connection.address, _folder, connection.name)[first]
        (Path(folder) / script.name).unlink()
        for ticket in range(4):
            executor.submit(ticket, b"x", LIMITS)
        assert all(each.interesting for each in until(executor, 4).values())
        (line,) = [each for each in told if "gets no checks" in each]
        assert first in line
        assert "No such file" in line
        assert first not in executor.workers


def _folder(client: str) -> str:
    return checkers[client].folder


def test_when_no_worker_can_go_on_the_error_says_why(connection: Connection, script: Path) -> None:
    with opened(connection, Command.of([str(script)])) as executor:
        script.unlink()
        executor.submit(0, b"x", LIMITS)
        with pytest.raises(ExecutorError, match="no worker of the cluster can run checks"):
            until(executor, 1)


def test_a_run_out_of_time_is_made_again_on_another_worker(connection: Connection) -> None:
    with opened(connection, python("import time; time.sleep(60)")) as executor:
        executor.submit(0, b"x", Limits(wall=0.2))
        found = until(executor, 1)[0]
        assert found.outcomes[0].limit == "time"
        assert executor.runs == 2


def test_a_run_that_is_killed_from_outside_is_made_again_on_another_worker(
    connection: Connection,
) -> None:
    with opened(connection, sh("kill -KILL $$")) as executor:
        executor.ready(2)
        executor.submit(0, b"x", LIMITS)
        assert until(executor, 1)[0].outcomes[0].signal == signal.SIGKILL
        assert executor.runs == 2 * 3  # each worker tries it three times


def test_no_more_checks_at_a_time_than_files_may_be_open(connection: Connection) -> None:
    connection.most = 1
    with opened(connection, sh(f"sleep 0.2; : {NAP}")) as executor:
        executor.ready(2)
        for ticket in range(4):
            executor.submit(ticket, b"x", LIMITS)
        finished = 0
        while finished < 4:
            finished += len(executor.wait(0.02))
            assert len([each for each in marked() if each.startswith("sh")]) <= 1


def test_checks_go_to_idle_slots_first(connection: Connection) -> None:
    with opened(connection, sh(f"exec sleep {NAP}")) as executor:
        executor.ready(2)
        for ticket in range(4):
            executor.submit(ticket, b"x", LIMITS)
        while len(marked()) < 4:  # two of them would wait if they were on one worker
            executor.wait(0.05)
        assert {len(each.checks) for each in connection.links.values()} == {2}
