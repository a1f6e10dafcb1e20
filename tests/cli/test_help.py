"""The help: options below headings, the usual ones on one screen, all of them on demand."""

import subprocess
import sys
from dataclasses import fields

import pytest

from reducekit import registry
from reducekit.cli.group import TITLES
from reducekit.hunt import HuntOptions
from reducekit.option import options_of
from reducekit.session import Options
from tests.cli.inprocess import Shell, shell

__all__ = ["shell"]

_SCREEN = 60


@pytest.mark.parametrize("command", ["smt2", "btor", "trace", "text", "hunt smt2", "hunt trace"])
def test_the_first_screen_has_headings_examples_and_at_most_sixty_lines(
    shell: Shell, command: str
) -> None:
    lines = shell(*command.split(), "--help").out.splitlines()
    assert len(lines) <= _SCREEN
    assert max(map(len, lines)) <= 80
    for heading in ("Examples:", "Failure:", "Limits:", "Search:", "Output:"):
        assert heading in lines
    assert sum(line.startswith(f"  reducekit {command} ") for line in lines) == 2


def spelled(cls: type) -> set[str]:
    """Return the options that a dataclass declares, as one types them."""
    return {each.long for each in options_of(cls) if each.spelled is not None}


def test_the_full_help_lists_what_the_first_screen_leaves_out(shell: Shell) -> None:
    first, full = shell("smt2", "--help").out, shell("smt2", "--help-all").out
    ours = spelled(Options)
    assert len(ours) >= 40
    assert all(f"{each} " in full or f"{each}\n" in full for each in ours)
    rare = {"--width", "--cluster", "--no-journal", "--patience", "--ignore-out"}
    assert not any(f"{each} " in first for each in rare)
    assert "Algorithms: adaptive, bfs" in full


def test_a_hunt_has_the_options_that_its_class_declares(shell: Shell) -> None:
    full = shell("hunt", "btor", "--help-all").out
    assert all(f"{each} " in full or f"{each}\n" in full for each in spelled(HuntOptions))


@pytest.mark.parametrize("cls", [Options, HuntOptions])
def test_each_help_text_is_one_short_line(cls: type) -> None:
    named = {each.name for each in fields(cls)}
    for each in options_of(cls):
        assert each.name in named
        assert len(each.help) <= 100
        assert each.help.endswith((".", ".)"))


def test_it_loads_no_format() -> None:
    assert {name: registry.frontend_class(name).title for name in TITLES} == TITLES
    code = "import sys; from reducekit.cli.group import reducekit; "
    code += "reducekit.main(['--help'], standalone_mode=False); "
    code += "print(*[m for m in sys.modules if m.startswith('reducekit.frontends')], sep=',')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "an SMT-LIB v2 script" in done.stdout
    assert "reducekit.frontends" not in done.stdout
