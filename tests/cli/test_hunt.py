"""`reducekit hunt`: bugs are kept once each, reduced, and said; a signal ends it at once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from reducekit.cli.findings import Finding, findings
from reducekit.cli.hunting import prepare, summary
from reducekit.cli.hunting_commands import Hunt, Sample, hunt
from reducekit.cli.interrupts import Interrupts
from reducekit.errors import UsageError
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Disagree, SameSignature, TimesOut
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome
from tests.cli.tool import Tool, until

SAT = "echo sat; exit 10"


def commands(*names: str) -> tuple[Command, ...]:
    return tuple(Command((f"/bin/{name}",)) for name in names)


def ended(
    status: int | None = 0, out: bytes = b"", *, number: int | None = None, late: bool = False
) -> Outcome:
    return Outcome(status, number, out, b"", "time" if late else None, 0.1)


YES, NO = ended(10, b"sat\n"), ended(20, b"unsat\n")


def test_a_failure_is_found_beside_answers() -> None:
    crash = ended(None, number=11)
    (found,) = findings(commands("a", "b"), [YES, crash], reference=False)
    assert found.title == "b: signal SIGSEGV"
    assert found.name.startswith("signal-sigsegv-b-")
    assert isinstance(found.criterion, SameSignature)


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
    found = findings(commands("a", "b", "c")[: len(outcomes)], outcomes, reference=reference)
    assert [each.title for each in found] == titles
    assert all(isinstance(each.criterion, Disagree) for each in found)


def test_a_timeout_is_a_bug_if_asked_for() -> None:
    late = ended(None, number=9, late=True)
    (found,) = findings(commands("a"), [late], reference=False, timeouts=2.0)
    assert found == Finding(commands("a"), TimesOut(2.0))


def crashing(tool: Tool, word: str, number: int = 11) -> Path:
    """Write a solver that crashes on files with a word, and answers sat otherwise."""
    return tool.script(f"solver{number}", f'grep -q "{word}" "$1" && kill -{number} $$\n{SAT}')


def test_a_bug_is_kept_once(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    done = tool("hunt", "btor", "--cmd", script, "--count", "30", "-n", "60", "--no-reduce")
    assert done.code == 0
    assert "30 inputs in" in done.out
    assert ": 1 bug\n" in done.out
    assert f"{script.name}: signal SIGSEGV\n" in done.out
    (kept,) = (tool.folder / "failures").glob("*.btor")
    assert "smulo" in kept.read_text()
    assert kept.name.startswith("signal-sigsegv-")
    assert done.err.count("new: ") == 1
    note = kept.with_suffix(".txt").read_text()
    again = note.split("made by: reducekit ")[1].splitlines()[0]
    assert tool(*again.split()).out == kept.read_text()


@pytest.mark.parametrize(("script", "said"), [("exit 1", 1), ("exit 0", 0)])
def test_what_every_input_shows_may_be_no_bug(tool: Tool, script: str, said: int) -> None:
    """A program that reads no such files, or a wrong option of it."""
    program = tool.script("solver", script)
    done = tool("hunt", "btor", "--cmd", program, "--count", "5", "-n", "60", "--no-reduce")
    assert done.code == 0
    assert done.err.count("each of the first 3 inputs shows this: solver: exit status 1") == said


def test_what_the_folder_has_is_not_new(tool: Tool) -> None:
    script = crashing(tool, "smulo")
    arguments = ("hunt", "btor", "--cmd", script, "--count", "20", "-n", "60", "--no-reduce")
    tool(*arguments)
    before = tool.files()
    done = tool(*arguments, "--seed", "100")
    assert "known before" in done.out
    assert "new: " not in done.err
    assert tool.files() == before


def test_disagreements_of_programs(tool: Tool) -> None:
    one = tool.script("one", SAT)
    two = tool.script("two", f'grep -q "mul" "$1" && {{ echo unsat; exit 20; }}\n{SAT}')
    done = tool(
        "hunt", "btor", "--cmd", two, "--reference", one, "--count", "10", "-n", "60",
        "--vary", "--jobs", "2", "--no-reduce", "--out", "found", "--quiet",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert "two answers unsat, one sat" in done.out
    assert len(list((tool.folder / "found").glob("*.btor"))) == 1


def samples(*texts: bytes) -> list[Sample]:
    return [Sample(text, f"made {number}") for number, text in enumerate(texts)]


def test_new_bugs_are_reduced(tool: Tool) -> None:
    """By a frontend of any name that is registered, here by lines."""
    command = Command.of(str(crashing(tool, "needle")))
    other = Command.of(str(crashing(tool, "pin", 6)))
    plan = Hunt(
        (command, other), False, tool.folder, ".txt2", Limits(wall=10.0), jobs=2,
        frontend="lines", quiet=True,
    )  # fmt: skip
    texts = (b"a\nneedle\nb\n", b"x\npin\ny\n", b"c\nneedle\nd\n", b"neither\n")
    tally = hunt(plan, iter(samples(*texts)), Interrupts())
    assert (tally.inputs, tally.interrupted) == (4, False)
    kept = {each.finding.commands[0]: each for each in tally.kept.values()}
    assert kept[command].count == 2
    assert kept[other].count == 1
    for each, word in ((kept[command], b"needle"), (kept[other], b"pin")):
        assert each.reduced is not None
        assert each.reduced <= len(word) + 1
        assert word in each.path.with_suffix(".reduced.txt2").read_bytes()
    assert "reduced to" in summary(tally)


def test_what_does_not_show_again_is_kept_as_it_is(tool: Tool) -> None:
    mark = tool.temporary / "mark"
    script = tool.script("flaky", f"[ -e {mark} ] || {{ touch {mark}; kill -11 $$; }}\n{SAT}")
    plan = Hunt(
        (Command.of(str(script)),), False, tool.folder, ".in", Limits(wall=10.0),
        frontend="lines", quiet=True,
    )  # fmt: skip
    tally = hunt(plan, iter(samples(b"text\n")), Interrupts())
    (kept,) = tally.kept.values()
    assert kept.why_not == "it does not show every time"
    assert kept.path.read_bytes() == b"text\n"


def test_a_frontend_that_is_not_there(tool: Tool, capsys: pytest.CaptureFixture[str]) -> None:
    plan = Hunt(
        (Command.of(str(crashing(tool, "a"))),), False, tool.folder, ".in", Limits(wall=10.0),
        frontend="none such",
    )  # fmt: skip
    tally = hunt(plan, iter(samples(b"a\n")), Interrupts())
    assert len(tally.kept) == 1
    assert "there is no frontend 'none such' yet" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_summary(tool: Tool, number: int) -> None:
    started = tool.temporary / "started"
    script = tool.script(
        "slow", f"echo >> {started}\n[ $(wc -l < {started}) -le 3 ] || sleep 600\n{SAT}"
    )
    process = tool.start("hunt", "btor", "--cmd", script, "-n", "30")
    until(lambda: started.exists() and started.read_text().count("\n") >= 4)
    process.send_signal(number)
    done = tool.end(process)
    assert done.code == 130
    assert "3 inputs in" in done.out
    assert "interrupted: 0 bugs" in done.out
    assert "Traceback" not in done.err


def test_a_time_limit_ends_runs_that_hang(tool: Tool) -> None:
    script = tool.script("slow", "sleep 600")
    done = tool("hunt", "btor", "--cmd", script, "-n", "30", "--max-time", "0.5")
    assert done.code == 0
    assert done.out.startswith("0 inputs in")


def test_timeouts_are_counted(tool: Tool) -> None:
    script = tool.script("slow", "sleep 600")
    arguments = ("hunt", "btor", "--cmd", script, "-n", "30", "--count", "2", "--timeout", "0.2")
    assert "2 out of time: 0 bugs" in tool(*arguments).out
    kept = tool(*arguments, "--keep-timeouts", "--no-reduce").out
    assert "2 times: slow: does not end in time (0.2 s)" in kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "which program is to fail? Say --cmd"),
        (["--cmd", "no-such-program"], "'no-such-program' is not in PATH"),
        (["--cmd", "true", "--out", "file"], "the folder file cannot be made"),
        (["--cmd", "true", "--minwidth", "9"], "widths: the largest"),
        (["--cmd", "true", "--strategy", "magic"], "'magic'"),
        (["--cmd", "true", "--max-time", "nan"], "not nan"),
    ],
)
def test_what_is_refused(tool: Tool, arguments: list[str], said: str) -> None:
    tool.write("file", "")
    before = tool.files()
    done = tool("hunt", "btor", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tool.files() == before


def where_it_is_kept(tool: Tool, *arguments: str | Path) -> Path:
    """Hunt, and return where the only bug is kept; its files are removed."""
    tool(*arguments, "--no-reduce")
    (kept,) = (tool.folder / "failures").glob("*.btor")
    kept.unlink()
    kept.with_suffix(".txt").unlink()
    return kept


def test_a_bug_that_cannot_be_written_is_told(tool: Tool) -> None:
    """The hunt goes on, as after a disk has become full."""
    arguments = ("hunt", "btor", "--cmd", crashing(tool, "var"), "--count", "3", "-n", "40")
    note = where_it_is_kept(tool, *arguments).with_suffix(".txt")
    note.mkdir()
    done = tool(*arguments, "--no-reduce")
    assert done.code == 2
    assert "3 times: " in done.out
    assert f"not reduced: the output failures/{note.name} is a directory" in done.out


def test_a_reduced_bug_that_cannot_be_written_is_told(tool: Tool) -> None:
    arguments = ("hunt", "btor", "--cmd", crashing(tool, "var"), "--count", "3", "-n", "40")
    kept = where_it_is_kept(tool, *arguments)
    reduced = kept.with_suffix(".reduced.btor")
    reduced.mkdir()
    done = tool(*arguments)
    assert done.code == 2
    assert "3 times: " in done.out
    assert f"not reduced: the output failures/{reduced.name} is a directory" in done.out
    assert kept.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        prepare(tmp_path / "file")
