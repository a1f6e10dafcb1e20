"""Several files, and folders, are reduced together by the command line."""

import os
import shutil
from pathlib import Path

import pytest

from reducekit.packed import unpack
from tests.cli.tool import Done, Tool

MAIN = """#include "b.h"
#include "sub/c.h"
int helper(int x) { return x + 1; }
int main(void) { return helper(c_fun(BOOM)); }
"""
HEADER = "struct point { int x; };\n#define BOOM needle\n"
FILES = {
    "main.c": MAIN,
    "b.h": HEADER,
    "sub/c.h": "int c_fun(int z) { return z * 2; }\n",
    "odd name\n.txt": "",
    "data.bin": "\0\1\2",
}
TEST = 'gcc -E main.c 2>/dev/null | grep -q "(needle"'


def files_in(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_fifo()
    }


@pytest.fixture
def project(tool: Tool) -> Tool:
    """A folder `in`, with the same files in the current folder."""
    for top in (tool.folder, tool.folder / "in"):
        for path, text in FILES.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
    tool.script("test.sh", TEST)
    return tool


def small(project: Tool, done: Done, output: str = "small") -> dict[str, str]:
    assert done.code == 0, done.err
    files = files_in(project.folder / output)
    assert files.keys() == {"main.c", "b.h"}
    assert sum(map(len, files.values())) < 60
    return files


def test_a_folder(project: Tool) -> None:
    """What is no file is left out, and an input is never changed."""
    folder = project.folder / "in"
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to(".")
    before = files_in(folder)
    done = project("in", "--oracle", "./test.sh")
    files = small(project, done, "in.reduced")
    assert "5 files are reduced together" in done.err
    assert "$ cd in.reduced && " in done.out
    assert files_in(folder) == before
    again = project("text", "in", "--oracle", "./test.sh")
    assert "already finished: in.reduced (" in again.err
    (project.folder / "in.reduced" / "main.c").write_text("mine\n")
    edited = project("text", "in", "--oracle", "./test.sh")
    assert "the edited text is kept as in.1.reduced" in edited.err
    assert files_in(project.folder / "in.reduced") == files
    assert files_in(project.folder / "in.1.reduced")["main.c"] == "mine\n"


@pytest.mark.parametrize(
    "test",
    [
        ("--oracle", "./test.sh"),
        ("--jobs", "3", "--cmd", "./test.sh", "--exit-code", "0"),
        ("--shell", "--cmd", TEST, "--exit-code", "0"),
        ("--exit-code", "0", "--", "sh", "-c", TEST, "main.c"),
    ],
)
def test_files(project: Tool, test: tuple[str, ...]) -> None:
    given = ("main.c", "b.h", "sub/c.h", "-o", "small", "--no-journal", "--max-checks", "400")
    small(project, project("text", *given, *test))


def test_the_first_file_is_the_argument_unless_the_command_names_one(project: Tool) -> None:
    project.script("says", 'cat "$@" > /dev/null && echo "$#: $1" && exit 3')
    for command, said in (("./says", "1: main.c"), ("./says ./b.h {}", "2: ./b.h"),
                          ("./says b.h", "1: b.h")):  # fmt: skip
        done = project("main.c", "b.h", "--cmd", command, "--restart", "--max-checks", "1")
        assert said in done.out, done.err


def test_a_test_that_takes_its_folder_apart(project: Tool) -> None:
    """Each run has a new one."""
    test = "rm -f main.c b.h; mkdir -p main.c/x; chmod 0 main.c; cd ..; mv input gone; exit 0"
    project.script("test.sh", f"{TEST} || exit 1; {test}")
    small(project, project("text", "in", "--oracle", "./test.sh", "-o", "small"))


def test_the_order_of_cvise(project: Tool) -> None:
    for words in ("./test.sh main.c b.h", "./test.sh in", "text ./test.sh main.c b.h"):
        done = project(*words.split())
        inputs = words.partition("test.sh ")[2]
        assert f"{inputs} --oracle ./test.sh" in done.err
        assert done.code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("in -o in/out", "the output in/out is in the input in: name another with -o"),
        ("in -o sub", "the output sub exists and is no result: name a new folder"),
        ("in -o b.h", "the output b.h exists and is no result: name a new folder"),
        ("in -o -", "several files are read and written by name, not with -"),
        ("in --in-place", "--in-place is for a single file: omit it"),
        ("main.c b.h nope.h", "the input nope.h does not exist"),
        ("main.c ../elsewhere.h", "the input ../elsewhere.h is not below the current folder"),
        ("empty", "the input is empty"),
    ],
)
def test_what_cannot_be(project: Tool, words: str, said: str) -> None:
    (project.folder / "empty").mkdir()
    shutil.copy(project.folder / "b.h", project.folder.parent / "elsewhere.h")
    before = project.files()
    done = project("text", *words.split(), "--oracle", "./test.sh")
    assert said in done.err
    assert done.code in (2, 3)
    assert project.files() == before


def test_steps_are_restored_as_folders(project: Tool) -> None:
    assert project("in", "--oracle", "./test.sh", "-o", "small", "--max-checks", "5").code == 5
    assert project("history", "small", "--restore", "0", "-o", "first").code == 0
    assert files_in(project.folder / "first") == FILES
    printed = project("history", "small", "--restore", "0").out
    assert unpack(printed.encode()) == {path: text.encode() for path, text in FILES.items()}


def test_a_folder_of_very_many_files_is_refused_before_they_are_read(tool: Tool) -> None:
    (tool.folder / "many").mkdir()
    for number in range(10_001):
        (tool.folder / "many" / str(number)).touch()
    done = tool("many", "--cmd", "true")
    assert (done.code, "many has more than 10,000 files: copy those that matter" in done.err) == (
        2, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "header"), [("in.cnf", "p cnf 2 2\n"), ("in.aag", "aag 1 1 0 0 0\n")]
)
def test_lenient_keeps_the_header(tool: Tool, name: str, header: str) -> None:
    tool.write(name, f"{header}needle\n1 0\n")
    test = tool.script("test.sh", 'grep -q needle "$1"')
    assert tool(name, "--lenient", "--oracle", test, "-o", "out").code == 0
    assert (tool.folder / "out").read_text() in (
        f"{header[:5].strip()}\nneedle\n",
        "aag\nneedle\n",
        "aag needle\n",
    )
