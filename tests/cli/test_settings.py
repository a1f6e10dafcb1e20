"""Options out of `reducekit.toml` and `pyproject.toml`."""

import pytest

from tests.cli.inprocess import Shell, shell
from tests.cli.tool import NEEDLE, problem

pytestmark = pytest.mark.reduction

__all__ = ["shell"]


@pytest.fixture
def here(shell: Shell) -> Shell:
    shell.write("in.smt2", problem(3, (1,)))
    shell.script("test.sh", f"{NEEDLE} $1")
    return shell


def test_options_come_from_the_file(here: Shell) -> None:
    here.write(
        "reducekit.toml", '"max-time" = "10m"\n[smt2]\noracle = "./test.sh"\nonly = "commands"'
    )
    done = here("smt2", "in.smt2")
    assert done.code == 0
    assert done.err.startswith("reducekit: from reducekit.toml: --oracle, --max-time, --only\n")
    assert "needle" in here.read("in.reduced.smt2")
    assert "only      commands" in here("history", "in.reduced.smt2").out


def test_the_command_line_counts_more(here: Shell) -> None:
    here.script("other.sh", "grep -q check-sat $1")
    here.write("pyproject.toml", '[tool.reducekit]\njobs = 1\n[tool.reducekit.smt2]\ncmd = "false"')
    done = here("smt2", "in.smt2", "--oracle", "./other.sh", "-j", "2", "-q")
    assert (done.code, done.err) == (0, "")
    assert here.read("in.reduced.smt2") == "(check-sat)\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jbs = 2", "reducekit.toml: there is no option 'jbs'. Did you mean jobs?"),
        ("[smt2]\njbs = 2", "there is no option 'jbs' of [smt2]. Did you mean jobs?"),
        ("jobs = ", "reducekit.toml cannot be read: Invalid value (at end of document)"),
        ("jobs = [1]", "jobs is one value, not several"),
        ("smt2 = 3", "smt2 is a command: write [smt2]"),
        ("jobs = 'x'", "Invalid value for '-j' / '--jobs'"),
        ("dialect = 'btor2'", "there is no option 'dialect'"),
    ],
)
def test_what_is_wrong(here: Shell, text: str, said: str) -> None:
    here.write("reducekit.toml", text)
    done = here("smt2", "in.smt2", "--oracle", "./test.sh")
    assert done.code == 2
    assert said in done.err


def test_other_commands_have_their_own_tables(here: Shell) -> None:
    here.write("reducekit.toml", "jobs = 2\n[generate]\nseed = 7\nnodes = 3\n")
    done = here("generate", "btor")
    assert done.out == here("generate", "btor", "--seed", "7", "--nodes", "3").out
    assert "from reducekit.toml: --seed, --nodes" in done.err
    here.write("pyproject.toml", "[tool.other]\nname = 'reducekit'\n")
    (here.folder / "reducekit.toml").unlink()
    assert here("generate", "btor").err == ""
