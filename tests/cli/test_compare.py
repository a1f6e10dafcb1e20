"""`reducekit compare`: algorithms side by side on files of all formats."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from tests.cli.tool import NEEDLE, Tool, interrupt_past_a_wait, problem, until

MUL = 'grep -q "^[0-9]* mul " $1'
ALGORITHMS = "ddmin,hdd,hdd+,hdd*,bfs,lw,deltabtor,changeref,changeref+,combine,auto"


def graph(seed: int = 11, nodes: int = 80) -> bytes:
    text = generate_text(Parameters(seed=seed, nodes=nodes))
    assert b" mul " in text
    return text


def case(tool: Tool, name: str, text: bytes | str, oracle: str) -> Path:
    """Make a folder with an input and an oracle; return the input."""
    folder = tool.folder / name
    folder.mkdir()
    suffix = ".btor" if isinstance(text, bytes) else ".smt2"
    script = tool.script(f"{name}/oracle", oracle)
    assert script.exists()
    return tool.write(f"{name}/input{suffix}", text)


def runs_of(done: Any) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    return list(json.loads(done.out)["runs"])


@pytest.mark.slow
def test_every_algorithm_on_two_cases_with_oracles_of_their_own(tool: Tool) -> None:
    case(tool, "x1", graph(11, 60), MUL)
    case(tool, "x2", graph(13, 60), 'grep -q "^[0-9]* read " $1')
    done = tool.ok(
        "compare", "x1/input.btor", "x2/input.btor", "--oracle", "{dir}/oracle",
        "--simplify", "both", "--tsv", "runs.tsv", "--markdown", "tables.md", "--curve", "c.svg",
    )  # fmt: skip
    assert done.out == (tool.folder / "tables.md").read_text()
    rows = [line.split("\t") for line in (tool.folder / "runs.tsv").read_text().splitlines()]
    found = {
        (row["file"], row["simplify"], row["algorithm"]): int(row["after"])
        for row in (dict(zip(rows[0], line, strict=True)) for line in rows[1:])
    }
    assert set(found) == {
        (file, switch, name)
        for file in ("x1", "x2")
        for switch in ("on", "off")
        for name in ALGORITHMS.split(",")
    }
    for file in ("x1", "x2"):
        best = min(size for key, size in found.items() if key[0] == file)
        assert found[file, "on", "auto"] == best
    assert "## btor, simplify off" in done.out
    assert (tool.folder / "c.svg").read_text().startswith("<svg ")
    assert len(done.err.splitlines()) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ddmin", "auto"])
def test_the_counts_are_those_of_a_reduction(tool: Tool, name: str) -> None:
    """Also when the verdicts are known from the algorithm before: they count all the same."""
    tool.write("in.btor", graph())
    oracle = tool.script("oracle", MUL)
    strategies = f"bfs,{name},hdd+"
    run = next(
        each
        for each in runs_of(
            tool("compare", "in.btor", "--oracle", oracle, "--json", "--strategies", strategies)
        )
        if each["algorithm"] == name
    )
    alone = tool("btor", "in.btor", "--oracle", oracle, "--json", "--strategy", name)
    assert alone.code == 0, alone.err
    report = json.loads(alone.out)
    assert run["checks"] == report["checks"]
    assert run["after"] == report["after"]["nodes"]
    assert run["bytes_after"] == report["after"]["bytes"]
    assert run["curve"][0] == [0, report["before"]["nodes"]]


def test_several_at_a_time_run_at_the_same_time(tool: Tool) -> None:
    """Each of the two checks waits until the other one has begun."""
    tool.write("in.btor", graph())
    oracle = tool.script(
        "oracle",
        f"cd {tool.folder}; cmp -s $1 in.btor && exit 0; test -s $1 || exit 1; echo >> met; "
        "for i in $(seq 100); do test $(wc -l < met) -ge 2 && exit 1; sleep 0.1; done; touch alone",
    )
    runs = runs_of(
        tool(
            "compare", "in.btor", "--oracle", oracle, "--strategies", "ddmin,changeref", "--jobs",
            "2", "--cap", "1", "--timeout", "60", "--json",
        )
    )  # fmt: skip
    assert [run["checks"] for run in runs] == [1, 1]
    assert not (tool.folder / "alone").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "oracle", "unit"),
    [
        ("in.smt2", problem(8), NEEDLE + " $1", "bytes"),
        ("in.trace", None, "grep -q '^add 7' $1", "calls"),
        ("in.txt", "one\ntwo\nthree\nfour\n", "grep -q three $1", "bytes"),
    ],
)
def test_other_formats(tool: Tool, name: str, text: str | None, oracle: str, unit: str) -> None:
    if text is None:
        text = "init\n" + "".join(f"add {n}\nadd 0\n" for n in range(1, 12)) + "sat\nrelease\n"
    tool.write(name, text)
    form = ["--format", "text"] if name.endswith(".txt") else []
    runs = runs_of(
        tool(
            "compare", name, *form, "--oracle", tool.script("oracle", oracle), "--json",
            "--strategies", "ddmin,halving,hdd,auto", "--simplify", "both",
        )
    )  # fmt: skip
    assert [run["algorithm"] for run in runs] == ["ddmin", "halving", "hdd", "auto"]
    assert {run["unit"] for run in runs} == {unit}
    assert all(run["settings"] == {} for run in runs)
    assert all(run["after"] < run["before"] for run in runs)


def test_a_quick_run_is_part_of_the_full_one(tool: Tool) -> None:
    tool.write("in.btor", graph())
    oracle = tool.script("oracle", MUL)
    quick, full = runs_of(
        tool("compare", "in.btor", "--oracle", oracle, "--json", "--strategies", "auto:quick,auto")
    )
    assert quick["checks"] < full["checks"]
    assert full["curve"][: len(quick["curve"])] == quick["curve"]


@pytest.mark.slow
def test_a_cap_ends_each_algorithm(tool: Tool) -> None:
    tool.write("in.btor", graph())
    done = tool(
        "compare", "in.btor", "--oracle", tool.script("oracle", MUL), "--strategies", "ddmin,auto",
        "--cap", "5", "-q",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert "5.0+" in done.out
    assert "ddmin on in after 5 checks" in done.out


@pytest.mark.slow
def test_a_program_instead_of_an_oracle(tool: Tool) -> None:
    """The failure of each file is its own."""
    tool.write("a.btor", graph(11))
    tool.write("b.btor", graph(13))
    program = tool.script(
        "solver",
        "grep -q ' mul ' $1 && { echo 'error: multiplied' >&2; exit 3; }; "
        "grep -q ' read ' $1 && exit 4; exit 0",
    )
    runs = runs_of(
        tool("compare", "a.btor", "b.btor", "--cmd", program, "--json", "--strategies", "auto")
    )
    assert [run["file"] for run in runs] == ["a", "b"]
    assert all(run["after"] < 10 for run in runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["in.btor", "--strategies", "ddmin,best"],
            2,
            "unknown strategy 'best'; known: adaptive, auto, bfs",
        ),
        (["in.btor", "--strategies", "ddmni"], 2, "Did you mean ddmin?"),
        (["in.btor", "--set", "simplfy=on"], 2, "did you mean 'simplify'?"),
        (["in.btor", "--set", "simplify=maybe"], 2, "simplify must be on or off, not 'maybe'"),
        (["in.btor", "--set", "simplify"], 2, "expected NAME=VALUE"),
        (["in.btor", "--strategies", " , "], 2, "no algorithm is given"),
        (["in.btor", "--strategies", "ddmin:slow"], 2, "'ddmin:slow' is neither"),
        (["in.btor", "--set", "dialect=btor2"], 3, "in.btor, line "),
        (["gone.btor"], 2, "gone.btor does not exist"),
        (["in.btor", "in.btor"], 2, "a file is given twice"),
        (["bad.btor"], 3, "bad.btor, line 1"),
        (["dull.btor"], 1, "dull.btor: the input does not show"),
        (["in.btor", "--curve", "nowhere/c.svg"], 2, "nowhere/c.svg cannot be written"),
        ([], 2, "Missing argument"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    tool: Tool, arguments: list[str], code: int, words: str
) -> None:
    tool.write("in.btor", graph())
    tool.write("dull.btor", "1 var 1\n2 root 1 1\n")
    tool.write("bad.btor", "1 mul what\n")
    before = tool.files()
    done = tool("compare", *arguments, "--oracle", tool.script("oracle", MUL))
    assert done.code == code, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert set(tool.files()) - set(before) == {"oracle"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_leaves_what_has_ended(tool: Tool, jobs: str) -> None:
    tool.write("in.btor", graph())
    oracle = tool.script("oracle", f"{MUL}")
    slow = tool.script("slow", f"test -e {tool.folder}/go && sleep 30; exec {oracle} $1")
    process = tool.start(
        "compare", "in.btor", "--oracle", slow, "--strategies", "lw,changeref", "--timeout", "60",
        "--tsv", "runs.tsv", "--jobs", jobs,
    )  # fmt: skip
    assert process.stderr is not None
    assert "in, lw" in process.stderr.readline()
    (tool.folder / "go").touch()
    interrupt_past_a_wait(process)
    until(lambda: process.poll() is not None)
    done = tool.end(process)
    assert done.code == 130
    assert "lw" in done.out
    assert len((tool.folder / "runs.tsv").read_text().splitlines()) >= 2


@pytest.mark.slow
def test_a_format_that_checks_by_itself_needs_no_command(tool: Tool) -> None:
    """Lingeling dies of this trace by itself."""
    tool.write("lgl.trace", "init\nadd 2\nadd 0\nrelease\ninit\nincvar\nlkhd\nsat\nassume 1\n")
    runs = runs_of(
        tool("compare", "lgl.trace", "--strategies", "auto,auto:quick", "--jobs", "2", "--json")
    )
    assert [(run["before"], run["after"]) for run in runs] == [(9, 5), (9, 5)]
    tool.write("in.btor", graph())
    assert "Missing --cmd" in tool("compare", "in.btor").err


@pytest.mark.slow
def test_reducers_side_by_side(tool: Tool) -> None:
    """With the sizes, the runs of the oracle, the time and the memory of whole programs."""
    case(tool, "x1", graph(11, 60), MUL)
    case(tool, "x2", graph(13, 60), MUL)
    ours = f"{sys.executable} -m reducekit btor {{input}} -o {{output}} --oracle {{oracle}} -q"
    done = tool.ok(
        "compare", "x1/input.btor", "x2/input.btor", "--oracle", "{dir}/oracle",
        "--reducer", f"ours={ours}", "--reducer", f"ddmin={ours} --strategy ddmin",
        "--reducer", "none=sh -c 'cp $0 $1' {input} {output} {oracle}", "--tsv", "runs.tsv",
    )  # fmt: skip
    rows = [line.split("\t") for line in (tool.folder / "runs.tsv").read_text().splitlines()]
    found = [dict(zip(rows[0], line, strict=True)) for line in rows[1:]]
    assert [(row["case"], row["reducer"]) for row in found] == [
        (name, reducer) for name in ("x1", "x2") for reducer in ("ours", "ddmin", "none")
    ]
    for row in found:
        assert row["verified"] == "True"
        assert (row["reducer"] == "none") == (row["bytes"] == row["bytes_in"])
        assert (row["reducer"] == "none") == (row["checks"] == "0")
        assert float(row["rss"]) > 0
    alone = tool("btor", "x1/input.btor", "--oracle", "x1/oracle", "--json", "-q")
    assert int(found[0]["checks"]) == json.loads(alone.out)["runs"]
    assert "ddmin / ours, geometric means of the ratios: bytes" in done.out
    assert len(done.err.splitlines()) == len(found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cmd", "false"], "reducers need an --oracle"),
        (["--oracle", "./oracle", "--json"], "has no effect with --reducer"),
        (["--oracle", "./oracle", "--reducer", "x=prog {input}"], "{output}, {oracle}"),
        (
            ["--oracle", "./oracle", "--reducer", "x=nowhere {input} {output} {oracle}"],
            "not in PATH",
        ),
    ],
)
def test_what_is_wrong_with_reducers_is_said(tool: Tool, arguments: list[str], words: str) -> None:
    tool.write("in.btor", graph())
    tool.script("oracle", MUL)
    done = tool("compare", "in.btor", *arguments, "--reducer", "y=true {input} {output} {oracle}")
    assert done.code == 2, done.err
    as_json = "--json" in arguments
    assert words in (json.loads(done.out)["error"] if as_json else done.err)
    assert as_json or done.out == ""
