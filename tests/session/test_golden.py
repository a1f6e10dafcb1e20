import re
from pathlib import Path
from typing import Any

import pytest

from reducekit.errors import NotInterestingError
from reducekit.executors.executor import Repeat
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.compared import Disagree, SlowerThan
from reducekit.oracle.criterion import Criterion, Oracle
from reducekit.oracle.flips import Flips
from reducekit.oracle.own import OwnFailure, SameSignature, TimesOut
from reducekit.oracle.printed import ExitZero, Matches
from reducekit.oracle.signature import Signature
from reducekit.run import Limits, Outcome
from reducekit.session.runs.golden import (
    GoldenRunError,
    baseline_fails,
    doubtful,
    establish,
    unfit_baseline,
)
from reducekit.session.runs.run import Golden, limits_for, timeout_for
from reducekit.usage.messages import explained

LIMITS = Limits(wall=20)


def open_local(oracle: Oracle) -> LocalExecutor:
    return LocalExecutor(oracle, 1, ".txt")


def sh(script: str) -> Command:
    return Command.of(["sh", "-c", script, "sh"])


def golden(
    *scripts: str,
    criterion: Criterion | None = None,
    limits: Limits = LIMITS,
    text: bytes = b"text\n",
    out: bool = True,
    repeat: Repeat | None = None,
) -> Golden:
    commands = tuple(map(sh, scripts))
    wanted = criterion or OwnFailure(out=out)
    return establish(commands, wanted, text, limits, open_local, path="in.txt", repeat=repeat)


def by_turns(log: Path, *ends: str) -> str:
    """Return a script that ends in another way each time, in turn."""
    cases = " ".join(f"{number}) {end};;" for number, end in enumerate(ends))
    count = f"n=$(cat {log} 2>/dev/null | wc -l); echo >> {log}"
    return f"{count}; case $((n % {len(ends)})) in {cases} esac"


def test_a_failure_becomes_its_signature() -> None:
    found = golden("echo 'w.c:3: Assertion `x == 1` failed' >&2; exit 3")
    assert isinstance(found.criterion, SameSignature)
    assert found.criterion.describe() == "exit status 3, w.c: Assertion `x == 1` failed"
    assert found.outcomes[0].status == 3
    assert found.seconds > 0


def test_a_signal() -> None:
    assert golden("kill -SEGV $$").criterion.describe() == "signal SIGSEGV"


def test_no_failure_is_refused_with_advice() -> None:
    with pytest.raises(NotInterestingError) as caught:
        golden("echo sat; printf '\\377\\033[2J\\n' >&2")
    message = str(caught.value)
    assert "does not fail" in message
    assert "in.txt" in message
    assert "exit status 0" in message
    assert "  sat" in message
    assert "\\xff\\x1b[2J" in message
    for way in ("--oracle", "--match-out", "--reference"):
        assert way in explained(caught.value)


def test_long_output_is_cut() -> None:
    with pytest.raises(NotInterestingError) as caught:
        golden("seq 100000")
    assert len(str(caught.value)) < 5000
    assert "more bytes" in str(caught.value)


def test_binary_output_is_not_shown() -> None:
    with pytest.raises(NotInterestingError) as caught:
        golden("head -c 3000 /dev/zero; echo text >&2")
    assert "stdout: 3,000 bytes, not text\nstderr:\n  text" in str(caught.value)
    assert "\\x00" not in str(caught.value)


def test_an_ignored_stream_makes_no_failure() -> None:
    with pytest.raises(NotInterestingError):
        golden("echo '(error \"x\")'", out=False)


def test_a_criterion_that_is_not_met() -> None:
    with pytest.raises(NotInterestingError, match="exit status 0"):
        golden("exit 1", criterion=ExitZero())
    with pytest.raises(NotInterestingError, match="stdout matching 'wanted'"):
        golden("echo other", criterion=Matches(out=(re.compile(b"wanted"),)))


def test_a_criterion_that_is_met() -> None:
    criterion = Matches(out=(re.compile(b"^text$", re.MULTILINE),))
    assert golden('cat "$1"', criterion=criterion).criterion == criterion


@pytest.mark.parametrize("criterion", [None, ExitZero()])
def test_a_flaky_run_is_refused_and_both_are_shown(
    tmp_path: Path, criterion: Criterion | None
) -> None:
    been = tmp_path / "been"
    with pytest.raises(NotInterestingError) as caught:
        golden(f"test -e {been} && exit 5; : > {been}; exit 0", criterion=criterion)
    message = str(caught.value)
    assert "ended differently" in message
    assert "exit status 0" in message
    assert "exit status 5" in message


def test_as_many_runs_as_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = by_turns(log, "exit 0", "exit 5", "exit 0")
    found = golden(script, criterion=Matches(exit_code=5), repeat=Repeat(1, 3))
    assert found.criterion == Matches(exit_code=5)
    assert found.outcomes[0].status == 5
    assert len(log.read_bytes()) == 3
    with pytest.raises(NotInterestingError) as caught:
        golden(script, criterion=Matches(exit_code=5), repeat=Repeat(2, 3))
    message = str(caught.value)
    assert "(exit status 5) showed in 1 of 3 runs" in message
    assert "--repeat asks for 2" in explained(caught.value)
    assert "run 2: " in message
    assert len(log.read_bytes()) == 6
    with pytest.raises(NotInterestingError, match=r"in 4 runs \(exit status 6; it ended"):
        golden(script, criterion=Matches(exit_code=6), repeat=Repeat(1, 4))


def test_the_most_frequent_failure_is_kept(tmp_path: Path) -> None:
    turns = ("exit 3", "exit 9", "exit 0", "exit 9", "exit 3", "exit 9")
    found = golden(by_turns(tmp_path / "a", *turns), repeat=Repeat(3, 6))
    assert found.criterion.describe() == "exit status 9"
    assert found.outcomes[0].status == 9
    with pytest.raises(NotInterestingError, match=r"\(exit status 9\) showed in 3 of 6 runs"):
        golden(by_turns(tmp_path / "b", *turns), repeat=Repeat(4, 6))
    for name, order in (("c", "39"), ("d", "93")):  # as frequent: the first by its words
        script = by_turns(tmp_path / name, *(f"exit {status}" for status in order))
        found = golden(script, repeat=Repeat(1, 2))
        assert found.criterion.describe() == "exit status 3"


def test_a_disagreement_now_and_then(tmp_path: Path) -> None:
    wrong = by_turns(tmp_path / "log", "echo sat", "echo unsat", "echo unsat")
    found = golden(wrong, "echo sat", criterion=Disagree(), repeat=Repeat(2, 3))
    assert found.criterion == Disagree((b"unsat", b"sat"))


def test_trivial_in_as_many_runs(tmp_path: Path) -> None:
    command = (sh(by_turns(tmp_path / "log", "exit 0", "exit 1")),)
    found = Golden(ExitZero(), (), 0.1)
    assert baseline_fails(command, found, LIMITS, open_local, repeat=Repeat(1, 2))
    assert not baseline_fails(command, found, LIMITS, open_local, repeat=Repeat(2, 2))


def test_a_hanging_run_is_the_failure() -> None:
    found = golden("sleep 60", limits=Limits(wall=0.2))
    assert found.criterion == TimesOut(0.2)


def test_slower_than_sets_the_limit() -> None:
    found = golden("sleep 60", criterion=SlowerThan(0.2), limits=Limits(wall=30))
    assert found.outcomes[0].limit == "time"
    with pytest.raises(NotInterestingError, match="takes 30 s"):
        golden("true", criterion=SlowerThan(30))


def test_a_disagreement_gets_its_direction() -> None:
    found = golden("echo sat", "echo unsat", criterion=Disagree())
    assert found.criterion == Disagree((b"sat", b"unsat"))
    with pytest.raises(NotInterestingError, match="answers of the command and its reference"):
        golden("echo sat", "echo sat", criterion=Disagree())


def test_trivial() -> None:
    def empty_too(script: str) -> bool:
        command = (sh(script),)
        found = establish(command, ExitZero(), b"text\n", Limits(), open_local)
        return baseline_fails(command, found, Limits(), open_local)

    assert empty_too("exit 0")
    assert not empty_too('grep -q text "$1"')


def test_a_bound_fits_the_runs_on_the_input() -> None:
    outcomes = tuple(
        Outcome(0, None, b"%s\nsteps %d\n" % (answer, steps), b"", None, 0.1)
        for answer, steps in ((b"unsat", 400), (b"unknown", 9000))
    )
    said = Flips(2, steps=r"steps (\d+)", option="--steps=").advice(outcomes)
    assert said is not None
    assert "Answered runs took up to 400 steps: try `--steps=" in said
    assert ExitZero().advice(outcomes) is None


def test_a_baseline_that_has_run_already() -> None:
    """Runs again only if it failed: what opens executors may know that it breaks the rules."""
    failed, passed = (Outcome(status, None, b"", b"", None, 0.1) for status in (0, 1))
    command = (sh("exit 0"),)
    for status, ran in ((failed, 1), (passed, 0)):
        opened: list[Oracle] = []

        def opens(oracle: Oracle, opened: list[Oracle] = opened) -> LocalExecutor:
            opened.append(oracle)
            return open_local(oracle)

        found = Golden(ExitZero(), (), 0.1, baseline=(status,))
        assert baseline_fails(command, found, LIMITS, opens) is bool(ran)
        assert len(opened) == ran


def test_all_runs_go_side_by_side_where_there_is_room(tmp_path: Path) -> None:
    """Each run waits for two others: with fewer at a time none of them ends well."""
    log = tmp_path / "log"
    script = f"""echo >> {log}
        for i in $(seq 100); do [ $(wc -l < {log}) -ge 3 ] && break; sleep 0.1; done
        [ $(wc -l < {log}) -ge 3 ] && grep -q text "$1" """
    command = (sh(script),)
    found = establish(
        command, ExitZero(), b"text\n", LIMITS, lambda oracle: LocalExecutor(oracle, 3, ".txt")
    )
    assert len(found.runs) == 2
    assert found.baseline is not None
    assert found.baseline[0].status == 1
    assert len(log.read_text()) == 3


def test_a_baseline_that_is_slower_is_waited_for() -> None:
    """Else whether it runs a second time would be chance, and the number of runs with it."""
    command = (sh('if grep -q text "$1"; then exit 0; else sleep 0.3; exit 1; fi'),)
    executor = LocalExecutor(Oracle(command, ExitZero()), 3, ".txt")
    found = establish(command, ExitZero(), b"text\n", LIMITS, lambda oracle: executor)
    assert found.baseline is not None
    assert executor.runs == 3


def test_limits() -> None:
    assert timeout_for(0.01) == 0.4
    assert timeout_for(2.0) == 8.2
    assert limits_for(ExitZero(), Limits(memory=5), 2.0) == Limits(wall=8.2, memory=5)
    assert limits_for(ExitZero(), Limits(wall=3.0), 2.0).wall == 3.0
    assert limits_for(SlowerThan(7.0), Limits(wall=3.0), 2.0).wall == 7.0


def refused(*scripts: str, **options: Any) -> tuple[str, str]:
    """Return the whole message, without the times, and which problem it is about."""
    with pytest.raises(GoldenRunError) as caught:
        golden(*scripts, **options)
    return re.sub(r" \(\d+\.\d\d s\)", "", str(caught.value)), caught.value.problem


def test_the_whole_message(tmp_path: Path) -> None:
    script = "echo sat; printf '\\na\\tb' >&2"
    assert refused(script) == (
        "the input does not fail\n"
        "\n"
        f"command: {sh(script).shell_line('in.txt')}\n"
        "ended: exit status 0\n"
        "stdout:\n"
        "  sat\n"
        "stderr:\n"
        "  a       b",
        "passes",
    )
    assert refused("exit 1", criterion=ExitZero(), repeat=Repeat(1, 3)) == (
        "the input does not show what is looked for in 3 runs "
        "(the test said no: exit status 1; exit status 0 means yes)\n"
        "\n"
        f"command: {sh('exit 1').shell_line('in.txt')}\n"
        "ended: exit status 1\n"
        "stdout: empty\n"
        "stderr: empty",
        "not shown",
    )
    script = by_turns(tmp_path / "log", "exit 5", "exit 6")
    line = sh(script).shell_line("in.txt")
    runs = "".join(
        f"\n\nrun {number}: {line}\nended: exit status {status}\nstdout: empty\nstderr: empty"
        for number, status in ((1, 5), (2, 6))
    )
    assert refused(script) == (f"two runs on the same input ended differently{runs}", "flaky")
    assert refused(script, repeat=Repeat(2, 2)) == (
        f"two runs on the same input ended differently{runs}",
        "flaky",
    )
    assert refused(script, repeat=Repeat(4, 4)) == (
        "this failure (exit status 5) showed in 2 of 4 runs on the input, "
        f"and `repeat` asks for 4{runs}",
        "rare",
    )


def test_three_ways_to_end_are_shown_of_many(tmp_path: Path) -> None:
    script = by_turns(tmp_path / "log", *(f"exit {status}" for status in range(2, 9)))
    message, _ = refused(script, repeat=Repeat(7, 7))
    assert [line for line in message.splitlines() if line.startswith("ended")] == [
        f"ended: exit status {status}" for status in (2, 3, 4)
    ]


def test_what_is_left_out_of_an_output_is_counted() -> None:
    for size, more in ((2000, ""), (2001, "\n  ... 1 more bytes")):
        message, _ = refused(f"head -c {size} /dev/zero | tr '\\0' x")
        assert f"stdout:\n  {'x' * 2000}{more}\nstderr: empty" in message


def test_a_baseline_that_fails_too() -> None:
    crash = SameSignature(Signature(None, 11, None, None))
    empty = unfit_baseline(crash, b"", "Is it read?", "z3 in.txt")
    assert (str(empty), empty.problem) == (
        "an empty file fails in the same way (signal SIGSEGV): there is nothing to reduce. "
        "Is it read?\ncommand: z3 in.txt",
        "baseline fails too",
    )
    assert str(unfit_baseline(crash, b"x", "Is it read?")) == (
        "the baseline fails in the same way (signal SIGSEGV): give one that passes"
    )


@pytest.mark.parametrize(
    ("status", "signal", "line", "doubted"),
    [
        (1, None, b"(error 'Parse error: x')", True),
        (1, None, b"cannot open it", True),
        (1, None, b"unexpected character", True),
        (1, None, b"Assertion `x' failed", False),
        (1, None, b"ASSERTION VIOLATION File: a.h UNEXPECTED CODE WAS REACHED.", False),
        (None, 6, b"syntax error", False),
    ],
)
def test_a_parse_error_may_not_be_meant(
    status: int | None, signal: int | None, line: bytes | None, doubted: bool
) -> None:
    said = doubtful(Golden(SameSignature(Signature(status, signal, None, line)), (), 0.1))
    words = (
        "this looks like a parse error, not a bug: is it the right format, and are the options "
        "of the program right?"
    )
    assert said == (words if doubted else None)
    assert doubtful(Golden(ExitZero(), (), 0.1)) is None


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "exit status 3 alone identifies this failure: the command prints no message"),
        (
            "echo 'total: 3'; exit 3",
            "exit status 3 alone identifies this failure: the output has no message. To keep a "
            "line of it: `match_out` 'total: 3'",
        ),
        (
            "date +%N >&2; head -c 9 /dev/urandom | od -An -tu4 | tr 0-9 a-j >&2; exit 3",
            "exit status 3 alone identifies this failure: the message differs in each run. To "
            "keep some words: `match_err` 'REGEX'",
        ),
        ("echo 'FATAL: no way out' >&2; exit 3", None),
        ("kill -SEGV $$", None),
    ],
)
def test_a_failure_known_by_its_status_alone(script: str, said: str | None) -> None:
    assert doubtful(golden(script)) == said


def test_words_with_digits_may_differ_in_each_run() -> None:
    found = golden('echo "FATAL: job j$$ is lost" >&2; exit 3')
    assert found.criterion.describe() == "exit status 3, FATAL: job * is lost"


def test_a_run_whose_steps_are_counted_has_five_seconds() -> None:
    counted = Flips(1, 1)
    assert counted.counts_steps
    assert limits_for(counted, Limits(), 0.1).wall == 5.0
    assert limits_for(counted, Limits(), 2.0).wall == 8.2
    assert limits_for(counted, Limits(cpu=1.0, output=7), 0.1) == Limits(5.0, 1.0, None, 7)


@pytest.mark.parametrize(
    ("script", "recorded", "made"), [("exit 5", 2, 0), ("exit 5", 1, 2), ("exit 5", 0, 2)]
)
def test_runs_that_are_recorded_are_not_made_again(
    tmp_path: Path, script: str, recorded: int, made: int
) -> None:
    log = tmp_path / "log"
    log.touch()
    commands = (sh(f"echo >> {log}; {script}"),)
    before = golden(script).runs[:recorded]
    found = establish(
        commands, OwnFailure(), b"text\n", LIMITS, open_local, recorded=before, baseline=b"b"
    )
    assert len(log.read_text()) in (made, made + bool(made))  # the baseline beside them
    assert found.criterion.describe() == "exit status 5"
    assert len(found.runs) == 2
    assert found.seconds == max(run[0].seconds for run in found.runs)
