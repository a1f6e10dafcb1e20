"""The field of faults: every case is made again from its line, and fails as the line says."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults.command import OURS, reduce_by
from benchmarks.faults.field import THIRDS, Case, is_of, read_field, trace_of
from benchmarks.faults.make import SHARES
from benchmarks.faults.reduce import Reduced, reduce_case
from benchmarks.faults.results import append, read, table
from reducekit.frontends.trace.language.text import read_trace

FIELD = read_field()


def small(kind: str) -> Case:
    return min((case for case in FIELD if case.kind == kind), key=lambda case: case.calls)


def test_the_field_is_large_and_mixed() -> None:
    assert len(FIELD) >= 300
    assert len({case.name for case in FIELD}) == len(FIELD)
    thirds = Counter(case.third for case in FIELD)
    assert min(thirds[third] for third in THIRDS) >= 80
    assert {case.kind for case in FIELD} == set(SHARES)
    assert max(case.calls for case in FIELD) >= 15_000
    assert len({case.engine for case in FIELD}) >= 5
    assert {case.options for case in FIELD} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["crash", "contract"])
def test_a_case_is_made_again_and_reduced(kind: str) -> None:
    case = small(kind)
    text = trace_of(case)
    assert is_of(case, len(read_trace(text).calls))
    found = reduce_case(case, text, 60)
    assert found.ended
    assert found.fails
    assert found.calls <= case.calls
    assert case.name in table([case], {case.name: found}, {case.name: found})


@pytest.mark.slow
@pytest.mark.parametrize("api", sorted({case.api for case in FIELD}))
def test_the_traces_are_those_that_were_made(api: str) -> None:
    """Where the generator makes others, `python -m benchmarks.faults renew` has to be run."""
    cases = [case for case in FIELD if case.api == api and 100 < case.calls < 2000]
    assert len(cases) > 5
    some = cases[:: len(cases) // 6]
    assert [
        case.name for case in some if not is_of(case, len(read_trace(trace_of(case)).calls))
    ] == []


@pytest.mark.slow
def test_a_case_that_does_not_fail_as_noted_is_refused() -> None:
    case = replace(small("crash"), end="SIGFPE")
    found = reduce_case(case, trace_of(case), 60)
    assert not found.runs
    assert "| refused |" in table([case], {case.name: found}, {case.name: found})


@pytest.mark.slow
def test_a_command_reduces_a_case_and_rows_are_kept(tmp_path: Path) -> None:
    case = min((case for case in FIELD if case.kind == "crash"), key=lambda case: case.calls)
    found = reduce_by(OURS, case, trace_of(case), 60)
    assert found.ended
    assert found.fails
    assert 0 < found.calls <= case.calls
    assert found.runs > 0
    rows = tmp_path / "rows.tsv"
    append(found, rows)
    assert read(rows)[case.name].runs == found.runs
    nothing = reduce_by("true {input} {output}", case, trace_of(case), 60)
    assert not nothing.ended
    assert (nothing.calls, nothing.settings) == (case.calls, case.settings)


def test_what_takes_no_run_counts_and_what_was_refused_does_not() -> None:
    cases = [case for case in FIELD if case.third == "report"][:3]
    rows = [reduced(4, 8), reduced(1, 0), replace(reduced(9, 0), ended=False)]
    found = {case.name: row for case, row in zip(cases, rows, strict=True)}
    text = table(cases, found, found)
    assert "| calls + options in all | 5 | 5 |" in text
    assert "Refused by either: 1." in text
    assert text.count("| refused |") == 2


def reduced(calls: int, runs: int) -> Reduced:
    return Reduced("", calls, 0, runs, 0.5, True, True, (None, None, None))
