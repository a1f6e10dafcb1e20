"""The state machines, for 500 steps that are always the same; `make nightly` makes others."""

import subprocess
from pathlib import Path

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from tests.state_machine.inputs import FORMATS
from tests.state_machine.programs import Program
from tests.state_machine.running import MACHINES, make_steps

STEPS = 500


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_reported_is_true(machine: type[RuleBasedStateMachine]) -> None:
    make_steps(machine, STEPS // len(MACHINES), first_seed=1)


@pytest.mark.parametrize("kind", ["oracle", "command"])
@pytest.mark.parametrize("name", FORMATS)
def test_programs_end_as_their_scripts_do(name: str, kind: str, tmp_path: Path) -> None:
    words, inputs = FORMATS[name].words, FORMATS[name].inputs
    path, script = tmp_path / "text", tmp_path / "script"
    for word in words:
        program = Program((words[0], word), kind)  # type: ignore[arg-type]
        program.write(script)
        for text in (inputs[0], b"", words[0].encode()):
            path.write_bytes(text)
            ended = subprocess.run([script, path], check=False).returncode
            outcome = program.run(text)
            assert ended == (outcome.status if outcome.signal is None else -outcome.signal)
