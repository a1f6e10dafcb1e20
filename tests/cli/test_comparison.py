"""What is made of the runs of a comparison: means, dominance, tables, the chart."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest

from reducekit.cli.comparison import (
    Point,
    Run,
    dominance,
    mean_of_percents,
    size_at,
    tables,
)
from reducekit.cli.comparison_chart import chart
from reducekit.cli.comparison_report import as_json, markdown, tsv


def run(
    algorithm: str,
    points: Sequence[tuple[int, int]],
    checks: int,
    file: str = "a",
    simplify: bool | None = True,
    stopped: str | None = None,
) -> Run:
    """Return a run whose sizes are `points`, the first one before any check."""
    curve = tuple(Point(*point) for point in points)
    return Run(
        "btor", file, algorithm, simplify, "nodes", curve[0].size, 10 * curve[0].size,
        10 * curve[-1].size, checks, 2 * checks, curve, stopped,
    )  # fmt: skip


AUTO = [run("auto", [(0, 100), (2, 40), (9, 8)], 20), run("auto", [(0, 200), (5, 6)], 30, "b")]
SLOW = [run("slow", [(0, 100), (30, 8)], 40), run("slow", [(0, 200), (60, 10)], 70, "b")]
EARLY = [run("early", [(0, 100), (1, 40)], 2), run("early", [(0, 200), (3, 20)], 9, "b")]
SMALL = [run("small", [(0, 100), (50, 7)], 90), run("small", [(0, 200), (50, 9)], 90, "b")]
ALL = [*AUTO, *SLOW, *EARLY, *SMALL]


def test_a_curve_is_a_step_function() -> None:
    found = AUTO[0]
    assert [found.size_at(checks) for checks in (0, 1, 2, 8, 9, 1000)] == [100, 100, 40, 40, 8, 8]
    assert [found.reached(size) for size in (100, 99, 40, 39, 8, 7)] == [0, 2, 2, 9, 9, None]
    assert (found.before, found.after) == (100, 8)
    assert found.reduction == pytest.approx(92)
    assert found.per_check == pytest.approx(4.6)


def test_a_run_without_a_check_and_an_empty_file_divide_by_nothing() -> None:
    assert run("x", [(0, 5)], 0).per_check == 0
    assert run("x", [(0, 0)], 3).reduction == 0


def test_percents_are_averaged_as_in_the_thesis() -> None:
    """Table 5.5: DDMIN's ten values come to 0.508."""
    ddmin = [0.048, 0.346, 0.653, 0.980, 0.143, 0.363, 0.266, 0.730, 1.107, 0.437]
    assert mean_of_percents(ddmin) == pytest.approx(0.508, abs=0.001)
    assert mean_of_percents([100.0, 3.0]) == 100.0


def test_mean_sizes_are_over_the_files() -> None:
    assert [size_at(AUTO, checks) for checks in (0, 2, 5, 9)] == [150, 120, 23, 7]


def test_dominance_over_a_slower_algorithm() -> None:
    found = dominance(AUTO, SLOW)
    assert (found.checks, found.size, found.there, found.curve) == (55, 9, 7, 9)
    assert (found.later, found.larger, found.dominated) == ((), (), True)


def test_dominance_is_on_average_and_the_files_where_it_fails_are_named() -> None:
    """On a both are at 40 nodes after 2 checks; on average it is 3.5 against 5.5."""
    found = dominance(AUTO, EARLY)
    assert (found.checks, found.there) == (5.5, 3.5)
    assert found.later == ("a",)
    assert found.curve == 5
    assert found.dominated


def test_no_dominance_over_an_algorithm_that_ends_smaller_somewhere() -> None:
    found = dominance(AUTO, SMALL)
    assert (found.there, found.curve) == (None, 9)
    assert (found.later, found.larger, found.dominated) == (("a",), ("a",), False)


def test_the_average_has_to_be_there_earlier_too() -> None:
    """On average over the files 1 check is enough, but the average is low only after 50."""
    one = [run("auto", [(0, 10), (1, 9), (50, 0)], 60), run("auto", [(0, 10), (1, 1)], 60, "b")]
    other = [run("x", [(0, 10), (3, 9)], 40), run("x", [(0, 10), (3, 1)], 40, "b")]
    assert dominance(one, other).dominated
    uneven = [run("x", [(0, 10), (3, 9)], 40), run("x", [(0, 10), (3, 0)], 40, "b")]
    assert not dominance(one, uneven).dominated


def test_a_table_has_only_algorithms_that_have_run_on_all_files() -> None:
    (found,) = tables(ALL[:-1])
    assert found.files == ("a", "b")
    assert list(found.rows) == ["auto", "slow", "early"]


def test_simplification_on_and_off_and_formats_are_tables_of_their_own() -> None:
    runs = [run("x", [(0, 9)], 1), run("x", [(0, 9)], 1, simplify=False)]
    assert [table.simplify for table in tables(runs)] == [True, False]
    text = markdown(runs)
    assert "## btor, simplification on" in text
    assert "## btor, simplification off" in text


def cells(text: str, heading: str) -> dict[str, list[str]]:
    """Return the rows of the table below a heading by their first cells."""
    lines = text.split(heading, 1)[1].lstrip("\n").split("\n\n", 1)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_the_tables_of_the_thesis() -> None:
    text = markdown(ALL)
    checks = cells(text, "Checks:")
    assert checks["algorithm"] == ["a", "b", "mean"]
    assert checks["slow"] == ["40", "70", "55.0"]
    assert list(checks)[2:] == ["early", "auto", "slow", "small"], "the fewest first"
    asked = cells(text, "Texts asked for, those with a known verdict included:")
    assert asked["slow"] == ["80", "140", "110.0"]
    final = cells(text, "Final nodes:")
    assert final["before"] == ["100", "200", "150.0"]
    assert final["auto"] == ["8", "6", "7.0"]
    assert list(final)[3:] == ["auto", "small", "slow", "early"]
    percent = cells(text, "Percent of the nodes taken away for each check:")
    assert percent["early"] == ["30.000", "10.000", "20.627"]
    assert list(percent)[2] == "early", "the most first"
    averages = cells(text, "Averages:")
    assert averages["slow"][:1] == ["141.0"]
    assert averages["slow"][-3:-1] == ["55.0", "110.0"]


def test_simplification_on_and_off_side_by_side() -> None:
    off = [run("slow", [(0, 100), (2, 50)], 4, simplify=False)]
    text = markdown([SLOW[0], *off])
    found = cells(text.split("## btor, both")[1], "Averages:")
    assert found["slow"] == ["92.0", "40.0", "80.0", "50.0", "4.0", "8.0"]
    assert "both" not in markdown([SLOW[0], AUTO[0]])


def test_the_table_of_dominance() -> None:
    found = cells(markdown(ALL), "`auto` at the final size of each algorithm:")
    assert found["slow"] == ["9.0", "55.0", "7.0", "9", "-", "-", "yes"]
    assert found["small"] == ["8.0", "90.0", "never", "9", "a", "a", "no"]
    assert "auto" not in found


def test_the_sizes_after_so_many_checks() -> None:
    found = cells(markdown(ALL), "Mean nodes after so many checks:")
    assert found["algorithm"] == ["1", "2", "3", "5", "7", "10", "15", "20", "30", "50", "70"]
    assert found["auto"][:6] == ["150", "120", "120", "23", "23", "7"]


def test_without_the_default_nothing_is_said_of_it() -> None:
    assert "`auto`" not in markdown([*SLOW, *EARLY])


def test_a_quick_default_is_not_compared_with_itself() -> None:
    quick = run("auto:quick", [(0, 100), (2, 40)], 9)
    found = cells(markdown([AUTO[0], quick, SLOW[0]]), "`auto` at the final size")
    assert "auto:quick" not in found


def test_what_stopped_early_is_marked_and_said() -> None:
    text = markdown([run("x", [(0, 9), (2, 8)], 5, stopped="after 5 checks")])
    assert "5.0+" in text
    assert "x on a after 5 checks" in text


def test_tsv_has_a_line_a_run_with_its_curve() -> None:
    header, first, *_ = [line.split("\t") for line in tsv(ALL).splitlines()]
    row = dict(zip(header, first, strict=True))
    assert (row["file"], row["algorithm"], row["simplify"]) == ("a", "auto", "on")
    assert (row["before"], row["after"], row["checks"], row["asked"]) == ("100", "8", "20", "40")
    assert row["curve"] == "0:100 2:40 9:8"
    assert row["stopped"] == "-"
    assert len(tsv(ALL).splitlines()) == 1 + len(ALL)


def test_json_has_the_curves_and_who_dominates_whom() -> None:
    found = json.loads(as_json(ALL))
    assert found["schema"] == 1
    assert found["runs"][0]["curve"] == [[0, 100], [2, 40], [9, 8]]
    (table,) = found["dominance"]
    said = {each["algorithm"]: each["dominated"] for each in table["algorithms"]}
    assert said == {"slow": True, "early": True, "small": False}


def test_the_chart_is_a_picture_with_a_line_for_each_algorithm() -> None:
    odd = run("a<b&c", [(0, 100), (3, 0)], 400)
    picture = ET.fromstring(chart([AUTO[0], SLOW[0], odd, run("x", [(0, 9)], 1, simplify=None)]))
    assert picture.tag.endswith("svg")
    words = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert "a<b&c (0 %)" in words
    assert "auto (8 %)" in words
    assert "btor, simplification on" in words
    assert "btor" in words
    dots = [element for element in picture.iter() if element.tag.endswith("circle")]
    assert len(dots) == 4
    size = float(picture.get("width", "0")), float(picture.get("height", "0"))
    for dot in dots:
        assert 0 <= float(dot.get("cx", "-1")) <= size[0]
        assert 0 <= float(dot.get("cy", "-1")) <= size[1]
