"""Runs state machines for a number of steps, the same ones for the same seed."""

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.state_machine.expectations import TALLY
from tests.state_machine.hunts import HuntMachine
from tests.state_machine.sessions import SessionMachine

MACHINES: tuple[type[RuleBasedStateMachine], ...] = (SessionMachine, HuntMachine)
_LENGTH = 25
"""Steps of one example."""
_EXAMPLES = 5
"""Examples for one seed."""


def make_steps(machine: type[RuleBasedStateMachine], steps: int, first_seed: int) -> int:
    """Make at least so many steps; return how many were made. Raises what a step raises."""
    TALLY.steps = 0
    number = first_seed
    while TALLY.steps < steps:
        seed(number)(machine)
        number += 1
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=_EXAMPLES,
                stateful_step_count=_LENGTH,
                deadline=None,
                database=None,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
        )
    return TALLY.steps
