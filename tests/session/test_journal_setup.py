"""What a session writes into its journal, and what it says of one that it finds."""

import json
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from reducekit.api import reduce
from reducekit.errors import UsageError
from reducekit.events import Event, Notice
from reducekit.journal import Contents, journal_path, load
from reducekit.session import Options, Session
from tests.lines import Lines

TEXT = b"".join(b"line %d\n" % n for n in range(20))
FAILS = "import sys; t = open(sys.argv[1]).read(); print(len(t)); sys.exit(3 * ('line 7' in t))"


def reduced(folder: Path, **options: Any) -> tuple[Contents, list[str]]:
    """Reduce by a command that ends with 3 while line 7 is there; return journal and notices."""
    events: list[Event] = []
    source = folder / "in.txt"
    source.write_bytes(TEXT)
    report = Session(
        Options(input=source, format=Lines(), command=[sys.executable, "-c", FAILS], **options),
        events.append,
    ).run()
    assert report.output is not None
    notices = [each.text for each in events if isinstance(each, Notice)]
    return load(journal_path(report.output)), notices


def test_the_head_names_the_failure(tmp_path: Path) -> None:
    own, _ = reduced(tmp_path)
    chosen, _ = reduced(tmp_path, exit_code=3)
    assert own.head is not None
    assert chosen.head is not None
    assert own.head.criterion == "the command's own failure"
    assert chosen.head.criterion == "exit status 3"


def test_the_report_in_the_journal_has_the_last_run(tmp_path: Path) -> None:
    found, _ = reduced(tmp_path)
    report = json.loads(found.notes["report"])
    (run,) = report["last_runs"]
    assert run["ended"] == "exit status 3"
    assert run["stdout"].strip() == str(len("line 7\n"))
    assert run["stderr"] == ""
    assert "sys.exit" in run["command"]
    assert report["versions"] == {
        "Python": platform.python_version(),
        "system": platform.platform(),
    }


def test_output_that_is_no_text_is_in_the_report_all_the_same(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    command = ["sh", "-c", "printf 'a\\377b'; grep -q 'line 7' \"$1\" && exit 3", "sh"]
    reduce(TEXT, command=command, format=Lines(), output=output, max_checks=3)
    (run,) = json.loads(load(journal_path(output)).notes["report"])["last_runs"]
    assert run["stdout"] == "a\\xffb"


def test_all_steps_are_walked_from_the_first(tmp_path: Path) -> None:
    found, _ = reduced(tmp_path)
    walked = list(found.walk())
    assert [number for number, _, _ in walked] == list(range(1, len(found.steps)))
    assert walked[0][1] == TEXT
    assert walked[-1][2] == found.text(found.current)


def test_it_says_that_it_resumes_only_if_it_does(tmp_path: Path) -> None:
    alone = "exit status 3 alone identifies this failure: the command prints no message"
    assert reduced(tmp_path, resume=True)[1] == [alone]
    said, again = reduced(tmp_path)[1]
    assert again == alone
    assert said.startswith(f"already finished: {tmp_path / 'in.reduced.txt'} (7 bytes, ")


@pytest.mark.slow
def test_it_does_not_say_that_it_resumes_from_the_input(tmp_path: Path) -> None:
    whole = [f"^{len(TEXT)}$"]  # its size is printed
    found, _ = reduced(tmp_path, match_out=whole)
    assert found.current == 0
    assert reduced(tmp_path, match_out=whole)[1] == []


@pytest.mark.parametrize("option", [{"also_passes": ["true"]}, {"cluster": "local:1"}])
def test_what_needs_a_command(option: dict[str, Any]) -> None:
    (name,) = option
    options = Options(input=TEXT, interesting=lambda text: b"7" in text, format=Lines(), **option)
    with pytest.raises(UsageError, match=f"`{name}` requires `command` or `oracle`"):
        Session(options).run()
