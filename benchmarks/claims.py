"""Makes the tables that back the claims of README, docs and benchmarks/README.md again.

    make claims                              # those that are not of this version
    make claims PARTS='scaling texts'        # these
    make claims CASES=FOLDER AIGER=FOLDER    # with cases, or a built tool, of others

A part is a page of `results/` and the command that prints it or writes it to `$OUT`. A page keeps
its text above the line with the version, the day and the tools. Parts of this version are skipped,
so the same command continues a run that was stopped. Parts without their folder are skipped, too.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import reducekit

CHECKOUT = Path(__file__).resolve().parent.parent
RESULTS = CHECKOUT / "benchmarks" / "results"
OUT = CHECKOUT / "build" / "claims"
MADE = re.compile(r"^Made with reducekit (\d+)\.(\d+)\S* .*$", re.MULTILINE)
"""The line with the version of a page."""


class Part(NamedTuple):
    """A page, and the command for a shell in the checkout that makes it.

    `minutes` on two idle cores; `tools` are packages and programs whose versions count.
    """

    page: str
    minutes: int
    tools: str
    command: str


_RUN = "python -m benchmarks."
_FAULTS = f"{_RUN}faults reduce $OUT/{{0}}.tsv --third report {{1}} && {_RUN}faults table " + (
    "benchmarks/results/faults_lglddtrace.tsv $OUT/{0}.tsv --before-is lglddtrace")  # fmt: skip
_SMT2 = f"{_RUN}smt2_tables {{}} --cap {{}} --resume --out $OUT/smt2_{{}} --reference"
PARTS = (
    Part("engine_cost", 5, "", f"{_RUN}engine_cost --results $OUT"),
    Part("scaling", 5, "", f"{_RUN}scaling"),
    Part("huge", 30, "", f"{_RUN}huge"),
    Part("kills", 20, "", f"{_RUN}kills --count 200 --out $OUT/kills.md"),
    Part("ten_tasks", 5, "chromium playwright", f"{_RUN}ten_tasks"),
    Part("agreement", 20, "z3-solver cvc5 cadical", f"{_RUN}agreement --count 2000 --seconds 40"),
    Part("aiger_peers", 15, "yosys gcc", f"{_RUN}aiger_peers $AIGER"),
    Part("cnf_peers", 15, "python-sat", f"{_RUN}cnf_peers --tools $PEERS --count 8"),
    Part("texts", 60, "shrinkray cvise",
         f"{_RUN}text_budgets $OUT/texts.json --tools reducekit,shrinkray,cvise --cap 45"),
    Part("smt2_ddsmt", 20, "z3-solver cvc5",
         _SMT2.format("$CASES/smt2", 120, "ddsmt")
         + " benchmarks/results/smt2_cases.tsv --reducer ddsmt"),
    Part("smt2_boolector", 25, "boolector",
         _SMT2.format("$BOOLECTOR", 300, "boolector") + " $BOOLECTOR/reference.tsv --unit tokens"
         " --columns sfc_vulcan_tokens,sfc_vulcan_queries"),
    Part("faults_lglddtrace", 10, "python-sat pyboolector",
         _FAULTS.format("faults_reduced", "--cap 120")),
    Part("faults_lglddtrace_quick", 5, "python-sat pyboolector",
         _FAULTS.format("faults_quick", "--effort quick")),
    Part("btor_thesis", 15, "",
         "cp -p benchmarks/results/btor_thesis_discussion.md $OUT && "
         f"{_RUN}btor_thesis $CASES/btor --out $OUT"),
    Part("btor_shapes", 10, "boolector",
         f"{_RUN}btor_shapes --scale 0.25 --chain $CASES/btor --results $OUT"),
    Part("slow_cases", 30, "", f"{_RUN}slow_cases $QUERIES --solvers $SOLVERS --max-checks 300"),
)  # fmt: skip


def version_of(tool: str) -> str:
    """Return a tool with its version: of the package, or the first that the program prints."""
    with suppress(metadata.PackageNotFoundError):
        return f"{tool} {metadata.version(tool)}"
    if not shutil.which(tool):
        return f"no {tool}"
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", said.stdout + said.stderr)
    return f"{tool} {found[0] if found else '?'}"


def stamp(tools: str, seconds: float) -> str:
    """Return the line with the version, the day and the tools of a page."""
    git = ["git", "-C", str(CHECKOUT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    versions = [f"Python {platform.python_version()}", *map(version_of, tools.split())]
    return (
        f"Made with reducekit {reducekit.__version__} ({commit or 'no commit'}) on "
        f"{time.strftime('%Y-%m-%d')} in {seconds:,.0f} s, with {', '.join(versions)}."
    )


def merged(old: str, made: str, line: str) -> str:
    """Return a page: the text above the stamp of the old one, a new stamp, and the tables."""
    title, _, rest = made.partition("\n") if made.startswith("# ") else ("", "", made)
    found = MADE.search(old)
    head = old[: found.start()].strip() if found else title
    return "\n\n".join(filter(None, (head, line, rest.strip()))) + "\n"


def current(page: Path) -> bool:
    """Return whether a page is of this minor version."""
    found = MADE.search(page.read_text("utf-8")) if page.exists() else None
    return found is not None and list(found.groups()) == reducekit.__version__.split(".")[:2]


def make(part: Part) -> bool:
    """Make a page and the files that go with it; return whether it worked."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    begin = time.time()
    done = subprocess.run(
        ["sh", "-ec", part.command], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=False,
        env={**os.environ, "OUT": str(OUT), "PATH": path},
    )  # fmt: skip
    if done.returncode:
        print(done.stdout, end="")
        return False
    line = stamp(part.tools, time.time() - begin)
    made = {f"{part.page}.md": done.stdout}
    for each in OUT.iterdir():
        if each.stat().st_mtime >= begin and each.suffix in (".md", ".svg", ".tsv"):
            made[each.name] = each.read_text("utf-8")
    for name, text in made.items():
        page = RESULTS / name
        old = page.read_text("utf-8") if page.exists() else ""
        page.write_text(merged(old, text, line) if page.suffix == ".md" else text, "utf-8")
    return True


def main() -> None:
    """Make the given parts, or every outdated one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims")
    names = [part.page for part in PARTS]
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(names)}; default: the older ones")
    asked = parser.parse_args().parts
    if unknown := {*asked} - {*names}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    failed = False
    for part in PARTS:
        if part.page not in asked if asked else current(RESULTS / f"{part.page}.md"):
            continue
        wanted = {*re.findall(r"\$([A-Z]+)", part.command)} - {"OUT"}
        if missing := sorted(name for name in wanted if not os.environ.get(name)):
            print(f"{part.page}: skipped; give {' '.join(f'{name}=FOLDER' for name in missing)}")
            continue
        print(f"{part.page}: about {part.minutes} minutes", flush=True)
        if not make(part):
            failed = True
            print(f"{part.page}: failed: {part.command}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
