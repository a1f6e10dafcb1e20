"""What the comparison of traces and files counts: calls, lines that gcov has seen, findings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.api_against_files import by_suite, covered, files, found_by, size
from benchmarks.api_faults import Found, middle

CNF = b"c one\np cnf 3 2\n1 -2 0\n3 0\n"
TRACE = b"init\nset check 1\nadd 1\nadd 0\nsolve 10\nreset\n"


def test_sizes() -> None:
    assert size(CNF, ".cnf") == 8
    assert size(TRACE, ".trace") == 5


def test_the_median_of_runs_that_may_find_nothing() -> None:
    assert middle([Found("", 8.0), Found("b", 2.0), Found("a", 1.0)]) == Found("b", 2.0)
    assert not middle([Found("", 8.0), Found("a", 1.0), Found("", 8.1)]).name


@pytest.mark.slow
@pytest.mark.debian("g++")
def test_lines_of_the_library_are_counted(tmp_path: Path) -> None:
    source, made = tmp_path / "src", tmp_path / "build"
    source.mkdir()
    made.mkdir()
    (source / "library.cpp").write_text("int f(int x) {\n  if (x)\n    return 1;\n  return 2;\n}\n")
    (source / "cadical.cpp").write_text("int f(int);\nint main() {\n  return f(0) - 2;\n}\n")
    for name in ("library", "cadical"):
        words = ["g++", "-O0", "--coverage", "-c", f"../src/{name}.cpp", "-o", f"{name}.o"]
        subprocess.run(words, cwd=made, check=True)
    linked = ["g++", "--coverage", "cadical.o", "library.o", "-o", "program"]
    subprocess.run(linked, cwd=made, check=True)
    assert covered(made) == (0, 4)
    subprocess.run([made / "program"], cwd=made, check=True)
    assert covered(made) == (3, 4)


@pytest.mark.slow
def test_a_file_that_ends_otherwise_is_found_and_reduced(tmp_path: Path) -> None:
    program = tmp_path / "cadical"
    program.write_text(
        "#!/bin/sh\nfor file; do :; done\ngrep -q '^-2 ' $file || exit 10\n"
        "echo 'fatal error: rewrite.c:1' >&2\nkill -ABRT $$\n"
    )
    program.chmod(0o755)
    suite = [tmp_path / "a.cnf", tmp_path / "b.cnf"]
    suite[0].write_text("p cnf 1 1\n1 0\n")
    suite[1].write_text("p cnf 3 3\n1 3 0\n-2 3 0\n3 0\n")
    way = files(None)
    found = by_suite(way, suite, [10, 10], tmp_path, 10, 30)
    assert found is not None
    assert (found.size, found.reduced) == (11, {"reduced": 5})
    assert by_suite(way, suite[:1], [10], tmp_path, 10, 30) is None
    hunted = found_by(way, tmp_path, tmp_path / "hunt", 20, 30, frozenset())
    assert hunted is not None
    assert hunted.reduced["reduced"] <= hunted.size
