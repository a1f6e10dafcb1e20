"""How far a hunt has come, on disk: killed and started again, it repeats nothing.

Seeds are taken in their order, so one number says which of them are done. A bug that was found
but not reduced yet is known by its seed, which is tested once more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.hunt.options import HuntOptions
from reducekit.oracle.command import Command
from reducekit.session.output import write_file
from reducekit.version import __version__

NAME = "hunt.json"
"""The file in the folder of a hunt."""
SCHEMA = 1


@dataclass(slots=True)
class Progress:
    """What is done of a hunt. `next` is the first seed that is not."""

    path: Path
    kind: str
    """Stands for all on which the results depend."""
    next: int
    inputs: int = 0
    pending: dict[str, int] = field(default_factory=dict)
    """The bugs that wait to be reduced, by the names of their findings, with their seeds."""
    earlier: int = 0
    """How many inputs were tested before this start."""

    @classmethod
    def of(
        cls,
        options: HuntOptions,
        commands: tuple[Command, ...],
        values: Mapping[str, Any],
    ) -> Progress:
        """Return the progress of a hunt in its folder; that of another hunt is not looked at.

        Raises UsageError if the file cannot be read.
        """
        deciding = (
            __version__, options.format, [each.words for each in commands], options.timeout,
            options.memory, options.keep_timeouts, sorted(values.items()),
        )  # fmt: skip
        kind = hashlib.sha256(repr(deciding).encode()).hexdigest()
        made = cls(options.folder / NAME, kind, values["seed"])
        if options.restart:
            return made
        try:
            found = json.loads(made.path.read_text(encoding="utf-8"))
            if (found["schema"], found["kind"]) == (SCHEMA, kind):
                made.next, made.inputs = int(found["next"]), int(found["inputs"])
                made.pending = {str(name): int(seed) for name, seed in found["pending"].items()}
        except FileNotFoundError:
            pass
        except OSError as error:
            raise UsageError(f"{made.path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UsageError(
                f"{made.path} is no progress of a hunt; `restart` begins anew"
            ) from None
        made.earlier = made.inputs
        return made

    def take(self, seed: int) -> set[str]:
        """Take note that a seed was tested; return the bugs that it was tested again for."""
        if seed < self.next:
            return {name for name, its in self.pending.items() if its == seed}
        self.next = seed + 1
        self.inputs += 1
        return set()

    def save(self) -> None:
        """Write the file as a whole. Raises UsageError."""
        state = {
            "schema": SCHEMA,
            "kind": self.kind,
            "next": self.next,
            "inputs": self.inputs,
            "pending": self.pending,
        }
        write_file(self.path, json.dumps(state).encode())
