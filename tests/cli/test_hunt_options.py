"""Options of solvers in the inputs of hunts: drawn, told, reduced, refused."""

import json

import pytest

from tests.cli.tool import Tool

FORMATS = {"cnf": ("c ", "--variables"), "btor": ("; ", "--nodes"), "aiger": ("", "--gates")}


@pytest.mark.parametrize("name", FORMATS)
def test_a_hunt_finds_and_reduces_the_option_that_matters(tool: Tool, name: str) -> None:
    begin, size = FORMATS[name]
    tool.write("options.txt", "--bad = 0 1\n--good = 0..9\n-x -y\n")
    solver = tool.script("solver", 'case "$*" in *--bad=1*) kill -SEGV $$;; esac\necho sat')
    done = tool(
        "hunt", name, "--cmd", f"{solver} {{options}}", "--count", "12", size, "8", "--seed", "1",
        "--solver-options", "options.txt", "--out", "out",
    )  # fmt: skip
    assert "1 bug" in done.out, done
    out = tool.folder / "out"
    (reduced,) = out.glob("*.reduced.*[!l]")
    lines = reduced.read_bytes().decode().splitlines()
    assert [each for each in lines if "option" in each] == [f"{begin}option --bad=1"]
    (note,) = out.glob("*.txt")
    run = next(each for each in note.read_text().splitlines() if each.startswith("run: "))
    assert f"{solver} " in run
    assert "--bad=1" in run
    journal = reduced.with_name(f"{reduced.name}.journal")
    assert f"solver --bad=1 out/{reduced.name}" in tool("report", "--issue", journal).out


def test_a_command_without_a_place_for_the_options(tool: Tool) -> None:
    done = tool("hunt", "cnf", "--cmd", "true", "--solver-options", "cadical", "--out", "out")
    assert done.code == 2
    assert "no --cmd has {options}, the place for the options: 'true {options} {}'" in done.err


@pytest.mark.debian("cadical")
def test_options_that_cadical_takes_and_one_that_it_does_not(tool: Tool) -> None:
    common = ["hunt", "cnf", "--cmd", "cadical -q {options}", "--variables", "20", "--count"]
    done = tool(
        *common, "30", "--solver-options", "cadical", "--out", "out", "--json",
    )  # fmt: skip
    result = json.loads(done.out)
    assert (result["inputs"], result["bugs"], result["rejected"]["count"]) == (30, [], 0)
    tool.write("options.txt", "--nonsense = 1\n")
    done = tool(
        *common, "12", "--solver-options", "options.txt", "--out", "two",
    )  # fmt: skip
    assert done.code == 2
    assert "12 of 12 were rejected by cadical" in done.out
    assert "0 bugs" in done.out
