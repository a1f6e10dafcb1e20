"""Runs the commands of tutorial.md, recipes.md and text.md: `python -m docs.typed` updates them.

The tests run them, too, and compare: all but times, places, how much was tried, and progress.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
LESSON, RECIPES, TEXT = (
    CHECKOUT / "docs" / name for name in ("tutorial.md", "recipes.md", "text.md")
)
FILES = CHECKOUT / "examples" / "tutorial"
HOME = "~/tutorial"
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
PROGRESS = re.compile(r"(?m)^[\d,]+ bytes \(.*, left: .*\n")
"""The lines that say how far a run is."""


@dataclass(frozen=True)
class Step:
    """A command of a document, and what the document says that it prints."""

    command: str
    said: str


@dataclass(frozen=True)
class Part:
    """A section, with its steps in order."""

    title: str
    steps: tuple[Step, ...]


def parts(document: Path) -> list[Part]:
    """Return the sections of a document that have steps."""
    found = []
    for section in document.read_text(encoding="utf-8").split("\n## ")[1:]:
        title = section.partition("\n")[0]
        steps = tuple(Step(*_command(block)) for block in _BLOCK.findall(section))
        if steps:
            found.append(Part(title, steps))
    return found


def _command(block: str) -> tuple[str, str]:
    first, _, said = block.partition("\n")
    return first.removeprefix("$ "), said


def run(command: str, folder: Path) -> str:
    """Run a command in a folder; return what it prints, its seconds and its exit code."""
    program = f'reducekit() {{ {shlex.quote(sys.executable)} -m reducekit "$@"; }}'
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "python3").exists():
        (tools / "python3").symlink_to(sys.executable)
    begin = time.monotonic()
    done = subprocess.run(
        ["bash", "-c", f"{program}; {command}"],
        cwd=folder,
        env={
            "PATH": f"{tools}:{os.environ.get('PATH', '')}",
            "PYTHONPATH": str(CHECKOUT),
            "HOME": str(folder),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as in a shell
    code = f", exit code {status}" if status else ""
    said = done.stdout if done.stdout.endswith("\n") or not done.stdout else f"{done.stdout}\n"
    return _placed(said, folder) + f"# {time.monotonic() - begin:.1f} s{code}\n"


def _placed(said: str, folder: Path) -> str:
    """Return an output as somebody sees it who works in `HOME`, without the progress."""
    z3 = shutil.which("z3") or "z3"
    return PROGRESS.sub("", said.replace(str(folder), HOME).replace(z3, "/usr/bin/z3"))


def normalised(said: str) -> str:
    """Return an output without its times, without how much was tried, and what a folder decides.

    How many checks a search takes is for its own tests to say.
    """
    said = re.sub(r"(checks|in all:|cache hits:) +[\d,]+\d|(checks|hits:) +\d\b", "N", said)
    said = re.sub(r'"(checks|runs|cache_hits|void)": \d+', "N", said)
    said = re.sub(r"-[0-9a-f]{8}\.", "-HASH.", said)
    said = re.sub(r"\d[\d.,]* s\b", "N s", said)
    # A trace names its library by an absolute path, of any length.
    said = re.sub(r"\([\d,]+ bytes, reduced to [\d,]+\)", "N", said)
    return re.sub(r'(\d+)( traces a second)|"seconds": [\d.]+', "N", said)


def begin(folder: Path) -> None:
    """Put the files into a folder that the steps need."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True)


def main() -> None:
    """Run all steps and write the documents."""
    for document in (LESSON, RECIPES, TEXT):
        text = document.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            begin(folder)
            for step in (step for part in parts(document) for step in part.steps):
                said = run(step.command, folder)
                text = text.replace(
                    f"```console\n$ {step.command}\n{step.said}```",
                    f"```console\n$ {step.command}\n{said}```",
                )
                print(f"{step.command}\n{said}")
        document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
