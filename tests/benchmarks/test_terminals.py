"""What a screen tells is found in it, also where a sentence goes on in the next row."""

from __future__ import annotations

from benchmarks.terminals import FACTS, Screens, table, told

OURS = f"""\
│ {"75 bytes of 73,946, 99.90 % removed":<57}││{"":<58}│
│ {"   checks 66  14/s  42 % succeed":<57}││{"   75 ████":<58}│
"""
THEIRS = f"""\
█ {"Current test case size: 66.8 kB (9.68% reduction, 3.3":<57}█│{"20%┤":<57}│
█ {"kB / second)":<57}█│{"":<57}│
"""


def test_each_fact_is_found_or_the_cell_is_empty() -> None:
    patterns = {fact.name: fact for fact in FACTS}
    for name, ours, theirs in (
        ("bytes left", "75 bytes", "66.8 kB"),
        ("checks a second", "14", ""),
        ("bytes removed a second", "", "3.3  kB"),
        ("curve", "█", "┤"),
        ("keys", "", ""),
    ):
        assert told(patterns[name].ours, OURS) == ours
        assert told(patterns[name].theirs, THEIRS) == theirs


def test_the_table_has_a_row_for_each_fact_and_shows_the_screens() -> None:
    text = table(Screens([OURS] * 3, 1), Screens([THEIRS] * 3, 1))
    assert "| share that succeeds | 42 % | 42 % | 42 % |  |  |  |" in text
    assert text.count("```") == 12
