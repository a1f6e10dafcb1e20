"""Each published table names the command that makes it, and there is such a command."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
RESULTS = sorted((CHECKOUT / "benchmarks" / "results").glob("*.md"))
BY_HAND = {"hunts_debian.md", "btor_thesis_discussion.md"}
"""What is said of tables, without one; and what `reducekit` itself printed."""
_SPAN = re.compile(r"`(python -m benchmarks[^`]*|reducekit compare[^`]*|make [a-z-]+[^`]*)`")


def commands(path: Path) -> list[list[str]]:
    """Return the commands that a page names, as words."""
    text = path.read_text(encoding="utf-8").replace("\n", " ")
    return [match[1].split() for match in _SPAN.finditer(text)]


def modules() -> dict[str, set[str]]:
    """Return the modules that make tables, each with the options that the pages give it."""
    found: dict[str, set[str]] = {}
    for path in RESULTS:
        for words in commands(path):
            if words[0] != "make":
                name = " ".join(words[:2]) if words[0] == "reducekit" else words[2]
                options = {word.partition("=")[0] for word in words if word.startswith("--")}
                found.setdefault(name, set()).update(options)
    return found


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_a_table_names_its_command(path: Path) -> None:
    assert bool(commands(path)) != (path.name in BY_HAND)


@pytest.mark.parametrize("module", sorted(modules()))
def test_the_command_is_there(module: str) -> None:
    assert find_spec(module.split()[0]) is not None


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(name for name, options in modules().items() if options))
def test_it_has_the_options(module: str) -> None:
    line = [sys.executable, "-m", *module.split(), "--help"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=CHECKOUT, check=False)
    helps = [done.stdout]
    for name in re.findall(r"^    ([a-z-]+) ", done.stdout, re.MULTILINE):  # of subcommands
        more = [*line[:-1], name, "--help"]
        helps.append(
            subprocess.run(more, capture_output=True, text=True, cwd=CHECKOUT, check=False).stdout
        )
    known = set(re.findall(r"--[a-z][a-z-]*", " ".join(helps)))
    assert modules()[module] <= known
