"""The same failure is told by status and words, and the means are of traces that both keep."""

from pathlib import Path

from benchmarks.api_faults import Fault
from benchmarks.trace_mobical import Left, Row, failure, line, means, patched


def test_numbers_and_paths_do_not_make_another_failure(tmp_path: Path) -> None:
    program, trace = tmp_path / "mobical", tmp_path / "in.trace"
    program.write_text('#!/bin/sh\nfor file; do :; done\ncat "$file" >&2\nexit 6\n')
    program.chmod(0o755)

    def said(text: str) -> tuple[int, bytes]:
        trace.write_text(text)
        return failure(program, trace)

    first = said("mobical: /a/b/elim.cpp:12: Assertion `lit < 7' failed.\n")
    assert first == said("mobical: /c/elim.cpp:345: Assertion `lit < 8' failed.\n")
    assert first[0] == 6
    assert first != said("mobical: /a/b/elim.cpp:12: Assertion `lit > 7' failed.\n")


def test_means_are_of_traces_on_which_both_keep_the_failure() -> None:
    fault = Fault("one", "elim.cpp", 12, "a || b", "a")
    rows = [
        Row(fault, 1, 100, Left(10, 0, 50, 1.0, True, 50), Left(5, 0, 10, 2.0, True, 40, "--cmd")),
        Row(fault, 2, 100, Left(1, 0, 1, 1.0, False, 1), Left(9, 0, 9, 2.0, True, 9, "--cmd")),
    ]
    text = means(rows)
    assert "keeps the failure in 2, mobical in 1, both in 1." in text
    assert "leaves 0.50 of mobical's calls after 0.20 of its runs, with 0.80 of its" in text
    assert text.endswith("more calls than mobical: none.")
    assert line(rows[0]) == (
        "| elim.cpp:12 `a \\|\\| b` => `a` | 1 | 100 | 10 (0) | 50 | 1.0 | yes "
        "| 5 (0) | 10 | 2.0 | yes | 40 | --cmd |"
    )


def test_the_patched_mobical_reads_what_it_writes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "src").mkdir(parents=True)
    read = '} else if (!strcmp (keyword, "declare_more_variables")) {\n'
    (source / "src" / "mobical.cpp").write_text(f"val != -1 && val != 0 && val != -1\n{read}")
    text = (patched(source, tmp_path / "copy") / "src" / "mobical.cpp").read_text()
    assert text.startswith("val != -1 && val != 0 && val != 1\n")
    assert '"declare_one_more_variable"' in text
    assert text.endswith(read)
