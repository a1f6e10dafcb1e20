"""`reducekit trace` as users run it."""

import gzip
import json
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.tool import Tool

pytestmark = pytest.mark.reduction

MELTS = (
    "init\noption elim 0\nadd 1\nadd 2\nadd 0\nfreeze 1\nsat\nreturn 10\nmelt 1\nsat\nreturn 10\n"
)
FAULT = ("--fault", "lglmelt+1:abort")
PASSES = "init\nadd 1\nadd 0\nsat\nreturn 10\nderef 1\nreturn 1\nrelease\n"
BROKEN = "init\nadd 1\nadd 0\nsat\nadd 1\nadd 0\nsat\n"


@pytest.mark.slow
def test_the_smallest_trace_is_found_and_can_be_seen_again(tool: Tool) -> None:
    path = tool.write("lgl.trace", MELTS)
    done = tool.ok("trace", path, *FAULT, "--json")
    reduced = path.with_name("lgl.reduced.trace")
    assert reduced.read_text() == "init\nfreeze 1\nmelt 1\n"
    assert json.loads(done.out)["after"]["calls"] == 3
    again = tool("replay", reduced, *FAULT)
    assert again.code == -signal.SIGILL


@pytest.mark.slow
def test_results_are_recorded_anew(tool: Tool) -> None:
    text = "init\nadd 1\nadd 2\nadd 0\nfreeze 1\nsat\nreturn 10\nmaxvar\nreturn 2\nmelt 1\n"
    path = tool.write("lgl.trace", text)
    assert tool("trace", path, *FAULT, "-q", "--max-checks", "1", "--options", "none").code == 5
    assert path.with_name("lgl.reduced.trace").read_text() == text


@pytest.mark.slow
def test_wrong_results_are_recorded_anew_in_what_is_left(tool: Tool) -> None:
    text = "init\nincvar\nreturn 99\nmaxvar\nreturn 1\nlkhd\nsat\nreturn 20\nassume 1\n"
    path = tool.write("lgl.trace", text)
    assert tool("replay", path, "--check-returns").code == 88
    assert tool("trace", path, "-q", "--options", "none").code == 0
    reduced = path.with_name("lgl.reduced.trace")
    assert "incvar\nreturn 1\n" in reduced.read_text()
    assert tool("replay", reduced, "--check-returns").code == -signal.SIGSEGV


@pytest.mark.slow
@pytest.mark.parametrize(("keep", "solves"), [("init,release", 0), ("solve release", 2)])
def test_calls_that_stay_by_name_or_role(tool: Tool, keep: str, solves: int) -> None:
    """The replay ends before them: without the option they go first."""
    path = tool.write("lgl.trace", f"{MELTS}release\n")
    tool.ok("trace", path, *FAULT, "-q", "--keep-calls", keep)
    lines = path.with_name("lgl.reduced.trace").read_text().splitlines()
    calls = [each for each in lines if not each.startswith("return")]
    assert [each for each in calls if each != "sat"] == ["init", "freeze 1", "melt 1", "release"]
    assert calls.count("sat") == solves
    refused = tool("trace", path, *FAULT, "--keep-calls", "sat,nosuch")
    assert refused.code == 2
    assert "--keep-calls: Lingeling has no call and no role 'nosuch'" in refused.err


@pytest.mark.slow
def test_calls_that_stay_where_a_command_reads_the_trace(tool: Tool) -> None:
    dies = 'grep -q "^freeze 1" "$1" && grep -q "^melt 1" "$1" && kill -ILL $$\nexit 0'
    path = tool.write("lgl.trace", f"{MELTS}release\n")
    command = str(tool.script("interpreter", dies))
    tool.ok("trace", path, "--cmd", command, "-q", "--keep-calls", "release", "--strategy", "ddmin")
    reduced = path.with_name("lgl.reduced.trace").read_text()
    assert reduced.endswith("melt 1\nrelease\n")
    assert len(reduced.splitlines()) < 6


@pytest.mark.slow
def test_a_real_failure_needs_no_option(tool: Tool) -> None:
    """Lingeling itself dies here: a solve behind a look-ahead over a variable made by incvar."""
    text = (
        "init\noption elim 0\nadd 1\nadd 2\nadd 0\nsat\nreturn 10\nderef 1\nrelease\n"
        "init\nincvar\nmaxvar\nlkhd\nsat\ninconsistent\nassume 1\nsat\n"
    )
    path = tool.write("lgl.trace", text)
    tool.ok("trace", path, "-q")
    reduced = path.with_name("lgl.reduced.trace")
    assert len([line for line in reduced.read_text().splitlines() if "return" not in line]) <= 5
    assert tool("replay", reduced).code == -signal.SIGSEGV


@pytest.mark.slow
@pytest.mark.parametrize("options", ["none", "explicit", "all"])
def test_modes_of_options(tool: Tool, options: str) -> None:
    path = tool.write("lgl.trace", MELTS)
    assert tool("trace", path, *FAULT, "--options", options, "-q").code == 0
    text = path.with_name("lgl.reduced.trace").read_text()
    assert ("option elim 0" in text) == (options == "none")


def test_a_trace_that_passes(tool: Tool) -> None:
    done = tool("trace", tool.write("lgl.trace", PASSES))
    assert done.code == 1
    assert "does not fail: all its 6 calls were replayed" in done.err
    assert "2 add" in done.err
    assert "--check-returns" in done.err
    assert "--library" in done.err
    assert "with the lines 'return'" in done.err


@pytest.mark.slow
def test_a_seeded_fault_that_a_trace_does_not_reach(tool: Tool) -> None:
    path = tool.write("lgl.trace", PASSES)
    done = tool("trace", path, "--fault", "lglfailed+1:abort")
    assert done.code == 1
    assert "fault: lglfailed+1:abort; the trace does not reach it" in done.err
    assert "--fault FAULT" not in done.err
    assert "--fault FAULT" in tool("trace", path).err


def test_a_trace_from_standard_input_that_passes(tool: Tool) -> None:
    with tool.write("lgl.trace", PASSES).open() as stream:
        done = tool("trace", "-", stdin=stream)
    assert done.code == 1
    assert "reducekit replay --results - " in done.err


def test_a_broken_contract_is_no_failure(tool: Tool) -> None:
    done = tool("trace", tool.write("lgl.trace", BROKEN))
    assert done.code == 1
    assert "breaks the contract of the API" in done.err
    assert "line 5" in done.err


@pytest.mark.slow
def test_a_wrong_result(tool: Tool) -> None:
    text = "init\nadd 1\nadd 0\nmaxvar\nreturn 1\nsat\nreturn 20\nflush\n"
    path = tool.write("lgl.trace", text)
    assert tool("trace", path).code == 1
    assert tool("trace", path, "--check-returns", "-q").code == 0
    reduced = path.with_name("lgl.reduced.trace").read_text()
    assert reduced == "init\nadd 1\nadd 0\nsat\nreturn 20\n"


def test_check(tool: Tool) -> None:
    done = tool("trace", tool.write("lgl.trace", PASSES), "--check")
    assert (done.code, done.err) == (0, "")
    done = tool("trace", tool.write("bad.trace", BROKEN), "--check")
    assert done.code == 3
    assert "bad.trace, line 5: 'add 1': " in done.err
    assert "rule: " in done.err


@pytest.mark.slow
def test_no_run_has_a_combination_of_options_that_the_model_forbids(tool: Tool) -> None:
    head = "[api]\nname = 'mine'\nextends = 'lingeling'\n"
    model = tool.write("mine.toml", head + "[options]\nforbid = [{ elim = 0, block = 0 }]\n")
    log = tool.folder / "log"
    fails = f"cat $1 >> {log}; echo next >> {log}\n"
    fails += "test $(grep -c 'option elim\\|option block\\|add 0' $1) = 12 && exit 7; exit 0"
    command = str(tool.script("interpreter", fails))
    path = tool.write("lgl.trace", "init\noption elim 1\noption block 1\n" + 10 * "add 1\nadd 0\n")
    tool.ok("trace", path, "--model", model, "--cmd", command, "-q")
    reduced = path.with_name("lgl.reduced.trace").read_text()
    assert reduced == "init\noption elim 0\noption block 1\n" + 10 * "add 0\n"
    tried = log.read_text().split("next\n")
    assert len(tried) > 5
    assert not any("option block 0" in each and "option elim 0" in each for each in tried)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_complaint_about_the_contract_is_not_taken_for_the_failure(tool: Tool, jobs: str) -> None:
    """Neither of the empty file, which with three jobs runs beside the input, and ends first."""
    script = Path(tool.folder) / "interpreter.py"
    script.write_text(
        "import sys, time\ntext = open(sys.argv[1]).read()\n"
        "time.sleep(0.05 if text else 0)\n"
        "if 'freeze 1' not in text: print('API usage error of', file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    path = tool.write("lgl.trace", MELTS)
    command = f"{sys.executable} {script}"
    tool.ok("trace", path, "--exit-code", "3", "--cmd", command, "-q", "-j", jobs)
    assert "freeze 1" in path.with_name("lgl.reduced.trace").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("word", ["dump", "unheard"], ids=["in the model", "not in the model"])
@pytest.mark.parametrize("more", [(), ("--match-err", "invalid keyword")])
def test_a_parse_error_of_the_interpreter_is_reduced(
    tool: Tool, word: str, more: tuple[str, ...]
) -> None:
    """It is what the user asks for, whatever the model calls it."""
    script = tool.script(
        "interpreter",
        f'grep -q "^{word}" "$1" || exit 0\necho "$1: parse error: invalid keyword" >&2\nexit 1',
    )
    path = tool.write("in.mobical", f"init\nadd 1\nadd 0\n{word}\nsolve 10\nval 1 1\nreset\n")
    tool.ok("trace", path, "--cmd", str(script), "-q", *more)
    reduced = path.with_name("in.reduced.mobical").read_text()
    assert reduced.removeprefix("init\n") == f"{word}\n"


@pytest.mark.slow
def test_what_does_not_go_together(tool: Tool) -> None:
    path = tool.write("lgl.trace", MELTS)
    assert tool("trace", path, "--reference", "true").code == 2
    assert tool("trace", path, "--cmd", "true", *FAULT).code == 2


@pytest.mark.slow
def test_the_output_of_a_packed_trace_is_not_named_like_a_packed_one(tool: Tool) -> None:
    path = tool.write("lgl.trace.gz", gzip.compress(MELTS.encode()))
    done = tool.ok("trace", path, *FAULT, "-q")
    assert path.with_name("lgl.reduced.trace").read_text() == "init\nfreeze 1\nmelt 1\n"
    for asked in (("--in-place",), ("-o", path.with_name("other.gz"))):
        done = tool("trace", path, *FAULT, "-q", *asked)
        assert done.code == 2
        assert "without .gz" in done.err
    assert gzip.decompress(path.read_bytes()) == MELTS.encode()


@pytest.mark.slow
def test_a_core_asked_for_after_a_satisfiable_round_is_not_the_failure(tool: Tool) -> None:
    # Without the clauses `failed` comes after an answer that forbids it; the fault strikes anyway.
    text = "init\nadd -1\nadd 2\nadd 0\nadd -2\nadd 0\nassume 1\nsat\nfailed 1\n"
    path = tool.write("lgl.trace", text)
    tool.ok("trace", path, "--fault", "lglfailed+1:abort", "-q")
    reduced = path.with_name("lgl.reduced.trace").read_text()
    assert reduced == "init\nadd 0\nassume 1\nsat\nfailed 1\n"
