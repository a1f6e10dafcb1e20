"""What users get: the sdist, the wheel built from it, installs of both kinds, types for others.

All in fresh environments outside the checkout. The packages that reducekit
needs are lent by the running environment, so nothing is downloaded.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

# One process builds and installs for all of them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

CHECKOUT = Path(__file__).resolve().parent.parent
GENERIC = ("frontends/", "strategies/", "tests/", "examples/", "benchmarks/")

# Built as a front end of PEP 517 does, without a tool in between.
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"

THIRD_PARTY = """
from reducekit.document import Document
from reducekit.frontends.smt2.language.parser import parse

document: Document = parse(b"(check-sat)")
size: int = len(document)
wrong: str = document.source(1)
"""


class Built(NamedTuple):
    sdist: Path
    wheel: Path
    """Built from the unpacked sdist."""
    direct: Path
    """Built from the tree."""


class Environment(NamedTuple):
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def script(self) -> Path:
        return self.folder / "bin" / "reducekit"


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside any development set-up; its output is the message if it fails."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MYPY"))}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def copy_of_checkout(target: Path) -> Path:
    """Copy what the build reads, links kept, so that no build litters the checkout."""
    tracked = ("reducekit", "frontends", "strategies", "LICENSE", "README.md", "pyproject.toml")
    names = [name for name in tracked if (CHECKOUT / name).exists()]
    target.mkdir()
    run("cp", "-a", *names, target, cwd=CHECKOUT)
    run("find", target, "-name", "__pycache__", "-exec", "rm", "-rf", "{}", "+", cwd=target)
    return target


def build(kind: str, tree: Path, target: Path) -> Path:
    lines = run(sys.executable, "-c", BUILD, f"build_{kind}", target, cwd=tree).splitlines()
    return target / lines[-1]


def environment(folder: Path) -> Environment:
    """Make a fresh environment that can also import what the running one has installed.

    Lent by a path file, without the path files of the running one: its own
    development install of reducekit does not come along.
    """
    venv.create(folder, with_pip=False)
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    own = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    lent = dict.fromkeys([*own, *(each for each in sys.path if each.endswith("site-packages"))])
    (site / "zz-lent.pth").write_text("\n".join(lent) + "\n", encoding="utf-8")
    return Environment(folder)


def install(environment: Environment, *what: str | Path) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed")
    pip = (sys.executable, "-m", "pip", "--python", environment.python, "install")
    run(*pip, *quiet, *offline, *what, cwd=environment.folder)


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel, but for the list of their hashes."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.endswith("dist-info/RECORD")
        }


def type_check(environment: Environment, folder: Path) -> list[str]:
    """Run mypy --strict on a user's file elsewhere; returns the lines that report errors."""
    folder.mkdir()
    (folder / "user.py").write_text(THIRD_PARTY, encoding="utf-8")
    mypy = (sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull)
    options = ("--python-executable", str(environment.python), "--cache-dir", os.devnull)
    done = subprocess.run([*mypy, *options, "user.py"], cwd=folder, capture_output=True, text=True)
    return [line for line in (done.stdout + done.stderr).splitlines() if ": error:" in line]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    tree = copy_of_checkout(folder / "tree")
    sdist = build("sdist", tree, folder)
    (folder / "unpacked").mkdir()
    run("tar", "-xzf", sdist, "-C", folder / "unpacked", cwd=folder)
    (unpacked,) = (folder / "unpacked").iterdir()
    (folder / "direct").mkdir()
    return Built(sdist, build("wheel", unpacked, folder), build("wheel", tree, folder / "direct"))


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    fresh = environment(tmp_path_factory.mktemp("installed") / "venv")
    install(fresh, built.wheel)
    return fresh


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("editable")
    fresh = environment(folder / "venv")
    install(fresh, "--editable", copy_of_checkout(folder / "tree"))
    return fresh


def where(environment: Environment, module: str) -> Path:
    code = f"import {module} as m; print(m.__file__)"
    return Path(run(environment.python, "-c", code, cwd=environment.folder).strip())


def test_the_wheel_from_the_sdist_is_the_wheel_from_the_tree(built: Built) -> None:
    assert contents(built.wheel) == contents(built.direct)


def test_the_wheel_holds_every_module_and_no_generic_name(built: Built) -> None:
    names = set(contents(built.wheel))
    assert not [name for name in names if name.startswith(GENERIC)]
    modules = {
        f"reducekit/{path.relative_to(CHECKOUT / folder)}"
        if folder == "reducekit"
        else f"reducekit/{path.relative_to(CHECKOUT)}"
        for folder in ("reducekit", "frontends", "strategies")
        for path in (CHECKOUT / folder).rglob("*.py")
    }
    assert modules <= names
    assert "reducekit/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_an_installed_wheel_works_elsewhere(installed: Environment) -> None:
    assert where(installed, "reducekit.frontends.smt2").is_relative_to(installed.folder)
    assert where(installed, "reducekit.strategies").is_relative_to(installed.folder)
    assert installed.script.is_file()
    for name in ("frontends", "strategies"):
        code = f"import importlib.util as u, sys; sys.exit(u.find_spec('{name}') is not None)"
        run(installed.python, "-c", code, cwd=installed.folder)


def test_formats_and_strategies_can_be_loaded(installed: Environment) -> None:
    code = (
        "from reducekit.registry import OURS, load\n"
        "for group in OURS:\n"
        "    for name in OURS[group]: print(load(group.removesuffix('.aliases'), name) and name)\n"
    )
    found = run(installed.python, "-c", code, cwd=installed.folder).split()
    assert {"smt2", "trace", "adaptive", "hdd*", "hddstar"} <= set(found)


def test_the_console_script_starts(installed: Environment) -> None:
    assert "smt2" in run(installed.script, "--help", cwd=installed.folder)


def test_a_trace_is_reduced_where_only_the_wheel_is_installed(
    installed: Environment, tmp_path: Path
) -> None:
    """Lingeling dies of this trace by itself; one that passes is refused, with words."""
    fails, passes = tmp_path / "lgl.trace", tmp_path / "passes.trace"
    fails.write_text("init\nadd 2\nadd 0\nrelease\ninit\nincvar\nlkhd\nsat\nassume 1\n")
    run(installed.script, "trace", fails, "-q", cwd=tmp_path)
    left = (tmp_path / "lgl.reduced.trace").read_text().splitlines()
    assert [line for line in left if not line.startswith("return")] == [
        "init",
        "incvar",
        "lkhd",
        "sat",
        "assume 1",
    ]
    passes.write_text("init\nadd 1\nadd 0\nsat\nreturn 10\n")
    words = [str(installed.script), "trace", str(passes)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    for said in ("does not fail: all its 4 calls were replayed", "--check-returns", "--library"):
        assert said in done.stderr


def test_an_editable_install_works_elsewhere(editable: Environment) -> None:
    tree = editable.folder.parent / "tree"
    assert where(editable, "reducekit.frontends.smt2").is_relative_to(tree / "reducekit")
    assert editable.script.is_file()
    # A path, and no import hook: type checkers follow it.
    paths = [path.read_text().strip() for path in editable.folder.rglob("*reducekit*.pth")]
    assert paths == [str(tree)]


def test_users_see_our_types(installed: Environment, tmp_path: Path) -> None:
    # The one error planted in the user's file is found, and no other.
    found = type_check(installed, tmp_path / "user")
    assert len(found) == 1
    assert 'expression has type "bytes", variable has type "str"' in found[0]
