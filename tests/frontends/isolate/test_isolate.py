"""From a failing file back to a passing one, as far as it goes on failing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.api import reduce
from reducekit.document import Patched
from reducekit.errors import NotInterestingError, UsageError
from reducekit.frontends.isolate import Isolate
from reducekit.frontends.isolate.changes import View, distance, undo_changes, undo_hunks
from reducekit.search.independent import IndependentChanges

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
    for found in (undo_hunks, undo_changes):
        problem = found.problem(view)
        if problem is None:
            assert text == baseline
            continue
        assert isinstance(problem, IndependentChanges)
        edits = {edit.node: edit.template for each in problem.changes for edit in each.edits}
        assert Patched(view.document).render_with(edits) == baseline
        assert view.document.render(edits) == baseline


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
    ("needed", "changes"),
    [
        ([b"(>= "], [b"="]),
        ([b"\n(push 1)\n"], [b"(push 1)\n"]),
        ([b" y)"], [b" y)"]),
        ([b"(>= ", b"\n(check-sat)\n"], [b"=", b"(check-sat)\n"]),
    ],
)
def test_only_what_is_needed_is_left(good: Path, needed: list[bytes], changes: list[bytes]) -> None:
    def fails(text: bytes) -> bool:
        return all(each in text for each in needed)

    report = reduce(BAD, fails, format=Isolate(str(good)))
    view = View(report.text, GOOD)
    assert [report.text[begin:end] for begin, end, _ in view.changes] == changes
    for node in range(1, len(view.document)):
        (edit,) = view.undone(node).edits
        assert not fails(view.document.render({edit.node: edit.template}))
    assert report.after == {
        "changes": len(changes), "differing": sum(map(len, changes)), "bytes": len(report.text),
    }  # fmt: skip
    assert report.counts.checks < 40


def test_a_line_that_is_missing(good: Path) -> None:
    report = reduce(BAD, lambda text: b"x20" not in text, format=Isolate(str(good)))
    assert report.text == GOOD.replace(b"(assert (> x20 20))\n", b"")


def test_what_is_left_is_told(good: Path) -> None:
    frontend = Isolate(str(good))
    said = frontend.remark(GOOD.replace(b"(> x3 3)", b"(>= x3 3)"))
    assert said is not None
    assert said.startswith(f"what is left of the difference:\n--- {good}\n+++ result\n@@ ")
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
            bad,
            oracle="grep -q '>='",
            format=Isolate(str(baseline)),
            output=tmp_path / "out.smt2",
        )
        assert distance(report.text, baseline.read_bytes()) == 1
        assert report.counts.replayed == 0
