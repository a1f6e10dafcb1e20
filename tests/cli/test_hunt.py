"""`reducekit hunt`: bugs are kept once each, reduced, and said; a signal ends it at once."""

import json
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.tool import Tool, until

SAT = "echo sat; exit 10"


def crashing(tool: Tool, word: str, number: int = 11) -> Path:
    """Write a solver that crashes on files with a word, and answers sat otherwise."""
    return tool.script(f"solver{number}", f'grep -q "{word}" "$1" && kill -{number} $$\n{SAT}')


def bugs_in(tool: Tool, folder: str = "failures") -> dict[str, bytes]:
    """Return the files of the bugs: all but the state of the hunt and the journals."""
    return {
        path.name: path.read_bytes()
        for path in (tool.folder / folder).iterdir()
        if path.is_file() and path.suffix not in (".json", ".journal")
    }


def test_a_bug_is_kept_once(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    done = tool.ok("hunt", "btor", "--cmd", script, "--count", "30", "-n", "60", "--no-reduce")
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


@pytest.mark.slow
@pytest.mark.debian("cadical")
def test_a_wrong_model_of_a_sat_solver(tool: Tool) -> None:
    """No other solver is needed: the model is evaluated."""
    liar = tool.script("liar", """cadical -q "$1" | sed '/^v/s/ 4 / -4 /'""")
    done = tool.ok("hunt", "cnf", "--cmd", liar, "--count", "8")
    assert "liar: a wrong model\n" in done.out
    (small,) = (tool.folder / "failures").glob("a-wrong-model-liar-*.reduced.cnf")
    assert small.read_text() in ("p cnf 4 1\n4 0\n", "p cnf 4 1\n-4 0\n")
    note = small.with_name(small.name.replace(".reduced.cnf", ".txt")).read_text()
    run = note.split("run: ")[1].splitlines()[0]
    shown = subprocess.run(shlex.split(run), cwd=tool.folder, capture_output=True, check=False)
    assert shown.returncode == 0
    assert b"is false under the model" in shown.stderr
    honest = tool("hunt", "cnf", "--cmd", "cadical -q", "--count", "8", "--restart")
    assert ": 0 bugs" in honest.out


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


def test_what_the_folder_has_is_not_new(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    arguments = ("hunt", "btor", "--cmd", script, "--count", "20", "-n", "60", "--no-reduce")
    tool(*arguments)
    before = bugs_in(tool)
    done = tool(*arguments, "--seed", "100")
    assert "known before" in done.out
    assert "new: " not in done.err
    assert bugs_in(tool) == before


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


def test_a_limit_of_processor_time_is_no_bug(tool: Tool) -> None:
    """Neither is it of the user's shell, nor where the program catches the signal."""
    by = [tool.script("killed", "kill -XCPU $$")]
    by.append(tool.script("said", "echo 'cvc5 interrupted by SIGXCPU.' >&2; exit 1"))
    words = [word for each in by for word in ("--cmd", str(each))]
    done = tool.ok("hunt", "btor", *words, "-n", "30", "--count", "2")
    assert "2 out of time: 0 bugs" in done.out


@pytest.mark.slow
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
        (["--cmd", "true", "--max-time", "nan"], "'nan' is not a time"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    before = tool.files()
    done = tool("hunt", "btor", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tool.files() == before


@pytest.mark.parametrize(("suffix", "options"), [(".txt", ("--no-reduce",)), (".reduced.btor", ())])
def test_a_bug_that_cannot_be_written_is_told(
    tool: Tool, suffix: str, options: tuple[str, ...]
) -> None:
    """The hunt goes on, as after a disk has become full."""
    arguments = ("hunt", "btor", "--cmd", crashing(tool, "var"), "--count", "3", "-n", "40")
    tool(*arguments, "--no-reduce")
    (kept,) = (tool.folder / "failures").glob("*.btor")
    for path in (tool.folder / "failures").iterdir():
        path.unlink()
    taken = kept.with_suffix(suffix)
    taken.mkdir()
    done = tool(*arguments, *options)
    assert done.code == 2
    assert "3 times: " in done.out
    assert f"not reduced: the output failures/{taken.name} is a directory" in done.out
    assert kept.exists() == (suffix == ".reduced.btor")


@pytest.mark.slow
def test_scripts_of_a_logic_are_hunted_with(tool: Tool) -> None:
    """The line that makes one again does, and the reduced script is well sorted.

    How many bugs a plain signal is depends on the stacks that can be had, and the operators left.
    """
    script = crashing(tool, "str.replace_all")
    arguments = ("--logic", "any", "--levels", "3", "--count", "60", "--jobs", "2")
    tool.ok("hunt", "smt2", "--cmd", script, *arguments)
    kept = {*(tool.folder / "failures").glob("*.smt2")}
    reduced = {each for each in kept if each.name.endswith(".reduced.smt2")}
    assert reduced
    assert {each.with_name(each.name.replace(".reduced", "")) for each in reduced} == kept - reduced
    for each in reduced:
        assert b"str.replace_all" in each.read_bytes()
        assert len(each.read_bytes()) < 80
    made = min(kept - reduced)
    again = made.with_suffix(".txt").read_text().split("made by: reducekit ")[1].splitlines()[0]
    assert "--logic any --levels 3" in again
    assert tool(*again.split()).out == made.read_text()


def test_scripts_that_a_solver_does_not_support_are_no_bugs(tool: Tool) -> None:
    said = '(error "line 3 column 4: unknown function/constant str.replace")'
    script = tool.script("old", f"grep -q str.replace $1 && {{ echo '{said}'; exit 1; }}\n{SAT}")
    done = tool.ok("hunt", "smt2", "--logic", "QF_SLIA", "--cmd", script, "--count", "30")
    assert ": 0 bugs\n" in done.out
    assert re.search(rf"\n  \d+ of 30 were rejected by old: \"{re.escape(said)}\"\n", done.out)


@pytest.mark.slow
@pytest.mark.debian("z3")
def test_a_bug_of_a_released_z3_is_found(tool: Tool) -> None:
    """The example of docs/hunting.md."""
    words = ("--logic", "QF_FP", "--asserts", "2", "--levels", "3", "--count", "60")
    done = tool.ok("hunt", "smt2", *words, "--cmd", "z3")
    assert "13 times: z3: exit status 114, ASSERTION VIOLATION File: fpa2bv_converter" in done.out
    (reduced,) = (tool.folder / "failures").glob("*.reduced.smt2")
    assert len(reduced.read_bytes()) < 130


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
    assert done.code == 2
    assert ': 0 bugs\n  30 of 30 were rejected by refusing: "exit status 86"' in done.out
    done = tool(*arguments, "true", "--compare", "cadical153")
    assert (done.code, "--compare has no effect with --cmd" in done.err) == (2, True)


@pytest.mark.slow
def test_a_folder_of_seeds_is_changed(tool: Tool) -> None:
    """The line that makes a mutant again does."""
    (tool.folder / "seeds").mkdir()
    text = "(declare-const x Int)\n(assert (< (* 2 x) (+ x 1)))\n(check-sat)\n"
    tool.write("seeds/a.smt2", text)
    words = ("hunt", "smt2", "--cmd", crashing(tool, "check-sat"), "--count", "1", "--no-reduce")
    assert tool(*words, "--seeds", "seeds", "--mutate").code == 0
    (kept,) = (tool.folder / "failures").glob("*.smt2")
    again = kept.with_suffix(".txt").read_text().split("made by: reducekit ")[1].splitlines()[0]
    assert again == "generate smt2 --seed 1 --mutate seeds"
    assert tool(*again.split()).out == kept.read_text() != text
    done = tool(*words, "--mutate")
    assert done.code == 2
    assert "--mutate requires --seeds" in done.err


def test_a_compiler_is_hunted_by_changed_programs(tool: Tool) -> None:
    """What it says of a wrong program is no bug; its crash is, and is reduced with the suffix."""
    (tool.folder / "seeds").mkdir()
    tool.write("seeds/a.k", "".join(f"let v{n} = f({n}, g({n}));\n" for n in range(9)))
    script = """case $1 in *.k) ;; *) exit 9 ;; esac
    test $(grep -c 'let' $1) -gt 2 && { echo "$1:3: error: too long" >&2; exit 1; }
    grep -q 'g(g' $1 && { echo "$1:1:2: internal compiler error: in fold" >&2; exit 4; }
    exit 0"""
    tool.write("seeds/b.k", "let a = f(g(1), 2);\nlet b = g(f(g(1)), 3);\n")
    tool.script("cc", script)
    done = tool("hunt", "text", "--seeds", "seeds", "--mutate", "--cmd", "./cc", "--count", "60")
    assert (done.code, "internal compiler error: in fold" in done.out) == (0, True), done.out
    assert ": 1 bug\n" in done.out
    assert 'were rejected by cc: "input.k:3: error: too long' in done.out
    (reduced,) = (tool.folder / "failures").glob("*.reduced.k")
    assert reduced.read_text() == "g(g)\n"


def test_json_and_junit(tool: Tool) -> None:
    script = crashing(tool, "var")
    arguments = ("--count", "2", "-n", "20", "--no-reduce", "--json", "--junit", "x.xml", "-q")
    done = tool("hunt", "btor", "--cmd", script, *arguments)
    found = json.loads(done.out)
    assert (found["inputs"], len(found["bugs"]), found["bugs"][0]["count"]) == (2, 1, 2)
    text = (tool.folder / "x.xml").read_text()
    assert 'name="reducekit hunt btor" tests="1" failures="1"' in text


@pytest.mark.slow
def test_what_was_found_can_be_reported(tool: Tool) -> None:
    """The file of the input stands for its reduction, too."""
    script = crashing(tool, "smulo")
    done = tool("hunt", "btor", "--cmd", script, "--count", "30", "-n", "60")
    (reduced,) = (tool.folder / "failures").glob("*.reduced.btor")
    made = reduced.with_name(reduced.name.replace(".reduced", ""))
    texts = [tool("report", path, "--issue") for path in (reduced, made)]
    assert [(each.code, each.err) for each in texts] == [(0, "")] * 2
    assert texts[0] == texts[1]
    assert texts[0].out.startswith("# solver11: signal SIGSEGV\n")
    assert reduced.read_text().strip() in texts[0].out
    sizes = f"{made.stat().st_size:,} bytes, reduced to {reduced.stat().st_size:,}"
    assert sizes in done.out


@pytest.mark.slow
def test_what_was_not_reduced_cannot_be_reported(tool: Tool) -> None:
    """But the command line that is offered makes the report possible."""
    script = crashing(tool, "smulo")
    tool("hunt", "btor", "--cmd", f"{script} {{}} -x", "--count", "30", "-n", "60", "--no-reduce")
    (kept,) = (tool.folder / "failures").glob("*.btor")
    done = tool("report", kept, "--issue")
    assert (done.code, done.out) == (2, "")
    assert f"the hunt has not reduced {kept}, so there is nothing to report" in done.err
    words = shlex.split(done.err.splitlines()[-1])
    assert words == ["reducekit", str(kept), "--cmd", f"{script} {{}} -x"]
    assert tool(*words[1:]).code == 0
    assert tool("report", kept, "--issue").out.startswith("# solver11: signal SIGSEGV\n")


def test_how_to_reduce_a_disagreement_is_told(tool: Tool) -> None:
    (tool.folder / "seeds").mkdir()
    tool.write("seeds/a.smt2", "(check-sat)\n")
    answers = [tool.script(name, f"echo {name}") for name in ("sat", "unsat")]
    commands = [word for each in answers for word in ("--cmd", str(each))]
    assert tool("hunt", "smt2", *commands, "--seeds", "seeds", "--no-reduce").code == 0
    (kept,) = (tool.folder / "failures").glob("*.smt2")
    assert "made by: a copy of seeds/a.smt2" in kept.with_suffix(".txt").read_text()
    done = tool("report", kept)
    words = shlex.split(done.err.splitlines()[-1])
    assert words[2:] == ["--cmd", str(answers[1]), "--reference", str(answers[0])]


def test_a_report_says_why_there_is_none(tool: Tool) -> None:
    script = tool.script("broken", "exit 3")
    assert tool("hunt", "btor", "--cmd", script, "--count", "1", "-n", "30").code == 0
    (kept,) = (tool.folder / "failures").glob("*.btor")
    done = tool("report", kept)
    assert f"not reduced {kept} (an empty file fails in the same way), so" in done.err


def test_nearly_nothing_was_tested(tool: Tool) -> None:
    said = 'input.smt2:1: (error "unsupported logic")'
    script = tool.script("old", 'echo "$1:1: (error \\"unsupported logic\\")"; exit 1')
    words = ("hunt", "smt2", "--logic", "QF_LIA", "--cmd", script, "--count", "10")
    done = tool(*words)
    line = f'10 of 10 were rejected by old: "{said}"'
    assert (done.code, done.out.splitlines()[1:]) == (2, [f"  {line}"])
    assert done.err == f"reducekit: note: {line}\n"
    found = json.loads(tool(*words, "--json", "--restart").out)
    assert found["rejected"] == {"count": 10, "program": "old", "message": said}


@pytest.mark.parametrize(("count", "code"), [(9, 0), (10, 2)])
def test_a_program_that_fails_on_an_empty_file_too(tool: Tool, count: int, code: int) -> None:
    """It reads no such files: what it says of each input is no bug of it."""
    script = tool.script("other", 'echo "parse error: line 1" >&2; exit 1')
    done = tool("hunt", "btor", "--cmd", script, "--count", str(count), "-n", "30")
    assert (done.code, "not reduced: an empty file fails in the same way" in done.out) == (
        code,
        True,
    )


@pytest.mark.parametrize("times", [1, 100])
def test_a_program_that_is_killed_from_outside_is_no_bug(tool: Tool, times: int) -> None:
    """It is run again; if that does not help, the input counts as not tested."""
    runs = tool.temporary / "runs"
    script = tool.script(
        "solver", f"echo >> {runs}; [ $(wc -l < {runs}) -gt {times} ] || kill -9 $$; {SAT}"
    )
    done = tool.ok("hunt", "btor", "--cmd", script, "--count", "4", "-n", "30")
    assert ": 0 bugs\n" in done.out
    assert ("4 not tested: the solver was killed by SIGKILL from outside" in done.out) == (
        times > 1
    )
    assert len(runs.read_text()) == (5 if times == 1 else 12)


@pytest.mark.slow
def test_the_same_command_continues_a_hunt(tool: Tool) -> None:
    """Also one that has tested all of its inputs: it has nothing left to do."""
    runs = tool.temporary / "runs"
    script = tool.script("solver", f'echo >> {runs}; grep -q smulo "$1" && exit 3; {SAT}')
    words = ("hunt", "btor", "--cmd", script, "-n", "60", "--no-reduce", "--json")
    first = tool(*words, "--count", "20")
    again = tool(*words, "--count", "20")
    assert len(runs.read_text()) == 20
    assert "nothing left to test: this hunt has tested 20 inputs" in again.err
    assert {**json.loads(first.out), "seconds": 0} == {**json.loads(again.out), "seconds": 0}
    more = tool(*words, "--count", "30", "--jobs", "2")
    assert len(runs.read_text()) == 30
    assert "continuing after 20 inputs of an earlier run in failures; --restart" in more.err
    assert json.loads(more.out)["inputs"] == 30
    script.write_text(script.read_text() + "\n")
    changed = tool(*words, "--count", "20")
    assert "changed since the earlier run: solver; starting over" in changed.err
    assert json.loads(changed.out)["inputs"] == 20
    assert len(runs.read_text()) == 50


def test_a_folder_has_one_hunt_at_a_time(tool: Tool) -> None:
    started = tool.temporary / "started"
    script = tool.script("slow", f"touch {started}; sleep 600")
    process = tool.start("hunt", "btor", "--cmd", script, "-n", "30", "--timeout", "1000")
    until(started.exists)
    done = tool("hunt", "btor", "--cmd", "true", "-n", "30", "--count", "1")
    assert done.code == 2
    assert "another hunt is using the folder failures" in done.err
    process.terminate()
    assert tool.end(process).code == 130


@pytest.mark.slow
def test_a_new_bug_may_be_an_error(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    words = ("hunt", "btor", "--cmd", script, "-n", "60", "--no-reduce", "--count", "20")
    codes = [
        tool(*words, *more).code
        for more in (("--fail",), ("--fail",), (), ("--fail", "--seed", "100"))
    ]
    assert codes == [1, 1, 0, 0]  # the hunt from seed 100 finds the bug in the folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [
        "terminate called: 'std::bad_alloc'\" >&2; kill -6 $$",
        '(error \\"out of memory\\")"; exit 101',
        'solver: libc.so.6: failed to map segment from shared object" >&2; exit 127',
    ],
)
def test_a_program_without_memory_is_no_bug(tool: Tool, end: str) -> None:
    script = tool.script("solver", f'echo "{end}')
    words = ("hunt", "btor", "--cmd", script, "-n", "30", "--no-reduce", "--count", "2")
    limited = tool(*words, "--memory", "1000")
    assert ": 0 bugs\n  2 not tested: a program ran out of memory\n" in limited.out
    assert ": 1 bug\n" in tool(*words).out


def test_what_others_show_where_one_is_killed(tool: Tool) -> None:
    """Their own failures count; answers have nothing to be compared with."""
    killed = tool.script("killed", "kill -9 $$")
    crashing_one = crashing(tool, "var")
    words = ("hunt", "btor", "--cmd", crashing_one, "-n", "30", "--no-reduce", "--count", "2")
    done = tool(*words, "--reference", killed)
    assert ": 1 bug\n" in done.out
    assert "2 times: solver11: signal SIGSEGV" in done.out
    assert "2 not tested: the solver was killed" in done.out


REJECTING = """grep -q 'declare-fun x' "$1" || { echo '(error "clash of kinds")'; exit 1; }"""


def test_what_all_programs_say_of_a_file_is_no_bug(tool: Tool) -> None:
    (tool.folder / "seeds").mkdir()
    tool.write("seeds/a.smt2", "(assert (= x x))\n(check-sat)\n")
    one, two = (tool.script(name, f"{REJECTING}\n{SAT}") for name in ("one", "two"))
    done = tool("hunt", "smt2", "--seeds", "seeds", "--cmd", one, "--reference", two)
    assert done.code == 2  # it has tested nothing
    assert "0 bugs" in done.out
    assert "1 of 1 were rejected" in done.out
    # After an answer, and where one program takes the file, it is one.
    late = [tool.script(name, f"echo sat\n{REJECTING}\n{SAT}") for name in ("three", "four")]
    for programs, count in ((late, 2), ([one, tool.script("all", SAT)], 1)):
        arguments = ("--cmd", programs[0], "--reference", programs[1], "--no-reduce", "--restart")
        done = tool("hunt", "smt2", "--seeds", "seeds", *arguments)
        assert f": {count} bug" in done.out


def test_what_a_program_rejects_is_not_reduced_to_what_all_reject(tool: Tool) -> None:
    (tool.folder / "seeds").mkdir()
    tool.write("seeds/a.smt2", "(declare-fun x () Bool)\n(assert (or x x))\n(check-sat)\n")
    fails = """{ echo '(error "clash of kinds")'; exit 1; }"""
    rejecting = f"""grep -q assert "$1" && {{ {REJECTING}; }}"""
    one = tool.script("one", f"{rejecting}\ngrep -q '(or' \"$1\" && {fails}\n{SAT}")
    two = tool.script("two", f"{rejecting}\n{SAT}")
    done = tool("hunt", "smt2", "--seeds", "seeds", "--cmd", one, "--reference", two)
    assert ": 1 bug" in done.out
    (small,) = (tool.folder / "failures").glob("*.reduced.smt2")
    assert subprocess.run([two, small], check=False).returncode == 10
    done = tool("hunt", "smt2", "--seeds", "seeds", "--cmd", one, "--out", "alone")
    (small,) = (tool.folder / "alone").glob("*.reduced.smt2")
    assert subprocess.run([two, small], check=False).returncode == 1
