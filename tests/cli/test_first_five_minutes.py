"""What new users type first: the command line does what they expect, or says what to type."""

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from collections.abc import Callable

import pytest
import zstandard

from reducekit import registry
from reducekit.cli.group import TITLES
from tests.cli.tool import NEEDLE, Tool, problem

pytestmark = pytest.mark.reduction

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", PACKERS)
def test_a_compressed_input(tool: Tool, suffix: str) -> None:
    path = tool.folder / f"in.smt2.{suffix}"
    path.write_bytes(PACKERS[suffix](problem().encode()))
    test = tool.script("test", f"{NEEDLE} $1")
    done = tool("smt2", path.name, "--oracle", test)
    assert done.code == 0, done.err
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


def test_the_format_is_guessed(tool: Tool) -> None:
    tool.write("plain", problem())
    test = tool.script("test", f"{NEEDLE} $1")
    done = tool("plain", "--oracle", test, "--json")
    assert done.code == 0, done.err
    assert "commands" in json.loads(done.out)["before"]


@pytest.mark.slow
def test_a_pipe_in_the_command_is_refused_with_a_hint(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--oracle", f"cat {{}} | {NEEDLE}")
    assert done.code == 2
    assert "'|' in the command needs a shell: add --shell" in done.err
    done = tool("smt2", "in.smt2", "--cmd", "FOO=1 z3")
    assert "'FOO=1' in the command needs a shell: add --shell" in done.err


def test_a_shell(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--oracle", f"WORD=1 && cat {{}} | {NEEDLE}", "--shell")
    assert done.code == 0, done.err
    assert "$ WORD=1 && cat in.reduced.smt2 | grep" in done.out
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


def test_a_test_that_names_the_file_in_the_current_folder(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    test = tool.script("cvise-test", f"{NEEDLE} in.smt2")
    done = tool("smt2", "in.smt2", "--oracle", test)
    assert done.code == 0, done.err
    assert "each run gets a folder of its own" in done.err
    assert len((tool.folder / "in.reduced.smt2").read_bytes()) < 200


def test_the_candidate_has_the_name_of_the_input(tool: Tool) -> None:
    tool.write("my file.smt2", problem())
    place = tool.folder / "place"
    place.mkdir()
    test = tool.script(
        "test", f'case "$1" in {place}/*/"my file.smt2") {NEEDLE} "$1";; *) exit 1;; esac'
    )
    done = tool("smt2", "my file.smt2", "--oracle", test, "--workdir", "place")
    assert done.code == 0, done.err
    assert list(place.iterdir()) == []
    done = tool("smt2", "my file.smt2", "--oracle", test, "--workdir", "nowhere")
    assert done.code == 2
    assert "--workdir: nowhere is no folder that can be written" in done.err


@pytest.mark.slow
def test_units_and_signals(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    crash = tool.script("crash", f"{NEEDLE} $1 && kill -SEGV $$")
    arguments = ["--timeout", "90s", "--memory", "4G", "--max-time", "1h", "--restart"]
    for spelled in ("SIGSEGV", "segv", "-11", "139"):
        done = tool("smt2", "in.smt2", "--cmd", crash, f"--exit-code={spelled}", *arguments)
        assert done.code == 0, done.err
    done = tool("smt2", "in.smt2", "--cmd", crash, "--exit-code", "SIGFOO")
    assert done.code == 2
    assert (
        "'SIGFOO' is not a number from -64 to 255 or the name of a signal, such as SIGSEGV"
        in done.err
    )


def test_the_signal_that_came_in_place_of_another(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    crash = tool.script("crash", "kill -ABRT $$")
    done = tool("smt2", "in.smt2", "--cmd", crash, "--exit-code", "SIGSEGV")
    assert done.code == 1
    assert "looked for (signal SIGSEGV; it ended with signal SIGABRT)" in done.err


def test_a_test_that_says_no_is_told_what_it_said(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--oracle", tool.script("test", "exit 3"))
    assert done.code == 1
    assert "the test said no: exit status 3; exit status 0 means yes" in done.err


@pytest.mark.slow
def test_a_command_that_hangs_is_told(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    done = tool("smt2", "in.smt2", "--cmd", tool.script("hang", "sleep 1000"), "--max-time", "2")
    assert done.code == 1
    assert "does not end within 1 s on the input. Give --timeout to keep that it hangs" in done.err


@pytest.mark.slow
def test_another_program_has_to_accept_the_file(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    crash = tool.script("crash", f"{NEEDLE} $1 && kill -SEGV $$; exit 0")
    strict = tool.script(
        "strict", 'grep -q "(check-sat)" $1 || { echo "error: no check"; exit 1; }'
    )
    done = tool("smt2", "in.smt2", "--cmd", crash, "--also-passes", strict)
    assert done.code == 0, done.err
    assert "signal SIGSEGV, and another program accepts the file" in done.out
    text = (tool.folder / "in.reduced.smt2").read_text()
    assert "needle" in text
    assert "(check-sat)" in text
    refuses = tool.script("refuses", "exit 1")
    done = tool("smt2", "in.smt2", "--cmd", crash, "--also-passes", refuses)
    assert done.code == 1
    assert f"a program of --also-passes does not accept it: {refuses}" in done.err


@pytest.mark.slow
def test_slow_where_another_is_quick(tool: Tool) -> None:
    tool.write("in.smt2", problem(4, (2,)))
    slow = tool.script("slow", f"{NEEDLE} $1 && sleep 0.3; exit 0")
    done = tool("smt2", "in.smt2", "--cmd", slow, "--reference", "true", "--slower-than", "5x")
    assert done.code == 0, done.err
    assert "takes 5 times as long as the reference, or more" in done.out
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()
    done = tool("smt2", "in.smt2", "--cmd", slow, "--reference", slow, "--slower-than", "5x")
    assert done.code == 1
    done = tool("smt2", "in.smt2", "--cmd", slow, "--slower-than", "5x")
    assert done.code == 2
    assert "--slower-than as a ratio needs --reference" in done.err


def test_the_order_of_ddsmt(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    crash = tool.script("crash", f"{NEEDLE} $1 && kill -SEGV $$; exit 0")
    done = tool("smt2", "in.smt2", "out.smt2", crash)
    assert done.code == 0, done.err
    assert "needle" in (tool.folder / "out.smt2").read_text()


def test_the_help_loads_no_format(tool: Tool) -> None:
    assert {name: registry.frontend_class(name).title for name in TITLES} == TITLES
    code = "import sys; from reducekit.cli.group import reducekit; "
    code += "reducekit.main(['--help'], standalone_mode=False); "
    code += "print(*[m for m in sys.modules if m.startswith('reducekit.frontends')], sep=',')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "an SMT-LIB v2 script" in done.stdout
    assert "reducekit.frontends" not in done.stdout
