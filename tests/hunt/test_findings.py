"""What the runs of several programs on one input show: failures, and answers that differ."""

import sys
from pathlib import Path

import pytest

from reducekit.hunt.findings import Finding, findings, wrong_model
from reducekit.oracle.command import Command
from reducekit.oracle.compared import Disagree
from reducekit.oracle.own import MemoryFault, TimesOut
from reducekit.run import Outcome


def commands(*names: str) -> tuple[Command, ...]:
    return tuple(Command((f"/bin/{name}",)) for name in names)


def ended(
    status: int | None = 0, out: bytes = b"", *, number: int | None = None, late: bool = False
) -> Outcome:
    return Outcome(status, number, out, b"", "time" if late else None, 0.1)


YES, NO = ended(10, b"sat\n"), ended(20, b"unsat\n")


def test_a_failure_is_found_beside_answers() -> None:
    crash = ended(None, number=11)
    (found,) = findings(commands("a", "b"), [YES, crash], text=b"", reference=False)
    assert found.title == "b: signal SIGSEGV"
    assert found.name.startswith("signal-sigsegv-b-")
    assert isinstance(found.criterion, MemoryFault)


def found_of(outcome: Outcome, text: bytes = b"") -> Finding:
    (found,) = findings(commands("a"), [outcome], text=text, reference=False)
    return found


def aborted(said: bytes) -> Outcome:
    return Outcome(None, 6, b"", said, None, 0.1)


@pytest.mark.parametrize(
    "said",
    [
        b"free(): invalid pointer\n",
        b"double free or corruption (out)\n",
        b"corrupted size vs. prev_size while consolidating\n",
        b"malloc(): unaligned tcache chunk detected\n",
        b"malloc_consolidate(): unaligned fastbin chunk detected\n",
        b"munmap_chunk(): invalid pointer\n",
        b"*** Error in `./solver': free(): invalid next size (fast): 0x0000000001c02010 ***\n",
    ],
)
def test_a_memory_error_is_one_bug_whichever_way_it_shows(said: bytes) -> None:
    plain, heap = found_of(ended(None, number=11)), found_of(aborted(said))
    assert (plain.name, plain.criterion) == (heap.name, heap.criterion)
    assert said[:8].decode() in heap.title
    for one in (plain, heap):
        assert one.criterion.judge([ended(None, number=11)])
        assert one.criterion.judge([aborted(said)])
        assert not one.criterion.judge([aborted(b"Assertion `x' failed\n")])
        assert not one.criterion.judge([ended(None, number=6)])


def test_what_is_no_memory_error_keeps_its_own_name() -> None:
    other = [
        ended(None, number=11),
        ended(None, number=6),
        aborted(b"solver.c:3: main: Assertion `free() == x' failed.\n"),
        Outcome(None, 11, b"", b"fatal error: null clause\n", None, 0.1),
        Outcome(1, None, b"", b"error: free(): invalid pointer\n", None, 0.1),
    ]
    assert len({found_of(each).name for each in other}) == len(other)


def test_a_formula_that_was_not_verified_is_no_bug_of_its_own() -> None:
    def name(said: bytes) -> str:
        return found_of(Outcome(1, None, b"", said, None, 0.1)).name

    assert name(b"Failed to verify: (<= (+ x!3 (* (- 1) k)) 17)\n") == name(
        b"Failed to verify: (not (= a 1))\n"
    )
    conditions = (
        b"(value == 3 && flag)", b"(is_sat(x) || y)", b"m_lits.size() > 0",
        b"(m->eval(x))", b"m_solver.check_sat(0)",
    )  # fmt: skip
    assert len({name(b"Failed to verify: %s\n" % each) for each in conditions}) == 5


def test_a_program_that_is_a_module_keeps_its_name() -> None:
    module = Command((sys.executable, "-m", "solver"))
    (crash,) = findings([module], [ended(None, number=11)], text=b"", reference=False)
    assert crash.title == f"{Path(sys.executable).name} -m solver: signal SIGSEGV"
    assert crash.name.startswith("signal-sigsegv-python")
    wrong = wrong_model(module, "a.model_check")
    assert wrong.title == f"{Path(sys.executable).name} -m solver: a wrong model"


@pytest.mark.parametrize(
    ("outcomes", "reference", "titles"),
    [
        ([YES, YES], False, []),
        ([YES, NO], False, ["b answers unsat, a sat"]),
        ([YES, NO], True, ["a answers sat, b unsat"]),
        ([NO, YES, YES], False, ["a answers unsat, b sat"]),
        ([YES, NO, YES], False, ["b answers unsat, a sat"]),
        ([YES, YES, NO], True, ["a answers sat, c unsat", "b answers sat, c unsat"]),
        ([YES, ended(0, b"unknown\n"), NO], False, ["c answers unsat, a sat"]),
        ([YES, ended(None, number=9, late=True)], False, []),
        ([ended(0), ended(0)], False, []),
        ([NO, ended(None, number=9, late=True)], True, []),
    ],
)
def test_disagreements(outcomes: list[Outcome], reference: bool, titles: list[str]) -> None:
    found = findings(
        commands("a", "b", "c")[: len(outcomes)], outcomes, text=b"", reference=reference
    )
    assert [each.title for each in found] == titles
    assert all(isinstance(each.criterion, Disagree) for each in found)


def test_a_timeout_is_a_bug_if_asked_for() -> None:
    late = ended(None, number=9, late=True)
    (found,) = findings(commands("a"), [late], text=b"", reference=False, timeouts=2.0)
    assert found == Finding(commands("a"), TimesOut(2.0))


def test_blanks_and_quotes_do_not_split_a_bug() -> None:
    """Releases of a solver differ in them, and places in one."""

    def name(said: bytes) -> str:
        (found,) = findings(commands("a"), [ended(1, said)], text=b"", reference=False)
        return found.name

    one = name(b"error: unknown kind 'foo' in term\n")
    assert name(b'error: unknown  kind "foo"  in term\n') == one
    assert name(b"error: unknown kind `foo' in\tterm \n") == one
    assert name(b"error: unknown kind 'foo' in sort\n") != one
