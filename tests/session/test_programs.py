"""Programs of the user's: those that propose candidates, and the one that says which it prefers."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import reducekit
from reducekit.errors import UsageError
from reducekit.events import Event, Notice
from reducekit.format import Frontend
from reducekit.frontends.aiger import Aiger
from reducekit.frontends.btor import Btor
from reducekit.frontends.cnf import Cnf
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.trace.frontend import Traces as Trace
from reducekit.session.report import Report
from tests.lines import Lines

Make = Callable[..., str]


@pytest.fixture
def program(tmp_path: Path) -> Make:
    """Write programs: `import` lines and `text`, the file that they get, stand before the body."""

    def make(name: str, body: str) -> str:
        path = tmp_path / name
        begin = "import json, os, re, sys\ntext = open(sys.argv[1], 'rb').read()\n"
        path.write_text(f"#!/usr/bin/env -S python3 -I -S\n{begin}{body}\n")
        path.chmod(0o755)
        return str(path)

    return make


def reduce(
    text: bytes, interesting: Callable[[bytes], bool], **options: Any
) -> tuple[Report[bytes], list[str]]:
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    given = {"format": Lines(), **options}
    return reducekit.reduce(text, interesting, listen=listen, **given), said


HUNDREDS = b"start 1000\nmiddle 2000\nend 3000\n"
NUMBERS = "for m in re.finditer(rb'[0-9]+', text): print(m.start(), m.end(), json.dumps('7'))"


def has_three(text: bytes) -> bool:
    words = text.split()
    return [*map(bytes.isalpha, words)] == [True, False] * 3


def test_edits_are_tried_like_those_of_any_pass(program: Make) -> None:
    """All three numbers go in one check, and nothing is tried when the best file stays the same."""
    plain, _ = reduce(HUNDREDS, has_three)
    report, said = reduce(HUNDREDS, has_three, propose=[program("own", NUMBERS)])
    assert b"1000" in plain.text
    assert report.text.split()[1::2] == [b"7"] * 3
    assert report.counts.accepted == 1
    assert report.counts.checks <= 2 * plain.counts.checks
    assert not said


def test_files_are_tried_and_removed(program: Make, tmp_path: Path) -> None:
    folders = tmp_path / "folders"
    own = program(
        "own",
        "import tempfile\n"
        f"with open({str(folders)!r}, 'a') as log: print(tempfile.gettempdir(), file=log)\n"
        "for number in (1, 2):\n"
        "    path = os.path.join(tempfile.mkdtemp(), 'a candidate')\n"
        "    with open(path, 'wb') as file: file.write(text.replace(b'%d000' % number, b'7'))\n"
        "    print(path)\n",
    )
    report, said = reduce(HUNDREDS, has_three, propose=own)
    assert report.text.split()[1::2] == [b"7", b"7", b"3000"]
    assert not said
    assert not any(map(os.path.exists, folders.read_text().split()))


def test_only_the_own_pass(program: Make) -> None:
    own = program("own", NUMBERS)
    report, _ = reduce(HUNDREDS, has_three, propose=own, only=["proposals"])
    assert report.text == b"start 7\nmiddle 7\nend 7\n"
    assert report.counts.checks <= 4


def test_edits_that_overlap_do_not_go_together(program: Make) -> None:
    own = program("own", "print(0, 4, json.dumps('ab'))\nprint(2, 6, json.dumps('\\udcff'))")
    seen: list[bytes] = []

    def interesting(text: bytes) -> bool:
        seen.append(text)
        return text in (b"123456", b"12\xff")

    report, _ = reduce(b"123456", interesting, propose=own, only=["proposals"])
    assert report.text == b"12\xff"
    assert b"ab56" in seen


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('no such file')", "'no such file' is no file, and no edit such as: 10 20 \"text\""),
        ("print('2 1 \"\"')", "'2 1 \"\"' is no part of the file, which has 32 bytes"),
        ("print('0 99 \"\"')", "'0 99 \"\"' is no part of the file, which has 32 bytes"),
        ("print('0 1 \"\\\\\"')", "ends with no JSON string: "),
        ("os.mkfifo(os.environ['TMPDIR'] + '/f'); print(os.environ['TMPDIR'] + '/f')", "no file"),
        ("sys.exit('I give up')", "exit status 1, and no candidate"),
        ("os.kill(os.getpid(), 9)", "signal SIGKILL; what it printed before is tried"),
        ("while True: print('\\0' * 1000)", "bytes of output; what it printed before is tried"),
        ("print('x\\n' * 20000)", "more than 10,000 candidates; only the first are tried"),
        ("import time; time.sleep(100)", "stopped after 1.0 s; what it printed before is tried"),
        ("sys.stdout.buffer.write(b'\\xff\\0\\n')", "is no file, and no edit"),
    ],
)
def test_what_a_program_does_wrong_is_said_once(program: Make, body: str, words: str) -> None:
    own = program("own", body)
    limits: dict[str, Any] = {"timeout": 1} if "sleep" in body else {}
    report, said = reduce(
        HUNDREDS, has_three, propose=own, max_output=100_000, only=["proposals", "lines"], **limits
    )
    assert report.text == HUNDREDS or b"\n" not in report.text[-1:]
    found = [each for each in said if words in each]
    assert len(found) == 1, said
    assert found[0].startswith(f"`propose` {own}: ")


def test_what_cannot_be_used_is_refused(program: Make) -> None:
    number = program("number", "print(-1)")
    for options, words in (
        ({"propose": "/nowhere/own"}, "the program '/nowhere/own' does not exist"),
        ({"prefer": "/nowhere/own"}, "the program '/nowhere/own' does not exist"),
        ({"prefer_first": True}, "`prefer_first` requires `prefer`"),
        ({"prefer": number}, f"`prefer` {number}: it prints no number from 0 up"),
        ({"protect": "("}, "`protect`: '(' is not a regular expression"),
        ({"protect": ["end", "^x*"]}, "`protect`: '^x*' matches nothing in the input"),
    ):
        with pytest.raises(UsageError) as caught:
            reduce(HUNDREDS, has_three, **options)
        assert str(caught.value).startswith(words)


LARGEST = "print(max(map(int, re.findall(rb'[0-9]', text)), default='none'))"
LOWER = (
    "for m in re.finditer(rb'[1-9]', text):\n"
    "    print(m.start(), m.end(), json.dumps(str(int(m[0]) - 1)))"
)


def with_a_digit(text: bytes) -> bool:
    return any(each in text for each in b"3456789")


def test_of_equal_sizes_the_preferred_one_is_taken(program: Make) -> None:
    options = {"propose": program("lower", LOWER), "prefer": program("largest", LARGEST)}
    report, _ = reduce(b"5\n4 5\n", with_a_digit, **options)
    assert report.text.strip() == b"3"
    # By their bytes, 0 is the smallest text that is not refused.
    report, _ = reduce(b"a2\n", lambda text: len(text) > 2, **options)
    assert report.text == b"a0\n"


def test_sizes_come_before_the_number_or_after_it(program: Make) -> None:
    """The number says that the long line is the better one."""
    number = program("number", "print(1 if b'long' in text else 2)")
    texts = []
    for first in (False, True):
        report, _ = reduce(
            b"a long line\nb\n", lambda text: len(text) > 1, prefer=number, prefer_first=first
        )
        texts.append(report.text)
    assert b"long" not in texts[0]
    assert texts[1].strip() == b"long"


def test_a_preferred_file_may_be_larger(program: Make) -> None:
    own = program("own", "print(0, 0, json.dumps('#')) if text.count(b'#') < 3 else None")
    number = program("number", "print(10 - min(3, text.count(b'#')))")
    report, _ = reduce(
        b"x\n", lambda text: b"x" in text, propose=own, prefer=number, prefer_first=True
    )
    assert sorted(report.text.strip()) == sorted(b"###x")


def test_a_file_without_a_number_is_not_better(program: Make) -> None:
    number = program("number", "print(text.count(b'a') if b'keep' in text else 'nothing')")
    report, _ = reduce(b"keep a a\nb\n", bool, prefer=number, prefer_first=True)
    assert report.text.strip() == b"keep"


def test_the_number_of_a_text_is_asked_for_once(program: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    number = program(
        "number", f"print(len(text.split()))\nopen({str(log)!r}, 'ab').write(text.hex().encode())"
        f"\nopen({str(log)!r}, 'ab').write(b'\\n')",
    )  # fmt: skip
    reduce(HUNDREDS, has_three, prefer=number, prefer_first=True)
    asked = log.read_text().split()
    assert len(asked) == len(set(asked)) > 5
    log.unlink()
    reduce(HUNDREDS, has_three, prefer=number)
    assert len(log.read_text().split()) < 4  # the sizes differ


FORMATS: list[tuple[Frontend, bytes, bytes]] = [
    (Smt2(), b"(assert (= 10 (+ 2 3)))\n(check-sat)\n", b"assert"),
    (Btor(), b"1 var 8\n2 var 8\n3 eq 1 1 2\n4 root 1 3\n", b"eq"),
    (Cnf(), b"p cnf 2 2\n1 -2 0\n2 1 0\n", b"cnf"),
    (Aiger(), b"aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n", b"aag"),
    (Lines(), b"some text\nand more\n", b"text"),
    (Trace(), b"init\nadd 1\nadd 0\nsat\n", b"sat"),
]


@pytest.mark.parametrize(("frontend", "text", "needed"), FORMATS, ids=lambda each: str(each)[:20])
def test_every_format_takes_all_three(
    frontend: Frontend, text: bytes, needed: bytes, program: Make
) -> None:
    log: list[bytes] = []
    own = program("own", "print(0, 0, json.dumps(''))\nprint(len(text) - 1, len(text), '\"\"')")
    number = program("number", "print(sum(text))")

    def interesting(candidate: bytes) -> bool:
        log.append(candidate)
        return needed in candidate

    for first in (False, True):
        report, said = reduce(
            text, interesting, format=frontend, propose=own, prefer=number, prefer_first=first,
            protect=needed.decode(),
        )  # fmt: skip
        assert needed in report.text
        assert len(report.text) <= len(text)
        assert all(needed in each for each in log[2:] if each)
        assert not said


def test_it_ends_whatever_numbers_are_printed(program: Make) -> None:
    """Tenths for ever would be an infinite descent: from the seventh place on they are equal."""
    own = program("own", "print(0, len(text), json.dumps(text.decode() + 'x'))")
    number = program("number", "print(f'{10.0 ** -len(text):.9f}')")
    report, _ = reduce(b"x", bool, propose=own, prefer=number, prefer_first=True)
    assert len(report.text) == 7
    kept = partial(reduce, b"x", bool, propose=own)
    assert kept()[0].text == b"x"
