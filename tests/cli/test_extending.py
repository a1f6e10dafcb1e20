"""The examples of docs/extending.md work as they stand, and need no more reading than promised."""

import re
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from benchmarks.reading import MOST, PAGE, sections, to_read
from reducekit.errors import UsageError
from reducekit.oracle.command import Command
from reducekit.run import Outcome
from reducekit.session.failure import KINDS, kind_of
from tests.cli.tool import Tool

ENTRY_POINTS = """[reducekit.frontends]
commented = comments:Commented
notes = notes:Notes
lists = lists:NestedLists
[reducekit.strategies]
from-the-end = from_the_end:from_the_end
"""

NOTES = "a = 1\nb = a\nc = b\nd = 1\ne = d\n"


@pytest.fixture
def extended(tool: Tool) -> Tool:
    """reducekit with the examples of the page installed."""
    place = tool.temporary / "site"
    info = place / "extending-1.0.dist-info"
    info.mkdir(parents=True)
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        (place / name).write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extending\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    tool.environment["PYTHONPATH"] = str(place)
    return tool


def reduced(tool: Tool, format_name: str, suffix: str, text: str, *options: str) -> str:
    """Reduce a text that has to keep a word; return the result."""
    test = tool.script("test.sh", 'grep -q "e = d" "$1"')
    source, output = tool.write(f"in{suffix}", text), tool.folder / f"small{suffix}"
    tool.ok(format_name, source, "--oracle", test, "-o", output, "--no-journal", *options)
    return output.read_text()


def test_a_pass_is_listed_and_removes_comments(extended: Tool) -> None:
    assert reduced(extended, "commented", ".conf", "# e = d\n#x\ne = d\n") == "e = d\n"
    listed = extended("passes", "commented").out
    (shown,) = re.findall(r"```\n(first, once:.*?)```", PAGE.read_text(), re.DOTALL)
    assert " ".join(listed.split()).startswith(" ".join(shown.split()))


@pytest.mark.slow
def test_a_format_removes_what_depends_on_a_removed_entry(extended: Tool) -> None:
    assert reduced(extended, "notes", ".notes", NOTES) == "d = 1\ne = d\n"
    wrong = extended("notes", extended.write("wrong.notes", "a = 1\nb\n"), "--check")
    assert wrong.code == 3
    assert "line 2, column 1: expected `key = value`" in wrong.err


def test_a_strategy_searches_any_format(extended: Tool) -> None:
    result = reduced(extended, "notes", ".notes", NOTES, "--strategy", "from-the-end")
    assert result == "d = 1\ne = d\n"


LISTS = """(zero (one (two e) (three) (e (four = (five d) six) seven)) eight)
(nine (ten e (eleven = twelve (thirteen (e = d) fourteen) fifteen)) (sixteen e = (seventeen d)))
"""


def test_a_tree_is_searched_as_well_as_by_the_default(extended: Tool) -> None:
    """And better than level by level, as the page says."""
    page = PAGE.read_text()
    shorter = reduced(extended, "lists", ".lists", LISTS, "--strategy", "from-the-end")
    assert shorter == reduced(extended, "lists", ".lists", LISTS)
    source = Path(extended.environment["PYTHONPATH"]) / "from_the_end.py"
    source.write_text(
        source.read_text().replace("topdown", "levels").replace("top_down", "level_by_level")
    )
    longer = reduced(extended, "lists", ".lists", LISTS, "--strategy", "from-the-end")
    said = re.search(r"leaves (\d+) bytes .*?`top_down` (\d+), as many", page, re.DOTALL)
    assert said is not None
    assert [len(longer), len(shorter)] == [*map(int, said.groups())]


def test_the_examples_keep_the_contract(extended: Tool) -> None:
    place = extended.environment["PYTHONPATH"]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout


def test_a_kind_of_failure_brings_its_option_and_contradictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text()
    (code,) = re.findall(r"```python\n# silent\.py\n(.*?)```", page, re.DOTALL)
    ((home, row),) = re.findall(r'`"reducekit.oracle.(silent:Silent)": (.*?)`', page)
    (tmp_path / "silent.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    kinds = {**KINDS, home: literal_eval(row)}
    kind = kind_of({"command": "true", "silent": True}, kinds)
    (command,) = kind.commands(Command.of)
    assert command.words[0].endswith("true")
    judge = kind.criterion().judge
    assert judge([Outcome(0, None, b"\n", b"noise", None, 0.1)]) is True
    assert judge([Outcome(0, None, b"sat\n", b"", None, 0.1)]) is False
    with pytest.raises(UsageError, match="`silent` and `exit_code` are mutually exclusive"):
        kind_of({"command": "true", "silent": True, "exit_code": 3}, kinds)


@pytest.mark.parametrize("name", sorted(MOST))
def test_there_is_no_more_to_read_than_promised(name: str) -> None:
    assert 50 < sum(to_read(sections()[name]).values()) <= MOST[name]


def test_the_page_names_files_that_exist() -> None:
    folders = "reducekit|frontends|strategies|benchmarks"
    files = re.findall(rf"`((?:{folders})/[\w/]+\.py)", PAGE.read_text())
    home = Path(__file__).parents[2]
    assert [name for name in files if not (home / name).is_file()] == []
