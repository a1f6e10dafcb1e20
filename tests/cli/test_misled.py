"""Nothing untrue: messages and results that once misled people."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Tool, problem, until

TEXT = problem(4, (2,))


def typed(tool: Tool, line: str) -> str:
    done = tool(*shlex.split(line))
    return f"{done.err}{done.out}[{done.code}]"


@pytest.mark.parametrize("harm", ["rm -f x.reduced.smt2", "echo hello > x.reduced.smt2"])
def test_a_test_that_harms_the_result_in_every_run(tool: Tool, harm: str) -> None:
    tool.write("x.smt2", TEXT)
    tool.script("test", f'{harm}; {NEEDLE} "$1"')
    said = typed(tool, "smt2 x.smt2 --oracle ./test")
    assert said.endswith("[0]")
    assert "a run of the command changed or removed x.reduced.smt2: it was written again" in said
    result = (tool.folder / "x.reduced.smt2").read_text()
    assert "needle" in result
    assert len(result) < len(TEXT) / 4


@pytest.mark.parametrize("options", ["--oracle ./test", "--cmd ./test --exit-code 0"])
def test_a_second_file_as_for_cvise_is_not_replaced(tool: Tool, options: str) -> None:
    tool.write("a.c", TEXT)
    tool.write("b.h", "int x;\n")
    tool.script("test", f'{NEEDLE} "$1"')
    before = tool.files()
    said = typed(tool, f"smt2 a.c b.h {options}")
    assert "b.h exists and is not a result of reducekit" in said
    assert "type -o b.h to write there" in said
    assert said.endswith("[2]")
    assert tool.files() == before


def test_the_order_of_ddsmt_still_resumes(tool: Tool) -> None:
    tool.write("x.smt2", TEXT)
    tool.script("test", f'{NEEDLE} "$1"')
    tool.write("out.smt2", "")  # as mktemp makes it
    assert typed(tool, "smt2 x.smt2 out.smt2 --oracle ./test").endswith("[0]")
    said = typed(tool, "smt2 x.smt2 out.smt2 --oracle ./test")
    assert "already finished: out.smt2 (" in said
    assert said.endswith("[0]")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("smt2 -x.smt2 --oracle ./test", "No such option '-x.smt2'. For the file, type ./-x.smt2"),
        ("-x.smt2 --oracle ./test", "No such option '-x'. For the file, type ./-x.smt2"),
        ("show -x.smt2", "No such option '-x"),
    ],
)
def test_a_name_with_a_leading_dash(tool: Tool, line: str, said: str) -> None:
    tool.write("-x.smt2", TEXT)
    tool.script("test", f'{NEEDLE} "$1"')
    found = typed(tool, line)
    assert said in found
    assert "type ./-x.smt2" in found
    assert found.endswith("[2]")


def test_the_reproduction_of_a_name_with_a_leading_dash_works(tool: Tool) -> None:
    tool.write("-x.smt2", TEXT)
    tool.script("test", f"{NEEDLE} $1")
    said = typed(tool, "smt2 ./-x.smt2 --oracle ./test")
    line = next(line for line in said.splitlines() if line.startswith("$ "))[2:]
    assert line.endswith(" ./-x.reduced.smt2")
    assert subprocess.run(line, shell=True, cwd=tool.folder).returncode == 0


def test_an_output_in_use_names_another(tool: Tool) -> None:
    tool.write("x.smt2", TEXT)
    tool.script("test", f'touch begun; sleep 0.5; {NEEDLE} "$1"')
    first = tool.start("smt2", "x.smt2", "--oracle", "./test")
    until(lambda: (tool.folder / "x.reduced.smt2.journal").exists())
    said = typed(tool, "smt2 x.smt2 --oracle ./test")
    assert "is in use by another reduction: wait for it, or write elsewhere" in said
    assert "(-o x.reduced-2.smt2)" in said
    assert said.endswith("[2]")
    first.send_signal(signal.SIGINT)
    tool.end(first)


def test_a_folder_that_cannot_be_written_names_another(tool: Tool) -> None:
    tool.write("x.smt2", TEXT)
    tool.script("test", f'{NEEDLE} "$1"')
    tool.folder.chmod(0o555)
    # Root writes everywhere, unless it gives that up.
    before = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    done = tool("smt2", "x.smt2", "--oracle", "./test", before=before)
    assert "the output x.reduced.smt2 cannot be written: Permission denied" in done.err
    assert f"write elsewhere: -o {tool.temporary}/x.reduced.smt2" in done.err
    assert done.code == 2


@pytest.mark.slow
def test_a_first_run_without_end_tells_what_to_type(tool: Tool) -> None:
    tool.write("x.smt2", TEXT)
    tool.script("hang", "sleep 100")
    run = tool.start("smt2", "x.smt2", "--cmd", "./hang")
    assert run.stderr is not None
    said = run.stderr.readline()
    assert "the command has run for 10 s on the input; it is stopped after 600 s" in said
    assert "set --timeout 10; to keep that it is slow, --slower-than 10" in said
    run.send_signal(signal.SIGINT)
    assert tool.end(run).code == 130


def test_messages_under_one_status(tool: Tool) -> None:
    """The empty file ends with the same status; its message is another."""
    tool.write("x.smt2", TEXT)
    tool.script("solver", """[ -s "$1" ] && echo "no way" >&2 || echo "no input" >&2; exit 3""")
    said = typed(tool, "smt2 x.smt2 --cmd ./solver --exit-code 3")
    assert "an empty file fails in the same way (exit status 3)" in said
    assert "name the right one with --match-err 'REGEX'" in said
    said = typed(tool, "smt2 x.smt2 --cmd ./solver --exit-code 3 --match-err 'no way'")
    assert said.endswith("[0]")


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("echo 'solver 1.2 (in /home/me/build/solver)'", "solver 1.2 (in solver)"),
        ("echo 1.9", "1.9"),
        ("echo 1.9 >&2", "1.9"),
        ("echo 1.9 >&2; exit 1", None),
        ("grep x ./$1", None),
        ("grep x ./$1; exit 0", None),
        ("echo usage: /home/me/solver 1.2 FILE", None),
    ],
)
def test_the_version_in_an_issue(tool: Tool, version: str, known: str | None) -> None:
    tool.write("x.smt2", TEXT)
    body = f'if [ "$1" = --version ]; then {version}; exit; fi; {NEEDLE} "$1" && kill -SEGV $$'
    tool.script("solver", body)
    assert typed(tool, "smt2 x.smt2 --cmd ./solver").endswith("[0]")
    done = tool.ok("report", "--issue", "x.reduced.smt2")
    assert f"Version: {known or '<version or commit>'}\n" in done.out
    assert "/home/me" not in done.out


WITHOUT = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Without())
from reducekit.cli import main
main()
"""


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        ("networkx", "show x.btor"),
        ("pysmt", "smt2 x.smt2 --oracle ./test"),
        ("sexpdata", "smt2 x.smt2 --cmd ./test --reference ./test"),
        ("rich", "smt2 x.smt2 --oracle ./test"),
    ],
)
def test_a_package_that_is_missing(tool: Tool, missing: str, line: str) -> None:
    tool.write("x.btor", "1 var 8\n2 root 8 1\n")
    tool.write("x.smt2", TEXT)
    tool.script("test", f'{NEEDLE} "$1"')
    program = [sys.executable, "-c", WITHOUT.format(missing=[missing]), *shlex.split(line)]
    done = subprocess.run(program, cwd=tool.folder, capture_output=True, text=True, check=False)
    assert "a bug in reducekit" not in done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        wanted = f"the package {missing} is not installed: pip install {missing}"
        assert wanted in done.stderr or "--reference" in line


def test_a_model_is_judged_without_pysmt(tool: Tool) -> None:
    """Its absence is said, and is no verdict."""
    text = "(declare-const a Bool)\n(assert a)\n(check-sat)\n"
    tool.write("x.smt2", text)
    tool.script("solver", 'echo sat; echo "(model (define-fun a () Bool false))"')
    program = WITHOUT.format(missing=["pysmt"]).replace(
        "from reducekit.cli import main\nmain()",
        "from reducekit.frontends.smt2.model_check import main\nsys.exit(main(sys.argv[1:]))",
    )
    words = [sys.executable, "-c", program, str(tool.folder / "solver"), "x.smt2"]
    done = subprocess.run(words, cwd=tool.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "the package pysmt is not installed: pip install pysmt\n"
    assert Path(tool.folder, "x.smt2").read_text() == text
