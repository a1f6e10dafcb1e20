"""Traces of Murxla have no model: which calls need which others is learnt from the trace."""

import sys
from pathlib import Path

import pytest

from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import check, find_model, sorts_of
from tests.cli.tool import Tool

# A strict interpreter: it notes what is used and was not made, and crashes of a product of a
# remainder that is asserted.
INTERPRETER = """\
import re, sys
made, below, asserted = set(), {}, set()
last = []
for line in open(sys.argv[1]):
    name, *words = line.split()
    used = [word for word in words if re.fullmatch("[st][0-9]+", word)]
    if name == "return":
        made.update(used)
        below[used[0]] = last
        continue
    if not made.issuperset(used):
        open(sys.argv[2], "a").write(line)
        sys.exit(2)
    last = set(words[:1]).union(*(below[word] for word in used))
    if name == "assert-formula":
        asserted |= last
    if name == "check-sat" and {"OP_BV_UREM", "OP_BV_MUL"} <= asserted:
        sys.exit(3)
"""
SMALL = b"""new
mk-sort SORT_BV 8
return s1
mk-sort SORT_BV 8
return s2
mk-const s1 "x"
return t1
mk-const s2 "y"
return t2
mk-term OP_BV_ADD SORT_BV 2 t1 t2 0
return t3 s1
mk-term OP_EQUAL SORT_BOOL 2 t1 t3
return t4 s3
assert-formula t4
"""


def test_terms_of_one_sort() -> None:
    found = sorts_of(read_trace(SMALL, "murxla").calls)
    assert found["s1"] == found["s2"]
    assert found["t1"] == found["t2"] == found["t3"]
    assert len({found["s1"], found["s3"], found["t1"], found["t4"]}) == 4


def test_what_was_not_made_is_found() -> None:
    trace = read_trace(SMALL, "murxla")
    assert not check(trace, find_model(trace))
    lacking = read_trace(SMALL.replace(b'mk-const s2 "y"\nreturn t2\n', b""), "murxla")
    problem, *_ = check(lacking, find_model(trace))
    assert str(problem).startswith(
        "line 8: 'mk-term OP_BV_ADD SORT_BV 2 t1 t2 0': no call returned"
    )


@pytest.fixture(name="tool")
def tool_in_a_folder(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def test_no_run_uses_what_was_not_made(tool: Tool) -> None:
    lines = ["set-murxla-options --seed 1", "new", "mk-sort SORT_BV 8", "return s1"]
    for number in range(1, 4):
        lines += [f"mk-const s1 x{number}", f"return t{number}"]
    for number in range(4, 40):
        name = {20: "OP_BV_UREM", 30: "OP_BV_MUL"}.get(number, "OP_BV_ADD")
        lines += [f"mk-term {name} SORT_BV 2 t{number - 1} t{number - 3}", f"return t{number} s1"]
    path = tool.write("murxla.trace", "\n".join([*lines, "assert-formula t39", "check-sat", ""]))
    script, log = Path(tool.folder) / "interpreter.py", Path(tool.folder) / "log"
    script.write_text(INTERPRETER)
    log.write_text("")
    command = f"{sys.executable} -S -E {script} {{}} {log}"
    done = tool("trace", path, "--cmd", command, "-q", "-o", "out.trace")
    assert done.code == 0, done.err
    assert log.read_text() == ""
    calls = (tool.folder / "out.trace").read_text().splitlines()
    left = [line.split()[0] for line in calls if not line.startswith("return")]
    assert left == ["mk-sort", "mk-const", "mk-term", "mk-term", "assert-formula", "check-sat"]
