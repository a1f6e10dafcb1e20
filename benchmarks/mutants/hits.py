"""A pytest plugin that credits a test with the functions its child processes call."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FOLDER = "REDUCEKIT_MUTANT_HITS"
"""The variable that names the folder into which processes write; see `started/`."""


@pytest.hookimpl(tryfirst=True)  # mutmut reads, and clears, the same set in the same hook
def pytest_runtest_teardown() -> None:
    """Add the functions that child processes recorded to those that mutmut recorded here."""
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        state: Any = import_module("mutmut.state")
        for file in Path(os.environ[FOLDER]).glob("*.hits"):
            state.state()._stats.update(file.read_text("utf-8").splitlines())
            file.unlink()
