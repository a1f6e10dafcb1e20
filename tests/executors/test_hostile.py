"""Commands that hide, that break what is around them, and that use up what others need."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reducekit.executors import marks, run_directory
from reducekit.executors.executor import ExecutorError
from reducekit.executors.run_directory import RunDirectory, remove
from reducekit.oracle.command import Command
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from tests.acceptance.torture import settled
from tests.executors.runner import LIMITS, NAP, check, local, marked, python, sh, until

HIDDEN = f"""
import ctypes, os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        os.chdir("/")
        os.closerange(0, 1024)
        ctypes.CDLL(None).prctl(15, b"kworker/0:1", 0, 0, 0)
        os.execve("/bin/sh", ["init", "-c", "trap '' TERM INT HUP; sleep {NAP}; :"], dict())
    os._exit(0)
os.wait()
print("started")
"""
"""A daemon in all its glory: nothing that it can change ties it to who started it."""


def hidden(text: str = "") -> Command:
    """Return a command that leaves a daemon, if its candidate is `text`."""
    return python(f"import sys\nif open(sys.argv[1]).read() == {text!r}:{indented(HIDDEN)}")


def indented(script: str) -> str:
    return script.replace("\n", "\n    ").rstrip() + "\n"


def test_hidden_daemon() -> None:
    assert check(hidden("text")).stdout == b"started\n"


def test_hidden_daemons_in_parallel() -> None:
    with local(hidden("x"), jobs=3) as executor:
        for ticket in range(3):
            executor.submit(ticket, b"x", LIMITS)
        assert all(finished.interesting for finished in until(executor, 3))
        assert marked() == []


def test_hidden_daemon_without_limits_as_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where limits are of no use, what keeps its environment is still found."""
    monkeypatch.setattr(marks, "limits_usable", lambda: False)
    script = "setsid sh -c 'setsid sleep 60 & sleep 60' & sleep 0.2; echo done"
    assert check(sh(script)).stdout == b"done\n"


def test_hidden_daemons_of_another_check_live_on() -> None:
    # The second check ends first; the first one's own daemon is still needed.
    daemon = 'sleep 0.6; echo late > "$0"'
    script = f"""case $(cat "$1") in slow)
        setsid env -i PATH="$PATH" sh -c '{daemon}' "$TMPDIR/answer" &
        sleep 1.2; cat "$TMPDIR/answer";; esac"""
    with local(sh(script), jobs=2) as executor:
        executor.submit(0, b"slow", LIMITS)
        executor.submit(1, b"fast", LIMITS)
        done = {finished.ticket: finished for finished in until(executor, 2)}
    assert done[0].outcomes[0].stdout == b"late\n"


@pytest.mark.parametrize("empty", [False, True])
def test_children_of_the_caller_are_let_be(empty: bool) -> None:
    """Whoever uses the library may have processes of their own, and wants their statuses."""
    environment: dict[str, str] | None = {} if empty else None
    commands = (["/bin/sleep", NAP], ["/bin/sh", "-c", "exit 7"])
    before = [subprocess.Popen(c, start_new_session=True, env=environment) for c in commands]
    with local(hidden("x")) as executor:
        during = [subprocess.Popen(c, start_new_session=True, env=environment) for c in commands]
        for ticket in range(3):
            executor.submit(ticket, b"x", LIMITS)
            until(executor)
    for sleeping, ended in (before, during):
        assert ended.wait() == 7
        assert sleeping.poll() is None
        sleeping.kill()
        sleeping.wait()


def test_two_executors_at_once() -> None:
    with local(hidden("x")) as one, local(sh("sleep 0.5; echo two")) as two:
        two.submit(0, b"", LIMITS)
        for ticket in range(2):
            one.submit(ticket, b"x", LIMITS)
            until(one)
        assert until(two)[0].outcomes[0].stdout == b"two\n"


def test_our_own_limits_stay() -> None:
    kinds = (marks.LIMIT, resource.RLIMIT_CORE, resource.RLIMIT_AS, resource.RLIMIT_CPU)
    before = [resource.getrlimit(kind) for kind in kinds]
    check(sh("echo"), limits=Limits(wall=30, cpu=3, memory=1 << 30))
    with local(Command(("/nonexistent",))) as executor, pytest.raises(Exception, match="cannot"):
        executor.submit(0, b"", LIMITS)
    assert [resource.getrlimit(kind) for kind in kinds] == before


def test_limits_reach_every_child() -> None:
    """However early it is started, also on a busy machine."""
    script = "for i in 1 2 3; do (sleep 0.1; ulimit -S -v; ulimit -S -t) & done; wait"
    with local(sh(script), jobs=8) as executor:
        for ticket in range(8):
            executor.submit(ticket, b"", Limits(wall=30, cpu=9, memory=1 << 30))
        for finished in until(executor, 8):
            assert sorted(finished.outcomes[0].stdout.split()) == [b"1048576"] * 3 + [b"9"] * 3


def test_limits_that_cannot_be_handed_down_are_set_once_more() -> None:
    """A fork may have been under way the first time; here, the command takes them off itself."""
    ours = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    script = "ulimit -S -v unlimited; ulimit -S -v; sleep 1; ulimit -S -v"
    outcome = check(sh(script), limits=Limits(wall=30, memory=ours))
    assert outcome.stdout.split() == [b"unlimited", b"%d" % (ours >> 10)]


@pytest.mark.parametrize(
    "script",
    [
        "sleep {nap} & kill -STOP $!; wait",
        "setsid sleep {nap} & kill -STOP $!; kill -STOP $$",
        "trap '' TERM INT HUP CONT TSTP; kill -STOP $$; sleep {nap}",
        "(sleep 0.1; kill -STOP -$$) & sleep {nap}",
    ],
)
def test_stopped(script: str) -> None:
    assert check(sh(script.format(nap=NAP)), limits=Limits(wall=0.4)).limit == "time"


@pytest.mark.parametrize(
    "script",
    [
        "ulimit -n 3",
        "ulimit -f 0; echo x > $TMPDIR/x",
        "ulimit -t 0; while :; do :; done",
        "ulimit -v 1; ls",
        "renice 19 $$; ulimit -c unlimited; kill -SEGV $$",
        "cd /; rm -r $TMPDIR; kill -9 $$",
        "kill -9 0",
        "exec 0<&- 1>&- 2>&-",
        "umask 777; mkdir $TMPDIR/x; echo > $TMPDIR/y",
    ],
)
def test_what_a_command_does_to_itself_harms_nobody_else(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it may leave a core file
    with local(sh(f'case $(cat "$1") in bad) {script};; esac; cat "$1"')) as executor:
        for text in (b"bad", b"good", b"bad", b"good"):
            executor.submit(0, text, LIMITS)
            (finished,) = until(executor)
        assert finished.outcomes[0].stdout == b"good"


def test_gigabytes_are_thrown_away() -> None:
    with local(sh("head -c 4000000000 /dev/zero"), criterion=ExitZero()) as executor:
        executor.submit(0, b"", LIMITS)
        assert until(executor)[0].interesting
    for stream in ("", ">&2"):
        outcome = check(sh(f"head -c 4000000000 /dev/zero {stream}"))
        assert outcome.limit == "output"


def mounted(place: Path, size: str) -> bool:
    """Mount a small file system in memory, where that is allowed."""
    place.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let executors work on a file system of 4 MB (of any size where mounting is not allowed)."""
    place = tmp_path / "small"
    done = mounted(place, "4m")
    monkeypatch.setattr(run_directory, "_MEMORY", str(place))
    monkeypatch.setattr(run_directory, "_ROOM", 0)
    try:
        yield place
        assert list(place.iterdir()) == []
    finally:
        if done:
            subprocess.run(["umount", str(place)], check=True)


FILL = 'head -c 20000000 /dev/zero > "{}" 2> /dev/null'


@pytest.mark.parametrize("place", ["$TMPDIR/x", "$1", "$1.more", "$TMPDIR/../../x"])
def test_full_disk(small: Path, place: str) -> None:
    """One check fills it; the next has room again."""
    away = "rm -f $TMPDIR/../../x"  # what is in no place of ours is the command's to remove
    script = f'case $(head -c 4 "$1") in fill) {FILL.format(place)};; esac; wc -c < "$1"; {away}'
    with local(sh(script), jobs=2) as executor:
        for ticket in range(6):
            text = b"fill" if ticket % 2 == 0 else b"x" * 1_000_000
            executor.submit(ticket, text, LIMITS)
            (finished,) = until(executor)
            if ticket % 2:
                assert finished.outcomes[0].stdout.split() == [b"1000000"]


def test_disk_filled_by_a_check_beside(small: Path) -> None:
    """The other one waits until there is room."""
    script = f"""case $(head -c 4 "$1") in fill)
        {FILL.format("$TMPDIR/x")}; : > "$TMPDIR/../../full"; sleep 0.5; rm "$TMPDIR/../../full"
        ;; esac; wc -c < "$1" """
    with local(sh(script), jobs=3) as executor:
        for ticket in (0, 2):
            executor.submit(ticket, b"fill", LIMITS)
            while not list(small.glob("*/full")):
                executor.wait(0.02)
            executor.submit(ticket + 1, b"x" * 1_000_000, LIMITS)
            done = {each.ticket: each.outcomes[0] for each in until(executor, 2)}
            assert done[ticket + 1].stdout.split() == [b"1000000"]
        assert executor.free == 3


def test_waiting_for_room_is_cancelled(small: Path) -> None:
    script = f'{FILL.format("$TMPDIR/x")}; : > "$TMPDIR/../../full"; sleep {NAP}'
    with local(sh(script), jobs=2) as executor:
        executor.submit(0, b"", Limits(wall=60))
        while not list(small.glob("*/full")):
            executor.wait(0.02)
        executor.submit(1, b"x" * 1_000_000, LIMITS)
        executor.cancel(1)
        executor.cancel(0)
        assert executor.wait() == []
        assert executor.free == 2
        next(small.glob("*/full")).unlink()


def test_no_room_at_all(small: Path) -> None:
    with local(sh('wc -c < "$1"')) as executor:
        if os.statvfs(small).f_blocks * os.statvfs(small).f_frsize < 5_000_000:
            with pytest.raises(ExecutorError, match="No space left on device; free some space"):
                executor.submit(0, b"x" * 10_000_000, LIMITS)
            assert executor.free == 1
        executor.submit(1, b"x" * 1_000_000, LIMITS)
        assert until(executor)[0].outcomes[0].stdout.split() == [b"1000000"]


def unprivileged() -> list[str]:
    """Return what to run a command with so that permissions count even if we are root."""
    command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    try:
        done = subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        done = False
    return command if done else []


CLOSED = """
import sys
from tests.executors.runner import LIMITS, local, sh, until
script = 'cat "$1"; case $(cat "$1") in bad) mkdir -p "$TMPDIR/a/b"; %s;; esac'
with local(sh(script)) as executor:
    for text in (b"bad", b"good", b"bad", b"good"):
        executor.submit(0, text, LIMITS)
        (finished,) = until(executor)
        assert finished.outcomes[0].stdout == text, finished
    path = executor._directory.path
import os
assert not os.path.lexists(path), os.listdir(path)
"""


@pytest.mark.parametrize(
    "deed",
    [
        'chmod 000 "$1"',
        'chmod 000 "$TMPDIR"',
        'chmod -R 000 "$TMPDIR"',
        'chmod 500 "$TMPDIR" "$TMPDIR/a" "$TMPDIR/a/b"',
        'chmod 000 "$(dirname "$1")"',
        'chmod 000 "$(dirname "$(dirname "$1")")"',
        'chmod 500 "$(dirname "$(dirname "$1")")"',
        'mkdir -p "$1.d/e/f"; chmod -R 000 "$1.d"',
        'rm "$1"; mkdir "$1" "$1/x"; chmod 000 "$1/x" "$1"',
    ],
)
def test_closed_directories(deed: str) -> None:
    script = CLOSED % deed
    subprocess.run([*unprivileged(), sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "deed",
    [
        'rm -r "$d"',
        'rm -r "$d"; echo x > "$d"',
        'rm -r "$d"; ln -s / "$d"',
        'mv "$d" "$d.away"; rm -r "$d.away"',
    ],
)
def test_the_directory_of_the_run_is_destroyed(deed: str) -> None:
    """It is made again, and is ours again: no other run takes it for abandoned."""
    script = f'cat "$1"; d=$(dirname "$(dirname "$1")"); case $(cat "$1") in bad) {deed};; esac'
    with local(sh(script), jobs=2) as executor:
        for text in (b"good", b"bad", b"good", b"good"):
            executor.submit(0, text, LIMITS)
            (finished,) = until(executor)
            assert finished.outcomes[0].stdout == text
            RunDirectory().remove()
        assert os.path.isdir(executor._directory.path)
    assert not os.path.lexists(executor._directory.path)


def test_what_cannot_be_removed_is_left_behind() -> None:
    """Mounted by the command, where that is allowed; the next checks work elsewhere."""
    mount = 'mkdir "$TMPDIR/m"; mount -t tmpfs none "$TMPDIR/m" && echo "$TMPDIR/m" >&2'
    places = []
    with local(sh(f'cat "$1"; ls "$TMPDIR"; {mount}; :')) as executor:
        for text in (b"one", b"two", b"three"):
            executor.submit(0, text, LIMITS)
            (finished,) = until(executor)
            assert finished.outcomes[0].stdout == text
            places += finished.outcomes[0].stderr.decode().splitlines()
        path = executor._directory.path
    assert len(set(places)) == len(places)
    for line in Path("/proc/self/mounts").read_text().splitlines():
        if (place := line.split()[1]).startswith(path):
            subprocess.run(["umount", place], check=True)

    def removed() -> bool:
        RunDirectory().remove()  # the next start removes what is left
        return not os.path.lexists(path)

    assert settled(removed)  # the start of another program may be about it already


@pytest.mark.slow
def test_deep_and_wide_trees_are_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for depth in range(3000):  # far beyond the longest path, and any recursion
        os.mkdir("deeper", dir_fd=here)
        if depth % 100 == 0:
            os.close(os.open(f"file{depth}", os.O_CREAT | os.O_WRONLY, dir_fd=here))
            os.symlink(tmp_path, f"link{depth}", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    for number in range(300):
        (top / f"wide{number}" / "more").mkdir(parents=True)
    (tmp_path / "precious").write_text("x")
    assert remove(str(top))
    assert os.listdir(tmp_path) == ["precious"]
    assert remove(str(top))
    (tmp_path / "link").symlink_to(tmp_path)
    assert remove(str(tmp_path / "link"))
    assert (tmp_path / "precious").read_text() == "x"


@contextmanager
def taken(directory: RunDirectory) -> Iterator[RunDirectory]:
    try:
        yield directory
    finally:
        directory.remove()


def test_directories_of_the_living_are_let_be(tmp_path: Path) -> None:
    with taken(RunDirectory()) as one, taken(RunDirectory()) as two:
        assert one.path != two.path
        assert os.path.isdir(one.path)
    assert not os.path.exists(one.path)


def test_only_directories_named_as_ours_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_directory, "_MEMORY", str(tmp_path))
    for name in ("reducekit-mine", "reducekit-1234", "x-1234567890123", "reducekit-1234567890123x"):
        (tmp_path / name).mkdir()
    (tmp_path / "reducekit-1234567890123").mkdir()
    (tmp_path / "reducekit-1234567890124").symlink_to(tmp_path)
    RunDirectory().remove()
    left = sorted(os.listdir(tmp_path))
    assert "reducekit-1234567890123" not in left
    assert len(left) == 5
