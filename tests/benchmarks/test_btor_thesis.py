"""The tables of the thesis: made of the runs that are stored, and made anew on small cases."""

import pytest

from benchmarks.btor_thesis import RESULTS, THESIS, chapters, document, read
from benchmarks.claims import MADE
from reducekit.compare.runs import mean_of_percents
from reducekit.compare.tables import chart


def test_the_published_tables_and_charts_are_those_of_the_stored_runs() -> None:
    runs = read(RESULTS / "btor_thesis.tsv")
    discussion = (RESULTS / "btor_thesis_discussion.md").read_text()
    published = MADE.sub("", (RESULTS / "btor_thesis.md").read_text()).replace("\n\n\n", "\n")
    assert published == document(runs, discussion)
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


def test_the_averages_of_the_thesis_agree_with_its_tables() -> None:
    """Its LW row of table 5.3, and of table 5.5 with the mean that it uses for percents."""
    sizes = [731, 977, 1576, 1685, 1761, 1648, 1975, 1801, 2111, 2058]
    assert THESIS["lw"].nodes[0] == pytest.approx(sum(sizes) / 10, abs=0.05)
    percents = [0.002, 0.023, 0.115, 0.175, 0.092, 0.164, 0.004, 0.282, 0.084, 0.164]
    assert THESIS["lw"].per_call[0] == pytest.approx(mean_of_percents(percents), abs=0.001)
