"""The tables of the thesis: made of the runs that are stored, and made anew on small cases."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.btor_thesis import (
    OFF,
    ON,
    RESULTS,
    THESIS,
    chapters,
    document,
    merged,
    places,
    read,
)
from reducekit.compare.runs import Point, Run, mean_of_percents
from reducekit.compare.tables import chart, tsv
from reducekit.frontends.btor.generate.generator import Parameters, generate_text

CHECKOUT = Path(__file__).resolve().parents[2]
RUN = Run("btor", "ex1-arr", "ddmin", ON, "nodes", 90, 900, 50, 33, 44, (Point(0, 90), Point(3, 8)))


def test_the_published_tables_and_charts_are_those_of_the_stored_runs() -> None:
    runs = read(RESULTS / "btor_thesis.tsv")
    discussion = (RESULTS / "btor_thesis_discussion.md").read_text()
    assert (RESULTS / "btor_thesis.md").read_text() == document(runs, discussion)
    for name, found in chapters(runs).items():
        assert (RESULTS / f"btor_thesis_{name}.svg").read_text() == chart(found)


def test_the_stored_runs_are_of_all_algorithms_on_all_cases() -> None:
    found = chapters(read(RESULTS / "btor_thesis.tsv"))
    assert {name: len({run.file for run in runs}) for name, runs in found.items()} == {
        "arr": 10,
        "bv": 9,
    }
    for runs in found.values():
        names = {run.algorithm for run in runs}
        files = {run.file for run in runs}
        assert set(THESIS) | {"auto", "auto:quick", "combine", "deltabtor"} == names
        assert len(runs) == 2 * len(names) * len(files)


def test_the_default_ends_nowhere_larger_than_another_algorithm() -> None:
    """Whether the other one simplifies or not."""
    runs = read(RESULTS / "btor_thesis.tsv")
    ours: dict[str, int] = {}
    for run in runs:
        if run.algorithm == "auto":
            ours[run.file] = max(run.after, ours.get(run.file, 0))
    larger = [(run.file, run.algorithm) for run in runs if ours[run.file] > run.after]
    assert larger == []


def test_what_is_stored_is_read_again(tmp_path: Path) -> None:
    runs = [RUN, replace(RUN, settings=OFF, stopped="after 44 checks")]
    (tmp_path / "runs.tsv").write_text(tsv(runs))
    assert read(tmp_path / "runs.tsv") == runs


def test_new_runs_take_the_place_of_old_ones() -> None:
    old = [RUN, replace(RUN, algorithm="auto"), replace(RUN, file="ex2-arr")]
    new = [replace(RUN, checks=1)]
    assert merged(old, new, ["ex2-arr", "ex1-arr"]) == [old[2], new[0], old[1]]
    assert merged(old, new, ["ex1-arr"]) == [new[0], old[1]]


def test_places() -> None:
    assert places({"a": 3.0, "b": 1.0, "c": 3.0, "d": 9.0}) == {"a": 2, "b": 1, "c": 2, "d": 4}
    assert places({"a": 3.0, "b": 9.0}, descending=True) == {"a": 2, "b": 1}


def test_the_averages_of_the_thesis_agree_with_its_tables() -> None:
    """Its LW row of table 5.3, and of table 5.5 with the mean that it uses for percents."""
    sizes = [731, 977, 1576, 1685, 1761, 1648, 1975, 1801, 2111, 2058]
    assert THESIS["lw"].nodes[0] == pytest.approx(sum(sizes) / 10, abs=0.05)
    percents = [0.002, 0.023, 0.115, 0.175, 0.092, 0.164, 0.004, 0.282, 0.084, 0.164]
    assert THESIS["lw"].per_call[0] == pytest.approx(mean_of_percents(percents), abs=0.001)


@pytest.mark.slow
def test_a_folder_of_cases(tmp_path: Path) -> None:
    cases, out = tmp_path / "cases", tmp_path / "out"
    out.mkdir()
    for name, operator, seed in (("ex10-m", "mul", 11), ("ex2-m", "mul", 13), ("ex1-r", "read", 5)):
        folder = cases / name
        folder.mkdir(parents=True)
        (folder / "input.btor").write_bytes(generate_text(Parameters(seed=seed, nodes=60)))
        (folder / "oracle").write_text(f'#!/bin/sh\nexec grep -q " {operator} " "$1"\n')
        (folder / "oracle").chmod(0o755)

    def run(strategies: str) -> list[Run]:
        command = [sys.executable, "-m", "benchmarks.btor_thesis", cases, "--out", out]
        subprocess.run(
            [*map(str, command), "--strategies", strategies],
            check=True, cwd=CHECKOUT, timeout=120, capture_output=True,
        )  # fmt: skip
        return read(out / "btor_thesis.tsv")

    first = run("ddmin,hdd,lw")
    assert list(dict.fromkeys(each.file for each in first)) == ["ex2-m", "ex10-m", "ex1-r"]
    both = run("auto")
    assert [each for each in both if each.algorithm != "auto"] == first
    assert len(both) == 3 * 2 * 4
    text = (out / "btor_thesis.md").read_text()
    assert "# Fault `m`" in text
    assert "# Fault `r`" in text
    assert "Rank correlation: calls " in text
    assert (out / "btor_thesis_r.svg").read_text().startswith("<svg ")


@pytest.mark.slow
def test_cases_are_run_in_parts(tmp_path: Path) -> None:
    """What has ended is not run again, and at most two cases at a time make no difference."""
    cases, seen = tmp_path / "cases", tmp_path / "seen"
    for name, seed in (("ex1-m", 11), ("ex2-m", 13), ("ex3-m", 11)):
        folder = cases / name
        folder.mkdir(parents=True)
        (folder / "input.btor").write_bytes(generate_text(Parameters(seed=seed, nodes=60)))
        (folder / "oracle").write_text(
            f'#!/bin/sh\necho {name} >> {seen}\nexec grep -q " mul " "$1"\n'
        )
        (folder / "oracle").chmod(0o755)

    def run(out: str, *more: str) -> set[str]:
        """Return the cases that an oracle ran for."""
        seen.write_text("")
        (tmp_path / out).mkdir(exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.btor_thesis", cases, "--out", tmp_path / out]
        subprocess.run(
            [*map(str, command), "--strategies", "ddmin,lw", *more],
            check=True, cwd=CHECKOUT, timeout=120, capture_output=True,
        )  # fmt: skip
        return set(seen.read_text().split())

    parts = ("--parts", str(tmp_path / "parts"))
    assert run("parted", *parts, "--number", "1") == {"ex1-m"}
    (tmp_path / "parts" / "ex2-m.unfinished").write_text("broken off")
    assert not (tmp_path / "parted" / "btor_thesis.tsv").exists()
    assert run("parted", *parts, "--number", "2", "--jobs", "2") == {"ex2-m", "ex3-m"}
    assert run("parted", *parts) == set()
    assert run("whole") == {"ex1-m", "ex2-m", "ex3-m"}
    for name in ("btor_thesis.tsv", "btor_thesis.md"):
        assert (tmp_path / "parted" / name).read_text() == (tmp_path / "whole" / name).read_text()
