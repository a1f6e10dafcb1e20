"""Benchmarks on small inputs: each ends, and prints what its table is to have."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.make_input import generate
from reducekit.frontends.btor.generate.generator import Parameters, generate_text

pytestmark = pytest.mark.slow
CHECKOUT = Path(__file__).resolve().parents[2]
RUNS: list[tuple[str, list[str], str]] = [
    ("make_input", ["--size", "3000", "--seed", "2"], r"\(assert "),
    ("engine_cost", ["--sizes", "2000", "--checks", "80", "--repeats", "1", "--results", "{out}"],
     ""),
    ("smt2_tables", ["{smt2}", "--out", "{out}/table"], ""),
    ("frozen", ["run", "{out}/frozen.tsv", "{smt2}"], ""),
    ("parser_fuzz", ["smt2", "--inputs", "{smt2}", "--whole"], r"1 mutants, 1 parse, .* 0 faults"),
    ("btor_thesis", ["{btor}", "--strategies", "ddmin,lw", "--out", "{out}"], ""),
    ("btor_shapes", ["--cmd", "true", "--scale", "0", "--least", "1", "--only", "sizes",
                     "--results", "{out}"], ""),
]  # fmt: skip
"""Names, arguments, and what is printed."""


@pytest.mark.parametrize(("name", "arguments", "printed"), RUNS, ids=[row[0] for row in RUNS])
def test_a_small_run(tmp_path: Path, name: str, arguments: list[str], printed: str) -> None:
    places = {"out": tmp_path / "out", "smt2": tmp_path / "smt2", "btor": tmp_path / "btor"}
    places["out"].mkdir()
    texts = {"smt2": generate(1, 1500), "btor": generate_text(Parameters(seed=11, nodes=60))}
    for suffix, word in (("smt2", "marker)"), ("btor", " mul ")):
        case = places[suffix] / "ex1-m"
        case.mkdir(parents=True)
        (case / f"input.{suffix}").write_bytes(texts[suffix])
        (case / "oracle").write_text(f'#!/bin/sh\nexec grep -q "{word}" "$1"\n')
        (case / "oracle").chmod(0o755)
    words = [re.sub(r"\{(out|smt2|btor)\}", lambda found: str(places[found[1]]), each)
             for each in arguments]  # fmt: skip
    command = [sys.executable, "-m", f"benchmarks.{name}", *words]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(printed, done.stdout), done.stdout
    assert printed or any(path.stat().st_size for path in places["out"].iterdir())
