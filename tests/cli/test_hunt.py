"""`reducekit hunt`: bugs are kept once each, reduced, and said; a signal ends it at once."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tests.cli.tool import Tool, until

SAT = "echo sat; exit 10"


def crashing(tool: Tool, word: str, number: int = 11) -> Path:
    """Write a solver that crashes on files with a word, and answers sat otherwise."""
    return tool.script(f"solver{number}", f'grep -q "{word}" "$1" && kill -{number} $$\n{SAT}')


def test_a_bug_is_kept_once(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    done = tool("hunt", "btor", "--cmd", script, "--count", "30", "-n", "60", "--no-reduce")
    assert done.code == 0
    assert "30 inputs in" in done.out
    assert ": 1 bug\n" in done.out
    assert f"{script.name}: signal SIGSEGV\n" in done.out
    (kept,) = (tool.folder / "failures").glob("*.btor")
    assert "smulo" in kept.read_text()
    assert kept.name.startswith("signal-sigsegv-")
    assert done.err.count("new: ") == 1
    note = kept.with_suffix(".txt").read_text()
    again = note.split("made by: reducekit ")[1].splitlines()[0]
    assert tool(*again.split()).out == kept.read_text()


def test_a_long_failure_is_shown_shortened(tool: Tool) -> None:
    """z3 lists all its parameters where one is unknown."""
    error = f"(error 'unknown parameter; legal ones are: {'parameter ' * 40}')"
    script = tool.script("solver", f'echo "{error}" >&2; exit 1')
    done = tool("hunt", "btor", "--cmd", script, "--count", "1", "-n", "60", "--no-reduce")
    for text in (done.out, done.err):
        (line,) = (each for each in text.splitlines() if "unknown parameter" in each)
        assert len(line) < 250
        assert line.endswith("...")
    (note,) = (tool.folder / "failures").glob("*.txt")
    assert "parameter " * 25 in note.read_text()


@pytest.mark.parametrize(("script", "said"), [("exit 1", 1), ("exit 0", 0)])
def test_what_every_input_shows_may_be_no_bug(tool: Tool, script: str, said: int) -> None:
    """A program that reads no such files, or a wrong option of it."""
    program = tool.script("solver", script)
    done = tool("hunt", "btor", "--cmd", program, "--count", "5", "-n", "60", "--no-reduce")
    assert done.code == 0
    assert done.err.count("each of the first 3 inputs shows this: solver: exit status 1") == said


def test_what_the_folder_has_is_not_new(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    arguments = ("hunt", "btor", "--cmd", script, "--count", "20", "-n", "60", "--no-reduce")
    tool(*arguments)
    before = tool.files()
    done = tool(*arguments, "--seed", "100")
    assert "known before" in done.out
    assert "new: " not in done.err
    assert tool.files() == before


def test_disagreements_of_programs(tool: Tool) -> None:
    one = tool.script("one", SAT)
    two = tool.script("two", f'grep -q "mul" "$1" && {{ echo unsat; exit 20; }}\n{SAT}')
    done = tool(
        "hunt", "btor", "--cmd", two, "--reference", one, "--count", "10", "-n", "60",
        "--vary", "--jobs", "2", "--no-reduce", "--out", "found", "--quiet",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert "two answers unsat, one sat" in done.out
    assert len(list((tool.folder / "found").glob("*.btor"))) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_summary(tool: Tool, number: int) -> None:
    started = tool.temporary / "started"
    script = tool.script(
        "slow", f"echo >> {started}\n[ $(wc -l < {started}) -le 3 ] || sleep 600\n{SAT}"
    )
    process = tool.start("hunt", "btor", "--cmd", script, "-n", "30")
    until(lambda: started.exists() and started.read_text().count("\n") >= 4)
    process.send_signal(number)
    done = tool.end(process)
    assert done.code == 130
    assert "3 inputs in" in done.out
    assert "interrupted: 0 bugs" in done.out
    assert "Traceback" not in done.err


def test_a_time_limit_ends_runs_that_hang(tool: Tool) -> None:
    script = tool.script("slow", "sleep 600")
    done = tool("hunt", "btor", "--cmd", script, "-n", "30", "--max-time", "0.5")
    assert done.code == 0
    assert done.out.startswith("0 inputs in")


def test_timeouts_are_counted(tool: Tool) -> None:
    script = tool.script("slow", "sleep 600")
    arguments = ("hunt", "btor", "--cmd", script, "-n", "30", "--count", "2", "--timeout", "0.2")
    assert "2 out of time: 0 bugs" in tool(*arguments).out
    kept = tool(*arguments, "--keep-timeouts", "--no-reduce").out
    assert "2 times: slow: does not end in time (0.2 s)" in kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing --cmd: the program that fails"),
        (["--cmd", "no-such-program"], "'no-such-program' is not in PATH"),
        (["--cmd", "true", "--out", "file"], "the folder file cannot be made"),
        (["--cmd", "true", "--minwidth", "9"], "widths: the largest"),
        (["--cmd", "true", "--strategy", "magic"], "'magic'"),
        (["--cmd", "true", "--max-time", "nan"], "not nan"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    before = tool.files()
    done = tool("hunt", "btor", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tool.files() == before


def where_it_is_kept(tool: Tool, *arguments: str | Path) -> Path:
    """Hunt, and return where the only bug is kept; its files are removed."""
    tool(*arguments, "--no-reduce")
    (kept,) = (tool.folder / "failures").glob("*.btor")
    kept.unlink()
    kept.with_suffix(".txt").unlink()
    return kept


def test_a_bug_that_cannot_be_written_is_told(tool: Tool) -> None:
    """The hunt goes on, as after a disk has become full."""
    arguments = ("hunt", "btor", "--cmd", crashing(tool, "var"), "--count", "3", "-n", "40")
    note = where_it_is_kept(tool, *arguments).with_suffix(".txt")
    note.mkdir()
    done = tool(*arguments, "--no-reduce")
    assert done.code == 2
    assert "3 times: " in done.out
    assert f"not reduced: the output failures/{note.name} is a directory" in done.out


def test_a_reduced_bug_that_cannot_be_written_is_told(tool: Tool) -> None:
    arguments = ("hunt", "btor", "--cmd", crashing(tool, "var"), "--count", "3", "-n", "40")
    kept = where_it_is_kept(tool, *arguments)
    reduced = kept.with_suffix(".reduced.btor")
    reduced.mkdir()
    done = tool(*arguments)
    assert done.code == 2
    assert "3 times: " in done.out
    assert f"not reduced: the output failures/{reduced.name} is a directory" in done.out
    assert kept.exists()


def test_scripts_are_generated_by_conversion(tool: Tool) -> None:
    """From random BTOR files; the line that makes one again does."""
    script = crashing(tool, "bvmul")
    arguments = ("--count", "5", "-n", "60", "--noarrays", "--no-reduce")
    done = tool("hunt", "smt2", "--cmd", script, *arguments)
    assert done.code == 0
    (kept,) = (tool.folder / "failures").glob("*.smt2")
    assert kept.read_text().startswith("(set-logic QF_")
    again = kept.with_suffix(".txt").read_text().split("made by: reducekit ")[1].splitlines()[0]
    assert again.startswith("generate smt2 --seed ")
    assert tool(*again.split()).out == kept.read_text()


def test_scripts_of_a_logic_are_hunted_with(tool: Tool) -> None:
    """The line that makes one again does, and the reduced script is well sorted."""
    script = crashing(tool, "str.replace")
    arguments = ("--logic", "any", "--levels", "3", "--count", "60", "--jobs", "2")
    done = tool("hunt", "smt2", "--cmd", script, *arguments)
    assert done.code == 0
    kept, reduced = sorted((tool.folder / "failures").glob("*.smt2"), key=lambda p: len(p.name))
    again = kept.with_suffix(".txt").read_text().split("made by: reducekit ")[1].splitlines()[0]
    assert "--logic any --levels 3" in again
    assert tool(*again.split()).out == kept.read_text()
    assert 0 < len(reduced.read_bytes()) < 80


def test_scripts_that_a_solver_does_not_support_are_no_bugs(tool: Tool) -> None:
    said = '(error "line 3 column 4: unknown function/constant str.replace")'
    script = tool.script("old", f"grep -q str.replace $1 && {{ echo '{said}'; exit 1; }}\n{SAT}")
    done = tool("hunt", "smt2", "--logic", "QF_SLIA", "--cmd", script, "--count", "30")
    assert done.code == 0
    assert ": 0 bugs\n" in done.out
    assert re.search(r"\n  \d+ need what a program does not support\n", done.out)


@pytest.mark.debian("z3")
def test_bugs_of_a_released_z3_are_found(tool: Tool) -> None:
    """The example of docs/hunting.md."""
    done = tool("hunt", "smt2", "--logic", "QF_FP", "--cmd", "z3", "--count", "60")
    assert done.code == 0
    assert "10 times: z3: exit status 114, ASSERTION VIOLATION File: fpa2bv_converter" in done.out
    assert 'once: z3: exit status 1, (error "line N column N: invalid extract appl' in done.out
    reduced = list((tool.folder / "failures").glob("*.reduced.smt2"))
    assert [len(path.read_bytes()) < 130 for path in reduced] == [True, True]


@pytest.mark.slow
def test_traces_by_an_interpreter(tool: Tool) -> None:
    """They are written to files; what the interpreter calls a broken contract is no bug."""
    script = crashing(tool, "^melt ")
    arguments = ("hunt", "trace", "--variables", "10", "--count", "30", "--cmd")
    done = tool(*arguments, script)
    assert (done.code, "signal SIGSEGV" in done.out) == (0, True)
    (reduced,) = (tool.folder / "failures").glob("*.reduced.trace")
    assert reduced.read_text().splitlines()[-1].startswith("melt ")
    refusing = tool.script("refusing", "exit 86")
    done = tool(*arguments, refusing, "--out", "none")
    assert ": 0 bugs\n  30 broke the rules of the format" in done.out
    done = tool(*arguments, "true", "--compare", "cadical153")
    assert (done.code, "--compare is for tests by a library" in done.err) == (2, True)


def test_a_folder_of_seeds(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    (tool.folder / "seeds").mkdir()
    for number, op in enumerate(("add", "smulo", "sub")):
        tool.write(f"seeds/{number}.btor", f"1 var 4\n2 {op} {1 if op == 'smulo' else 4} 1 1\n")
    done = tool("hunt", "btor", "--cmd", script, "--seeds", "seeds", "--no-reduce")
    assert (done.code, done.out.startswith("3 inputs in ")) == (0, True)
    (kept,) = (tool.folder / "failures").glob("*.btor")
    assert "made by: a copy of seeds/1.btor" in kept.with_suffix(".txt").read_text()


def test_json_and_junit(tool: Tool) -> None:
    script = crashing(tool, "var")
    arguments = ("--count", "2", "-n", "20", "--no-reduce", "--json", "--junit", "x.xml", "-q")
    done = tool("hunt", "btor", "--cmd", script, *arguments)
    found = json.loads(done.out)
    assert (found["inputs"], len(found["bugs"]), found["bugs"][0]["count"]) == (2, 1, 2)
    text = (tool.folder / "x.xml").read_text()
    assert 'name="reducekit hunt btor" tests="1" failures="1"' in text
