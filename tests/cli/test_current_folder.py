"""No command imports from the current folder, which may be anybody's: a bug report, a download."""

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click import Context

from reducekit.cli.group import reducekit
from tests.cli.tool import Tool, problem, until

SCRIPT = Path(sysconfig.get_path("scripts"), "reducekit")
OTHERS = ("reducekit", "frontends", "strategies", "sitecustomize", "usercustomize", "click", "rich",
          "networkx", "pysmt", "pysat", "sexpdata", "zstandard", "distributed", "dask", "tornado",
          "yaml", "msgpack", "cloudpickle", "toolz", "psutil", "cryptography", "capstone",
          "elftools", "pip", "setuptools", "textual")  # fmt: skip
NAMES = sorted({*sys.stdlib_module_names, *OTHERS})
SMT2 = problem(4, needed=(1,))
FILES = {
    "x.smt2": SMT2,
    "y.smt2": "(check-sat)\n",
    "x.btor": "1 var 8\n2 var 8\n3 mul 8 1 2\n4 root 8 3\n",
    "x.aag": "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n",
    "x.cnf": "p cnf 2 3\n1 2 0\n-1 2 0\n-2 0\n",
    "x.txt": "one (assert (needle)) two\nthree\n",
    "x.trace": "init\nadd 1\nadd -2\nadd 0\nsat\nderef 1\nreturn 7\nrelease\n",
}


@pytest.fixture
def folder(tool: Tool) -> Tool:
    """A folder with a module of every name; each that is imported says so in a file."""
    for name in NAMES:
        said = f"open({str(tool.folder / 'imported')!r}, 'a').write('{name}\\n')"
        tool.write(f"{name}.py", f"{said}\nraise ImportError('from the current folder')\n")
    for name, text in FILES.items():
        tool.write(name, text)
    tool.script("needle", """grep -q needle "$1" """)
    tool.script("mul", """grep -q -e mul -e '^-2 0' -e '^aag' "$1" """)
    tool.script("crash", """head -c 20 "$1" >&2; kill -SEGV $$""")
    return tool


def run(folder: Tool, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script that people start, not `python -m`, which itself looks there."""
    return subprocess.run(
        [sys.executable, SCRIPT, *words], cwd=folder.folder, check=False, timeout=120,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder.folder), "TMPDIR": str(folder.temporary),
             "PIP_NO_INDEX": "1", **folder.environment},
    )  # fmt: skip


def imported(folder: Tool) -> list[str]:
    marker = folder.folder / "imported"
    return marker.read_text().split() if marker.exists() else []


def test_modules_of_the_current_folder_would_be_imported(folder: Tool) -> None:
    words = [sys.executable, "-m", "reducekit", "--help"]
    done = subprocess.run(words, cwd=folder.folder, check=False, capture_output=True)
    assert done.returncode != 0
    assert imported(folder) != []


@pytest.mark.slow
def test_help_of_every_command(folder: Tool) -> None:
    names = reducekit.list_commands(Context(reducekit))
    assert len(names) > 15
    for name in names:
        done = run(folder, name, "--help")
        assert (done.returncode, imported(folder)) == (0, []), done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "smt2 x.smt2 --oracle ./needle",
        "smt2 x.smt2 --oracle ./needle --jobs 2",
        "x.smt2 --cmd ./crash",
        "btor x.btor --oracle ./mul",
        "aiger x.aag --oracle ./mul",
        "cnf x.cnf --oracle ./mul",
        "text x.txt --oracle ./needle",
        "isolate x.smt2 --baseline y.smt2 --oracle ./needle",
        "trace x.trace",
        "replay x.trace",
        "trace x.trace --match-err returned",
        "replay x.trace --check-returns",
        "generate smt2 --seed 1",
        "generate btor --seed 1",
        "convert x.btor out.smt2",
        "convert x.trace out.py",
        "show x.btor",
        "show x.smt2",
        "passes smt2",
        "man",
        "variant x.smt2 1",
        "compare x.smt2 --oracle ./needle --strategies ddmin,hdd",
        "hunt smt2 --cmd ./crash --count 3 --seed 1 --no-reduce --out bugs",
        "hunt cnf --cmd ./crash --count 2 --seed 1 --out bugs",
        "hunt trace --count 3 --seed 1 --out bugs",
        "bisect x.smt2 --wheels z3-solver --cmd {solver}",
    ],
)
def test_commands(folder: Tool, line: str) -> None:
    done = run(folder, *line.split())
    assert imported(folder) == [], done.stderr
    assert "Traceback" not in done.stderr
    assert "a bug in reducekit" not in done.stderr
    if "--wheels" in line:
        assert "pip finds no wheel of z3-solver" in done.stderr
    elif not line.startswith(("trace", "replay", "hunt")):
        assert done.returncode == 0, done.stderr


def test_reports(folder: Tool) -> None:
    assert run(folder, "smt2", "x.smt2", "--cmd", "./crash").returncode == 0
    for line in ("report", "report --issue", "history"):
        done = run(folder, *line.split(), "x.reduced.smt2")
        assert (done.returncode, imported(folder)) == (0, []), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "smt2 x.smt2 --oracle ./needle --cluster local:2",
        "hunt smt2 --cmd ./crash --count 4 --seed 1 --no-reduce --out bugs --cluster local:2",
    ],
)
def test_workers_of_a_cluster(folder: Tool, line: str) -> None:
    done = run(folder, *line.split())
    assert (done.returncode, imported(folder)) == (0, []), done.stderr


def reduced(folder: Tool) -> list[Path]:
    """Return the results of runs of the page that have become smaller."""
    found = folder.folder.rglob("adaptive.smt2")
    return [path for path in found if path.stat().st_size < len(SMT2)]


def test_runs_of_the_page(folder: Tool) -> None:
    words = [sys.executable, str(SCRIPT), "ui", "--no-browser", "."]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder.folder), **folder.environment}
    with subprocess.Popen(
        words, cwd=folder.folder, stdout=subprocess.PIPE, text=True, env=environment
    ) as page:
        assert page.stdout is not None
        url = next(found[0] for line in page.stdout if (found := re.findall(r"http://\S+", line)))
        server, _, token = url.partition("/#")

        def ask(name: str, **body: object) -> Any:
            headers = {"X-Reducekit-Token": token, "Content-Type": "application/json"}
            data = json.dumps(body).encode()
            with urlopen(Request(f"{server}/api/{name}", data, headers)) as reply:
                return json.loads(reply.read())

        number = ask("open", path="x.smt2")["number"]
        options = {"oracle": "./needle"}
        ask("reduce", document=number, strategies=["adaptive"], options=options)
        until(lambda: any(imported(folder)) or any(reduced(folder)))
        page.terminate()
    assert imported(folder) == []
