"""The examples of every help text, typed word by word in a folder with what they name."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.typed import run
from reducekit.cli.group import reducekit
from tests.cli.inprocess import Shell, shell
from tests.cli.test_bisect import script, wheel
from tests.cli.tool import problem

__all__ = ["shell"]

NEEDLES = r"needle|udiv|a[ai]g [1-9]|^-1|1 x2|or\("
CRASH = f"for file; do :; done; grep -qE '{NEEDLES}' $file && kill -SEGV $$; "
FAILS = f"{CRASH} echo sat"
INPUTS = {
    "smt2": problem(4, (2,)),
    "btor": "1 var 8\n2 var 8\n3 udiv 8 1 2\n4 eq 1 3 1\n5 root 1 4\n",
    "aag": "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n",
    "cnf": "p cnf 3 2\n1 2 3 0\n-1 2 0\n",
    "opb": "* #variable= 2 #constraint= 2\n+1 x1 +1 x2 >= 1 ;\n+1 x1 >= 0 ;\n",
    "qcir": "#QCIR-G14\nexists(1, 2)\noutput(4)\n3 = and(1, 2)\n4 = or(3, 1)\n",
    "txt": "one\ntwo needle three\nfour\n",
    "c": "int f() { return 1; }\nint needle() { return 2; }\n",
    "trace": "# reducekit: --model lingeling --fault lglmelt+1:abort\n"
    "init\nadd 1\nadd 0\nfreeze 1\nmelt 1\nrelease\n",
}
IPASIR = """
void *ipasir_init(void) { return "x"; }
void ipasir_release(void *s) {}
void ipasir_add(void *s, int l) {}
void ipasir_assume(void *s, int l) {}
int ipasir_solve(void *s) { return 0; }
int ipasir_val(void *s, int l) { return 0; }
int ipasir_failed(void *s, int l) { return 0; }
const char *ipasir_signature(void) { return "none"; }
void ipasir_set_terminate(void *s, void *state, int (*f)(void *)) {}
void ipasir_set_learn(void *s, void *state, int most, void (*f)(void *, int *)) {}
"""


def texts(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Return the names of all commands, with their help."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from texts(found, click.Context(found, info_name=name, parent=context))


def examples() -> list[str]:
    found = []
    for _, said in texts(reducekit, click.Context(reducekit, info_name="reducekit")):
        lines = said.partition("\nExamples:\n")[2].partition("\n\n")[0].splitlines()
        found += [line.strip() for line in lines]
    return found


def marks(example: str) -> list[pytest.MarkDecorator]:
    slow = example.startswith(("reducekit hunt", "reducekit bisect"))
    return [
        *([pytest.mark.slow] if slow else []),
        *([pytest.mark.debian("cc")] * (".so" in example)),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for suffix, text in INPUTS.items():
        for name in ("in", "bad"):
            (tmp_path / f"{name}.{suffix}").write_text(text)
        (tmp_path / f"good.{suffix}").write_text(text.replace("needle", "other"))
    shutil.copy(tmp_path / "in.aag", tmp_path / "in.aig")
    for name in ("a.c", "b.h"):
        shutil.copy(tmp_path / "in.txt", tmp_path / name)
    (tmp_path / "inputs").mkdir()
    shutil.copy(tmp_path / "good.txt", tmp_path / "inputs")
    for name in ("solver", "builds/solver-1.2"):
        script(tmp_path / name, FAILS)
    script(tmp_path / "lgluntrace", "grep -q melt $1 && kill -ABRT $$; exit 0")
    script(tmp_path / "test.sh", f"{tmp_path}/solver $1 2>/dev/null; [ $? = 139 ]")
    for name in ("other", "builds/solver-1.1"):
        script(tmp_path / name, "echo sat")
    (tmp_path / "wheels").mkdir()
    for version, body in (("1.1", "echo sat"), ("1.2", FAILS)):
        wheel(tmp_path / "wheels", version, body, package="z3-solver", program="z3")
    settings = tmp_path / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[global]\nno-index = true\nfind-links = {tmp_path / 'wheels'}\n")
    return tmp_path


@pytest.mark.parametrize("example", [pytest.param(each, marks=marks(each)) for each in examples()])
def test_an_example(folder: Path, example: str) -> None:
    if example.startswith("reducekit hunt"):
        script(folder / "solver", "echo sat")  # finds nothing, so that it does not take minutes
    if "own.so" in example:
        (folder / "own.c").write_text(IPASIR)
        command = ["cc", "-shared", "-fPIC", "-o", "own.so", "own.c"]
        subprocess.run(command, cwd=folder, check=True)
    said = run(example, folder)
    assert "exit code" not in said.splitlines()[-1], said
    expected = {"hunt": r"(?m)^\w+ \w+ in .* s: \d+ bugs?$", "bisect": "first bad version: .*1.2 "}
    assert re.search(expected.get(example.split()[1], " -> "), said), said


def test_there_are_examples() -> None:
    found = examples()
    for command in ("smt2", "isolate", "trace", "hunt smt2", "hunt trace", "bisect"):
        assert sum(each.startswith(f"reducekit {command} ") for each in found) == 2


def test_nothing_is_cut_off() -> None:
    """Of commands and what they are for."""
    for name, said in texts(reducekit, click.Context(reducekit, info_name="reducekit")):
        assert not [line for line in said.splitlines() if line.endswith("...")][1:], name


@pytest.mark.parametrize("words", ["-V", "--version", "smt2 --version", "hunt smt2 -V", "ui -V"])
def test_the_version_is_told_wherever_it_is_asked_for(shell: Shell, words: str) -> None:
    assert shell(*words.split()).out.startswith("reducekit 0.")


def test_the_first_usage_is_what_most_people_type(shell: Shell) -> None:
    assert shell("--help").out.startswith("Usage: reducekit FILE --cmd CMD\n")
    first = shell("smt2", "--help").out
    assert all(unit in first for unit in ("90s", "10m", "4G"))
