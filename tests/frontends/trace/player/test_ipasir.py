"""Any library with the functions of ipasir.h is replayed against, and hunted in."""

import signal
import subprocess
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.live_tester import LiveTester

SOURCE = Path(__file__).with_name("tiny_ipasir.c")
TRACE = """init
add 1
add 2
add 0
assume -1
solve
val 2
add -2
add 0
assume -1
solve
failed -1
"""


def compiled(folder: Path, *defined: str) -> str:
    library = folder / "libtiny.so"
    flags = [f"-D{each}" for each in defined]
    subprocess.run(["gcc", "-shared", "-fPIC", *flags, str(SOURCE), "-o", str(library)], check=True)
    return str(library)


def test_a_library_of_ones_own_is_replayed(tmp_path: Path) -> None:
    library = find_library("ipasir", compiled(tmp_path))
    calls = read_trace(TRACE.encode(), "words").calls
    with ReplayServer(library) as server:
        outcome = server.replay(calls)
    assert outcome.kind == "ok"
    assert [each for each in outcome.results if each is not None] == [10, 2, 20, 1]


@pytest.mark.parametrize(("defined", "found"), [((), 0), (("BUG",), 1), (("WRONG",), 1)])
def test_a_library_of_ones_own_is_hunted_in(
    tmp_path: Path, defined: tuple[str, ...], found: int
) -> None:
    library = find_library("ipasir", compiled(tmp_path, *defined))
    generator = Generator(load_model("ipasir"), variables=8)
    reference = find_library("ipasir", "cadical153")
    bugs = 0
    with LiveTester(generator, library, reference=reference) as tester:
        for seed in range(12):
            trial = tester.run(seed)
            assert len(trial.made.calls) > 10
            bugs += trial.wrong is not None or trial.outcome.signal == signal.SIGABRT
    assert bool(bugs) == bool(found)


def test_a_library_that_cannot_play_is_an_error(tmp_path: Path) -> None:
    library = compiled(tmp_path, "PART")
    with pytest.raises(UsageError, match=r"cannot play the API ipasir: .* ipasir_failed"):
        find_library("ipasir", library)
    with pytest.raises(UsageError, match=r"cannot play the API lingeling: .* lglinit"):
        find_library("lingeling", library)


def test_the_model_has_no_call_that_cannot_be_played(tmp_path: Path) -> None:
    with ReplayServer(find_library("ipasir", compiled(tmp_path))) as server:
        assert all(map(server.playable, load_model("ipasir").calls))
        assert server.replay([Call("init", ()), Call("release", ())]).kind == "ok"


def test_a_server_that_is_killed_while_it_starts_is_started_again(tmp_path: Path) -> None:
    """As by a user, or by the system when memory is short."""
    source, mark = tmp_path / "killed.c", tmp_path / "begun"
    source.write_text(
        "#include <fcntl.h>\n#include <signal.h>\n#include <unistd.h>\n"
        f'#include "{SOURCE}"\n'
        "__attribute__((constructor)) static void killed(void) {\n"
        f'    if (open("{mark}", O_CREAT | O_EXCL, 0600) >= 0) kill(getpid(), SIGKILL);\n}}\n'
    )
    path = tmp_path / "libkilled.so"
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    calls = read_trace(TRACE.encode(), "words").calls
    with ReplayServer(find_library("ipasir", str(path))) as server:
        assert server.replay(calls).kind == "ok"
    assert mark.exists()
