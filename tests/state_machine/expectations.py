"""What must hold, by name, and how many steps the machines have made."""

from dataclasses import dataclass, field


class Broken(AssertionError):
    """Something that must hold does not."""


@dataclass
class Tally:
    steps: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    """In which step each thing was first seen not to hold."""


TALLY = Tally()


def expect(name: str, holds: bool, seen: object = "") -> None:
    """Raise Broken, with what was seen, if something does not hold."""
    if not holds:
        TALLY.broken.setdefault(name, TALLY.steps)
        raise Broken(f"{name}: {seen}")
