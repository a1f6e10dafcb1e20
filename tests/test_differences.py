"""Unified diffs: they say exactly what changed, in the form that patch(1) reads."""

import difflib
import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.differences import changed, unified

HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n")


def lines_of(text: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


def applied(old: bytes, diff: list[bytes]) -> bytes:
    """Apply a unified diff strictly: every kept and removed line has to be where it says."""
    before, after = lines_of(old), []
    at = 0
    lines = lines_of(b"".join(diff))[2:]
    for number, line in enumerate(lines):
        if line.startswith(b"\\"):
            continue
        if header := HUNK.fullmatch(line):
            first, size = int(header[1]), int(header[2] or 1)
            start = first - 1 if size else first
            after += before[at:start]
            at = start
            continue
        if lines[number + 1 : number + 2] == [b"\\ No newline at end of file\n"]:
            line = line[:-1]
        if line[:1] in b"- ":
            assert before[at] == line[1:]
            at += 1
        if line[:1] in b"+ ":
            after.append(line[1:])
    return b"".join(after + before[at:])


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c c\n", b"\r\n", b"last"]), max_size=30)


@settings(max_examples=300, deadline=None)
@given(old=LINES.map(b"".join), new=LINES.map(b"".join))
def test_a_diff_makes_the_new_text(old: bytes, new: bytes) -> None:
    diff = list(unified(old, new, "old", "new"))
    assert (diff == []) == (old == new)
    assert applied(old, diff) == new


def test_it_is_what_others_print() -> None:
    old = b"".join(b"%d\n" % i for i in range(40))
    new = old.replace(b"\n7\n8\n", b"\nx\n").replace(b"\n20\n", b"\n20\ny\n") + b"z"
    theirs = difflib.diff_bytes(
        difflib.unified_diff, lines_of(old), lines_of(new), b"old", b"new", lineterm=b"\n"
    )
    expected = b"".join(theirs) + b"\n\\ No newline at end of file\n"
    assert b"".join(unified(old, new, "old", "new")) == expected


def test_long_texts_are_compared_by_the_lines_that_are_there_once() -> None:
    chosen = random.Random(1)
    old = [b"(assert x%d)\n" % i if i % 3 else b"(check-sat)\n" for i in range(30_000)]
    new = [line for line in old if chosen.random() < 0.9]
    new[5000:5000] = [b"(push 1)\n"] * 2000
    regions = changed(old, new)
    assert sum(region.end - region.begin for region in regions) == len(old) - len(new) + 2000
    assert sum(region.stop - region.start for region in regions) == 2000
    assert applied(b"".join(old), list(unified(b"".join(old), b"".join(new), "", ""))) == b"".join(
        new
    )


def test_long_texts_without_such_lines() -> None:
    old, new = b"a\n" * 20_000 + b"b\n" * 20_000, b"b\na\n" * 20_000
    assert applied(old, list(unified(old, new, "", ""))) == new


def test_a_name_keeps_to_its_line() -> None:
    diff = list(unified(b"a", b"b", "x \udcff", "y"))
    assert diff[0] == b"--- x \\udcff\n"
