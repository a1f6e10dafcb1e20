"""Commands as filters: `-` is standard input, and standard output for the result."""

import os
import signal
import subprocess

import pytest

from tests.cli.tool import PROGRAM, Tool, until

TEXT = b'(set-logic ALL)\n(assert (= "needle \xff" "x"))\n(check-sat)\n'


@pytest.fixture
def files(tool: Tool) -> Tool:
    (tool.folder / "in.smt2").write_bytes(TEXT)
    tool.script("test.sh", 'grep -qa needle "$1"')
    return tool


def filtered(tool: Tool, *words: str, text: bytes = TEXT) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *words], input=text, cwd=tool.folder, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        ("smt2", "-", "--oracle", "./test.sh"),
        ("-", "--oracle", "./test.sh", "-o", "-"),
        ("smt2", "in.smt2", "--oracle", "./test.sh", "-o", "-"),
        ("text", "-", "--cmd", "./test.sh", "--exit-code", "0"),
    ],
)
def test_the_result_alone_goes_to_standard_output(files: Tool, words: tuple[str, ...]) -> None:
    before = sorted(os.listdir(files.folder))
    done = filtered(files, *words)
    assert done.returncode == 0, done.stderr
    assert b"needle" in done.stdout
    assert len(done.stdout) < len(TEXT)
    assert b"checks" in done.stderr
    assert sorted(os.listdir(files.folder)) == before
    quiet = filtered(files, *words, "-q")
    assert (quiet.stdout, quiet.stderr) == (done.stdout, b"")


def test_a_named_file_is_written_instead(files: Tool) -> None:
    done = filtered(files, "smt2", "-", "--oracle", "./test.sh", "-o", "small.smt2")
    assert done.returncode == 0
    assert b"small.smt2" in done.stdout
    assert (files.folder / "small.smt2.journal").exists()


def test_a_filter_that_is_stopped_prints_the_best_so_far(files: Tool) -> None:
    files.script("slow.sh", 'echo >> log; sleep 0.2; grep -qa needle "$1"')
    files.write("in.smt2", TEXT.replace(b"\xff", b"").decode())
    process = files.start("smt2", "in.smt2", "--oracle", "./slow.sh", "-o", "-")
    until(lambda: (files.folder / "log").exists()
          and len((files.folder / "log").read_text()) > 6)  # fmt: skip
    process.send_signal(signal.SIGINT)
    done = files.end(process)
    assert done.code == 130
    assert "needle" in done.out
    assert "interrupted" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json",), "--json and -o - are mutually exclusive: both write to standard output"),
        (("--report", "page.html"), "it does not go with -o -"),
        (("--in-place",), "--in-place and -o are mutually exclusive"),
    ],
)
def test_what_a_filter_cannot_do(files: Tool, words: tuple[str, ...], said: str) -> None:
    done = filtered(files, "smt2", "in.smt2", "--oracle", "./test.sh", "-o", "-", *words)
    assert done.returncode == 2
    assert said in (done.stderr + done.stdout).decode()


def test_an_output_that_is_closed_or_full(files: Tool) -> None:
    words = ("smt2", "in.smt2", "--oracle", "./test.sh", "-q", "-o", "-")
    done = files(*words, before=["sh", "-c", 'exec "$@" >&-', "sh"])
    assert (done.code, done.err) == (
        2, "reducekit: standard output is closed: name a file with -o\n",
    )  # fmt: skip
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = files(*words, stdout=full)
    assert done.code == 2
    assert "standard output cannot be written: No space left on device" in done.err


@pytest.mark.parametrize(
    ("name", "text", "first"),
    [
        ("in.aig", b"aig 1 1 0 1 0\n2\n", b"aag 1 1 0 1 0\n"),
        ("in.btor2", b"1 sort bitvec 1\n2 input 1\n3 bad 2\n", b"1 var 1\n"),
        ("in.cnf", b"p cnf 1 1\n1 0\n", b"p cnf 1 1\n"),
        ("in.trace", b"init\nsat\n", b"init\n"),
    ],
)
def test_convert_to_standard_output(tool: Tool, name: str, text: bytes, first: bytes) -> None:
    (tool.folder / name).write_bytes(text)
    done = filtered(tool, "convert", name, "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(first)
    if name != "in.trace":  # that could be any
        assert filtered(tool, "convert", "-", "-", text=text).stdout == done.stdout
    target = {"in.aig": "btor2", "in.trace": "ipasir"}.get(name, "smt2")
    done = filtered(tool, "convert", name, "-", "--to", target)
    assert done.stdout
    assert not (tool.folder / "-").exists()


def test_convert_of_what_no_format_recognises(tool: Tool) -> None:
    done = filtered(tool, "convert", "-", "-", text=b"???\n")
    assert done.returncode == 2
    assert b"cannot tell the format of -: give --from and --to" in done.stderr
    assert not done.stdout
