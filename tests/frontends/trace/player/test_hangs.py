"""A hang is seen by the CPU that a replay takes; only what is asked again waits for the limit."""

import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library, read_fault, session
from reducekit.frontends.trace.player import libraries as helpers
from reducekit.frontends.trace.player.batch import BatchReplay, CrashCache, batching
from reducekit.frontends.trace.player.live_tester import LiveTester
from reducekit.frontends.trace.player.replay_executor import ReplayExecutor, hangs_after
from reducekit.oracle.own import TimesOut
from reducekit.run import Limits
from tests.frontends.trace.patches import resolve

HANGS = b"init\nadd 1\nadd 2\nadd 0\nsat\n"
PASSES = b"init\nadd 1\nadd 0\nmaxvar\n"
SHORT, LONG = 0.05, Limits(wall=0.4)


def read(text: bytes) -> Sequence[Call]:
    return read_trace(text, "lgl").calls


@pytest.fixture(name="server")
def faulty_server() -> Iterator[ReplayServer]:
    library = find_library("lingeling")
    fault = read_fault("lgldcpclnstk+0x257:delete")
    assert fault is not None
    with ReplayServer(library, patch=resolve(fault, library.path)) as server:
        yield server


def test_a_part_of_a_second_of_cpu_is_a_limit(server: ReplayServer) -> None:
    outcome = server.replay(read(HANGS), Limits(cpu=SHORT))
    # The system's own limit, of whole seconds, ends it by SIGXCPU.
    assert (outcome.kind, outcome.signal) == ("timeout", signal.SIGKILL)
    assert outcome.last_call == 4
    assert server.replay(read(PASSES), Limits(cpu=SHORT)).kind == "ok"
    assert hangs_after(read(HANGS), outcome, server) > SHORT


def test_who_asks_again_waits_for_the_limit(
    server: ReplayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Limits] = []
    submit = server.submit

    def noted(ticket: int, calls: Sequence[Call], limits: Limits) -> None:
        seen.append(limits)
        submit(ticket, calls, limits)

    monkeypatch.setattr(server, "submit", noted)
    ending = server.replay(read(HANGS), Limits(cpu=SHORT))
    seen.clear()
    model = load_model("lingeling")
    batch = batching(model, ending)
    with ReplayExecutor(
        server, read, TimesOut(LONG.wall), CrashCache(), proofs=True, model=model, batch=batch,
        hangs=SHORT,
    ) as executor:  # fmt: skip
        for text, interesting in ((PASSES, False), (HANGS, True), (HANGS, True)):
            executor.submit(1, text, LONG)
            finished = executor.wait()
            while not finished:
                finished = executor.wait()
            assert [each.interesting for each in finished] == [interesting]
        assert [limits.cpu for limits in seen] == [SHORT, SHORT, None]
        # Another check that waits shares its replay.
        longer = HANGS + b"maxvar\n"
        for text in (longer, HANGS.replace(b"2", b"3")):
            executor.submit(1, text, LONG)
            executor.submit(2, PASSES.replace(b"1", b"7"), LONG)
            done = {each.ticket: each.interesting for each in executor.wait()}
            while len(done) < 2:
                done |= {each.ticket: each.interesting for each in executor.wait()}
            assert done == {1: True, 2: False}


def test_many_traces_share_a_replay_up_to_the_one_that_hangs(server: ReplayServer) -> None:
    ending = server.replay(read(HANGS), Limits(cpu=SHORT))
    limits = Limits(wall=10, cpu=SHORT)
    batch = BatchReplay(
        lambda calls: server.replay(calls, limits), Call("release", ()), ending, server.playable
    )
    assert batch.first([read(PASSES)] * 3) is None
    assert batch.first([read(PASSES), read(HANGS), read(PASSES)]) == 1


def test_a_hang_is_waited_for_longer_where_what_passes_takes_nearly_as_long(
    server: ReplayServer,
) -> None:
    passed = server.replay(read(PASSES), Limits(cpu=SHORT))
    with ReplayExecutor(
        server, read, TimesOut(LONG.wall), CrashCache(), proofs=True, hangs=SHORT
    ) as executor:
        executor._note_time(replace(passed, cpu=SHORT / 10))
        assert executor._hangs == SHORT
        executor._note_time(replace(passed, cpu=SHORT))
        assert executor._hangs == 3 * SHORT


def test_many_traces_get_as_much_time_as_the_first_one_took_a_few_times(
    server: ReplayServer,
) -> None:
    dead = replace(server.replay(read(PASSES)), kind="signal", status=None, signal=11, cpu=0.01)
    for cpu, most in ((0.01, 2.0), (3.0, 15.0)):
        batch = batching(load_model("lingeling"), replace(dead, cpu=cpu))
        assert batch is not None
        assert batch.limits(Limits(wall=1, cpu=60)).cpu == most


ASLEEP = """
#include <stdlib.h>
#include <unistd.h>
enum { NOWHERE, LOAD, INIT, RELEASE, ADD, SOLVE, VAL };
static void at(int place) { while (place == AT) pause(); }
__attribute__((constructor)) static void load(void) { at(LOAD); }
const char *ipasir_signature(void) { return "asleep"; }
void *ipasir_init(void) { at(INIT); return malloc(1); }
void ipasir_release(void *s) { at(RELEASE); free(s); }
void ipasir_add(void *s, int literal) { (void)s; (void)literal; at(ADD); }
void ipasir_assume(void *s, int literal) { (void)s; (void)literal; }
int ipasir_solve(void *s) { (void)s; at(SOLVE); return AT == VAL ? 10 : 20; }
int ipasir_val(void *s, int literal) { (void)s; at(VAL); return literal; }
int ipasir_failed(void *s, int literal) { (void)s; (void)literal; return 1; }
"""
"""A solver that sleeps for ever at a place: it uses no CPU, so only the clock ends it."""


def asleep(place: str, folder: Path) -> str:
    source, library = folder / "asleep.c", folder / f"{place}.so"
    source.write_text(ASLEEP)
    subprocess.run(["gcc", "-shared", "-fPIC", f"-DAT={place}", "-o", library, source], check=True)
    return str(library)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["INIT", "RELEASE", "ADD", "SOLVE", "VAL"])
def test_a_trace_that_sleeps_in_a_call_is_out_of_time(place: str, tmp_path: Path) -> None:
    library = find_library("ipasir", asleep(place, tmp_path))
    generator = Generator(load_model("ipasir"), variables=4)
    with LiveTester(generator, library, reference=library, limits=Limits(wall=0.5)) as trials:
        ends = {trials.run(seed).outcome.kind for seed in range(2)}
    assert "timeout" in ends


def test_a_solver_to_compare_with_may_sleep(tmp_path: Path) -> None:
    library, other = (
        find_library("ipasir", asleep(place, tmp_path)) for place in ("NOWHERE", "SOLVE")
    )
    generator = Generator(load_model("ipasir"), variables=4)
    with LiveTester(generator, library, reference=other, limits=Limits(wall=0.5)) as trials:
        assert trials.run(0).wrong is None


def test_a_library_that_sleeps_while_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helpers, "_ASKING", 1)
    monkeypatch.setattr(session, "_LOADING", 1.0)
    path = asleep("LOAD", tmp_path)
    library = find_library("ipasir", path)
    message = f"cannot replay against {path}: it was not loaded after 1 seconds"
    with pytest.raises(UsageError, match=re.escape(message)):
        ReplayServer(library)
