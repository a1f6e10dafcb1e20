"""What the table of mutants says; the mutants themselves are mutmut's."""

from benchmarks.mutants.__main__ import (
    HERE,
    ROOMS,
    Mutant,
    Reason,
    Survivor,
    as_survivor,
    read_reasons,
    sample,
    table,
)

DIFF = """\
--- reducekit/search/lazy.py
+++ reducekit/search/lazy.py
@@ -1,2 +1,2 @@
 def __len__(self):
-    return len(self._made)
+    return len(None)
"""


def mutant(number: int, status: str = "killed", room: str = "search") -> Mutant:
    name = f"reducekit.{room}.lazy.xǁLazyǁ__len____mutmut_{number}"
    return Mutant(name, f"reducekit/{room}/lazy.py", status)


def test_a_sample_is_of_each_room_and_always_the_same() -> None:
    mutants = [mutant(number, room=room) for room in ROOMS for number in range(9)]
    few = sample(mutants, 3)
    assert [each.room for each in few] == [room for room in ROOMS for _ in range(3)]
    assert sample(mutants[::-1], 3) == few
    assert set(few) < set(sample(mutants, 4))
    assert set(sample(mutants, 0)) == set(mutants)


def test_a_survivor_is_known_by_its_lines() -> None:
    expected = Survivor("search.lazy.Lazy.__len__", "return len(self._made)", "return len(None)")
    assert as_survivor(mutant(1), DIFF) == expected
    function = Mutant("reducekit.journal.records.x_digest__mutmut_12", "", "survived")
    assert function.where == "journal.records.digest"


def test_the_rate_leaves_out_equivalent_mutants_and_no_others() -> None:
    tried = [mutant(number) for number in range(17)]
    lived = [mutant(number, "survived") for number in range(17, 21)]
    survivors = {each: Survivor("here", "a", str(each.name)) for each in lived}
    reasons = {
        survivors[lived[0]]: Reason("the same", equivalent=True),
        survivors[lived[1]]: Reason("only slower", equivalent=False),
    }
    text, enough = table(tried + lived, tried + lived, survivors, reasons)
    assert "| search | 21 | 21 | 17 | 1 | 3 | 85 % |" in text
    assert enough
    assert [text.count(said) for said in ("| equivalent: the same |", "| only slower |")] == [1, 1]
    assert text.count("| not explained |") == 2
    assert not table(tried, tried + lived, survivors, {})[1]


def test_the_reasons_can_be_read() -> None:
    reasons = read_reasons(HERE / "reasons.toml")
    assert reasons
    assert all(reason.text and each.before != each.after for each, reason in reasons.items())
