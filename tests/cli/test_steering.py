"""--protect, --propose and --prefer as users type them; the pass of docs/steering.md."""

import re
from pathlib import Path

import pytest

from tests.cli.inprocess import Shell, shell

__all__ = ["shell"]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "steering.md").read_text(encoding="utf-8")
SCRIPT = (
    "(set-logic QF_LIA)\n(declare-const a Int)\n(assert (> a 10))\n(assert (= (mod a 20) 30))\n"
)
OPTIONS = ("--no-journal", "--restart", "-j1")


@pytest.fixture
def files(shell: Shell) -> Shell:
    (own,) = re.findall(r"```python\n(#!.*?)```", PAGE, re.DOTALL)
    shell.write("my-pass.py", own).chmod(0o755)
    shell.script("mod.sh", "grep -q '(mod a [0-9]*)' \"$1\"")
    shell.write("in.smt2", SCRIPT)
    return shell


def test_the_page_s_pass_and_expression(files: Shell) -> None:
    (pattern,) = re.findall(r"--protect '(.*?)'\n", PAGE)
    done = files("smt2", "in.smt2", "--oracle", "./mod.sh", "--protect", pattern, "--propose",
                 "./my-pass.py", *OPTIONS)  # fmt: skip
    assert done.code == 0, done.err
    result = files.read("in.reduced.smt2")
    assert result.startswith("(set-logic QF_LIA)\n")
    assert "(mod a 0)" in result


def test_pretty_printing_leaves_what_is_protected(files: Shell) -> None:
    files.write("in.smt2", SCRIPT.replace("(> a 10)", "(>  a  10)"))
    done = files("smt2", "in.smt2", "--oracle", "./mod.sh", "--protect", r"\(>  a  10\)",
                 "--pretty", *OPTIONS)  # fmt: skip
    assert done.code == 0, done.err
    assert "(>  a  10)" in files.read("in.reduced.smt2")
    assert "changes protected text; keeping the original layout" in done.err


def test_another_protection_is_another_reduction(files: Shell) -> None:
    words = ("smt2", "in.smt2", "--oracle", "./mod.sh", "-j1")
    assert files(*words).code == 0
    assert "set-logic" not in files.read("in.reduced.smt2")
    done = files(*words, "--protect", "set-logic")
    assert done.code == 0
    assert "in.reduced.1.smt2" in done.err
    assert "(set-logic" in files.read("in.reduced.smt2")
    done = files(*words, "--protect", "set-logic")
    assert "already finished" in done.err
