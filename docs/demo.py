"""What `make demo` prints, as README shows it: `python -m docs.demo` writes it there again.

A test compares them: all but seconds and progress.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from docs.typed import CHECKOUT, PROGRESS

README = CHECKOUT / "README.md"
_BEFORE = "`make demo` runs this:\n\n"
_AFTER = "\n\nWhile it runs,"


def transcript(folder: Path) -> str:
    """Run the demo in a folder; return what it prints there, without progress.

    That `make demo` sets up an environment is left out.
    """
    done = subprocess.run(
        ["make", "--no-print-directory", f"VENV={sys.prefix}", f"DEMO={folder}",
         "-o", f"{sys.prefix}/base.stamp", "demo"],
        cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
    )  # fmt: skip
    said = done.stdout.partition(f"in {folder}:\n\n")[2]
    return PROGRESS.sub("", said.replace(str(folder), ".")).rstrip("\n")


def shown() -> str:
    """Return what README shows."""
    said = README.read_text(encoding="utf-8").partition(_BEFORE)[2].partition(_AFTER)[0]
    return textwrap.dedent(said)


def main() -> None:
    """Run the demo and write what it prints into README."""
    with tempfile.TemporaryDirectory() as name:
        said = transcript(Path(name).resolve())
    text = README.read_text(encoding="utf-8")
    before, start, rest = text.partition(_BEFORE)
    rest = rest[rest.index(_AFTER) :]
    README.write_text(before + start + textwrap.indent(said, "    ") + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
