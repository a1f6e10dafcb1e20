"""`reducekit hunt trace`: seeded faults are found, kept once, and reduced; a signal ends it."""

import hashlib
import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from reducekit.events import Accepted
from reducekit.hunt import Hunt, HuntOptions
from reducekit.hunt.events import HuntEvent, Reducing
from reducekit.journal import journal_path
from tests.cli.tool import Tool, until

MELT = ("--fault", "lglmelt+1:abort")
WRONG_MODELS = "lglextend+0x110:delete=eb07"
SMALL = ("--variables", "20")
ULT = ("--model", "boolector", "--fault", "btor_aigvec_ult+0x11e:delete=48896808")
"""The least bit of a comparison is not stored: false."""


@pytest.mark.slow
def test_a_fault_is_found_and_kept_once(tool: Tool) -> None:
    done = tool.ok("hunt", "trace", *MELT, *SMALL, "--count", "40", "--no-reduce", "--no-compare")
    assert done.out.startswith("40 traces in ")
    assert ": 1 bug\n" in done.out
    assert "lingeling --fault lglmelt+1:abort: signal SIGILL in 'melt'" in done.out
    assert " 0 broke the contract" in done.out
    (kept,) = (tool.folder / "failures").glob("*.trace")
    assert done.err.count("new: ") == 1
    note = kept.with_suffix(".txt").read_text()
    made = shlex.split(note.split("made by: reducekit ")[1].splitlines()[0])
    assert tool(*made).out == kept.read_text()
    run = shlex.split(note.split("run: reducekit ")[1].splitlines()[0])
    assert tool(*run).code == -signal.SIGILL


@pytest.mark.slow
def test_jobs_do_not_change_what_is_found(tool: Tool) -> None:
    found = []
    for jobs in ("1", "2", "3"):
        arguments = ("--count", "35", "--no-reduce", "--jobs", jobs, "--out", jobs, "--quiet")
        done = tool("hunt", "trace", *MELT, *SMALL, *arguments)
        assert (done.code, done.err) == (0, "")
        files = {path.name: path.read_bytes() for path in (tool.folder / jobs).glob("*.trace")}
        found.append((files, [line for line in done.out.splitlines() if "times:" in line]))
    assert found[0] == found[1] == found[2]


def test_the_intact_library_has_no_bugs(tool: Tool) -> None:
    done = tool.ok("hunt", "trace", *SMALL, "--count", "30")
    assert ": 0 bugs\n" in done.out
    assert "30 had their answers checked" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "number"), [("1", signal.SIGINT), ("2", signal.SIGTERM)], ids=str)
def test_a_signal_ends_it_with_a_summary(tool: Tool, jobs: str, number: signal.Signals) -> None:
    process = tool.start("hunt", "trace", *MELT, *SMALL, "--no-reduce", "--jobs", jobs)
    until(lambda: any((tool.folder / "failures").glob("*.txt")))
    process.send_signal(number)
    done = tool.end(process)
    assert done.code == 130
    assert "interrupted: 1 bug\n" in done.out
    assert "Traceback" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "nonsense"], "no model is called 'nonsense'"),
        (["--model", "own.toml"], "no library for the API 'own'"),
        (["--library", "nonsense"], "'nonsense' is neither"),
        (["--compare", "nonsense"], "'nonsense' is neither"),
        (["--compare", "cadical153", "--no-compare"], "--no-compare wants none"),
        (["--fault", "lglmelt+99999999:abort"], "there is no code at this place"),
        (["--out", "file"], "the folder file cannot be made"),
        (["--strategy", "magic"], "'magic'"),
        (["--max-time", "nan"], "'nan' is not a time"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    tool.write("own.toml", '[api]\nname = "own"\nextends = "minisat"\n')
    before = tool.files()
    done = tool("hunt", "trace", *arguments, "--count", "1")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tool.files() == before


@pytest.mark.slow
def test_wrong_answers_are_reduced(tool: Tool) -> None:
    done = tool("hunt", "trace", "--fault", WRONG_MODELS, "--variables", "12", "--count", "1")
    assert "wrong answer: the model does not satisfy the formula" in done.out
    (path,) = (tool.folder / "failures").glob("*.reduced.trace")
    assert len(path.read_text().splitlines()) < 12


@pytest.mark.slow
def test_what_is_reduced_keeps_to_the_contract(tool: Tool) -> None:
    """A query for a core dies at once; it is lawful only where the answer was unsatisfiable."""
    fault = ("--fault", "lglfailed+1:abort")
    done = tool("hunt", "trace", *fault, "--variables", "12", "--count", "60", "--no-compare")
    assert "signal SIGILL in 'failed'" in done.out
    (path,) = (tool.folder / "failures").glob("*.reduced.trace")
    calls = path.read_text().splitlines()
    assert len(calls) < 12
    assert tool("replay", str(path), *fault).code == -signal.SIGILL
    intact = tool("replay", str(path))
    assert intact.code == 0
    assert intact.err.endswith(f"\nreplay: passed: {len(calls)} calls\n")


@pytest.mark.slow
def test_a_library_that_cannot_play_is_an_error(tool: Tool) -> None:
    """Not a hunt without bugs."""
    source = tool.write("empty.c", b"int nothing(void) { return 0; }\n")
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", "empty.so", source], cwd=tool.folder, check=True
    )
    for command in (
        ("hunt", "trace", "--model", "ipasir", "--library", "./empty.so", "--count", "2"),
        ("generate", "trace", "--model", "ipasir", "--library", "./empty.so"),
    ):
        done = tool(*command)
        assert (done.code, done.out) == (2, "")
        assert "empty.so" in done.err


OWN = """
#include <stdlib.h>
struct solver { int clauses; };
const char *ipasir_signature(void) { return "mysat 1.2"; }
void *ipasir_init(void) { return calloc(1, sizeof(struct solver)); }
void ipasir_release(void *s) { free(s); }
void ipasir_add(void *s, int literal) { ((struct solver *)s)->clauses += !literal; }
void ipasir_assume(void *s, int literal) { (void)s; (void)literal; }
int ipasir_solve(void *s) {
  if (((struct solver *)s)->clauses > 4 && !LIES) abort();
  return 10 * LIES;
}
int ipasir_val(void *s, int literal) { (void)s; return literal; }
int ipasir_failed(void *s, int literal) { (void)s; (void)literal; return 0; }
"""


def build_own(tool: Tool, lies: int, text: str = OWN) -> None:
    source = tool.write("own.c", text)
    build = ["cc", "-shared", "-fPIC", f"-DLIES={lies}", "-o", "own.so", str(source)]
    subprocess.run(build, cwd=tool.folder, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("lies", [0, 1])
def test_an_own_library_with_the_functions_of_ipasir(tool: Tool, lies: int) -> None:
    """It dies of five clauses, or (`lies`) calls everything satisfiable."""
    build_own(tool, lies)
    own = ("--model", "ipasir", "--library", "./own.so")
    done = tool.ok("hunt", "trace", *own, *SMALL, "--count", "20")
    if lies:
        assert "wrong answer: the model does not satisfy the formula" in done.out
        return
    assert "own.so: signal SIGABRT in 'solve'" in done.out
    (reduced,) = (tool.folder / "failures").glob("*.reduced.trace")
    head = f"# reducekit: --model ipasir --library {tool.folder}/own.so\n"
    assert reduced.read_text() == head + "init\n" + 5 * "add 0\n" + "solve\n"
    assert tool("replay", str(reduced), *own).code == -signal.SIGABRT
    size = (tool.folder / "own.so").stat().st_size
    digest = hashlib.md5((tool.folder / "own.so").read_bytes()).hexdigest()
    found = tool("trace", reduced, *own, "-o", "small.trace", "--json")
    for report in (tool("report", reduced, "--issue"), tool("report", "small.trace", "--issue")):
        assert report.out.startswith("# own.so: signal SIGABRT")
        assert (
            f"Version: mysat 1.2 (ipasir_signature()); own.so: {size:,} bytes, md5 {digest}\n"
            in report.out
        )
    assert f"({json.loads(found.out)['checks']:,} checks)" in report.out


@pytest.mark.slow
def test_the_library_is_known_of_a_reduction_that_is_killed(tool: Tool) -> None:
    """What is on disk at the first success is what a kill leaves there."""
    build_own(tool, 0)
    (tool.folder / "killed").mkdir()

    def copy(event: HuntEvent) -> None:
        if isinstance(event, Reducing) and isinstance(event.event, Accepted):
            path = journal_path(event.bug.reduced_path)
            shutil.copy(path, tool.folder / "killed")

    options = HuntOptions(
        format="trace",
        folder=tool.folder / "failures",
        count=20,
        format_options={
            "model": "ipasir", "library": str(tool.folder / "own.so"), "variables": 10
        },
    )  # fmt: skip
    (bug,) = Hunt(options, copy).run().bugs.values()
    done = tool("report", f"killed/{journal_path(bug.reduced_path).name}", "--issue")
    assert done.out.startswith("# own.so: signal SIGABRT")
    assert "Version: mysat 1.2 (ipasir_signature()); own.so: " in done.out


@pytest.mark.slow
def test_what_was_found_by_a_library_and_not_reduced(tool: Tool) -> None:
    tool("hunt", "trace", *MELT, *SMALL, "--count", "20", "--no-reduce", "--no-compare")
    (kept,) = (tool.folder / "failures").glob("*.trace")
    done = tool("report", f"failures/{kept.name}", "--issue")
    assert (done.code, done.out) == (2, "")
    words = shlex.split(done.err.splitlines()[-1])
    assert words[:3] == ["reducekit", "trace", f"failures/{kept.name}"]
    assert tool(*words[1:]).code == 0
    assert tool("report", f"failures/{kept.name}", "--issue").code == 0


@pytest.mark.slow
def test_a_folder_of_traces(tool: Tool) -> None:
    """Each is played and checked; what the API does not allow is counted, and no bug."""
    seeds = tool.folder / "seeds"
    seeds.mkdir()
    (seeds / "a.trace").write_text("init\nadd 1\nadd 0\nsat\nrelease\n")
    (seeds / "b.trace").write_text("init\nadd 2\nadd 0\nfreeze 1\nmelt 1\nsat\nrelease\n")
    (seeds / "c.trace").write_text("init\nmelt 1\nsat\nrelease\n")
    done = tool.ok("hunt", "trace", *MELT, "--seeds", "seeds")
    assert done.out.startswith("3 traces in ")
    assert "1 broke the contract (33.3%), 1 had their answers checked" in done.out
    assert "new: lingeling --fault lglmelt+1:abort: signal SIGILL in 'melt' (seeds/b.trace)" in (
        done.err
    )
    (reduced,) = (tool.folder / "failures").glob("*.reduced.trace")
    assert reduced.read_text() == "init\nfreeze 1\nmelt 1\n"


def test_a_library_that_is_killed_from_outside_has_no_bug(tool: Tool) -> None:
    build_own(tool, 0, f"#include <signal.h>\n#include <unistd.h>\n{OWN}".replace(
        "abort()", "kill(getpid(), 9)"))  # fmt: skip
    own = ("--model", "ipasir", "--library", "./own.so")
    done = tool("hunt", "trace", *own, *SMALL, "--count", "5")
    assert (done.code, done.err) == (0, "")
    assert ": 0 bugs\n" in done.out
    assert "5 not tested: the solver was killed by SIGKILL from outside" in done.out


@pytest.mark.slow
def test_a_trace_names_the_library_that_it_was_found_with(tool: Tool) -> None:
    source = Path(__file__).parents[1] / "frontends/trace/player/tiny_ipasir.c"
    library = tool.folder / "mysat.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-DBUG", source, "-o", library], check=True)
    # The library's functions tell the model.
    done = tool.ok("hunt", "trace", "--library", "./mysat.so", "--variables", "30", "--count", "60")
    (reduced,) = (tool.folder / "failures").glob("*.reduced.trace")
    head = f"# reducekit: --model ipasir --library {library}\n"
    assert reduced.read_text() == f"{head}init\nassume 1\nassume 2\n"
    done = tool("replay", reduced)
    assert done.code == -signal.SIGABRT
    assert f"library: {library}" in done.err
    assert f"--library {library}" in tool("show", reduced).out
    found = Path(str(reduced).replace(".reduced", ""))
    assert found.read_text().startswith(head)
    done = tool.ok("trace", found, "-o", "small.trace", "-q")
    assert (tool.folder / "small.trace").read_text().startswith(head)
    other = library.rename(tool.folder / "other.so")
    for command in ("replay", "trace"):
        done = tool(command, found)
        assert done.code == 2
        assert f"the trace names {library}" in done.err
        assert "name it with --library" in done.err
    assert tool("replay", found, "--library", other).code == -signal.SIGABRT


@pytest.mark.slow
@pytest.mark.debian("z3")
def test_a_wrong_answer_is_found_reduced_and_seen_again(tool: Tool) -> None:
    done = tool.ok("hunt", "trace", *ULT, "--count", "16")
    assert "wrong answer: unsatisfiable, but there is a model" in done.out
    assert "16 had their answers checked" in done.out
    (small,) = (tool.folder / "failures").glob("*.reduced.trace")
    text = small.read_text()
    assert len([line for line in text.splitlines() if not line.startswith("return")]) < 10
    assert re.search(r"\n(ult|ugt|slt|sgt)", text)
    (kept,) = (tool.folder / "failures").glob("*.txt")
    run = shlex.split(kept.read_text().split("run: reducekit ")[1].splitlines()[0])
    again = tool(*run)
    assert again.code == 88
    assert "there is a model: z3 answers sat" in again.err
    traced = tool("trace", run[-1], *ULT, "-o", "small.trace")
    assert traced.code == 0
    assert re.search(r"\n(ult|ugt|slt|sgt)", (tool.folder / "small.trace").read_text())


def test_the_crash_of_boolector_in_the_docs(tool: Tool) -> None:
    page = (Path(__file__).parents[2] / "docs" / "generators.md").read_text()
    text = page.split("calls to eight:\n\n")[1]
    tool.write("bug.trace", "\n".join(map(str.strip, text.split("\n\n")[0].splitlines())) + "\n")
    assert tool("replay", "bug.trace", "--model", "boolector").code == -signal.SIGSEGV


@pytest.mark.slow
@pytest.mark.debian("z3")
def test_without_a_fault_none_is_found(tool: Tool) -> None:
    for model in ("boolector", "cvc5"):
        done = tool("hunt", "trace", "--model", model, "--count", "8", "--compare", "z3 -T:5")
        assert (done.code, ": 0 bugs\n" in done.out) == (0, True)
        assert "8 had their answers checked" in done.out


def test_answers_that_the_other_solver_does_not_know_are_not_checked(tool: Tool) -> None:
    options = ("--model", "boolector", "--count", "3", "--compare", "echo unknown")
    assert "0 had their answers checked" in tool("hunt", "trace", *options).out


def test_a_program_that_is_not_there(tool: Tool) -> None:
    done = tool("hunt", "trace", "--model", "boolector", "--compare", "./none", "--count", "1")
    assert (done.code, done.out) == (2, "")
    assert "./none" in done.err
