"""What runs elsewhere: the action, the workflow, the container and the hooks name what is there."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.cli.tool import PROGRAM, Tool

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = (CHECKOUT / "docs" / "ci.md").read_text(encoding="utf-8")


def read(name: str) -> Any:
    return yaml.safe_load((CHECKOUT / name).read_text(encoding="utf-8"))


def test_the_action_hunts_and_leaves_what_it_uploads(tmp_path: Path) -> None:
    """Its step runs the arguments of the documentation's example, on a program that crashes."""
    tool = Tool(tmp_path)
    tool.script("solver", 'grep -q and "$1" && kill -SEGV $$; echo sat')
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (uses,) = (step for step in yaml.safe_load(example)["jobs"]["hunt"]["steps"] if "with" in step)
    action = read("action.yml")
    assert set(uses["with"]) <= set(action["inputs"])
    (step,) = (each for each in action["runs"]["steps"] if "ARGUMENTS" in each.get("env", {}))
    arguments = uses["with"]["arguments"].replace("--max-time 10m", "--count 8 --seed 1")
    done = subprocess.run(
        ["bash", "-e", "-c", f'reducekit() {{ {shlex.join(PROGRAM)} "$@"; }}; {step["run"]}'],
        cwd=tmp_path, env={**os.environ, "ARGUMENTS": arguments}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, "signal SIGSEGV" in done.stdout) == (1, True), done
    assert list((tmp_path / action["inputs"]["results"]["default"]).glob("*.reduced.smt2"))


def test_the_workflow_calls_targets_and_scripts_that_are_there() -> None:
    jobs = read(".github/workflows/ci.yml")["jobs"]
    runs = [step["run"].split() for job in jobs.values() for step in job["steps"] if "run" in step]
    runs += [hook["entry"].split() for each in read(".pre-commit-config.yaml")["repos"]
             for hook in each["hooks"]]  # fmt: skip
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    called = [target for first, *targets in runs if first == "make" for target in targets]
    assert {"test", "lint", "dist"} <= set(called)
    for name in called:
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), name
    scripts = [first for first, *_ in runs if first.startswith(".ci/")]
    assert scripts
    assert [".ci/run", "nightly"] in runs
    assert all(os.access(CHECKOUT / script, os.X_OK) for script in scripts)
