"""`python -m tests.state_machine`: run the state machines, and print the seed and the steps."""

import argparse
import secrets
import time

from tests.state_machine.running import MACHINES, make_steps


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.state_machine")
    parser.add_argument("--steps", type=int, default=20_000, help="of all machines together")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    arguments = parser.parse_args()
    print(f"--seed {arguments.seed}", flush=True)
    for machine in MACHINES:
        begin = time.monotonic()
        steps = make_steps(machine, arguments.steps // len(MACHINES), arguments.seed)
        print(
            f"{machine.__name__}: {steps:,} steps in {time.monotonic() - begin:.0f} s", flush=True
        )


if __name__ == "__main__":
    main()
