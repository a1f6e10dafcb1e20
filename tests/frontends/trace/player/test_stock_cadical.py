"""CaDiCaL as its own build makes it (namespace CaDiCaL), in two versions that wheels bring."""

from importlib import metadata
from pathlib import Path

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, api_of, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.target import fitted, options_of


def stock(distribution: str) -> str:
    """Return the library of a wheel that has CaDiCaL in it: of Bitwuzla 3.0, of cvc5 2.1."""
    files = metadata.files(distribution) or []
    (found,) = [
        str(file.locate())
        for file in files
        if b"_ZN7CaDiCaL6SolverC1Ev" in _content(Path(str(file.locate())))
    ]
    return found


def _content(path: Path) -> bytes:
    return path.read_bytes() if ".so" in path.name else b""


VERSIONS = ["bitwuzla", "cvc5"]


@pytest.mark.parametrize("distribution", VERSIONS)
def test_a_stock_library_is_detected_and_plays(distribution: str) -> None:
    path = stock(distribution)
    assert api_of(path) == "cadical"
    library = find_library("cadical", path)
    calls = [Call("init", ()), Call("set", ("seed", 3))]
    calls += [Call("add", (literal,)) for literal in (1, 2, 0, -1, 0)]
    calls += [Call("solve", ()), Call("val", (2,)), Call("reset", ())]
    with ReplayServer(library) as server:
        outcome = server.replay(calls)
    assert outcome.kind == "ok"
    assert outcome.results[1] == 1
    assert outcome.results[-3] == 10
    assert (outcome.results[-2] or 0) > 0


def test_what_a_library_lacks_is_left_out_and_named_once() -> None:
    new, old = (find_library("cadical", stock(each)) for each in VERSIONS)
    assert new.interface.lacking == ("reserve",)
    assert new.note == "the library lacks these calls, so they are left out: reserve"
    assert set(old.interface.lacking) >= {"resize", "declare_more_variables", "implied"}
    assert "resize" in load_model("cadical").calls


@pytest.mark.parametrize("distribution", VERSIONS)
def test_no_trace_sets_an_option_that_the_library_refuses(distribution: str) -> None:
    library = find_library("cadical", stock(distribution))
    model = fitted(load_model("cadical"), library)
    assert model.options.table == options_of(library)
    refused, settings = [], 0
    with LiveReplay(library) as live:
        generator = Generator(model, variables=4)
        for seed in range(40):
            live.begin()
            made = generator.generate(seed, live.play)
            assert live.finish().kind == "ok"
            for call in made.recorded():
                if call.name == "set":
                    settings += 1
                    refused += [call] if call.result != 1 else []
    assert settings > 100
    assert not refused


def test_options_are_those_of_the_version() -> None:
    new, old = (options_of(find_library("cadical", stock(each))) for each in VERSIONS)
    assert (new["factor"].default, new["factor"].low, new["factor"].high) == (0, 0, 1)
    assert "factor" not in old
    assert "ilbassumptions" in old
    assert "ilbassumptions" not in new
    assert options_of(find_library("cadical", "cadical195"))["elimint"].default == 2000
    assert not options_of(find_library("lingeling"))
