"""What the runs of several programs on one input show: failures, and answers that differ."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reducekit.hunt.findings import Finding, findings, wrong_model
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Disagree, SameSignature, TimesOut
from reducekit.oracle.outcome import Outcome


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
    assert isinstance(found.criterion, SameSignature)


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
