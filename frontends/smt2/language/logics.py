"""The theories of a logic, from pySMT's table of logics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theories:
    """The theories that a script may use; all of them by default."""

    bit_vectors: bool = True
    ints: bool = True
    reals: bool = True
    arrays: bool = True


def theories_of(logic: bytes) -> Theories:
    """Return the theories of a logic by name; all if the table lacks it (ALL, HORN, ...)."""
    # Imported here, as only the classic strategies need logics.
    from pysmt.exceptions import UndefinedLogicError
    from pysmt.logics import get_logic_by_name

    try:
        theory = get_logic_by_name(logic.decode("ascii", "replace")).theory
    except UndefinedLogicError:
        return Theories()
    return Theories(
        bit_vectors=theory.bit_vectors,
        ints=theory.integer_arithmetic or theory.integer_difference,
        reals=theory.real_arithmetic or theory.real_difference,
        arrays=theory.arrays,
    )
