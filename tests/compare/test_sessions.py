"""Sessions on a case: what they come to, the size over the checks, and ending them early."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from reducekit.compare.runs import Run
from reducekit.compare.sessions import Algorithm, Case, Curve, algorithms_of, open_case, run_all
from reducekit.errors import NotInterestingError, UsageError
from reducekit.events import Accepted, Checked
from reducekit.executors import marks
from reducekit.frontends.btor import Btor
from reducekit.run import NoSignals
from reducekit.session import Failure
from tests.cli.tool import problem

OURS = [Algorithm("auto", ()), Algorithm("ddmin", ()), Algorithm("auto:quick", ())]


def opened(folder: Path, interesting: Callable[[bytes], bool], text: str = problem(8)) -> Case:
    (folder / "in.smt2").write_text(text)
    failure = Failure(interesting=interesting)
    return open_case(folder / "in.smt2", "in", "smt2", [()], failure, NoSignals())


def runs(case: Case, jobs: int, checks: int | None = None) -> list[Run]:
    found = dict(run_all(case, OURS, checks, jobs))
    return [found[number] for number in range(len(OURS))]


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    def interesting(text: bytes) -> bool:
        return b"(needle" in text

    one, three = (runs(opened(tmp_path, interesting), jobs) for jobs in (1, 3))
    assert one == three
    assert [run.algorithm for run in one] == ["auto", "ddmin", "auto:quick"]
    assert one[2].checks < one[0].checks
    assert one[0].after < one[0].before == len(problem(8))
    assert one[0].curve[-1].size == one[0].after == one[0].bytes_after
    assert [run.checks for run in runs(opened(tmp_path, interesting), 2, checks=4)] == [4, 4, 4]


def test_a_text_that_does_not_fail_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotInterestingError, match=r"in\.smt2: "):
        opened(tmp_path, lambda text: False)


def test_closing_stops_what_runs(tmp_path: Path) -> None:
    """The one that has ended is there, the ones that wait are not started."""
    begun, go = threading.Event(), threading.Event()

    def interesting(text: bytes) -> bool:
        begun.set()
        assert go.wait(60)
        return b"(needle" in text

    go.set()
    case = opened(tmp_path, interesting)
    go.clear()
    begun.clear()
    adopting = marks.adopting()
    ended: list[int] = []

    def consume() -> None:
        with closing(run_all(case, OURS, None, 1)) as running:
            go.set()
            for number, _ in running:
                ended.append(number)
                return

    consume()
    assert begun.is_set()
    assert ended == [0]
    assert marks.adopting() == adopting


def test_a_curve_has_a_point_for_each_change() -> None:
    text = b"1 var 8\n2 not 8 1\n3 root 8 2\n"
    curve = Curve(Btor(), text)
    assert (curve.unit, curve.points) == ("nodes", [(0, 3)])
    smaller = b"1 var 8\n2 root 8 1\n"
    for event in (
        Checked(False, False, "", 0),
        Checked(True, True, "", 0),
        Checked(True, False, "", 0),
        Accepted(smaller, "", ""),
        Checked(True, False, "", 0),
        Accepted(smaller.replace(b"8", b"1"), "", ""),
    ):
        curve.see(event)
    assert curve.points == [(0, 3), (2, 2)]


def test_algorithms_are_strategies_with_all_settings() -> None:
    assert [name for name, _ in algorithms_of("auto:thorough", [], ["smt2"])["smt2"]] == [
        "auto:thorough"
    ]
    with pytest.raises(UsageError, match="followed by :quick or :thorough"):
        algorithms_of("auto:fast", [], ["smt2"])
    found = algorithms_of("hdd, auto:quick,hdd", ["simplify=on,off"], ["btor", "smt2"])
    assert found["smt2"] == [("hdd", ()), ("auto:quick", ())]
    on, off = (("simplify", "on"),), (("simplify", "off"),)
    assert found["btor"] == [("hdd", on), ("auto:quick", on), ("hdd", off), ("auto:quick", off)]
    for names in ("", "hdd:slow", "hddd"):
        with pytest.raises(UsageError):
            algorithms_of(names, [], ["smt2"])
