"""What a session says on its way: in whole sentences, and only where there is reason."""

import errno
from pathlib import Path
from typing import Any

import pytest

from reducekit.api import reduce
from reducekit.errors import ResourceError, UsageError
from reducekit.events import Accepted, Checked, Event, Notice, PassEnded, RolledBack
from reducekit.reduction import EARLIER, GUESSES
from reducekit.registry import frontend
from reducekit.session import Options, Session
from reducekit.session.phases.ending import _count as count
from reducekit.session.phases.ending import _unwritten as unwritten
from reducekit.session.phases.search import _in_words as in_words
from reducekit.session.runs.golden import GoldenRunError
from tests.lines import Lines

LARGE = b"".join(b"(declare-const x%d Int)\n(assert (> x%d 7))\n" % (n, n) for n in range(5000))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(100)) + b"keep\n")
    return path


def said_by(source: Path | bytes, **options: Any) -> list[str]:
    said: list[str] = []
    reduce(
        source,
        listen=lambda event: said.append(event.text) if isinstance(event, Notice) else None,
        **{"format": Lines(), **options},
    )
    return said


def test_of_a_command_that_names_the_file(source: Path) -> None:
    """Fresh variants of an unstable failure are in folders of their own, too."""
    answer = "test $(({seed} % 2)) = 1 && echo unknown || echo sat"
    said = said_by(
        source, command=f"sh -c 'grep -q 42 in.txt || exec echo sat\n{answer}'", unstable=8
    )
    assert said == [
        "files of this format have no variants: the runs of `unstable` differ by seeds only",
        "the command names the file itself, so each run gets a folder of its own, "
        "in which the candidate has that name",
        "running 16 other variants of the input and the result",
        "on 16 variants that no check used, the input is solved 8 times and lost 8 times, "
        "the result 8 and 8 times",
    ]


def test_of_a_command_that_does_not_fail_there_either(source: Path) -> None:
    """What is told is how it ended where the user ran it."""
    with pytest.raises(
        GoldenRunError, match=r"the same way \(exit status 1, cat: in.txt: "
    ) as caught:
        said_by(source, command="sh -c 'cat in.txt'")
    assert caught.value.problem == "baseline fails too"


def test_of_a_command_that_does_not_end(source: Path) -> None:
    words = (
        r"the command does not end within 1 s on the input\. Give `timeout` to keep "
        r"that it hangs, `slower_than` to keep that it is slow$"
    )
    with pytest.raises(GoldenRunError, match=words) as caught:
        said_by(source, command="sh -c 'sleep 60' sh", max_time=2.0)
    assert caught.value.problem == "not shown"
    # With a limit of their own it is what they want to keep.
    assert said_by(source, command="sh -c 'grep -q keep $1 && sleep 60' sh", first_timeout=0.3,
                   max_checks=1) == []  # fmt: skip


def test_of_other_failures_that_cannot_be_kept(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "others"

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)
        elif isinstance(event, Checked):
            folder.touch()  # a file, where the folder is to be made

    said: list[str] = []
    command = "sh -c 'grep -q keep $1 && exit 3; exit 4' sh"
    reduce(source, format=Lines(), command=command, also_interesting=folder, listen=listen)
    assert said[-1] == f"not all other failures could be kept in {folder}: File exists"


def test_of_steps() -> None:
    found = Accepted(b"x" * 1234, "drop", EARLIER)
    assert in_words(found, "t.sh has changed since") == (
        "t.sh has changed since: resuming from the smallest earlier step that still fails "
        "(1,234 bytes)"
    )
    assert in_words(found, None) is None
    assert in_words(Accepted(b"x", "drop", "lines"), "t.sh has changed since") is None
    ended = PassEnded(EARLIER, 0, 3, 0, 10)
    assert in_words(ended, "t.sh has changed since") == (
        "t.sh has changed since: no earlier step still fails; starting from the input"
    )
    assert in_words(ended, None) is None
    assert in_words(PassEnded(EARLIER, 0, 3, 1, 10), "t.sh has changed since") is None
    assert in_words(PassEnded("lines", 0, 3, 0, 10), "t.sh has changed since") is None
    assert in_words(Accepted(b"x" * 1234, "drop", GUESSES), None) == (
        "starting from a part of the input that fails (1,234 bytes)"
    )
    assert in_words(RolledBack(b"x" * 2000, (b"y" * 1000, b"z")), None) == (
        "the best file so far (1,000 bytes) no longer fails, or not every time; going back to "
        "one that does (2,000 bytes), and each success is repeated from now on"
    )
    assert in_words(Checked(True, False, "drop", 5), "changed") is None


def test_of_a_result_that_could_not_be_written() -> None:
    path = Path("out.txt")
    full = unwritten(path, OSError(errno.ENOSPC, "No space left on device"), Path("/tmp/r.txt"))
    assert isinstance(full, ResourceError)
    assert str(full) == (
        "the result could not be written to out.txt: No space left on device; it is in /tmp/r.txt"
    )
    refused = unwritten(path, PermissionError(errno.EACCES, "Permission denied"), None)
    assert isinstance(refused, UsageError)
    assert str(refused) == "the result could not be written to out.txt: Permission denied"


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_large_input_is_not_parsed_again_after_an_interrupt(interrupted: bool) -> None:
    """Counting what is in it takes as long as the user who pressed Ctrl-C does not want to wait."""

    def listen(event: Event) -> None:
        if interrupted and isinstance(event, Accepted):
            raise KeyboardInterrupt

    options = Options(input=LARGE, interesting=lambda text: b"x7 " in text, until=len(LARGE) - 1)
    report = Session(options, listen).run()
    assert report.before["bytes"] == len(LARGE)
    assert (report.before.keys() == {"bytes"}) is interrupted
    assert (report.after.keys() == {"bytes"}) is interrupted
    assert (report.stopped == "interrupted") is interrupted
    assert report.early is interrupted


def test_of_a_folder_of_the_output_that_is_gone(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()

    def listen(event: Event) -> None:
        if isinstance(event, Accepted) and folder.exists():
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()

    output = folder / "out.txt"
    options = Options(input=source, format=Lines(), interesting=lambda text: b"42" in text,
                      output=output, journal=False)  # fmt: skip
    with pytest.raises(UsageError) as caught:
        Session(options, listen).run()
    words, _, rescued = str(caught.value).partition("; it is in ")
    assert words == f"the result could not be written to {output}: No such file or directory"
    assert Path(rescued).read_bytes() == b"42\n"
    Path(rescued).unlink()


def test_of_how_to_see_the_failure_again(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "a b.txt"
    options: dict[str, Any] = {"command": "sh -c 'grep -q 42 $1 && exit 3' sh", "format": Lines()}
    report = reduce(source, output=output, **options)
    (shown,) = report.reproducers
    assert shown.command.endswith(f" sh '{output}'")
    assert shown.outcome is not None
    assert (report.verified, report.tries) == (True, 1)
    (shown,) = reduce(source.read_bytes(), **options).reproducers
    assert shown.command.endswith(" sh result")


def test_what_cannot_be_parsed_is_counted_in_bytes() -> None:
    assert count(frontend("smt2"), b"(check-sat") == {"bytes": 10}
    assert count(frontend("smt2"), b"(check-sat)")["commands"] == 1
