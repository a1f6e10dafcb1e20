"""The commands of pages that show no output are typed, with stand-ins for what they name."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_bisect import script
from tests.cli.test_examples import FAILS, INPUTS
from tests.cli.tool import Tool

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = (
    "ui ",
    "bisect ",
    "--cluster",
    "--library",
    "--fault",
    "ddsmt",
    "NAME",
    "python examples",
)
"""Typed in tests of their own, on what they need."""
TEXTS = {
    **INPUTS,
    "aig": INPUTS["aag"],
    "btor2": "1 sort bitvec 8\n2 input 1\n3 udiv 1 2 2\n4 sort bitvec 1\n5 eq 4 2 3\n6 bad 5\n",
    "trace": "init\nadd 1\nadd 0\nsat\nreturn 10\nrelease\n",
    "h": INPUTS["c"],
    "p": INPUTS["txt"],
    "icnf": "p inccnf\n1 2 0\na 1 0\n",
}
PROGRAMS = (
    "--cmd --oracle --reference --also-passes --also-match --checker --proof --propose --prefer"
)
REAL = ("grep", "python")
WRITTEN = "-o --output --film --plot --curve --junit --report --reduce"


def documented() -> dict[str, list[str]]:
    """Return the indented commands of each page, in order."""
    found = {}
    pages = {ROOT / "README.md", *(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "verifiers.md"}
    for page in sorted(pages):
        text = page.read_text("utf-8").replace("\\\n", " ")
        commands = re.findall(r"(?m)^    reducekit (.*)$", text)
        found[page.name] = [
            each for each in commands if not any(w in f"{each} " for w in ELSEWHERE)
        ]
    return {page: commands for page, commands in found.items() if commands}


def prepare(folder: Path, words: list[str]) -> None:
    """Make the files and programs that a command names, unless one before has made them."""
    for option, word in zip(["", *words], words, strict=False):
        program = option in PROGRAMS.split()
        name = shlex.split(word)[0].replace("{dir}", "cases/a") if program else word
        path = folder / (f"bin/{name}" if program and "/" not in name else name.replace("*", "a"))
        text = FAILS if program else TEXTS.get(path.suffix[1:])
        if text is None or path.exists() or path.name in REAL or option in WRITTEN.split():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if program:
            script(path, "echo 1" if option == "--prefer" else text)
        else:
            path.write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "commands"), documented().items())
def test_the_commands_of_a_page_are_accepted(tool: Tool, page: str, commands: list[str]) -> None:
    tool.environment["PATH"] = f"{tool.folder}/bin:{os.environ['PATH']}"
    for name in ("folder", "seeds", "work", "project", "tests"):
        (tool.folder / name).mkdir()
        for suffix, text in TEXTS.items():
            (tool.folder / name / f"in.{suffix}").write_text(text)
    (tool.folder / "examples").symlink_to(ROOT / "examples")
    for command in commands:
        words = shlex.split(command.replace("$PWD", str(tool.folder)), comments=True)
        prepare(tool.folder, words)
        for at, word in enumerate(words):
            words[at : at + 1] = map(str, tool.folder.glob(word)) if "*/" in word else [word]
        if words[0] == "hunt":
            words += ["--max-time", "1"]
        done = tool(*words)
        assert done.code in (0, 1), f"{command}\n{done.err}"
