"""--also-interesting: other failures met on the way are kept, and those slipped into are told."""

import json
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Tool, problem

pytestmark = pytest.mark.reduction


def solver(tool: Tool) -> Path:
    """Fail in one way with the needle, in another with any other assertion, and complain else."""
    return tool.script(
        "solver",
        f"{NEEDLE} $1 && kill -SEGV $$\n"
        "grep -q check-sat $1 || { echo '(error \"line 1 column 2: no check\")'; exit 1; }\n"
        "grep -q '(assert' $1 && { echo 'solver.c:3: Assertion `ok` failed' >&2; exit 3; }\n"
        "echo sat",
    )


def index(folder: Path) -> dict[str, list[str]]:
    header, *lines = (folder / "index.tsv").read_text().splitlines()
    assert header.split("\t") == ["file", "bytes", "ended", "failure line"]
    return {line.split("\t")[3]: line.split("\t") for line in lines}


@pytest.mark.slow
def test_other_failures_are_kept(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    command = ("smt2", "in.smt2", "--cmd", solver(tool), "--also-interesting", "others")
    done = tool.ok(*command, "--json")
    folder = tool.folder / "others"
    rows = index(folder)
    name, size, end, _ = rows["solver.c: Assertion `ok` failed"]
    text = (folder / name).read_bytes()
    assert len(text) == int(size)
    assert end == "exit status 3"
    assert b"(assert" in text
    assert b"needle" not in text.split(b"\n", 2)[2]
    assert {path.name for path in folder.iterdir()} == {
        "index.tsv", *(row[0] for row in rows.values())
    }  # fmt: skip
    found = json.loads(done.out)["other_failures"]
    (asserted,) = (each for each in found if each["failure"].startswith("exit status 3"))
    assert asserted["file"] == f"others/{name}"
    assert asserted["bytes"] == int(size)
    assert asserted["count"] >= 1

    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = tool.ok(*command, "-o", "again.smt2")
    assert f"x exit status 3, solver.c: Assertion `ok` failed ({size} bytes: others/{name})" in (
        done.out
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_without_a_folder_crashes_are_told_all_the_same(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    done = tool.ok("smt2", "in.smt2", "--cmd", solver(tool))
    assert "x exit status 3, solver.c: Assertion `ok` failed (" in done.out
    assert "no check" not in done.out
    assert sorted(path.name for path in tool.folder.iterdir()) == [
        "in.reduced.smt2", "in.reduced.smt2.journal", "in.smt2", "solver", "temporary"
    ]  # fmt: skip


def test_a_test_script_may_say_more_than_yes_and_no(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    script = tool.script(
        "test", f"{NEEDLE} $1 && exit 0; grep -q '(assert' $1 && exit 42; echo fine; exit 1"
    )
    tool.ok("smt2", "in.smt2", "--oracle", script, "--also-interesting", "others")
    (row,) = index(tool.folder / "others").values()
    assert row[2] == "exit status 42"
    assert row[0].startswith("exit-42-")


@pytest.mark.slow
def test_a_failure_that_changes_is_told(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    script = tool.script(
        "solver",
        f"{NEEDLE} $1 || exit 0; n=many; [ $(wc -l < $1) -gt 8 ] || n=few\n"
        'echo "solver.c:3: Assertion \\`$n\\` failed" >&2; exit 3',
    )
    done = tool.ok("smt2", "in.smt2", "--cmd", script, "--match-err", "Assertion")
    line = "exit status 3, solver.c: Assertion `%s` failed"
    assert f"the failure changed on the way: {line % 'many'} -> {line % 'few'} at " in done.out
    again = ("--match-err", "Assertion", "--json", "--restart")
    done = tool("smt2", "in.smt2", "--cmd", script, *again)
    (changed,) = json.loads(done.out)["changed"]
    assert (changed["from"], changed["to"]) == (line % "many", line % "few")
