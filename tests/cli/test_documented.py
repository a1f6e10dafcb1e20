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
ELSEWHERE = ("ui ", "bisect ", "--cluster", "--library", "--fault", "ddsmt", "NAME")
"""Typed in tests of their own, on what they need."""
TEXTS = {
    **INPUTS,
    "aig": INPUTS["aag"],
    "btor2": "1 sort bitvec 8\n2 input 1\n3 udiv 1 2 2\n4 sort bitvec 1\n5 eq 4 2 3\n6 bad 5\n",
    "trace": "# reducekit: --model lingeling\ninit\nadd 1\nadd 0\nsat\nreturn 10\nrelease\n",
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
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text("utf-8").replace("\\\n", " ")
        commands = re.findall(r"(?m)^    reducekit (.*)$", text)
        found[page.name] = [
            each for each in commands if not any(w in f"{each} " for w in ELSEWHERE)
        ]
    return {page: commands for page, commands in found.items() if commands}


def prepare(folder: Path, words: list[str]) -> None:
    """Make the files and programs that a command names, unless one before has made them."""
    for option, word in zip(["", *words], words, strict=False):
        if option in PROGRAMS.split():
            name = shlex.split(word)[0].replace("{dir}", "cases/a")
            path = folder / (name if "/" in name else f"bin/{name}")
            make = script, FAILS
        else:
            path = folder / word.replace("*", "a")
            make = Path.write_text, TEXTS.get(path.suffix[1:], "")
        if option in WRITTEN.split() or path.exists() or not make[1] or path.name in REAL:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        make[0](path, make[1])


@pytest.mark.slow
@pytest.mark.parametrize(("page", "commands"), documented().items())
def test_the_commands_of_a_page_are_accepted(tool: Tool, page: str, commands: list[str]) -> None:
    tool.environment["PATH"] = f"{tool.folder}/bin:{os.environ['PATH']}"
    for name in ("folder", "seeds", "work"):
        (tool.folder / name).mkdir()
        (tool.folder / name / "in.txt").write_text(TEXTS["txt"])
    for command in commands:
        words = shlex.split(command.replace("$PWD", str(tool.folder)), comments=True)
        prepare(tool.folder, words)
        for at, word in enumerate(words):
            words[at : at + 1] = map(str, tool.folder.glob(word)) if "*/" in word else [word]
        if words[0] == "hunt":
            words += ["--max-time", "1"]
        done = tool(*words)
        assert done.code in (0, 1), f"{command}\n{done.err}"
