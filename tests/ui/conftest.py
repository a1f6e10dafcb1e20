from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.serving import Serving, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Serving]:
    """A server with an empty folder."""
    with serving(tmp_path) as found:
        yield found
