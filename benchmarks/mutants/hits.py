"""A pytest plugin for mutmut's clean run: notes what child processes call, and leaves failures out.

One test that fails on the code as it is, as a time limit does on a busy machine, would end the run
after an hour. It says nothing about a mutant: it is reported as skipped, and no mutant is run on
it.
"""

import os
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FOLDER = "REDUCEKIT_MUTANT_HITS"
"""The variable that names the folder into which processes write; see `started/`."""
FAILED = "failed-tests.txt"
"""The file in mutmut's copy of the tree with the tests that failed, and why."""
_failed = pytest.StashKey[bool]()


def _clean_run() -> bool:
    return os.environ.get("MUTANT_UNDER_TEST") == "stats"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a test that fails as skipped."""
    report = yield
    if report.failed and _clean_run():
        item.stash[_failed] = True
        with Path(FAILED).open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid} ({report.when})\n{report.longreprtext}\n\n")
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: fails on the code as it is")
    return report


@pytest.hookimpl(tryfirst=True)  # mutmut reads, and clears, the same set in the same hook
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Add the functions that child processes recorded to those that mutmut recorded here."""
    if _clean_run():
        state: Any = import_module("mutmut.state")
        for file in Path(os.environ[FOLDER]).glob("*.hits"):
            state.state()._stats.update(file.read_text("utf-8").splitlines())
            file.unlink()
        if item.stash.get(_failed, False):
            state.state()._stats.clear()
