"""Comparisons as Markdown, TSV and JSON."""

import json

from reducekit.compare.runs import tables
from reducekit.compare.tables import as_json, markdown, tsv
from tests.compare.made_runs import ALL, AUTO, EARLY, OFF, ON, SLOW, run


def test_each_setting_has_a_table_of_its_own() -> None:
    runs = [run("x", [(0, 9)], 1), run("x", [(0, 9)], 1, settings=OFF)]
    assert [table.settings for table in tables(runs)] == [ON, OFF]
    text = markdown(runs)
    assert "## btor, simplify on" in text
    assert "## btor, simplify off" in text


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
    asked = cells(text, "Verdicts asked for, including cached ones:")
    assert asked["slow"] == ["80", "140", "110.0"]
    final = cells(text, "Final nodes:")
    assert final["before"] == ["100", "200", "150.0"]
    assert final["auto"] == ["8", "6", "7.0"]
    assert list(final)[3:] == ["auto", "small", "slow", "early"]
    percent = cells(text, "Percent of the nodes removed by each check:")
    assert percent["early"] == ["30.000", "10.000", "20.627"]
    assert list(percent)[2] == "early", "the most first"
    averages = cells(text, "Averages:")
    assert averages["slow"][:1] == ["141.0"]
    assert averages["slow"][-3:-1] == ["55.0", "110.0"]


def test_settings_side_by_side() -> None:
    off = [run("slow", [(0, 100), (2, 50)], 4, settings=OFF)]
    text = markdown([SLOW[0], *off])
    found = cells(text.split("## btor, settings side by side")[1], "Averages:")
    assert found["algorithm"][0] == "nodes removed, simplify on"
    assert found["slow"] == ["92.0", "40.0", "80.0", "50.0", "4.0", "8.0"]
    assert "side by side" not in markdown([SLOW[0], AUTO[0]])


def test_the_table_of_dominance() -> None:
    found = cells(markdown(ALL), "`auto` at the final size of each algorithm:")
    assert found["slow"] == ["9.0", "55.0", "7.0", "9", "-", "-", "yes"]
    assert found["small"] == ["8.0", "90.0", "never", "9", "a", "a", "no"]
    assert "auto" not in found


def test_the_sizes_after_so_many_checks() -> None:
    found = cells(markdown(ALL), "Mean nodes after a number of checks:")
    assert found["algorithm"] == ["1", "2", "3", "5", "7", "10", "15", "20", "30", "50", "70"]
    assert found["auto"][:6] == ["150", "120", "120", "23", "23", "7"]


def test_the_checks_until_a_share_is_left() -> None:
    """Of 100 and 200 nodes: auto is at 50 % after 2 and 5 checks, early at 10 % on one file."""
    text = markdown(ALL)
    found = cells(text, "is left (with the number of files, if not reached on all):")
    assert found["algorithm"] == ["50 %", "10 %", "1 %"]
    assert found["auto"] == ["3.5", "7.0", "never"]
    assert found["early"] == ["2.0", "3.0 (1 of 2)", "never"]


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


def test_tsv_has_a_column_for_each_option_that_was_set() -> None:
    lines = tsv([run("x", [(0, 9)], 1, settings=()), AUTO[0]]).splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    assert [row["simplify"] for row in rows] == ["-", "on"]
    assert "simplify" not in tsv([run("x", [(0, 9)], 1, settings=())])


def test_json_has_the_curves_and_who_dominates_whom() -> None:
    found = json.loads(as_json(ALL))
    assert found["schema"] == 2
    assert found["runs"][0]["settings"] == {"simplify": "on"}
    assert found["runs"][0]["curve"] == [[0, 100], [2, 40], [9, 8]]
    (table,) = found["dominance"]
    said = {each["algorithm"]: each["dominated"] for each in table["algorithms"]}
    assert said == {"slow": True, "early": True, "small": False}
