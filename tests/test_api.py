"""Reducing from Python."""

from __future__ import annotations

import pytest

import reducekit

SCRIPT = b"""(declare-fun a () Int)
(declare-fun b () Int)
(assert (> (+ a b) 3))
(assert (= (mod a 0) b))
(check-sat)
"""


def test_reduce() -> None:
    result = reducekit.reduce(SCRIPT, lambda text: b"(mod " in text)
    assert result.text.count(b"\n") == 1
    assert b"(mod " in result.text
    assert len(result.text) < 25
    assert result.stopped is None
    assert 0 < result.counts.checks == result.counts.runs


def test_by_another_algorithm_and_format() -> None:
    result = reducekit.reduce(SCRIPT, lambda text: b"mod" in text, format="lines", strategy="ddmin")
    assert result.text.strip() == b"mod"


def test_all_that_is_offered_is_there() -> None:
    for name in reducekit.__all__:
        assert getattr(reducekit, name).__module__.startswith("reducekit") or name == "Template"
    with pytest.raises(AttributeError, match="nothing"):
        reducekit.nothing  # noqa: B018


def test_what_cannot_be_reduced() -> None:
    with pytest.raises(reducekit.NotInterestingError):
        reducekit.reduce(SCRIPT, lambda text: False)
    with pytest.raises(reducekit.ParseError, match="line 1, column 1"):
        reducekit.reduce(b"(assert", lambda text: True)
    with pytest.raises(reducekit.UsageError, match="adaptive"):
        reducekit.reduce(SCRIPT, lambda text: True, strategy="magic")
