"""The commands of tutorial.md, recipes.md and text.md: what is printed, but for times, is shown."""

import shutil
from pathlib import Path

import pytest

from docs import typed as documents
from docs.typed import LESSON, RECIPES, TEXT, Part, begin, normalised, parts, run

_PARTS = parts(RECIPES)
_PREPARATION = _PARTS[0]
_SLOW = ("a run takes too long",)


def marks(part: Part) -> list[pytest.MarkDecorator]:
    slow = any(each in part.title for each in _SLOW)
    scripts = "in.smt2" in str(part.steps)
    return [
        *([pytest.mark.slow] if slow else []),
        *([pytest.mark.debian("z3")] if scripts or "crashing" in str(part.steps) else []),
    ]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the first section has been typed."""
    folder = tmp_path_factory.mktemp("prepared")
    begin(folder)
    typed(_PREPARATION, folder)
    return folder


def typed(part: Part, folder: Path) -> None:
    for step in part.steps:
        assert normalised(run(step.command, folder)) == normalised(step.said), step.command


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", [pytest.param(each, id=each.title, marks=marks(each)) for each in _PARTS[1:]]
)
def test_a_section(part: Part, prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "tutorial", symlinks=True)
    typed(part, tmp_path / "tutorial")


@pytest.mark.slow
@pytest.mark.debian("z3")
def test_the_lesson(tmp_path: Path) -> None:
    begin(tmp_path)
    for part in parts(LESSON):
        typed(part, tmp_path)


@pytest.mark.slow
@pytest.mark.debian("cc", "eprover", "jq", "yosys", "iverilog")
@pytest.mark.parametrize("part", [pytest.param(each, id=each.title) for each in parts(TEXT)])
def test_a_text(part: Part, tmp_path: Path) -> None:
    begin(tmp_path)
    typed(part, tmp_path)


def test_every_user_has_a_section() -> None:
    """Of the users that the tool is made for none is left out."""
    titles = " ".join(part.title for part in _PARTS)
    for each in (
        "crash", "wrong answer", "too long", "memory", "BTOR2", "witness", "Lingeling", "CaDiCaL",
        "IPASIR", "ddSMT", "C-Vise", "CI",
    ):  # fmt: skip
        assert each in titles
    assert all("&&" not in step.command and ";" not in step.command for part in _PARTS
               for step in part.steps)  # fmt: skip


def test_what_is_compared() -> None:
    said = "checks 3, 1.5 s\n7 bytes (3 %), 2 checks (5/s), 1 accepted, left: 3 s\n# 0.1 s\n"
    assert normalised(documents._placed(said, Path("/x"))) == "N, N s\n# N s\n"
    assert normalised("7 bytes") != normalised("8 bytes")
