"""From a failing file back to a passing one, as far as it goes on failing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.api import reduce
from reducekit.document import Patched
from reducekit.errors import NotInterestingError, Unresolved, UsageError
from reducekit.frontends.isolate import Isolate, View, distance

GOOD = b"".join(b"(assert (> x%d %d))\n" % (n, n) for n in range(30))
BAD = (
    GOOD.replace(b"(> x3 3)", b"(>= x3 3)")
    .replace(b"x11 11))\n", b"x11 11))\n(check-sat)\n(push 1)\n")
    .replace(b"(assert (> x20 20))\n", b"")
    .replace(b"(> x25 25)", b"(< x26 (+ 25 y))")
)

texts = st.lists(st.sampled_from(["a b\n", "a\n", "(b c)\n", "c", " ", "x y z\n", "\n"])).map(
    lambda parts: "".join(parts).encode()
)


@given(text=texts, baseline=texts)
def test_all_changes_undone_give_the_baseline(text: bytes, baseline: bytes) -> None:
    view = View(text, baseline)
    edits = {edit.node: edit.template for edit in view.undone(*range(1, len(view.before))).edits}
    assert Patched(view.document).render_with(edits) == baseline
    assert view.document.render(edits) == baseline
    assert view.bounds() == sorted(set(view.bounds()))
    assert len(view.bounds()) == len(view.hunks)


@given(text=texts, baseline=texts)
def test_distances(text: bytes, baseline: bytes) -> None:
    apart = distance(text, baseline)
    assert (apart == 0) == (text == baseline)
    assert apart <= len(text) + len(baseline)
    assert distance(b"", baseline) == len(baseline)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.smt2"
    path.write_bytes(GOOD)
    return path


@pytest.mark.parametrize(
    ("needed", "change"),
    [
        ([b"(>= "], b"="),
        ([b"\n(push 1)\n"], b"(push 1)\n"),
        ([b" y)"], b" y)"),
        ([b"(>= ", b"\n(check-sat)\n"], b"(check-sat)\n"),
    ],
)
def test_only_what_is_needed_is_left(good: Path, needed: list[bytes], change: bytes) -> None:
    def fails(text: bytes) -> bool:
        return all(each in text for each in needed)

    report = reduce(BAD, fails, format=Isolate(str(good)))
    passing = report.passing
    assert passing is not None
    assert fails(report.text)
    assert not fails(passing)
    view = View(report.text, passing)
    assert [report.text[begin:end] for begin, end, _ in view.changes] == [change]
    assert report.before["changes"] == 6
    assert report.after == {"changes": 1, "differing": len(change), "bytes": len(report.text)}
    # Without unresolved candidates it is binary search.
    assert report.counts.checks <= 4


@pytest.mark.parametrize("width", [1, 3])
def test_what_cannot_be_judged_moves_neither_side(good: Path, width: int) -> None:
    together = ((b"(>= ", b"(push 1)"),)

    def fails(text: bytes) -> bool:
        if any((a in text) != (b in text) for a, b in together):
            raise Unresolved
        return b"(>= " in text

    report = reduce(BAD, fails, format=Isolate(str(good)), jobs=width)
    passing = report.passing
    assert passing is not None
    assert fails(report.text)
    assert not fails(passing)
    view = View(report.text, passing)
    assert {report.text[begin:end] for begin, end, _ in view.changes} >= {b"="}
    assert len(view.changes) == 2
    for node in range(1, len(view.document)):
        edits = {edit.node: edit.template for edit in view.undone(node).edits}
        with pytest.raises(Unresolved):
            fails(view.document.render(edits))


def test_a_line_that_is_missing(good: Path) -> None:
    report = reduce(BAD, lambda text: b"x20" not in text, format=Isolate(str(good)))
    assert report.passing is not None
    assert report.text == report.passing.replace(b"(assert (> x20 20))\n", b"")


def test_what_is_left_is_told(good: Path) -> None:
    frontend = Isolate(str(good))
    said = frontend.remark(GOOD.replace(b"(> x3 3)", b"(>= x3 3)"))
    assert said is not None
    assert said.startswith("remaining difference:\n--- passes\n+++ fails\n@@ ")
    assert "\n-(assert (> x3 3))\n+(assert (>= x3 3))\n" in said
    long = frontend.remark(GOOD.replace(b">", b"<"))
    assert long is not None
    assert long.endswith("(and 43 more lines)")


def test_a_baseline_that_fails_too(good: Path) -> None:
    with pytest.raises(
        NotInterestingError, match=r"the baseline fails in the same way .*: give one"
    ):
        reduce(BAD, lambda text: b"x1 1" in text, format=Isolate(str(good)))
    with pytest.raises(NotInterestingError, match=r"in the same way .*: give one"):
        reduce(BAD, oracle="grep -q 'x1 1'", format=Isolate(str(good)))


def test_a_baseline_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none: No such file"):
        Isolate(str(tmp_path / "none"))


def test_another_baseline_begins_anew(good: Path, tmp_path: Path) -> None:
    bad, other = tmp_path / "bad.smt2", tmp_path / "other.smt2"
    bad.write_bytes(BAD)
    other.write_bytes(GOOD.replace(b"x9", b"y"))
    for baseline in (good, other):
        report = reduce(
            bad, oracle="grep -q '>='", format=Isolate(str(baseline)), output=tmp_path / "out.smt2"
        )
        assert report.passing is not None
        assert distance(report.text, report.passing) == 1
        assert (tmp_path / "out.passing.smt2").read_bytes() == report.passing
        assert report.counts.replayed == 0
