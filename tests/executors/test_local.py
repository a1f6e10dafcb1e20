"""Real processes, some of them nasty; what they leave behind is looked for in /proc."""

import os
import resource
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.executors import marks
from reducekit.executors.executor import ExecutorError
from reducekit.executors.local import LocalExecutor
from reducekit.executors.run_directory import RunDirectory
from reducekit.oracle.command import Command
from reducekit.oracle.compared import Disagree
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.flips import Flips
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from tests.executors.runner import LIMITS, check, local, lowered, marked, python, sh, until


def test_status_and_outputs() -> None:
    outcome = check(sh('cat "$1"; echo err >&2; exit 3'), b"in\xffput")
    assert (outcome.status, outcome.signal, outcome.limit) == (3, None, None)
    assert (outcome.stdout, outcome.stderr) == (b"in\xffput", b"err\n")


def test_verdicts() -> None:
    with local(sh('grep -q x "$1"'), criterion=ExitZero()) as executor:
        for ticket, text in enumerate([b"axb", b"ab", b"", b"x" * 100_000, b"y"]):
            executor.submit(ticket, text, Limits())
            assert [(f.ticket, f.interesting) for f in until(executor)] == [(ticket, b"x" in text)]


def test_output_that_no_verdict_needs_is_kept_for_displays_and_cut() -> None:
    command = sh('echo seen; head -c 300000 /dev/zero; grep -q x "$1"')
    oracle = Oracle((command,), ExitZero())
    for shows in (True, False):
        with LocalExecutor(oracle, 1, shows=shows) as executor:
            for text in (b"x", b"y"):
                executor.submit(0, text, Limits(output=100))
                (finished,) = until(executor)
                assert finished.interesting == (text == b"x")
                assert finished.outcomes[0].limit is None  # what is too much is no failure here
                if text == b"x":  # the first; of those that follow at once none is kept
                    kept = b"seen\n" + bytes(4091) if shows else b""
                    assert finished.outcomes[0].stdout == kept


def test_variants_are_written_and_those_that_decided_run_first() -> None:
    def variant(text: bytes, number: int) -> bytes:
        return text + b"%d" % number

    answer = 'case $(cat "$1") in *[!x]*[0145]) echo unsat;; x*) echo unknown;; esac; cat "$1" >&2'
    commands = [sh(answer)._replace(variant=number, vary=variant) for number in range(6)]
    with local(*commands, criterion=Flips(6)) as executor:
        seen = []
        for text in (b"xy", b"yy", b"xx"):
            executor.submit(0, text, Limits())
            (finished,) = until(executor)
            seen.append((finished.interesting, [each.stderr for each in finished.outcomes]))
    assert seen == [
        (True, [b"xy0", b"xy1", b"xy2"]),
        (False, [b"yy0", b"yy2", b"yy1", b"yy3", b"yy4", b"yy5"]),
        (False, [b"xx0", b"xx2", b"xx1", b"xx3", b"xx4", b"xx5"]),
    ]
    assert executor.runs == 15


def test_file_is_rewritten_exactly() -> None:
    with local(sh('cat "$1"; echo "$1" >&2')) as executor:
        paths = set()
        for text in (b"a long text\n" * 1000, b"short", b"", b"again"):
            executor.submit(0, text, Limits())
            (finished,) = until(executor)
            assert finished.outcomes[0].stdout == text
            paths.add(finished.outcomes[0].stderr)
        assert len(paths) == 1
        assert paths.pop().endswith(b"/input.txt\n")


def test_stdin_mode_and_no_stdin() -> None:
    assert check(sh("cat; echo $#", stdin=True), b"in\n").stdout == b"in\n0\n"
    assert check(sh("cat")).stdout == b""


def test_own_session_without_terminal() -> None:
    assert check(python("import os; print(os.getsid(0) == os.getpid())")).stdout == b"True\n"
    assert check(sh("echo x > /dev/tty")).status != 0


def test_current_directory_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside").write_text("here")
    monkeypatch.chdir(tmp_path)
    assert check(sh("cat beside")).stdout == b"here"


def test_ignored_signals_are_default_again() -> None:
    # Python ignores SIGPIPE; with that, `yes` would complain and exit with 1.
    assert b"141" in check(sh("{ yes; echo $? >&2; } | head -n 1")).stderr


def test_signal() -> None:
    outcome = check(sh("kill -SEGV $$"))
    assert (outcome.status, outcome.signal) == (None, signal.SIGSEGV)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 60",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        "sleep 60 & sleep 60",
        "kill -STOP $$",
        "timeout 60 sleep 60",
        "setsid sleep 60; :",
        "exec >&- 2>&-; sleep 60",
    ],
)
def test_hanging(script: str) -> None:
    outcome = check(sh(script), limits=Limits(wall=0.3))
    assert outcome.limit == "time"
    assert outcome.seconds >= 0.3


@pytest.mark.parametrize(
    "script",
    [
        "sleep 60 & echo done",
        "(sleep 60 & sleep 60 &) ; echo done",
        "setsid sleep 60 & echo done",
        "setsid sh -c 'setsid sleep 60 & sleep 60 & sleep 60' & sleep 0.2; echo done",
        "for i in 1 2 3 4 5 6 7 8; do (setsid sleep 60 &) ; done; echo done",
    ],
)
def test_background_children_do_not_delay_and_do_not_stay(script: str) -> None:
    outcome = check(sh(script))
    assert outcome.stdout == b"done\n"
    assert outcome.limit is None  # half of what the sleepers would take


def test_patience_counts_neither_for_the_limit_nor_as_time() -> None:
    command = sh("sleep 0.6")._replace(patience=60.0)
    outcome = check(command, limits=Limits(wall=0.2))
    assert (outcome.status, outcome.limit, outcome.seconds) == (0, None, 0.0)
    hanging = sh("sleep 60")._replace(patience=0.2)
    assert check(hanging, limits=Limits(wall=0.2)).limit == "time"


def test_processes_that_multiply_into_sessions() -> None:
    script = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
time.sleep(60)
"""
    assert check(python(script), limits=Limits(wall=0.5)).limit == "time"


def test_orphans_of_another_check_live_on() -> None:
    # The second check ends first; the first one's own daemon is still needed.
    slow = 'setsid sh -c "sleep 0.6; echo late > $TMPDIR/answer" & sleep 1.2; cat "$TMPDIR/answer"'
    with local(sh(f'case $(cat "$1") in slow) {slow};; esac'), jobs=2) as executor:
        executor.submit(0, b"slow", Limits(wall=30))
        executor.submit(1, b"fast", Limits(wall=30))
        done = {finished.ticket: finished for finished in until(executor, 2)}
    assert done[0].outcomes[0].stdout == b"late\n"


def test_adopting_ends_with_the_executor() -> None:
    with local(sh("true")):
        assert marks.adopting()
    assert not marks.adopting()


def test_output_without_end() -> None:
    limits = Limits(wall=30, output=100_000)
    outcome = check(sh("yes"), limits=limits)
    assert outcome.limit == "output"
    assert len(outcome.stdout) == 100_000
    assert outcome.stdout.startswith(b"y\ny\n")
    assert len(check(sh("yes >&2"), limits=limits).stderr) == 100_000


def test_output_of_exactly_the_limit() -> None:
    limits = Limits(wall=30, output=1000)
    assert check(sh("head -c 1000 /dev/zero"), limits=limits).limit is None
    outcome = check(sh("head -c 1001 /dev/zero"), limits=limits)
    assert (outcome.limit, len(outcome.stdout)) == ("output", 1000)


def test_much_output_arrives_whole() -> None:
    outcome = check(sh("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end"))
    assert len(outcome.stdout) == 3_000_004
    assert outcome.stdout.endswith(b"\0end\n")
    assert len(outcome.stderr) == 3_000_000


def test_output_is_not_captured_unless_wanted() -> None:
    with local(sh("echo x; echo y >&2; head -c 100000000 /dev/zero"), criterion=ExitZero()) as ex:
        ex.submit(0, b"", Limits(wall=30, output=10))
        (finished,) = until(ex)
    assert finished.interesting
    assert finished.outcomes[0].stdout == finished.outcomes[0].stderr == b""


def test_cpu_limit() -> None:
    outcome = check(python("while True: pass"), limits=Limits(wall=30, cpu=0.5))
    assert (outcome.signal, outcome.limit) == (signal.SIGXCPU, "time")


def test_memory_limit() -> None:
    limits = Limits(wall=30, memory=300 << 20)
    # On a busy machine the child gets its limit a moment late.
    limited = "import resource as r\nwhile r.getrlimit(r.RLIMIT_AS)[0] < 0: pass\n"
    outcome = check(python(f"{limited}x = bytearray(1 << 30)"), limits=limits)
    assert outcome.status == 1
    assert b"MemoryError" in outcome.stderr


def test_only_soft_limits() -> None:
    # Where this process has used more than 5 s itself, the child gets its limit a moment late.
    limited = "until [ $(ulimit -S -t) = 5 ]; do :; done"
    raised = "ulimit -S -t 40 && ulimit -S -v 800000 && ulimit -S -t; ulimit -S -c"
    script = f"{limited}; {raised}"
    outcome = check(sh(script), limits=Limits(wall=30, cpu=5, memory=700 << 20))
    assert outcome.stdout == b"40\n0\n"


@pytest.mark.parametrize(
    "deed",
    [
        'rm "$1"',
        'echo other > "$1"',
        'rm "$1"; echo other > "$1"; sleep 60 < "$1" &',
        'mv "$1" "$1.away"',
        'ln "$1" "$1.link"',
        'rm "$1"; ln -s /etc/passwd "$1"',
        'rm "$1"; mkdir "$1"; echo x > "$1/x"',
        'chmod 000 "$1"',
        'rm -r "$(dirname "$1")"',
        'rm -r "$TMPDIR"',
        'rm -r "$TMPDIR"; echo x > "$TMPDIR"',
        'd="$(dirname "$1")"; rm -r "$d"; echo x > "$d"',
    ],
)
def test_damage_to_the_file_is_repaired(deed: str) -> None:
    with local(sh(f'cat "$1"; : > "$TMPDIR/x" && {deed}')) as executor:
        for text in (b"one", b"two", b"three"):
            executor.submit(0, text, Limits(wall=30))
            (finished,) = until(executor)
            assert finished.outcomes[0].stdout == text
            assert finished.outcomes[0].stderr == b""


def test_a_moved_file_keeps_its_text() -> None:
    # As a script does that keeps its failing inputs: beside, on the same file system.
    script = """
        d="$(dirname "$(dirname "$1")")"
        case $(cat "$1") in
            one) ln "$1" "$d/one";;
            two) mv "$1" "$d/two";;
            *) cat "$d/one" "$d/two";;
        esac"""
    with local(sh(script)) as executor:
        for text in (b"one", b"two", b"three"):
            executor.submit(0, text, LIMITS)
            (finished,) = until(executor)
    assert finished.outcomes[0].stdout == b"onetwo"


def test_leavings_are_removed() -> None:
    script = (
        'ls -A "$TMPDIR" "$(dirname "$1")"; mkdir -p "$TMPDIR/a/b"; : > "$TMPDIR/c"; : > "$1.d"'
    )
    with local(sh(script)) as executor:
        seen = []
        for ticket in range(3):
            executor.submit(ticket, b"", Limits())
            seen.append(until(executor)[0].outcomes[0].stdout)
    assert len(set(seen)) == 1
    assert b"c\n" not in seen[0]


def test_leavings_are_removed_whenever_they_appear() -> None:
    # For long nothing is left, and the directories are not listed any more; then, in
    # quick succession, something is now and then.
    script = 'ls -A "$TMPDIR" "$(dirname "$1")"; test -s "$1" && : > "$TMPDIR/c" && : > "$1.d"'
    texts = [b""] * 80 + [b"x", b"", b"x", b"x", b""] * 10
    with local(sh(script)) as executor:
        seen = []
        for ticket, text in enumerate(texts):
            executor.submit(ticket, text, Limits())
            seen.append(until(executor)[0].outcomes[0].stdout)
    assert len(set(seen)) == 1


@pytest.mark.parametrize("place", ["$TMPDIR", '$(dirname "$1")'])
def test_files_behind_links_are_let_be(tmp_path: Path, place: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    with local(sh(f'd="{place}"; rm -r "$d"; ln -s {tmp_path} "$d"')) as executor:
        for ticket in range(2):
            executor.submit(ticket, b"", LIMITS)
            until(executor)
    assert precious.read_text() == "x"
    assert os.listdir(tmp_path) == ["precious"]


def test_close_removes_the_directory() -> None:
    with local(sh('dirname "$(dirname "$1")"')) as executor:
        executor.submit(0, b"", Limits())
        directory = until(executor)[0].outcomes[0].stdout.decode().strip()
        assert os.path.isdir(directory)
    assert not os.path.exists(directory)
    executor.close()


def test_close_with_running_checks() -> None:
    executor = local(sh("setsid sleep 60 & sleep 60"), jobs=2)
    executor.submit(0, b"", Limits())
    executor.submit(1, b"", Limits())
    assert executor.free == 0
    assert executor.wait(0.3) == []
    executor.close()
    assert marked() == []


def test_parallel() -> None:
    # Each of the two waits for the other's file: one after the other would never end.
    with local(sh('d="$(dirname "$1")/.."; i=$(cat "$1"); : > "$d/seen$i"; '
                  'until [ -e "$d/seen$((1 - i))" ]; do sleep 0.05; done; echo $i'),
               jobs=2) as executor:  # fmt: skip
        executor.submit(0, b"0", Limits(wall=30))
        executor.submit(1, b"1", Limits(wall=30))
        done = {f.ticket: f.outcomes[0].stdout for f in until(executor, 2)}
    assert done == {0: b"0\n", 1: b"1\n"}


def test_cancel() -> None:
    with local(sh('case $(cat "$1") in slow) sleep 60;; esac'), jobs=2) as executor:
        executor.submit(0, b"slow", Limits())
        executor.submit(1, b"slow", Limits())
        executor.cancel(0)
        executor.cancel(99)
        assert executor.free == 1
        executor.submit(0, b"fast", Limits())
        assert [f.ticket for f in until(executor)] == [0]
        executor.cancel(1)
        assert executor.wait() == []
        assert executor.free == 2


def test_wait_with_nothing_in_flight() -> None:
    with local(sh("true")) as executor:
        assert executor.wait() == []


def test_two_commands_on_the_same_text() -> None:
    spoil = sh('grep -x "$(cat "$1")" "$1"; echo sat > "$1"')
    with local(spoil, sh('echo unsat; cat "$1" >&2'), criterion=Disagree()) as executor:
        executor.submit(0, b"sat", Limits())
        (finished,) = until(executor)
        assert finished.interesting
        assert [outcome.stdout for outcome in finished.outcomes] == [b"sat\n", b"unsat\n"]
        assert finished.outcomes[1].stderr == b"sat"
        executor.submit(0, b"unknown", Limits())
        (finished,) = until(executor)
        assert not finished.interesting
        assert len(finished.outcomes) == 1


def test_missing_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with local(Command.of([str(script)])) as executor:
        for _ in range(2):  # the slot is free again
            with pytest.raises(UsageError, match="interpreter '/no/such/interpreter'"):
                executor.submit(0, b"", Limits())
            assert executor.free == 1


def test_no_first_line(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo x\n")
    script.chmod(0o755)
    with local(Command.of([str(script)])) as executor, pytest.raises(UsageError, match="#!/bin/sh"):
        executor.submit(0, b"", Limits())


def test_second_command_vanishes(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho unsat\n")
    script.chmod(0o755)
    second = Command.of([str(script)])
    with local(sh(f"echo sat; rm {script}"), second, criterion=Disagree()) as executor:
        executor.submit(0, b"", Limits())
        with pytest.raises(UsageError, match="cannot run"):
            executor.wait(30)
        assert executor.free == 1
        assert executor.wait() == []


def test_no_room_for_the_file() -> None:
    with local(sh('cat "$1"')) as executor:
        with lowered(resource.RLIMIT_FSIZE, 1000):
            with pytest.raises(ExecutorError, match="cannot write the candidate"):
                executor.submit(0, b"x" * 5000, LIMITS)
            executor.submit(1, b"small", LIMITS)
            assert until(executor)[0].outcomes[0].stdout == b"small"
        executor.submit(2, b"x" * 5000, LIMITS)
        assert until(executor)[0].outcomes[0].stdout == b"x" * 5000


@pytest.mark.parametrize("spare", range(6))
def test_no_descriptors_left(spare: int) -> None:
    with local(sh('cat "$1"')) as executor:
        executor.submit(0, b"first", LIMITS)
        until(executor)
        used = max(int(fd) for fd in os.listdir("/proc/self/fd"))
        fill = [os.open(os.devnull, os.O_RDONLY) for _ in range(used)]
        for fd in fill[:spare]:
            os.close(fd)
        try:
            with lowered(resource.RLIMIT_NOFILE, max(fill) + 1), suppress(ExecutorError):
                executor.submit(1, b"second", LIMITS)
                until(executor)
        finally:
            for fd in fill[spare:]:
                os.close(fd)
        assert executor.free == 1
        executor.submit(2, b"third", LIMITS)
        assert until(executor)[0].outcomes[0].stdout == b"third"


def test_interrupted_wait() -> None:
    def run() -> None:
        executor.submit(0, b"", Limits())
        until(executor)

    # Also at once: then it comes between the start and the keeping of the books.
    for script in ("kill -INT $PPID; sleep 60", "sleep 0.3; kill -INT $PPID; sleep 60"):
        executor = local(sh(script))
        try:
            with pytest.raises(KeyboardInterrupt):
                run()
        finally:
            executor.close()
        assert marked() == []


def test_many_checks_leave_no_descriptors() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with local(sh("exit 0"), jobs=2) as executor:
        for ticket in range(40):
            if not executor.free:
                executor.wait()
            executor.submit(ticket, b"", Limits(wall=10))
        while executor.free < 2:
            executor.wait()
    assert len(os.listdir("/proc/self/fd")) == before


def test_closed_standard_descriptors() -> None:
    script = """
import os, sys
os.closerange(0, 3)
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.run import Limits
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import Matches
import re
pattern = re.compile(b"^text$")
oracle = Oracle((Command.of("cat"),), Matches(out=(pattern,)))
with LocalExecutor(oracle, 1) as executor:
    executor.submit(0, b"text", Limits())
    interesting = executor.wait()[0].interesting
os._exit(0 if interesting else 1)
"""
    assert check(python(script)).status == 0


@pytest.mark.slow
def test_inside_of_itself() -> None:
    script = """
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from reducekit.oracle.criterion import Oracle
command = Command.of(["sh", "-c", "setsid sleep 60 & sleep 60"])
executor = LocalExecutor(Oracle((command,), ExitZero()), 1)
executor.submit(0, b"", Limits())
executor.wait(0.3)
print(executor._directory.path, flush=True)
executor.wait()
"""
    outcome = check(python(script), limits=Limits(wall=3))
    assert outcome.limit == "time"
    # The inner one was killed and could not clean up; the next one does.
    local(sh("true")).close()
    directory = outcome.stdout.decode().strip()
    assert directory
    assert not os.path.exists(directory)


def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)  # where it was found before
    with (
        lowered(resource.RLIMIT_NOFILE, 0),
        pytest.raises(
            ExecutorError, match=r"No usable temporary directory .*; set TMPDIR to a usable folder"
        ),
    ):
        RunDirectory()
