"""Going on from the journal of a reduction that was killed."""

import json
import signal
from pathlib import Path

import pytest

from reducekit.journal import digest, load
from tests.cli.tool import NEEDLE, Tool, problem, until

pytestmark = pytest.mark.reduction


def counting(tool: Tool) -> tuple[str, Path]:
    """Return an oracle that notes the hash of each text it is asked about, and where."""
    log = tool.folder / "log"
    log.touch()
    return str(tool.script("test", f'sha256sum < "$1" >> {log}\n{NEEDLE} "$1"')), log


def killed(tool: Tool, oracle: str, log: Path, *options: str) -> None:
    """Kill a reduction after some checks."""
    process = tool.start("smt2", "in.smt2", "--oracle", oracle, *options)
    until(lambda: len(log.read_text().splitlines()) > 12)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_it_ends_as_if_nothing_had_been(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    oracle, log = counting(tool)
    whole = tool("smt2", "in.smt2", "--oracle", oracle, "-o", "whole.smt2", "--json")
    log.write_text("")
    killed(tool, oracle, log)
    done = tool.ok("smt2", "in.smt2", "--oracle", oracle, "--resume", "--json")
    assert (tool.folder / "in.reduced.smt2").read_bytes() == (
        tool.folder / "whole.smt2"
    ).read_bytes()
    assert json.loads(done.out)["checks"] == json.loads(whole.out)["checks"]
    asked = log.read_text().splitlines()
    # The input twice, the result four times, and the one check that was under way.
    assert len(asked) - len(set(asked)) <= 1 + 3 + 1


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 4])
def test_no_check_in_the_journal_is_run_again(tool: Tool, jobs: int) -> None:
    """Checks that were cut off or cancelled are not in it: what they would say is not known."""
    tool.write("in.smt2", problem())
    oracle, log = counting(tool)
    killed(tool, oracle, log, "--jobs", str(jobs))
    known = {key.hex() for key in load(tool.folder / "in.reduced.smt2.journal").verdicts}
    assert known
    log.write_text("")
    assert tool("smt2", "in.smt2", "--oracle", oracle, "--resume").code == 0
    again = {line[:32] for line in log.read_text().splitlines()} & known
    result = (tool.folder / "in.reduced.smt2").read_bytes()
    assert again <= {digest(result).hex()}, "only the result is run again"


@pytest.mark.slow
def test_the_same_command_goes_on(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    oracle, log = counting(tool)
    first = tool("smt2", "in.smt2", "--oracle", oracle, "--max-checks", "5")
    assert first.code == 5
    assert "run the same command again to continue" in first.out
    before = (tool.folder / "in.reduced.smt2").read_bytes()
    done = tool.ok("smt2", "in.smt2", "--oracle", oracle, "--json")
    assert f"resuming from in.reduced.smt2 ({len(before):,} bytes, " in done.err
    assert json.loads(done.out)["done"] is True
    whole, _ = counting(tool)
    anew = tool("smt2", "in.smt2", "--oracle", whole, "-o", "whole.smt2", "--json")
    assert json.loads(anew.out)["checks"] == json.loads(done.out)["checks"]
    result = (tool.folder / "in.reduced.smt2").read_bytes()
    assert result == (tool.folder / "whole.smt2").read_bytes()
    asked = log.read_bytes().count(b"\n")
    again = tool("smt2", "in.smt2", "--oracle", oracle, "--max-checks", "0")
    assert again.code == 0, "nothing is left to check"
    assert log.read_bytes().count(b"\n") - asked <= 3, "only the result is run again"
    assert (tool.folder / "in.reduced.smt2").read_bytes() == result


@pytest.mark.slow
def test_what_another_run_has_left_is_kept_under_a_numbered_name(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    oracle, _ = counting(tool)
    assert tool("smt2", "in.smt2", "--oracle", oracle).code == 0
    first = (tool.folder / "in.reduced.smt2").read_bytes()
    other = tool.script("other", 'grep -q needle "$1" && grep -q "check-sat" "$1"')
    done = tool("smt2", "in.smt2", "--oracle", other)
    assert "in.reduced.smt2 was before (of another run) is kept as in.reduced.1.smt2" in done.err
    assert (tool.folder / "in.reduced.1.smt2").read_bytes() == first
    assert (tool.folder / "in.reduced.1.smt2.journal").exists()
    second = (tool.folder / "in.reduced.smt2").read_bytes()
    done = tool("smt2", "in.smt2", "--oracle", other, "--restart")
    assert "(started over) is kept as in.reduced.2.smt2" in done.err
    assert (tool.folder / "in.reduced.2.smt2").read_bytes() == second
    tool.write("mine.smt2", "my own file")
    done = tool("smt2", "in.smt2", "--oracle", other, "-o", "mine.smt2", "--no-journal")
    assert (tool.folder / "mine.1.smt2").read_text() == "my own file"
    assert "needle" in (tool.folder / "mine.smt2").read_text()


@pytest.mark.slow
def test_jobs_and_size(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    oracle, _ = counting(tool)
    size = len(problem()) // 2
    done = tool.ok(
        "smt2", "in.smt2", "--oracle", oracle, "-j", "auto", "--until", str(size), "--json"
    )
    report = json.loads(done.out)
    assert report["after"]["bytes"] <= size
    assert report["stopped"].startswith("at ")
    assert tool("smt2", "in.smt2", "--oracle", oracle, "-j", "many").code == 2


@pytest.mark.slow
def test_a_result_whose_journal_is_lost_is_kept(tool: Tool) -> None:
    """`--resume` has nothing to resume then, and begins; what is there was overwritten once."""
    tool.write("in.smt2", problem())
    oracle, _ = counting(tool)
    assert tool("smt2", "in.smt2", "--oracle", oracle).code == 0
    result = tool.write("in.reduced.smt2", problem(count=9))
    (tool.folder / "in.reduced.smt2.journal").write_bytes(b"")
    assert tool("smt2", "in.smt2", "--oracle", oracle, "--resume").code == 0
    assert result.with_name("in.reduced.1.smt2").read_text() == problem(count=9)
    assert "needle" in result.read_text()
    journal = tool.write("in.reduced.smt2.journal", "not a journal")
    refused = tool("smt2", "in.smt2", "--oracle", oracle, "--resume")
    assert refused.code == 2
    assert journal.read_text() == "not a journal"


@pytest.mark.slow
def test_in_place_a_file_that_was_deleted_comes_back(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    oracle, log = counting(tool)
    killed(tool, oracle, log, "--in-place")
    (tool.folder / "in.smt2").unlink()
    assert tool("smt2", "in.smt2", "--oracle", oracle, "--in-place").code == 0
    assert "needle" in (tool.folder / "in.smt2").read_text()
    assert (tool.folder / "in.smt2.orig").read_text() == problem()
