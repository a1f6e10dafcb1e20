"""A package from outside the tree brings a format and a strategy, and both are used at once.

It is the example of the docs, examples/dimacs_cnf, installed with reducekit in an environment
of its own: nothing here imports it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.test_packaging import CHECKOUT, Environment, copy_of_checkout, environment, install, run

# One process installs for all of them.
pytestmark = pytest.mark.xdist_group("plugin")

EXAMPLE = CHECKOUT / "examples" / "dimacs_cnf"

PIGEONS = """c three pigeons in two holes, and clauses that have nothing to do with it
p cnf 9 14
1 2 0
7 8 -9 0
3 4 0 5 6 0
c no two in one hole
-1 -3 0
-1 -5 0 -3 -5
0
-2 -4 0
-2 -6 0
-4 -6 0
7 -8 0
-7 9 0
8 9 0
7 8 9 0
"""

# The oracle is a Python function; strict about the header, as that of the command line is.
REDUCE = """
import sys
sys.path.insert(0, sys.argv[2])
from needs_search import needs_search
import reducekit
checks = []
def interesting(text):
    checks.append(text)
    return needs_search(text.decode())
text = open(sys.argv[1], "rb").read()
result = reducekit.reduce(text, interesting, format="plain-cnf", strategy=sys.argv[3])
assert checks.count(b"") == 1  # asked before the search
print(len(set(checks)), result.text.decode(), end="")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("plugin")
    tree = copy_of_checkout(folder / "tree")
    package = Path(shutil.copytree(EXAMPLE, folder / "package"))
    fresh = environment(folder / "venv")
    install(fresh, tree, package)
    return fresh


def test_the_plug_in_is_short() -> None:
    lines = (EXAMPLE / "reducekit_dimacs_cnf.py").read_text().splitlines()
    assert len(lines) <= 150


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "checks"), [("one-by-one", 67), ("adaptive", 83)])
def test_it_is_used_from_python(
    installed: Environment, tmp_path: Path, strategy: str, checks: int
) -> None:
    (tmp_path / "in.cnf").write_text(PIGEONS)
    out = run(installed.python, "-c", REDUCE, tmp_path / "in.cnf", EXAMPLE, strategy, cwd=tmp_path)
    count, _, left = out.partition(" ")
    assert left.startswith("p cnf 4 6\n")
    clauses = " ".join(left.split()[4:]).split(" 0")
    assert [len(each.split()) for each in clauses] == [2] * 6 + [0]
    assert int(count) == checks


@pytest.mark.slow
def test_its_command_is_there(installed: Environment, tmp_path: Path) -> None:
    help_text = run(installed.script, "--help", cwd=tmp_path)
    assert "plain-cnf a DIMACS CNF file" in " ".join(help_text.split())
    (tmp_path / "in.cnf").write_text(PIGEONS)
    oracle = f"{installed.python} {EXAMPLE / 'needs_search.py'}"
    options = ("--oracle", oracle, "--strategy", "one-by-one")
    out = run(installed.script, "plain-cnf", "in.cnf", *options, cwd=tmp_path)
    assert (tmp_path / "in.reduced.cnf").read_text().startswith("p cnf 4 6\n")
    assert "14 -> 6" in " ".join(out.split())
    reduced = (tmp_path / "in.reduced.cnf").read_bytes()
    (tmp_path / "other.sat").write_text(PIGEONS)
    run(installed.script, "other.sat", *options, cwd=tmp_path)  # by its suffix
    assert (tmp_path / "other.reduced.sat").read_bytes() == reduced
    (tmp_path / "bad.cnf").write_text("p cnf 1 1\n1 x 0\n")
    command = [str(installed.script), "plain-cnf", "bad.cnf", "--oracle", "true"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3
    assert "bad.cnf, line 2, column 3: expected a literal, or 0" in done.stderr


@pytest.mark.slow
def test_it_is_compared(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "in.sat").write_text(PIGEONS)
    oracle = f"{installed.python} {EXAMPLE / 'needs_search.py'}"
    out = run(
        installed.script, "compare", "in.sat", "--oracle", oracle,
        "--strategies", "one-by-one,auto", "--tsv", "table.tsv", cwd=tmp_path,
    )  # fmt: skip
    assert "one-by-one" in out
    rows = [line.split("\t") for line in (tmp_path / "table.tsv").read_text().splitlines()]
    assert sorted(row[rows[0].index("algorithm")] for row in rows[1:]) == ["auto", "one-by-one"]
