"""Answers of SMT solvers in traces are compared with those of a solver that reads scripts."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import DEFAULT_LIMITS
from reducekit.frontends.trace.player.checker import SmtAnswerChecker, Wrong, reference_for
from reducekit.oracle.command import Command
from tests.frontends.trace.player.test_every_call import calls_of

TRACES = {  # sat by the call 5, unsat by the call 7
    "boolector": "new=b; bitvec_sort b 4=s; var b s=n1; ult b n1 n1=n2; assert b -n2; sat b;"
    "assume b n2; sat b",
    "cvc5": "new; bv_sort 8=s; const s x=t1; eq t1 t1=t2; assert t2; check_sat; not t2=t3;"
    "check_sat_assuming t3",
}
NUMBERS = {"boolector": (10, 20), "cvc5": (3, 5)}


@pytest.fixture(params=["boolector", "cvc5"])
def checker(request: pytest.FixtureRequest) -> Iterator[tuple[str, SmtAnswerChecker]]:
    with ExitStack() as stack:
        model = load_model(request.param)
        yield request.param, SmtAnswerChecker(model, Command.of("z3"), DEFAULT_LIMITS, stack)


@pytest.mark.debian("z3")
@pytest.mark.parametrize(
    ("first", "second", "wrong"),
    [(0, 1, None), (1, 1, Wrong("unsat", 5)), (0, 0, Wrong("sat", 7)), (1, 0, Wrong("unsat", 5))],
)
def test_claims(
    checker: tuple[str, SmtAnswerChecker], first: int, second: int, wrong: Wrong | None
) -> None:
    """What is claimed is not what the library answers; the check must find out."""
    api, own = checker
    calls = calls_of(TRACES[api])
    numbers = NUMBERS[api]

    def claimed(first: int, second: int) -> list[int | None]:
        results: list[int | None] = [None] * len(calls)
        results[5], results[7] = numbers[first], numbers[second]
        return results

    assert own.check(calls, claimed(first, second)) == wrong
    # So it is of a second solver in the same trace.
    again = wrong and Wrong(wrong.kind, len(calls) + wrong.call)
    assert own.check([*calls, *calls], [*claimed(0, 1), *claimed(first, second)]) == again


@pytest.mark.debian("z3")
def test_what_smt_lib_lacks_is_not_checked() -> None:
    text = "new=b; bitvec_sort b 1=s; var b s=n1; fixate_assumptions b; assert b n1; sat b"
    calls = calls_of(text)
    with ExitStack() as stack:
        model = load_model("boolector")
        own = SmtAnswerChecker(model, Command.of("z3"), DEFAULT_LIMITS, stack)
        assert own.check(calls, [None] * 5 + [20]) == "unknown"
        del calls[3]
        assert own.check(calls, [None] * 4 + [20]) == Wrong("unsat", 4)


@pytest.mark.debian("z3")
def test_which_solver_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = reference_for("cvc5", None)
    assert isinstance(found, Command)
    assert Path(found.words[0]).name == "z3"
    assert reference_for("boolector", None, "true") == Command.of("true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="neither z3 nor cvc5 is in PATH"):
        reference_for("boolector", None)
    program = tmp_path / "cvc5"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert reference_for("boolector", None) == Command((str(program),))
    with pytest.raises(UsageError):
        reference_for("cvc5", None)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("sat\\nunsat", None),
        ("unknown\\nunsat", "unknown"),
        ("unsat\\nunsat", Wrong("sat", 5)),
        ('unsat\\nunsat\\n(error "line 4: unknown constant")', "unknown"),
    ],
)
def test_what_another_solver_does_not_decide_proves_nothing(
    tmp_path: Path, said: str, found: Wrong | str | None
) -> None:
    program = tmp_path / "solver"
    program.write_text(f"#!/bin/sh\nprintf '{said}\\n'\n")
    program.chmod(0o755)
    calls = calls_of(TRACES["boolector"])
    with ExitStack() as stack:
        model, command = load_model("boolector"), Command.of(str(program))
        own = SmtAnswerChecker(model, command, DEFAULT_LIMITS, stack)
        results = [{5: 10, 7: 20}.get(at) for at in range(len(calls))]
        assert own.check(calls, results) == found
