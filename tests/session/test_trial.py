"""One run of the commands on a text, and what it is said to show."""

import pytest

from reducekit.session.failure import Failure
from reducekit.session.runs.trial import Seen, Trial


def seen(text: bytes = b"text\n", **failure: object) -> Seen:
    trial = Trial(Failure(**failure), text, ".txt")  # type: ignore[arg-type]
    return trial.verdict([outcome for _, outcome in trial.run()])


def sh(script: str) -> list[str]:
    return ["sh", "-c", script, "sh"]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (
            "echo 'a.c:3: Assertion `x` failed' >&2; exit 3",
            Seen(
                True,
                "This is a failure. Reduce will keep: exit status 3, a.c: Assertion `x` failed",
                b"a.c:3: Assertion `x` failed",
                "errors",
            ),
        ),
        (
            "echo 'error: no way'; exit 3",
            Seen(
                True,
                "This is a failure. Reduce will keep: exit status 3, error: no way",
                b"error: no way",
                "output",
            ),
        ),
        ("kill -SEGV $$", Seen(True, "This is a failure. Reduce will keep: signal SIGSEGV")),
        ("echo sat", Seen(False, "No failure: exit status 0. What should be kept?")),
    ],
)
def test_a_failure_by_itself(script: str, found: Seen) -> None:
    assert seen(command=sh(script)) == found


def test_a_test() -> None:
    assert seen(oracle=sh('grep -q text "$1"')) == Seen(
        True, "Interesting: the test accepts it (exit status 0)"
    )
    assert seen(oracle=sh("exit 7")) == Seen(
        False, "Not interesting: the test ended with exit status 7, not 0"
    )


def test_two_programs() -> None:
    disagreement = seen(command=sh("echo sat"), reference=sh("echo unsat"))
    assert disagreement.interesting
    assert disagreement.words.startswith("Disagreement. Reduce will keep: ")
    agreeing = seen(command=sh("echo sat"), reference=sh("echo sat"))
    assert agreeing == Seen(False, "The two programs agree: there is nothing to keep")


def test_a_pattern() -> None:
    assert seen(command=sh("echo yes"), match_out=["^yes"]).interesting
    missed = seen(command=sh("echo no"), match_out=["^yes"])
    assert not missed.interesting
    assert missed.words.startswith("Not shown: ")


def test_the_candidate_has_the_suffix_of_its_format() -> None:
    assert seen(oracle=sh('case "$1" in *.txt) exit 0; esac; exit 1')).interesting
    trial = Trial(Failure(command=sh("exit 3")), b"text", ".smt2")
    assert [line.endswith("sh FILE.smt2") for line, _ in trial.run()] == [True]
