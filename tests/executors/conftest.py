"""After every test: no process and no zombie of it is left."""

import os
import time
from collections.abc import Iterator

import pytest

from tests.executors.runner import SECRET, marked


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every process of a test carries a mark; none may be there afterwards."""
    monkeypatch.setenv(SECRET, "1")
    yield
    # What is not adopted dies by itself, a moment after it is killed.
    give_up = time.monotonic() + 10
    while marked() and time.monotonic() < give_up:
        time.sleep(0.01)
    assert marked() == []
    with pytest.raises(ChildProcessError):  # no zombie either
        os.waitpid(-1, os.WNOHANG)
