"""How hard random scripts are: 5 seeds of each of the logics that `--logic any` draws from.

    python -m benchmarks.smt2_generated [--seeds 5] [--before FILE] [--z3 z3] [--accept CMD ...]

* trivial: assertions that z3's `(simplify)` makes true or false;
* needs search: files for which z3 counts a decision or a conflict, and those with ten conflicts;
* sat, unsat: the answers to the last query of each file, of those that z3 decides in time;
* accepted: files without an error, by z3 and by each `--accept` program; that there is no model or
  core after another answer is none;
* speed: scripts of all logics generated in a second of processor time.

Writes `results/smt2_generated.md`. `--json FILE` saves the numbers; `--before FILE` adds a column
with the saved numbers of an earlier run. The table names the
release of z3, on which numbers depend.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.generate.logic import ANY, DRAWN
from reducekit.frontends.smt2.generate.offer import GENERATION

RESULTS = Path(__file__).parent / "results"
SECONDS = 2
"""The limit of processor time of a run."""
_WORK = re.compile(rb":[\w-]*?(conflicts|decisions)\s+(\d+)")
_NO_MODEL = re.compile(rb"\(error[^\n]*(?:is not available|Cannot get [^\n]* unless)[^\n]*")
_SPEED = 2000
"""Scripts generated to measure the speed."""


def generated(logic: str, seed: int) -> str:
    """Return a script by the default options."""
    values = {each.name: each.default for each in GENERATION.options} | {"logic": logic}
    return GENERATION.make(values).generate(seed).text.decode()


def run(words: Sequence[str], text: str) -> bytes:
    """Return what a program prints for a script, within the limit."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))

    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [*words, file.name], capture_output=True, preexec_fn=limit, check=False
        )
    return done.stdout + done.stderr


def simplified(text: str) -> str:
    """Return a script that simplifies each assertion instead of asserting and solving it."""
    view = Smt2().parse(text.encode())
    document, kept = view.document, []
    for node in document.children(0):
        source = document.source(node).decode()
        if source.startswith("(assert "):
            kept.append(f"(simplify {source[8:]}")
        elif not source.startswith(("(check-sat", "(get-", "(push", "(pop", "(echo")):
            kept.append(source)
    return "\n".join(kept)


def measure(z3: str, accept: Sequence[str], seeds: int) -> Counter[str]:
    """Return what is counted over the files of all logics."""
    found: Counter[str] = Counter()
    for logic in DRAWN:
        for seed in range(1, seeds + 1):
            text = generated(logic, seed)
            found["files"] += 1
            found["bytes"] += len(text)
            found["assertions"] += text.count("\n(assert ")
            shown = run([z3], simplified(text)).split(b"\n")
            found["trivial"] += sum(each.strip() in (b"true", b"false") for each in shown)
            said = run([z3, "-st"], text)
            work = Counter[bytes]()
            for kind, number in _WORK.findall(said):
                work[kind] += int(number)
            conflicts = work[b"conflicts"]
            found["search"] += sum(work.values()) > 0
            found["ten"] += conflicts >= 10
            answers = re.findall(rb"^(sat|unsat|unknown|timeout)\b", said, re.MULTILINE)
            found[answers[-1].decode() if answers else "none"] += 1
            found["accepted by z3"] += is_accepted(said)
            for each in accept:
                words = shlex.split(each)
                found[f"accepted by {Path(words[0]).name}"] += is_accepted(run(words, text))
    return found


def is_accepted(said: bytes) -> bool:
    """Return whether a program's output has no error but the lack of a model, core or proof."""
    return b"(error" not in _NO_MODEL.sub(b"", said)


def speed() -> float:
    """Return the number of scripts of any logic that are generated in a second."""
    begin = time.process_time()
    for seed in range(_SPEED):
        generated(ANY, seed)
    return _SPEED / (time.process_time() - begin)


def table(now: Mapping[str, float], before: Mapping[str, float], version: str) -> str:
    """Return the Markdown table."""
    rows = [
        ("assertions that simplify to true or false", "trivial", "assertions"),
        ("files that need a decision or conflict", "search", "files"),
        ("files with at least ten conflicts", "ten", "files"),
        ("last answer sat", "sat", "decided"),
        ("last answer unsat", "unsat", "decided"),
        *((name, name, "files") for name in now if name.startswith("accepted")),
    ]
    head = ["", "before", "now"] if before else ["", "now"]
    lines = [
        f"Judge: {version}",
        "",
        f"| {' | '.join(head)} |",
        "|---" + "|--:" * len(head[1:]) + "|",
    ]
    columns = [before, now] if before else [now]
    for title, part, whole in rows:
        cells = []
        for each in columns:
            total = each.get(whole) or each.get("sat", 0) + each.get("unsat", 0)
            count = each.get(part, 0)
            cells.append(f"{count:,.0f} of {total:,.0f} ({100 * count / max(1, total):.0f} %)")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    for title, part in (("bytes a file", "bytes"), ("scripts a second", "speed")):
        shares = [each[part] / (each["files"] if part == "bytes" else 1) for each in columns]
        lines.append(f"| {title} | {' | '.join(f'{each:,.0f}' for each in shares)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--z3", default=str(Path(sys.executable).with_name("z3")))
    parser.add_argument("--accept", nargs="*", default=[], metavar="CMD")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    found = {**measure(chosen.z3, chosen.accept, chosen.seeds), "speed": speed()}
    version = subprocess.run([chosen.z3, "--version"], capture_output=True, text=True, check=True)
    before = json.loads(chosen.before.read_text()) if chosen.before else {}
    if chosen.json:
        chosen.json.write_text(json.dumps(found))
    text = table(found, before, version.stdout.strip())
    (RESULTS / "smt2_generated.md").write_text(
        f"# How hard random scripts are\n\n`python -m benchmarks.smt2_generated`\n\n{text}"
    )
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
