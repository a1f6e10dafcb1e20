"""`reducekit hunt trace`: seeded faults are found, kept once, and reduced; a signal ends it."""

from __future__ import annotations

import shlex
import signal
from dataclasses import replace

import pytest

from reducekit.cli.findings import Finding
from reducekit.cli.hunting_traces import Answers, System, TraceTester, _way
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.replay import DEFAULT_LIMITS, find_library, read_fault, resolve
from reducekit.oracle.command import Command
from reducekit.oracle.oracle import Oracle
from tests.cli.tool import Tool, until

MELT = ("--fault", "lglmelt+1:abort")
WRONG_MODELS = "lglextend+0x110:delete=eb07"
SMALL = ("--variables", "20")


def test_a_fault_is_found_and_kept_once(tool: Tool) -> None:
    done = tool("hunt", "trace", *MELT, *SMALL, "--count", "40", "--no-reduce", "--no-compare")
    assert done.code == 0
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


def test_what_the_folder_has_is_not_new(tool: Tool) -> None:
    arguments = ("hunt", "trace", *MELT, *SMALL, "--count", "20", "--no-reduce", "--no-compare")
    tool(*arguments)
    before = tool.files()
    done = tool(*arguments, "--seed", "100")
    assert "known before" in done.out
    assert "new: " not in done.err
    assert tool.files() == before


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
    done = tool("hunt", "trace", *SMALL, "--count", "30")
    assert done.code == 0
    assert ": 0 bugs\n" in done.out
    assert "30 had their answers checked" in done.out


@pytest.mark.parametrize("model", ["cadical", "ipasir"])
def test_other_models(tool: Tool, model: str) -> None:
    done = tool("hunt", "trace", "--model", model, *SMALL, "--count", "10")
    assert done.code == 0
    assert ": 0 bugs\n" in done.out
    assert "10 had their answers checked" in done.out


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_summary(tool: Tool, jobs: str, number: signal.Signals) -> None:
    process = tool.start("hunt", "trace", *MELT, *SMALL, "--no-reduce", "--jobs", jobs)
    until(lambda: any((tool.folder / "failures").glob("*.txt")))
    process.send_signal(number)
    done = tool.end(process)
    assert done.code == 130
    assert "interrupted: 1 bug\n" in done.out
    assert "Traceback" not in done.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_time_limit(tool: Tool, jobs: str) -> None:
    done = tool("hunt", "trace", "--max-time", "0.3", "--jobs", jobs)
    assert done.code == 0
    assert ": 0 bugs\n" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "nonsense"], "no model is called 'nonsense'"),
        (["--model", "minisat"], "no library for the API 'minisat'"),
        (["--library", "nonsense"], "'nonsense' is neither"),
        (["--compare", "nonsense"], "'nonsense' is neither"),
        (["--compare", "cadical153", "--no-compare"], "--no-compare wants none"),
        (["--fault", "lglmelt+99999999:abort"], "there is no code at this place"),
        (["--out", "file"], "the folder file cannot be made"),
        (["--strategy", "magic"], "'magic'"),
        (["--max-time", "nan"], "not nan"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    before = tool.files()
    done = tool("hunt", "trace", *arguments, "--count", "1")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tool.files() == before


def test_a_wrong_answer_is_a_bug() -> None:
    """In an intact library there is none; with a jump deleted, models are extended wrongly."""
    library = find_library("lingeling")
    system = System(
        load_model("lingeling"), library, None, find_library("ipasir"), ("x",), DEFAULT_LIMITS,
        variables=12,
    )  # fmt: skip
    with TraceTester(system) as tester:
        reports = [tester.test(seed) for seed in range(5)]
    assert all(each.checked and each.criterion is None and not each.text for each in reports)
    fault = read_fault(WRONG_MODELS)
    assert fault is not None
    with TraceTester(replace(system, patch=resolve(fault, library.path))) as tester:
        report = tester.test(0)
    assert report.criterion == Answers("wrong answer: the model does not satisfy the formula")
    assert report.text.startswith(b"init\n")


def test_new_bugs_are_reduced(tool: Tool) -> None:
    done = tool("hunt", "trace", *MELT, *SMALL, "--count", "6", "--no-compare")
    assert (done.code, "calls\n" in done.err) == (0, True)
    (path,) = (tool.folder / "failures").glob("*.reduced.trace")
    assert path.read_text() == "init\nfreeze 1\nmelt 1\n"
    assert "reduced to" in done.out


def test_wrong_answers_are_reduced(tool: Tool) -> None:
    done = tool("hunt", "trace", "--fault", WRONG_MODELS, "--variables", "12", "--count", "1")
    assert "wrong answer: the model does not satisfy the formula" in done.out
    (path,) = (tool.folder / "failures").glob("*.reduced.trace")
    assert len(path.read_text().splitlines()) < 12


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
    assert (intact.code, intact.err) == (0, f"replay: passed: {len(calls)} calls\n")


def test_no_answer_is_wrong_behind_a_broken_contract(tool: Tool) -> None:
    library = find_library("lingeling")
    fault = read_fault(WRONG_MODELS)
    assert fault is not None
    model = load_model("lingeling")
    # As if an API did not allow what this library does not mind.
    strict = replace(model.calls["maxvar"], source=model.sets["dead"])
    system = System(
        replace(model, calls={**model.calls, "maxvar": strict}), library,
        resolve(fault, library.path), find_library("ipasir"), ("x",), DEFAULT_LIMITS, variables=12,
    )  # fmt: skip
    with TraceTester(system) as tester:
        (report,) = (tester.test(seed) for seed in range(1))
    assert report.criterion is not None
    finding = Finding((Command(("x",)),), report.criterion)
    way = _way(system, finding, Traces)
    begin, _, rest = report.text.partition(b"\n")
    texts = [report.text, b"\n".join((begin, b"maxvar", rest))]
    oracle = Oracle(finding.commands, report.criterion)
    with way.open(oracle, 1) as executor:
        verdicts = []
        for ticket, text in enumerate(texts):
            executor.submit(ticket, text, DEFAULT_LIMITS)
            verdicts += [finished.interesting for finished in executor.wait()]
    assert verdicts == [True, False]
