"""`reducekit trace` on a failing trace of an SMT solver: what makes its terms goes with them."""

import pytest

from tests.cli.tool import Tool

FAULT = ("--model", "cvc5", "--library", "cvc5", "--fault", "cvc5_simplify+0:abort")


@pytest.mark.slow
def test_a_generated_trace_is_reduced_to_what_the_fault_needs(tool: Tool) -> None:
    made = tool("generate", "trace", *FAULT, "--seed", "5", "-o", "made.trace")
    assert (made.code, "in the last call: simplify" in made.err) == (0, True)
    before = (tool.folder / "made.trace").read_text()
    tool.ok("trace", "made.trace", "-o", "red.trace")
    lines = (tool.folder / "red.trace").read_text().splitlines()
    names = [line.split()[0] for line in lines if not line.startswith(("#", "return"))]
    assert names[0] == "new"
    assert names[-1] == "simplify"
    assert len(names) <= 4 < len(before.splitlines())
