"""--repeat: failures that do not show every time."""

import json

import pytest

from tests.cli.tool import NEEDLE, Tool, problem

pytestmark = pytest.mark.reduction


def flaky(tool: Tool, period: int, good: str = "0", otherwise: str = "exit 1") -> str:
    """Return a program that shows what is looked for in some runs of each `period`.

    `good` is a pattern of `case` for the number of the run, modulo the period.
    """
    log = tool.folder / "log"
    script = tool.script(
        "flaky",
        f"echo >> {log}; {NEEDLE} $1 || exit 0\n"
        f"case $(( $(wc -l < {log}) % {period} )) in {good}) exit 7;; *) {otherwise};; esac",
    )
    return str(script)


def runs(tool: Tool) -> int:
    return len((tool.folder / "log").read_bytes())


@pytest.mark.slow
def test_now_and_then_is_enough(tool: Tool) -> None:
    """The failure shows in every third run: in each three of them once."""
    tool.write("in.smt2", problem())
    program = flaky(tool, 3, "1")
    done = tool("smt2", "in.smt2", "--cmd", program, "--exit-code", "7")
    assert done.code == 1
    assert "--repeat" in done.err
    (tool.folder / "log").unlink()
    done = tool.ok(
        *("smt2", "in.smt2", "--cmd", program, "--exit-code", "7", "--repeat", "1-of-3", "--json")
    )
    found = json.loads(done.out)
    result = (tool.folder / "in.reduced.smt2").read_text()
    assert "needle" in result
    assert len(result) < 200
    assert found["runs"] == runs(tool)
    assert found["runs"] > found["checks"] + 3
    assert found["verified"] is True
