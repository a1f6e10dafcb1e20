"""Traces for mobical are such as it reads."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.target import fitted

UNREAD = ("unphase", "reserve", "reset_constraint", "declare_one_more_variable")


def test_no_call_is_made_that_mobical_does_not_read() -> None:
    made = {
        model: {
            name
            for phase in load_model(model).phases.values()
            for step in phase.steps
            for name, _ in step.calls
        }
        for model in ("cadical", "mobical")
    }
    assert made["cadical"].issuperset(UNREAD)
    assert made["mobical"].isdisjoint(UNREAD)
    assert {"phase", "constrain", "resize"} <= made["mobical"]


@pytest.mark.debian("cadical")  # the package that has mobical
def test_mobical_reads_them(tmp_path: Path) -> None:
    library = find_library("cadical", "cadical153")
    model = fitted(load_model("mobical"), library)
    # The reader of 1.5.3 knows fewer calls than its library.
    known = [name for name in model.calls if "_" not in name and name != "phase"]
    phases = {name: phase.only(known) for name, phase in model.phases.items()}
    generator = Generator(replace(model, phases=phases), variables=8)
    path = tmp_path / "made.trace"
    with LiveReplay(library) as live:
        for seed in range(20):
            live.begin()
            made = generator.generate(seed, live.play)
            live.finish()
            path.write_bytes(print_trace(made.recorded(), "mobical"))
            done = subprocess.run(["mobical", str(path)], capture_output=True, check=False)
            assert (done.returncode, b"error" in done.stderr) == (0, False)
