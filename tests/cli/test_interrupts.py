"""Signals at any time: the best result is whole and saved, and nothing is left behind."""

import contextlib
import gc
import json
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from reducekit.cli.process import Interrupts
from tests.cli.tool import NEEDLE, PATIENCE, Done, Tool, problem, until

pytestmark = pytest.mark.reduction


class Hanging:
    """An oracle that notes its runs, and hangs from a certain one on, with company."""

    def __init__(self, tool: Tool, quick: int) -> None:
        self.tool = tool
        self.quick = quick
        self.runs = tool.temporary / "runs"
        self.runs.touch()
        tool.write("in.smt2", problem())
        self.script = tool.script(
            "test",
            f"trap '' INT TERM HUP; echo $1 >> {self.runs}\n"
            f"[ $(wc -l < {self.runs}) -le {quick} ] || {{ setsid sleep 600 & sleep 600; }}\n"
            f"{NEEDLE} $1",
        )

    def start(self, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start a reduction; return when the oracle hangs."""
        process = self.tool.start(
            "smt2", "in.smt2", "--oracle", self.script, *arguments, before=before
        )
        until(lambda: len(self.seen()) > self.quick)
        return process

    def seen(self) -> list[str]:
        return self.runs.read_text().splitlines()

    def check_nothing_is_left(self) -> None:
        """Look for files; the fixture looks for processes."""
        for candidate in self.seen():
            assert not Path(candidate).parents[1].exists()
        assert [path for path in self.tool.folder.iterdir() if path.suffix == ".tmp"] == []
        assert [path.name for path in self.tool.temporary.iterdir()] == ["runs"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "jobs"), [(signal.SIGINT, "3"), (signal.SIGTERM, "1"), (signal.SIGHUP, "3")], ids=str
)
def test_in_the_middle(tool: Tool, number: int, jobs: str) -> None:
    hanging = Hanging(tool, 10)
    process = hanging.start("--jobs", jobs)
    process.send_signal(number)
    done = tool.end(process)
    assert done.code == 130
    assert "Traceback" not in done.err
    result = (tool.folder / "in.reduced.smt2").read_text()
    assert "needle" in result
    assert len(result) < len(problem())
    assert done.out.startswith("in.reduced.smt2\n")
    assert f"-> {len(result)}" in done.out
    assert (
        "  stopped   interrupted; this is the best so far; run the same command again" in done.out
    )
    hanging.check_nothing_is_left()


def test_nothing_is_imported_before_an_interrupt_is_answered() -> None:
    """An interrupt in an import outside `main` is a traceback."""
    code = (
        "import sys; before = {*sys.modules}; import reducekit.cli; "
        "print(*sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__", "reducekit", "reducekit.cli"]


# Sends SIGINT when the Nth module is looked for after the start.
STRUCK = """
import posix, sys
from reducekit.cli import main
class Strike:
    left = int(sys.argv.pop(1))
    def find_spec(self, name, path=None, target=None):
        if self.left == 0:
            posix.kill(posix.getpid(), 2)
        self.left -= 1
sys.meta_path.insert(0, Strike())
main()
"""


@pytest.mark.parametrize("modules", [0, 1, 2, 5, 15, 60])
def test_while_it_starts(tool: Tool, modules: int) -> None:
    """Whatever is being imported: before the signals are taken over, and behind."""
    tool.write("in.smt2", problem())
    command = [sys.executable, "-c", STRUCK, str(modules), "smt2", "in.smt2", "--cmd", "false"]
    done = subprocess.run(command, cwd=tool.folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "reducekit: interrupted before there was a result; nothing was written\n"
    assert not (tool.folder / "in.reduced.smt2").exists()


# Sends SIGINT at the Nth call of a function, and says whether that is called again, and whether
# the interpreter takes all apart at the end.
STRUCK_IN = """
import atexit, gc, posix, sys
from reducekit.cli import main
name, left = sys.argv.pop(1), int(sys.argv.pop(1))
def strike(frame, event, argument):
    global left
    if event == "call" and frame.f_code.co_name == name:
        left -= 1
        if left == 0:
            print("struck", gc.get_threshold()[2] > 10, flush=True)
            posix.kill(posix.getpid(), 2)
        elif left < 0:
            print("went on", flush=True)
atexit.register(print, "slowly ended")
sys.setprofile(strike)
main()
"""


def struck_in(tool: Tool, name: str, call: int, *arguments: str) -> Done:
    """Run a command, with a signal at a call of a function."""
    command = [sys.executable, "-c", STRUCK_IN, name, str(call), *arguments]
    done = subprocess.run(command, cwd=tool.folder, capture_output=True, text=True)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("call", [1, 2])
def test_while_the_summary_is_counted(tool: Tool, call: int) -> None:
    """What is in the input, and then in the result; of large texts, that takes its time."""
    text = problem() + "; blanks\n" * 30_000
    tool.write("in.smt2", text)
    done = struck_in(tool, "measure", call, "smt2", "in.smt2", "--oracle", NEEDLE)
    assert done.code == 130
    assert "went on" not in done.out
    assert "  bytes " in done.out
    assert "  asserts " not in done.out
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


def test_a_search_ends_at_once(tool: Tool) -> None:
    """No step follows, nothing is taken apart: of a huge input, that takes many seconds."""
    tool.write("in.smt2", problem())
    done = struck_in(tool, "render_with", 5, "smt2", "in.smt2", "--oracle", NEEDLE)
    assert done.code == 130
    lines = done.out.splitlines()
    assert lines[0] == "struck True"
    assert "went on" not in lines
    assert "slowly ended" not in lines
    told = (
        "  stopped   interrupted; this is the best so far; run the same command again to continue"
    )
    assert told in lines


def test_a_conversion(tool: Tool) -> None:
    tool.write("in.btor", "1 var 4 a\n2 root 4 1\n")
    done = struck_in(tool, "to_smtlib", 1, "convert", "in.btor", "out.smt2")
    assert done.code == 130
    assert done.err == "reducekit: interrupted before there was a result; nothing was written\n"
    assert not (tool.folder / "out.smt2").exists()


# Sends SIGINT in the callback of a weak reference, which no exception leaves.
LOST = """
import os, weakref
from reducekit.cli.process import Interrupts
interrupts, thing = Interrupts(), {1}
interrupts.install()
watch = weakref.ref(thing, lambda _: os.kill(os.getpid(), 2) or print("went on"))
try:
    with interrupts.allowed():
        del thing
    with interrupts.allowed():
        print("never")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_in_a_callback_that_no_exception_leaves() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_what_was_interrupted_is_kept() -> None:
    """Until the process ends: to free millions of objects takes seconds."""

    class Large:
        pass

    interrupts = Interrupts()
    alive: list[weakref.ref[Large]] = []

    def search() -> None:
        large = Large()
        alive.append(weakref.ref(large))
        interrupts.check()

    interrupts.seen = signal.SIGINT
    for _ in range(2):
        with contextlib.suppress(KeyboardInterrupt):
            search()
    gc.collect()
    assert alive[0]() is not None


@pytest.mark.parametrize("quick", [0, 1, 2])
def test_at_the_start(tool: Tool, quick: int) -> None:
    """In the golden runs, and in that on an empty file."""
    hanging = Hanging(tool, quick)
    process = hanging.start()
    process.send_signal(signal.SIGINT)
    done = tool.end(process)
    assert (done.code, done.out) == (130, "")
    assert done.err == "reducekit: interrupted before there was a result; nothing was written\n"
    assert not (tool.folder / "in.reduced.smt2").exists()
    hanging.check_nothing_is_left()


def test_before_anything_smaller_was_found(tool: Tool) -> None:
    hanging = Hanging(tool, 3)
    process = hanging.start("--json")
    process.send_signal(signal.SIGINT)
    done = tool.end(process)
    assert done.code == 130
    report = json.loads(done.out)
    assert report["stopped"] == "interrupted"
    assert report["verified"] is None
    assert (tool.folder / "in.reduced.smt2").read_text() == problem()


def test_at_the_start_with_json(tool: Tool) -> None:
    process = Hanging(tool, 0).start("--json")
    process.send_signal(signal.SIGTERM)
    done = tool.end(process)
    assert done.code == 130
    assert json.loads(done.out)["exit_code"] == 130


@pytest.mark.parametrize("quick", [0, 10])
def test_again_and_again(tool: Tool, quick: int) -> None:
    """More signals during the clean-up change nothing."""
    hanging = Hanging(tool, quick)
    process = hanging.start()
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
    done = tool.end(process)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert "Exception" not in done.err
    assert ("interrupted" in done.out) == (quick > 0)
    hanging.check_nothing_is_left()


def test_an_ignored_signal_stays_ignored(tool: Tool) -> None:
    """As for a job that a shell runs in the background, or under nohup."""
    tool.write("in.smt2", problem())
    gate = tool.temporary / "gate"
    script = tool.script(
        "test", f"touch {gate}.seen; until [ -e {gate} ]; do sleep 0.01; done; {NEEDLE} $1"
    )
    before = ("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh")
    process = tool.start("smt2", "in.smt2", "--oracle", script, before=before)
    until((tool.temporary / "gate.seen").exists)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGHUP)
    gate.touch()
    assert tool.end(process).code == 0


@pytest.mark.parametrize("improvements", [1, 4, 12])
def test_killed(tool: Tool, improvements: int) -> None:
    """The output is whole and interesting at all times, so after SIGKILL, too."""
    tool.write("in.smt2", problem(60))
    output = tool.folder / "out.smt2"
    process = tool.start("smt2", "in.smt2", "--oracle", NEEDLE, "-o", output)
    found: set[int] = set()

    def improved() -> bool:
        if output.exists():
            found.add(output.stat().st_ino)
        return len(found) >= improvements or process.poll() is not None

    until(improved)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert subprocess.run(f"{NEEDLE} {output}", shell=True).returncode == 0
    text = output.read_text()
    assert len(text) < len(problem(60))
    assert text.count("(") == text.count(")")


def test_the_failure_is_looked_for_again_after_ctrl_z(tool: Tool) -> None:
    """The solver's licence is gone when the shell's `fg` comes; 12 checks are no streak yet."""
    lines = tool.write("in.txt", "".join(f"line {n}\n" for n in range(400)))
    test = tool.script(
        "t.sh",
        'echo >> "$0.runs"; n=$(wc -l < "$0.runs")\n'
        '[ $n = 12 ] && touch "$0.go" && sleep 1\n'
        'grep -q "line 9$" "$1" && grep -q "line 300" "$1" && [ ! -e "$0.gone" ]',
    )
    process = tool.start("text", lines, "--oracle", test, "--jobs", "1")
    until((tool.folder / "t.sh.go").exists)
    process.send_signal(signal.SIGSTOP)
    (tool.folder / "t.sh.gone").touch()
    process.send_signal(signal.SIGCONT)
    done = tool.end(process)
    assert "fails any more" in done.err + done.out
    # That check, three runs of the best text, three of the input; and those it had to replace.
    assert len((tool.folder / "t.sh.runs").read_text()) < 12 + 16
    assert b"line 300" in (tool.folder / "in.reduced.txt").read_bytes()


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_test_that_continues_its_parent_is_looked_at_once_for_each_check(
    tool: Tool, jobs: str
) -> None:
    lines = tool.write("in.txt", "".join(f"line {n}\n" for n in range(40)))
    test = tool.script("t.sh", 'echo >> "$0.runs"; kill -CONT $PPID; grep -q "line 9$" "$1"')
    done = tool("text", lines, "--oracle", test, "--jobs", jobs, "--json")
    assert (tool.folder / "in.reduced.txt").read_text() == "line 9\n"
    runs = len((tool.folder / "t.sh.runs").read_text())
    assert runs <= 3 * json.loads(done.out)["checks"] + 20
