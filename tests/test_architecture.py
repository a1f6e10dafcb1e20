"""Arrows point down only: who may import whom, held by reading every module's syntax tree."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.candidate_files import passed_files

CHECKOUT = Path(__file__).resolve().parent.parent

# The rooms of the house, and the rooms whose modules each may import (besides
# its own). A module is in the room with the longest matching name. The engine
# finds frontends and strategies by name (`registry`), so no engine room imports them.
BASE = (
    "reducekit.change",
    "reducekit.delta",
    "reducekit.differences",
    "reducekit.document",
    "reducekit.errors",
    "reducekit.events",
    "reducekit.runtime",
    "reducekit.linechart",
    "reducekit.option",
    "reducekit.packed",
    "reducekit.quantities",
    "reducekit.run",
    "reducekit.oracle.responses",  # what a solver's output says: reads text, imports nothing
    "reducekit.diagram",
    "reducekit.graphs",
    "reducekit.svg",
    "reducekit.text",
)
ENGINE = (
    *BASE,
    "reducekit.executors",
    "reducekit.executors.own",
    "reducekit.format",
    "reducekit.hooks",
    "reducekit.journal",
    "reducekit.offers",
    "reducekit.oracle",
    "reducekit.reduction",
    "reducekit.registry",
    "reducekit.search",
)
PROGRESS = ("reducekit.session.progress",)
APPLICATIONS = (
    *PROGRESS,
    "reducekit.session",
    "reducekit.bisect",
    "reducekit.hunt",
    "reducekit.compare",
    "reducekit.reports",
)
ROOMS: dict[str, tuple[str, ...]] = {
    # The vocabulary.
    "reducekit.errors": (),
    "reducekit.text": (),
    "reducekit.runtime": (),
    "reducekit.option": ("reducekit.errors", "reducekit.quantities"),
    "reducekit.packed": (),
    "reducekit.quantities": (),
    "reducekit.run": (),
    "reducekit.oracle.responses": (),
    "reducekit.diagram": (),
    "reducekit.svg": ("reducekit.text",),
    "reducekit.graphs": (
        "reducekit.diagram",
        "reducekit.errors",
        "reducekit.svg",
        "reducekit.text",
    ),
    "reducekit.linechart": ("reducekit.svg",),
    "reducekit.change": (),
    "reducekit.delta": (),
    "reducekit.differences": (),
    "reducekit.document": ("reducekit.change", "reducekit.errors"),
    "reducekit.events": (),
    # What to try: pure, so no process and no file.
    "reducekit.search": BASE,
    # What a format is: knows no command and no executor.
    "reducekit.offers": BASE,
    "reducekit.hooks": (*BASE, "reducekit.offers"),
    "reducekit.format": (*BASE, "reducekit.hooks", "reducekit.offers", "reducekit.search"),
    # What a command does with a candidate, and where it runs.
    "reducekit.oracle": BASE,
    "reducekit.executors": (*BASE, "reducekit.oracle"),
    # What a format checks by itself.
    "reducekit.executors.own": (
        *BASE,
        "reducekit.executors",
        "reducekit.format",
        "reducekit.hooks",
        "reducekit.hooks",
        "reducekit.offers",
        "reducekit.oracle",
    ),
    "reducekit.journal": (*BASE, "reducekit.oracle"),
    # Where formats and strategies are found: by a table of names and by entry points.
    "reducekit.registry": (*BASE, "reducekit.format", "reducekit.search"),
    # Ties the above together: passes to a fixpoint.
    "reducekit.reduction": (
        *BASE,
        "reducekit.executors",
        "reducekit.format",
        "reducekit.hooks",
        "reducekit.hooks",
        "reducekit.journal",
        "reducekit.offers",
        "reducekit.oracle",
        "reducekit.search",
    ),
    # What a session's events add up to: reads events, so that displays and reports need no session.
    "reducekit.session.progress": BASE,
    # One reduction as an application: no terminal, no arguments.
    "reducekit.session": (*ENGINE, *PROGRESS),
    # What a journal tells, for people.
    "reducekit.reports": (*ENGINE, *PROGRESS),
    # Many inputs: made at random, or for tables.
    "reducekit.hunt": (*ENGINE, "reducekit.session"),
    "reducekit.compare": (*ENGINE, "reducekit.session"),
    # Many versions of a program, one input.
    "reducekit.bisect": (*ENGINE, "reducekit.session", "reducekit.strategies"),
    # The public face of the engine.
    "reducekit": (*ENGINE, "reducekit.api", "reducekit.session"),
    "reducekit.testing": (*BASE, "reducekit.format", "reducekit.search"),
    "reducekit.api": (*ENGINE, "reducekit.session", "reducekit.usage"),
    # One algorithm a file, over abstract changes.
    "reducekit.strategies": (*BASE, "reducekit.search"),
    # One format a folder; what runs here runs the calls of a trace, in processes of its own.
    "reducekit.frontends": (
        *BASE,
        "reducekit.format",
        "reducekit.hooks",
        "reducekit.hooks",
        "reducekit.offers",
        "reducekit.search",
        "reducekit.strategies",
    ),
    "reducekit.frontends.trace": (
        *BASE,
        "reducekit.executors",
        "reducekit.executors.own",
        "reducekit.format",
        "reducekit.hooks",
        "reducekit.hooks",
        "reducekit.frontends",
        "reducekit.offers",
        "reducekit.oracle",
        "reducekit.search",
        "reducekit.strategies",
    ),
    # What is typed and read at a command line: no arguments, no commands.
    "reducekit.usage": (*BASE, "reducekit.reports", "reducekit.session", *PROGRESS),
    # The faces.
    "reducekit.cli": (
        "reducekit",
        *BASE,
        *APPLICATIONS,
        "reducekit.executors.own",
        "reducekit.format",
        "reducekit.hooks",
        "reducekit.hooks",
        "reducekit.offers",
        "reducekit.oracle",
        "reducekit.registry",
        "reducekit.ui",
        "reducekit.usage",
    ),
    "reducekit.__main__": ("reducekit.cli",),
    "reducekit.ui": ("reducekit", *ENGINE, *APPLICATIONS),
}


def _above(room: str, floors: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return for each folder of a room those on the floors above it; the lowest floor is first."""
    return {
        f"{room}.{name}": tuple(
            f"{room}.{each}" for upper in floors[number + 1 :] for each in upper.split()
        )
        for number, floor in enumerate(floors)
        for name in floor.split()
    }


# Within a room: folders below others, whose modules the lower ones never import.
UPPER: dict[str, tuple[str, ...]] = {
    "reducekit.frontends.smt2.graph": ("reducekit.frontends.smt2.passes",),
    "reducekit.session.report": (
        "reducekit.session.place",
        "reducekit.session.runs",
        "reducekit.session.phases",
    ),
    "reducekit.session.place": ("reducekit.session.runs", "reducekit.session.phases"),
    "reducekit.session.runs": ("reducekit.session.phases", "reducekit.session.session"),
    **_above(
        "reducekit.frontends.trace",
        ("language", "model", "formats", "generate", "player", "passes programs", "hunt"),
    ),
    # Circuits are made of BTOR2 in BTOR's room; AIGER knows no other format.
    "reducekit.frontends.aiger": ("reducekit.frontends.btor",),
    "reducekit.frontends.btor.model": (
        "reducekit.frontends.btor.convert",
        "reducekit.frontends.btor.generate",
        "reducekit.frontends.btor.passes",
    ),
    "reducekit.frontends.common": tuple(
        f"reducekit.frontends.{each}"
        for each in ("aiger", "btor", "cnf", "opb", "qcir", "smt2", "text", "trace")
    ),
}

# The folders are importable by these names in a development install only; used
# so, every class in them would exist twice.
TOP_LEVEL = ("frontends", "strategies")

# Slow to import (200 to 600 ms each): only inside the functions that need them.
LAZY = (
    "capstone", "dask", "distributed", "elftools", "networkx", "pysmt", "rich", "sexpdata", "yaml"
)  # fmt: skip
# These are themselves imported when they are shown.
SHOWN_LATE = (
    "reducekit.usage.fullscreen", "reducekit.usage.redrawing"
)  # fmt: skip


class Module(NamedTuple):
    name: str
    source: str
    package: bool = False


class Import(NamedTuple):
    name: str
    line: int
    lazy: bool


def modules_of(folder: Path, name: str) -> Iterator[Module]:
    """Read the modules below a folder; links are not followed, so none is read twice."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        package = parts[-1] == "__init__"
        dotted = ".".join((name, *(parts[:-1] if package else parts)))
        yield Module(dotted, path.read_text(encoding="utf-8"), package)


def project() -> list[Module]:
    return [
        *modules_of(CHECKOUT / "reducekit", "reducekit"),
        *modules_of(CHECKOUT / "strategies", "reducekit.strategies"),
        *modules_of(CHECKOUT / "frontends", "reducekit.frontends"),
    ]


def process() -> list[Module]:
    folders = ("tests", "benchmarks", "examples")
    return [module for name in folders for module in modules_of(CHECKOUT / name, name)]


def imports_of(module: Module) -> Iterator[Import]:
    """Yield what a module imports, by statement or by importlib with a literal name.

    `from a import b` yields `a.b`: whether b is a module is not asked, as the
    room of `a.b` is that of `a` where no longer name matches.
    """
    home = module.name.split(".")
    stack: list[tuple[ast.AST, bool]] = [(ast.parse(module.source), False)]
    while stack:
        node, lazy = stack.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy)
        elif isinstance(node, ast.ImportFrom):
            above = home[: len(home) - node.level + module.package] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(f"{origin}.{alias.name}", node.lineno, lazy)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("import_module", "__import__")
        ):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Import(argument.value, node.lineno, lazy)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            lazy = True  # never runs
        lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        stack.extend((child, lazy) for child in ast.iter_child_nodes(node))


def within(name: str, roots: tuple[str, ...]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


def room_of(name: str) -> str:
    """Return the room with the longest matching name."""
    return max((room for room in ROOMS if within(name, (room,))), key=len)


def wrong_arrows(modules: list[Module]) -> list[str]:
    """Return one line for each import that goes up or sideways."""
    found = []
    for module in modules:
        room = room_of(module.name)
        for imported in imports_of(module):
            if not within(imported.name, ("reducekit",)):
                continue
            target = room_of(imported.name)
            if target != room and target not in ROOMS[room]:
                found.append(f"{module.name}:{imported.line}: {room} imports {imported.name}")
    return found


def upward(modules: list[Module]) -> list[str]:
    """Return one line for each import from a lower folder to an upper one of the same room."""
    return [
        f"{module.name}:{imported.line}: imports {imported.name}"
        for module in modules
        for lower, upper in UPPER.items()
        if within(module.name, (lower,))
        for imported in imports_of(module)
        if within(imported.name, upper)
    ]


def strangers(modules: list[Module]) -> list[str]:
    """Return the modules that stand in no room of their own: new ones want a line in ROOMS."""
    return [
        module.name
        for module in modules
        if room_of(module.name) == "reducekit" and module.name != "reducekit"
    ]


def top_level_names(modules: list[Module]) -> list[str]:
    return [
        f"{module.name}:{imported.line}: {imported.name}"
        for module in modules
        for imported in imports_of(module)
        if within(imported.name, TOP_LEVEL)
    ]


def early_imports(modules: list[Module]) -> list[str]:
    return [
        f"{module.name}:{imported.line}: {imported.name}"
        for module in modules
        if module.name not in SHOWN_LATE
        for imported in imports_of(module)
        if not imported.lazy and within(imported.name, LAZY)
    ]


def test_every_module_has_a_room() -> None:
    assert strangers(project()) == []


@pytest.mark.slow
def test_arrows_point_down() -> None:
    assert wrong_arrows(project()) == []


def test_lower_folders_do_not_import_upper_ones() -> None:
    assert upward(project()) == []


def test_no_cycle_among_rooms() -> None:
    done: set[str] = set()
    while ready := [r for r in ROOMS if r not in done and set(ROOMS[r]) - {r} <= done]:
        done.update(ready)
    assert done == set(ROOMS)


def file_cycles(modules: list[Module]) -> list[str]:
    """Return the modules that import each other in a circle, inside of functions included."""
    known = {module.name for module in modules}
    below: dict[str, set[str]] = {}
    for module in modules:
        below[module.name] = set()
        for imported in imports_of(module):
            name = imported.name
            while name and name not in known:
                name = name.rpartition(".")[0]  # a class or function of this module
            below[module.name] |= {name} - {"", module.name}
    # Whoever imports nothing that is left is in no circle, nor is anybody whom nobody imports.
    before = -1
    while before != len(below):
        before = len(below)
        used = set().union(*below.values())
        below = {
            name: imports & below.keys()
            for name, imports in below.items()
            if name in used and imports & below.keys()
        }
    return sorted(below)


@pytest.mark.slow
def test_no_cycle_among_files() -> None:
    assert file_cycles(project()) == []


@pytest.mark.slow
def test_nobody_imports_the_top_level_folders() -> None:
    assert top_level_names(project() + process()) == []


@pytest.mark.slow
def test_slow_packages_are_imported_lazily() -> None:
    assert early_imports(project()) == []


def test_starting_the_command_line_loads_no_slow_package() -> None:
    code = "import sys, reducekit.cli; print(*sorted(m for m in sys.modules if '.' not in m))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) & set(LAZY) == set()


RULES: list[tuple[Callable[[list[Module]], list[str]], str, str, int]] = [
    (wrong_arrows, "reducekit.reduction", "from reducekit import frontends", 1),
    (wrong_arrows, "reducekit.oracle.x", "def f():\n import reducekit.strategies.ddmin", 1),
    (wrong_arrows, "reducekit.search.x", "from ..oracle import run", 1),
    (wrong_arrows, "reducekit.document", "from reducekit import __version__", 1),
    (wrong_arrows, "reducekit.journal", "import_module('reducekit.frontends.smt2')", 1),
    (wrong_arrows, "reducekit.strategies.x", "import re\nfrom reducekit.search.x import y\n", 0),
    (upward, "reducekit.frontends.smt2.graph.x", "import reducekit.frontends.smt2.passes.x", 1),
    (file_cycles, "reducekit.a", "def f():\n    import reducekit.b", 2),
    (early_imports, "reducekit.cli.x", "try:\n    from pysmt.shortcuts import And\nfinally: 1", 1),
    (early_imports, "reducekit.cli.x", "class A:\n    import networkx as nx", 1),
    (early_imports, "reducekit.cli.x", "def f():\n    import rich\nimport richer", 0),
    (early_imports, "reducekit.cli.x", "if TYPE_CHECKING:\n    import networkx", 0),
    (top_level_names, "tests.x", "from strategies import ddmin", 1),
    (strangers, "reducekit.attic", "", 1),
]


@pytest.mark.parametrize(("rule", "name", "source", "count"), RULES)
def test_a_breach_is_found(
    rule: Callable[[list[Module]], list[str]], name: str, source: str, count: int
) -> None:
    other = Module("reducekit.b", "import reducekit.a")
    modules = [Module(name, source), *([other] if rule is file_cycles else [])]
    assert len(rule(modules)) == count


def test_the_way_of_a_candidate_in_the_docs_names_files_that_exist() -> None:
    text = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"^\| \d+ \| `([^`]+)` \|", text, re.MULTILINE)
    assert 3 < len(files) <= 12
    assert [name for name in files if not (CHECKOUT / name).is_file()] == []
    mentioned = re.findall(r"`((?:search|reduction|strategies)/\w+\.py)`", text)
    homes = (CHECKOUT, CHECKOUT / "reducekit")
    assert [name for name in mentioned if not any((home / name).is_file() for home in homes)] == []


def test_a_candidate_passes_no_more_files_than_the_docs_say() -> None:
    text = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (most,) = re.findall(r"a candidate passes at most (\d+) files", text)
    found = passed_files()
    assert "reducekit/executors/local.py" in found
    assert len(found) <= int(most), "\n".join(found)


START = """
import atexit, sys
from pathlib import Path

def show():
    own = [each for name, each in sys.modules.items() if name.partition(".")[0] == "reducekit"]
    text = [Path(each.__file__).read_text() for each in own]
    print(len(own), sum(each.count("\\n") for each in text), file=sys.stderr)

atexit.register(show)
import reducekit.__main__
"""


def test_a_small_reduction_loads_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "a.cnf").write_text("p cnf 4 4\n1 2 0\n-1 3 0\n2 3 4 0\n-4 0\n")
    test = 'sh -c \'grep -q -- "-4 0" "$1" && kill -ABRT $$\' test'
    words = ["cnf", "a.cnf", "--cmd", test, "--max-checks", "3"]
    done = subprocess.run(
        [sys.executable, "-c", START, *words], cwd=tmp_path, capture_output=True, text=True
    )
    modules, lines = map(int, done.stderr.splitlines()[-1].split())
    assert modules <= 80
    assert lines <= 16_700
