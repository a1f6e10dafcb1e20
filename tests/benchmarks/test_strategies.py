"""The published table of oracle runs is what the code gives."""

import pytest

from benchmarks.strategies import TABLE, table


@pytest.mark.slow
@pytest.mark.nightly
def test_the_table_in_the_repository_is_exact() -> None:
    assert TABLE.read_text() == table()
