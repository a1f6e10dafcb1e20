"""Replays against the real Lingeling inside python-sat."""

import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.player import (
    DEFAULT_LIMITS,
    ReplayOutcome,
    ReplayServer,
    api_of,
    find_library,
    read_fault,
)
from reducekit.frontends.trace.player import libraries as helpers
from reducekit.frontends.trace.player import server as replay_server
from reducekit.frontends.trace.player.batch import CrashCache
from reducekit.frontends.trace.player.libraries import ENGINES, Library
from reducekit.frontends.trace.player.prototypes import Interface, steps_of, unguarded
from reducekit.frontends.trace.player.records import Encoder
from reducekit.frontends.trace.player.replay_executor import ReplayExecutor
from reducekit.oracle.printed import Matches
from reducekit.run import Limits
from tests.frontends.trace.endless import endless
from tests.frontends.trace.patches import resolve

SAT = "init\nadd 1\nadd 0\nsat\nreturn 10\n"

# One situation a line: the trace, the exit status, that with --check-returns,
# and the 0-based index of the last call that was begun.
MATRIX: dict[str, tuple[str, int, int, int]] = {
    "bad-return": ("init\nadd 1\nadd 0\nsat\nreturn 20\nrelease\n", 0, 88, 4),
    "call-after-release": (SAT + "release\nsat\n", 86, 86, 5),
    "call-before-init": ("add 1\n", 86, 86, 0),
    "two-inits": ("init\ninit\n", 86, 86, 1),
    "contract-add-melted": (SAT + "add 1\n", 86, 86, 4),
    "contract-assume-zero": ("init\nassume 0\n", 86, 86, 1),
    "contract-failed-after-sat": (SAT + "failed 1\n", 86, 86, 4),
    "contract-melt-unfrozen": ("init\nfreeze 1\nmelt 1\nmelt 1\n", 86, 86, 3),
    "contract-open-clause": ("init\nadd 1\nsat\nrelease\n", 86, 86, 2),
    "contract-reuse-not-reusable": (
        "init\nadd 1\nadd 2\nadd 0\nsat\nreturn 10\nreusable 1\nreturn 0\nreuse 1\nadd 1\n",
        86,
        86,
        6,
    ),
    "double-release": ("init\nrelease\nrelease\n", 86, 86, 2),
    "empty": ("", 0, 0, -1),
    "no-release": (SAT, 0, 0, 3),
    "ok-crlf": (SAT.replace("\n", "\r\n") + "release\r\n", 0, 0, 4),
    "ok-freeze-melt": (
        "init\nadd 1\nadd 2\nadd 0\nfreeze 1\nsat\nreturn 10\nadd -1\nadd 0\nsat\nreturn 10\n"
        "melt 1\nrelease\n",
        0,
        0,
        10,
    ),
    "ok": (SAT + "deref 1\nreturn 1\nrelease\n", 0, 0, 5),
    "option-out-of-range": ("init\noption lkhd 999\nadd 1\nadd 0\nlkhd\nrelease\n", 0, 0, 5),
    "option-exitonabort": ("init\noption exitonabort 1\nassume 0\n", 86, 86, 2),
    "unknown-option": ("init\noption nosuch 1\nrelease\n", 0, 0, 2),
    "parse-arguments": (SAT + "drop table\n", 87, 87, -1),
    "parse-error": ("init\nfoo\n", 87, 87, -1),
    "parse-meltall": ("init\nmeltall\n", 87, 87, -1),
    "parse-too-few": ("init\nadd\n", 87, 87, -1),
    "parse-too-many": ("init\nadd 1 2\n", 87, 87, -1),
    "parse-word": ("init\nadd x\n", 87, 87, -1),
}


def calls_of(text: str) -> tuple[Call, ...]:
    return tuple(read_trace(text.encode(), "lgl").calls)


@pytest.fixture(scope="module")
def library() -> Library:
    return find_library("lingeling")


@pytest.fixture(scope="module", params=[True, False], ids=["native", "python"])
def server(library: Library, request: pytest.FixtureRequest) -> Iterator[ReplayServer]:
    with ReplayServer(library, native=request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def checking(library: Library) -> Iterator[ReplayServer]:
    with ReplayServer(library, check_results=True) as opened:
        yield opened


@pytest.mark.parametrize("name", MATRIX)
def test_status(server: ReplayServer, name: str) -> None:
    text, status, _, last = MATRIX[name]
    outcome = server.replay(calls_of(text))
    assert (outcome.status, outcome.signal, outcome.last_call) == (status, None, last)
    assert outcome.kind == {0: "ok", 86: "contract", 87: "parse"}[status]


@pytest.mark.parametrize("name", MATRIX)
def test_status_with_checked_results(checking: ReplayServer, name: str) -> None:
    text, _, status, _ = MATRIX[name]
    assert checking.replay(calls_of(text)).status == status


def test_without_a_compiler_python_plays(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with ReplayServer(library) as server:
        assert server.native == (shutil.which("cc") is not None)
    monkeypatch.setattr(helpers, "_COMPILERS", {".c": ()})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    helpers.compiled.cache_clear()
    try:
        with ReplayServer(library) as server:
            assert not server.native
            assert server.replay(calls_of(SAT)).results[3] == 10
    finally:
        helpers.compiled.cache_clear()


def test_a_compiled_player_that_cannot_be_loaded_is_not_used(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    helpers.compiled.cache_clear()
    try:
        path = helpers.compiled("player.c", "")
        if path is None:
            pytest.skip("there is no compiler")
        Path(path).write_bytes(b"")
        with ReplayServer(library) as server:
            assert not server.native
            assert server.replay(calls_of(SAT)).results[3] == 10
    finally:
        helpers.compiled.cache_clear()


def test_results(server: ReplayServer) -> None:
    text = "init\nadd -7\nadd 0\nmaxvar\nsat\nderef 7\nderef -7\nrepr -7\ninconsistent\nrelease\n"
    outcome = server.replay(calls_of(text))
    assert list(outcome.results) == [None, None, None, 7, 10, -1, 1, -7, 0, None]
    assert (outcome.results[5], outcome.results[-2], len(outcome.results)) == (-1, 0, 10)
    assert list(outcome.results[3:6]) == [7, 10, -1]


def test_results_before_a_broken_contract(server: ReplayServer) -> None:
    outcome = server.replay(calls_of(SAT + "deref 1\nadd 1\n"))
    assert list(outcome.results) == [None, None, None, 10, 1]
    assert "line 7: add 1: " in outcome.reason
    assert "API usage error" in outcome.reason


def test_the_wrong_result_is_named(checking: ReplayServer) -> None:
    outcome = checking.replay(calls_of(SAT + "deref 1\nreturn -1\nderef 1\nreturn 1\n"))
    assert (outcome.kind, outcome.last_call) == ("mismatch", 4)
    assert outcome.reason == "line 6: deref 1: returned 1, the trace says -1"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("init\nreturn 0\n", "ok"),  # before any result, Lingeling's reader compares with 0
        ("init\nreturn 1\n", "mismatch"),
        (SAT + "return 10\nreturn 10\n", "ok"),
        (SAT + "return 20\n", "mismatch"),
        (SAT + "add 1\nreturn 10\n", "contract"),
        ("init\nadd 1\nadd 0\nfreeze 1\nsat\nadd 1\nreturn 10\n", "ok"),
        ("init\nadd 1\nadd 0\nfreeze 1\nsat\nadd 1\nreturn 20\n", "mismatch"),
    ],
)
def test_return_lines_that_follow_no_result(checking: ReplayServer, text: str, kind: str) -> None:
    assert checking.replay(calls_of(text)).kind == kind


def test_what_the_library_prints_is_captured(server: ReplayServer) -> None:
    outcome = server.replay(calls_of("init\noption verbose 1\nadd 1\nadd 0\nsat\nrelease\n"))
    assert outcome.kind == "ok"
    assert b"c " in outcome.stdout
    assert server.replay(calls_of(SAT)).stdout == b""


def test_too_much_output_ends_a_replay(server: ReplayServer) -> None:
    calls = calls_of("init\noption verbose 2\n" + SAT[5:] + "stats\n" * 50)
    outcome = server.replay(calls, DEFAULT_LIMITS._replace(output=10_000))
    assert (outcome.kind, len(outcome.stdout)) == ("output", 10_000)
    assert outcome.as_outcome().limit == "output"


def test_a_replay_that_hangs_is_killed(server: ReplayServer) -> None:
    outcome = server.replay(calls_of(endless()), Limits(wall=0.3))
    assert (outcome.kind, outcome.signal) == ("timeout", signal.SIGKILL)
    assert outcome.last_call == len(calls_of(endless())) - 1
    assert outcome.as_outcome().limit == "time"
    assert server.replay(calls_of(SAT)).kind == "ok"


def test_cpu_time_is_limited(server: ReplayServer) -> None:
    outcome = server.replay(calls_of(endless()), Limits(cpu=1))
    assert (outcome.kind, outcome.signal) == ("timeout", signal.SIGXCPU)


def test_memory_is_limited(server: ReplayServer) -> None:
    calls = [Call("init", ()), Call("add", (200_000_000,)), Call("add", (0,))]
    outcome = server.replay(calls, Limits(memory=64 << 20))
    assert (outcome.kind, outcome.status, outcome.last_call) == ("exit", 0, 1)
    assert b"out of memory" in outcome.stdout


def test_what_presets_options_is_kept_away(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LGLverbose", "2")
    monkeypatch.setenv("LGLAPITRACE", str(tmp_path / "trace"))
    with ReplayServer(library) as server:
        assert server.replay(calls_of(SAT)).stdout == b""
    assert list(tmp_path.iterdir()) == []


def test_a_trace_longer_than_the_shared_memory(library: Library) -> None:
    calls = calls_of("init\nfreeze 1\n") + calls_of("init\nfrozen 1\n")[1:] * 1_100_000
    with ReplayServer(library) as server:
        outcome = server.replay(calls)
        assert (outcome.kind, outcome.results[len(calls) - 1]) == ("ok", 1)
        assert server.replay(calls_of(SAT)).kind == "ok"


def test_several_replays_at_a_time(library: Library) -> None:
    with ReplayServer(library, jobs=3) as server:
        server.submit(1, calls_of(endless()))
        server.submit(2, calls_of(SAT))
        server.submit(3, calls_of("init\nassume 0\n"))
        assert server.free == 0
        found: dict[int, ReplayOutcome] = {}
        while len(found) < 2:
            found.update(server.wait())
        assert {ticket: each.kind for ticket, each in found.items()} == {2: "ok", 3: "contract"}
        assert server.free == 2
        server.cancel(1)
        server.cancel(1)
        assert server.free == 3
        assert server.wait(1) == []
        for ticket in (4, 5, 6):
            server.submit(ticket, calls_of(SAT))
        last = dict(server.wait()) | dict(server.wait())
        last |= dict(server.wait())
        assert {each.kind for each in last.values()} == {"ok"}
        assert set(last) == {4, 5, 6}


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def until_there(pid: int) -> list[int]:
    give_up = time.monotonic() + 20
    while not (found := children(pid)):
        assert time.monotonic() < give_up
        time.sleep(0.01)
    return found


def until_gone(pids: Sequence[int]) -> None:
    give_up = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < give_up
        time.sleep(0.01)


def new_children(before: Sequence[int]) -> list[int]:
    return sorted(set(children(os.getpid())) - set(before))


@pytest.mark.slow
def test_a_server_that_dies_is_replaced(library: Library) -> None:
    before = children(os.getpid())
    with ReplayServer(library) as server:
        (pid,) = new_children(before)
        os.kill(pid, signal.SIGKILL)
        assert server.replay(calls_of(SAT)).kind == "ok"
        (pid,) = new_children(before)
        server.submit(1, calls_of(endless()), Limits(wall=2))
        running = until_there(pid)
        os.kill(pid, signal.SIGKILL)
        ((ticket, outcome),) = server.wait()
        assert (ticket, outcome.kind) == (1, "timeout")
        until_gone(running)
    assert new_children(before) == []


def _pages(pid: int | str) -> int:
    """Return how many pages of memory of its own a process has."""
    shared = Path(f"/proc/{pid}/statm").read_text().split()
    return int(shared[1]) - int(shared[2])


@pytest.mark.slow
def test_the_memory_of_a_server_stays_as_it_is(library: Library) -> None:
    calls = calls_of("init;add 1;add 2;add 0;sat;deref 1;release".replace(";", "\n"))
    with ReplayServer(library) as server:
        (process,) = server._servers.values()
        for _ in range(200):
            server.replay(calls)
        before = _pages(process.pid), _pages("self")
        for _ in range(2000):
            assert server.replay(calls).kind == "ok"
        after = _pages(process.pid), _pages("self")
    # What a leak of 100 bytes a replay would add.
    assert after[0] - before[0] < 40
    assert after[1] - before[1] < 40


HEAP = Interface(
    "heap", {"init": "$ = calloc(1, 16)", "take": "int malloc(int)", "release": "free(~$)"}, b"(?!)"
)
SIZES = (24, 100, 600, 1500, 5000, 9000)


def places(server: ReplayServer, more: int = 0) -> Sequence[Value | None]:
    """Return where a replay gets memory of some sizes; it takes so much more afterwards."""
    takes = [Call("take", (size,)) for size in (*SIZES, *[40] * more)]
    played = server.replay([Call("init", ()), *takes, Call("release", ())])
    assert played.kind == "ok"
    return tuple(played.results[1 : 1 + len(SIZES)])


def test_each_replay_begins_with_the_same_heap(library: Library) -> None:
    # What a library does that corrupts memory depends on what lies where in the heap.
    found = set()
    for _ in range(2):
        with ReplayServer(replace(library, interface=HEAP)) as server:
            if not server.native:
                pytest.skip("children that run Python use the heap themselves")
            found |= {places(server, more) for more in (0, 0, 500, 1, 0)}
    assert len(found) == 1


def test_a_replay_begins_with_a_heap_that_nobody_has_used(library: Library) -> None:
    with ReplayServer(replace(library, interface=HEAP)) as server:
        if not server.native:
            pytest.skip("children that run Python use the heap themselves")
        _, first, *others = places(server)
    # One block after the other, each with the 8 bytes before it that malloc(3) keeps.
    for size in SIZES[1:-1]:
        assert isinstance(first, int)
        first += (size + 8 + 15) // 16 * 16
        assert first == others.pop(0)


@pytest.mark.parametrize("length", [1, 30, 100, 200])
def test_the_heap_is_the_same_in_every_folder(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    heap = replace(library, interface=HEAP)
    with ReplayServer(heap) as server:
        if not server.native:
            pytest.skip("children that run Python use the heap themselves")
        expected = places(server)
    folder = tmp_path / ("f" * length)
    folder.mkdir()
    path = Path(library.path)
    (folder / "libraries").symlink_to(path.parent)
    (folder / "python").symlink_to(sys.executable)
    (folder / "server.py").write_text(Path(replay_server.__file__).read_text())
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr(replay_server, "__file__", str(folder / "server.py"))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with ReplayServer(replace(heap, path=str(folder / "libraries" / path.name))) as server:
        assert places(server) == expected


@pytest.mark.slow
def test_closing_leaves_no_process(library: Library) -> None:
    before = children(os.getpid())
    server = ReplayServer(library, jobs=2)
    server.submit(1, calls_of(endless()))
    server.submit(2, calls_of(endless()))
    pids = new_children(before)
    running = [child for pid in pids for child in until_there(pid)]
    server.close()
    server.close()
    until_gone([*pids, *running])


@pytest.mark.slow
def test_no_process_outlives_a_client_that_is_killed(tmp_path: Path) -> None:
    trace = tmp_path / "slow.trace"
    trace.write_text(endless())
    with subprocess.Popen([sys.executable, "-m", "reducekit", "replay", str(trace)]) as client:
        (server,) = until_there(client.pid)
        running = until_there(server)
        client.kill()
        until_gone([server, *running])


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF\x02"])
def test_a_file_that_is_no_library(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libnone.so"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot replay against .*libnone\.so: "):
        ReplayServer(find_library("lingeling", str(path)))


def test_a_library_without_the_api() -> None:
    path = next(
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "libc.so" in line
    )
    with pytest.raises(UsageError, match=r"cannot play the API lingeling: .* lglinit"):
        find_library("lingeling", path)


def test_a_library_that_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "short.so"
    whole = Path(find_library("lingeling").path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=r"short\.so: .* signal SIGBUS: is the file complete\?"):
        ReplayServer(find_library("lingeling", str(path)))


def test_libraries_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="there is no library for the API 'nothing'"):
        find_library("nothing")
    with pytest.raises(UsageError, match="neither the path of a library nor one of the engines"):
        find_library("lingeling", "minisat")
    with pytest.raises(UsageError, match=r"there is no library ./nowhere\.so"):
        find_library("lingeling", "./nowhere.so")


@pytest.mark.parametrize("engine", ["cadical103", "cadical153", "cadical195", "cadical300"])
def test_ipasir_with_each_cadical(engine: str) -> None:
    text = "init;add 1;add 2;add 0;assume -1;assume -2;solve;failed -1;solve;val 1;release"
    calls = read_trace(text.replace(";", "\n").encode(), "words").calls
    with ReplayServer(find_library("ipasir", engine)) as server:
        outcome = server.replay(calls)
        assert outcome.kind == "ok"
        assert [r for r in outcome.results if r is not None][:3] == [20, 1, 10]
        broken = server.replay(read_trace(b"init\nadd 1\nsolve\n", "words").calls)
    assert (broken.kind, broken.status) == ("contract", 86)
    assert "invalid API usage" in broken.reason


def test_cadical_takes_options_limits_and_constraints() -> None:
    text = (
        b"init\nset seed 7\nconfigure sat\nlimit conflicts 100\noptimize 0\nadd 1\nadd 2\nadd 0\n"
        b"constrain -1\nconstrain 0\nphase 2\nfreeze 2\nsolve 10\nval 2 2\nfixed 2 0\n"
        b"frozen 2 1\nvars\nsimplify 1 0\nreset\n"
    )
    calls = read_trace(text, "mobical").calls
    with ReplayServer(find_library("cadical"), check_results=True) as server:
        outcome = server.replay(calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")


def test_a_handle_that_no_call_returned_is_a_null_pointer() -> None:
    text = b"new\nreturn b\nbitvec_sort b 8\nreturn s\nvar b s x\nreturn x\nne b x z\nreturn d\n"
    with ReplayServer(find_library("boolector")) as server:
        outcome = server.replay(read_trace(text, "boolector").calls)
    assert (outcome.kind, outcome.last_call) == ("contract", 3)
    assert "must not be NULL" in outcome.reason


@pytest.mark.debian("picosat")
def test_a_broken_contract_of_picosat() -> None:
    with ReplayServer(find_library("picosat")) as server:
        outcome = server.replay(read_trace(b"init\nadd 1\nsat -1\n", "words").calls)
    assert (outcome.kind, outcome.last_call) == ("contract", 2)
    assert "*** picosat: API usage: " in outcome.reason


@pytest.mark.debian("minisat", "g++")
def test_a_fault_in_minisat() -> None:
    library = find_library("minisat")
    assert api_of(library.path) == "minisat"
    calls = read_trace(b"new\nnew_var\nadd_clause 1\nsimplify\nsolve -1\n", "words").calls
    fault = read_fault("_ZN7Minisat6Solver8simplifyEv+0:abort")
    assert fault is not None
    patch = resolve(fault, library.path)
    with ReplayServer(library) as server, ReplayServer(library, patch=patch) as faulty:
        assert [*server.replay(calls).results] == [None, 1, 1, 1, 0]
        outcome = faulty.replay(calls)
    assert (outcome.kind, outcome.last_call) == ("signal", 3)


@pytest.mark.debian("minisat", "g++")
def test_minisat_without_its_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = find_library("minisat").path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(helpers, "_FLAGS", ("-nostdinc",))
    helpers.compiled.cache_clear()
    try:
        with pytest.raises(UsageError, match=r"needs a C\+\+ compiler and the headers"):
            find_library("minisat", path)
    finally:
        helpers.compiled.cache_clear()


def test_every_prototype_can_be_encoded() -> None:
    values: dict[str, Value] = {
        "int": 1,
        "int*": 1,
        "str": "a",
        "word": "a",
        "handle": "h",
        "handle*": "h",
        "self": "s",
        "skip": "b",
    }
    for engine in ENGINES:
        for api, known in engine.interfaces.items():
            interface = find_library(api, engine.name).interface if known.spells else known
            encoder = Encoder(interface)
            for name, text in interface.calls.items():
                taken = [word for step in steps_of(unguarded(text)) for word in step.arguments]
                words = [each.strip("~[]") for word in taken for each in word.split()]
                call = Call(name, tuple(values[word] for word in words if word in values))
                records, _ = encoder.encode([call])
                assert len(records) % 32 == 0


@pytest.mark.parametrize(("version", "noted"), [("1.8.dev30", True), ("1.9.dev24", False)])
def test_a_version_older_than_those_tried_is_noted(
    monkeypatch: pytest.MonkeyPatch, version: str, noted: bool
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)
    said = f"python-sat {version} is installed; replays were tested with 1.9.dev17 and newer"
    assert find_library("lingeling").note == (said if noted else "")


def test_what_an_install_brings_is_not_noted() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    asked = {*project["dependencies"], *project["optional-dependencies"]["test"]}
    for engine in ENGINES:
        if engine.distribution:
            assert {f"{engine.distribution}{how}{engine.oldest}" for how in (">=", "==")} & asked


def fault_in(library: Library, text: str) -> ReplayServer:
    fault = read_fault(text)
    assert fault is not None
    return ReplayServer(library, patch=resolve(fault, library.path))


def test_a_fault_that_aborts(library: Library) -> None:
    calls = calls_of("init\nadd 1\nadd 0\nfreeze 1\nmelt 1\nsat\n")
    with fault_in(library, "lglmelt+1:abort") as server:
        outcome = server.replay(calls)
        assert (outcome.kind, outcome.signal, outcome.last_call) == ("signal", signal.SIGILL, 4)
        assert len(outcome.results) == 4
        assert server.replay(calls[:4]).kind == "ok"
    with ReplayServer(library) as server:
        assert server.replay(calls).kind == "ok"


def test_a_fault_is_a_matter_of_one_server(library: Library) -> None:
    with ReplayServer(library) as sound, fault_in(library, "lgladd+1:abort") as faulty:
        assert faulty.replay(calls_of(SAT)).signal == signal.SIGILL
        assert sound.replay(calls_of(SAT)).kind == "ok"


def test_a_broken_contract_stays_one_in_a_faulty_library(library: Library) -> None:
    with fault_in(library, "lglmelt+1:abort") as server:
        assert server.replay(calls_of("init\nassume 0\nmelt 1\n")).kind == "contract"


def test_an_executor(library: Library) -> None:
    criterion = Matches(exit_code=-signal.SIGILL)
    cache = CrashCache()

    def read(text: bytes) -> Sequence[Call]:
        return tuple(read_trace(text, "lgl").calls)

    server = fault_in(library, "lglmelt+1:abort")
    with ReplayExecutor(server, read, criterion, cache, proofs=False) as executor:
        texts = [b"init\nfreeze 1\nmelt 1\n", b"init\nassume 0\n", b"\xff\xfe", b"init\nfoo\n"]
        verdicts = {}
        for ticket, text in enumerate(texts):
            assert executor.free == 1
            executor.submit(ticket, text, Limits(wall=10))
            assert executor.free == 0
            (done,) = executor.wait()
            verdicts[done.ticket] = (done.interesting, done.outcomes[0].status)
        executor.submit(9, texts[0], Limits())
        executor.cancel(9)
        assert executor.wait(0) == []
    assert verdicts == {0: (True, None), 1: (False, 86), 2: (False, 87), 3: (False, 87)}
    assert [cache.last(text) for text in texts] == [2, None, None, None]
    assert executor.runs == 4


def test_replays_do_not_load_the_library_here() -> None:
    code = (
        "import sys\n"
        "from reducekit.frontends.trace.player import find_library\n"
        "find_library('lingeling')\n"
        "print('pysolvers' in sys.modules or 'pysat' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
