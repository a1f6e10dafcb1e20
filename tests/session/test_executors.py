"""The executors of a session: what each is opened with, and that all are closed at the end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reducekit.executors.executor import InProcess, Repeat, Repeating
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything, Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits, NoSignals
from reducekit.session import Options
from reducekit.session.runs.run import Executors, local_opener, opener_of, run_once

ORACLE = Oracle((Command.of(["true"]),), ExitZero())


class Noted(InProcess):
    """An executor that says when it is closed."""

    def __init__(self, number: int, jobs: int, closed: list[int]) -> None:
        super().__init__(bool, jobs)
        self.number, self._closed = number, closed

    def close(self) -> None:
        self._closed.append(self.number)
        super().close()


def test_each_is_opened_as_asked_and_the_latest_is_closed_first() -> None:
    opened: list[tuple[Oracle, int]] = []
    closed: list[int] = []

    def opener(oracle: Oracle, jobs: int) -> Noted:
        opened.append((oracle, jobs))
        return Noted(len(opened), jobs, closed)

    with Executors(opener, None, NoSignals()) as executors:
        first = executors.open(ORACLE)
        second = executors.open_repeating(ORACLE, 3)
        third = executors.open_repeating(ORACLE)
        assert opened == [(ORACLE, 1), (ORACLE, 3), (ORACLE, 1)]
        assert not any(isinstance(each, Repeating) for each in (first, second, third))
        for each in (first, second, second):
            run_once(each, b"text", Limits())
        assert executors.runs == 3
        assert closed == []
    assert closed == [3, 2, 1]


def test_verdicts_of_several_runs() -> None:
    executors = Executors(lambda oracle, jobs: InProcess(bool, jobs), Repeat(3, 3), NoSignals())
    with executors:
        assert run_once(executors.open_repeating(ORACLE), b"text", Limits()).interesting
        assert executors.runs == 3
        assert run_once(executors.open(ORACLE), b"text", Limits()).interesting
        assert executors.runs == 4


def path_of(options: Options, tmp_path: Path) -> Path:
    """Return the path of the candidate, as a command sees it."""
    command = Command.of(["sh", "-c", 'echo "$1"', "sh"])
    opener = opener_of(options, ".smt2", NoSignals())
    with opener(Oracle((command,), Everything(1)), 1) as executor:
        path = Path(run_once(executor, b"text", Limits()).outcomes[0].stdout.decode().strip())
    return path.relative_to(tmp_path) if path.is_relative_to(tmp_path) else path


def test_candidates_are_named_as_the_input_in_the_folder_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    given = Options(input=tmp_path / "in.smt2.gz", command="x", workdir=Path("work"))
    path = path_of(given, tmp_path)
    assert (path.parts[0], path.name) == ("work", "in.smt2")
    assert path_of(Options(input=b"x", command="x", workdir=tmp_path), tmp_path).name == (
        "input.smt2"
    )
    assert path_of(Options(input=b"x", command="x"), tmp_path).is_absolute()


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_opens_them(jobs: int) -> None:
    own: Callable[[Oracle, int], InProcess] = lambda oracle, jobs: InProcess(bool, jobs)  # noqa: E731
    assert opener_of(Options(input=b"x", opener=own), "", NoSignals()) is own
    function = opener_of(Options(input=b"x", interesting=bool), "", NoSignals())(ORACLE, jobs)
    assert isinstance(function, InProcess)
    assert function.free == jobs
    with local_opener(".x", NoSignals())(ORACLE, jobs) as local:
        assert isinstance(local, LocalExecutor)
        assert local.free == jobs
