"""Time limits: those that follow the best file refute nothing for good."""

from pathlib import Path
from typing import Any

import pytest

from reducekit import reduce
from reducekit.session import Report

TEXT = b"slow\nkeep\nquick\n"
SLEEPY = (
    "sh -c 'grep -q keep $1 || exit 1; grep -q slow $1 && exec sleep 0.5;"
    " grep -q quick $1 || sleep 0.7' sh {}"
)
"""Takes 0.5 s with `slow`, no time with `quick` alone, and with neither more than the limit that
follows from that (0.4 s), but less than the first (2.2 s)."""


def kept(source: Path | bytes = TEXT, **options: Any) -> Report[bytes]:
    return reduce(source, format="text", oracle=SLEEPY, strategy="ddmin", **options)


@pytest.mark.slow
def test_what_met_only_the_limit_of_the_best_file_is_asked_again(tmp_path: Path) -> None:
    report = kept()
    assert report.text == b"keep\n"
    # With a limit of the user's, nothing is asked again.
    assert kept(timeout=0.4 + 0.2).text == b"keep\nquick\n"
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(TEXT)
    first = kept(source, output=output, max_checks=report.counts.checks - 1)
    again = kept(source, output=output, resume=True)
    assert again.text == b"keep\n"
    assert again.counts.checks == report.counts.checks
    assert again.counts.replayed == first.counts.checks
