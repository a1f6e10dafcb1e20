"""A byte order mark before a text, as editors on Windows write it: no format refuses it."""

import pytest

from tests.cli.tool import Tool

MARK = b"\xef\xbb\xbf"
TEXTS = {  # the file, what is needed, what is left
    "in.cnf": (b"c why\np cnf 3 3\n1 2 0\n-3 2 0\n3 0\n", "p cnf", b"p cnf 0 0\n"),
    "in.aag": (b"aag 3 2 0 1 1\n2\n4\n6\n6 4 2\n", "aag", b"aag 0 0 0 0 0\n"),
    "in.btor2": (
        b"1 sort bitvec 8\n2 input 1\n3 output 2\n",
        "sort",
        b"1 sort bitvec 1\n2 input 1\n3 output 2\n",
    ),
    "in.smt2": (b"(set-logic QF_UF)\n(assert true)\n(check-sat)\n", "check-sat", b"(check-sat)\n"),
    "in.trace": (b"init\nadd 1\nadd 0\nsat\nrelease\n", "sat", b"init\nsat\n"),
    "in.txt": (b"one two\nthree four\n", "four", b"four\n"),
}
OTHERS = [("in.cnf", "out.smt2"), ("in.aag", "out.aig"), ("in.smt2", "out.btor2"),
          ("in.trace", "out.cnf")]  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_with_a_mark_is_reduced_and_loses_it(tool: Tool, name: str) -> None:
    text, needed, left = TEXTS[name]
    (tool.folder / name).write_bytes(MARK + text)
    # Without the suffix, too: the format is found in the text.
    (tool.folder / "unnamed").write_bytes(MARK + text)
    test = tool.script("test.sh", f'grep -q "{needed}" "$1"')
    command = {"in.btor2": "btor", "in.aag": "aiger", "in.txt": "text"}.get(name, name[3:])
    done = tool(command, name, "--oracle", test, "-q", "-o", "out")
    assert (done.code, done.err) == (0, "")
    assert (tool.folder / "out").read_bytes() == left
    if command != "text":
        assert tool(command, "unnamed", "--oracle", test, "-q", "-o", "again").code == 0
        assert (tool.folder / "again").read_bytes() == left


@pytest.mark.parametrize(("source", "target"), OTHERS)
def test_a_file_with_a_mark_is_converted_and_shown(tool: Tool, source: str, target: str) -> None:
    (tool.folder / source).write_bytes(TEXTS[source][0])
    assert tool("convert", source, target).code == 0
    wanted = (tool.folder / target).read_bytes(), tool("show", source).out
    (tool.folder / source).write_bytes(MARK + TEXTS[source][0])
    assert tool("convert", source, target).code == 0
    assert ((tool.folder / target).read_bytes(), tool("show", source).out) == wanted
