"""Which theories the name of a logic says a script may use."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The parts of a name, in their order (SMT-LIB, "Logics": naming conventions).
_NAME = re.compile(
    r"""(?P<closed>QF_)? (?P<arrays>AX?)? (?P<functions>UF)? (?P<bitvectors>BV)? (?P<floats>FP)?
        (?P<datatypes>DT)? (?P<strings>S)? (?P<linear>[LN])?
        (?P<arithmetic>IRA|IA|RA|IDL|RDL)?""",
    re.VERBOSE,
)
_ARITHMETIC = {
    "IA": {"ints"},
    "RA": {"reals"},
    "IRA": {"ints", "reals", "mixed"},
    "IDL": {"int differences"},
    "RDL": {"real differences"},
}
_ALL = frozenset((
    "arrays", "functions", "bitvectors", "floats", "datatypes", "strings", "ints", "reals", "mixed",
    "nonlinear", "sequences", "quantifiers",
))  # fmt: skip


def theories_in(logic: str) -> frozenset[str] | None:
    """Return the theories of a logic by name, and "quantifiers"; None for other names."""
    if logic == "ALL":
        return _ALL
    found = _NAME.fullmatch(logic)
    parts = {} if found is None else {k: v for k, v in found.groupdict().items() if v}
    arithmetic, linear = parts.get("arithmetic"), parts.get("linear")
    needs_degree = arithmetic in ("IA", "RA", "IRA")
    if not parts.keys() - {"closed"} or bool(linear) != needs_degree:
        return None
    theories = parts.keys() & {"arrays", "functions", "bitvectors", "floats", "datatypes"}
    theories |= _ARITHMETIC.get(arithmetic or "", set())
    others = {
        "strings": "strings" in parts,
        "nonlinear": linear == "N",
        "quantifiers": "closed" not in parts,
    }
    return frozenset(theories.union(name for name, there in others.items() if there))


@dataclass(frozen=True, slots=True)
class Theories:
    """The theories that the steps of the classic strategies ask for; all of them by default."""

    bit_vectors: bool = True
    ints: bool = True
    reals: bool = True
    arrays: bool = True


def theories_of(logic: bytes) -> Theories:
    """Return the theories of a logic by name; all if there is no such logic (HORN, ...)."""
    found = theories_in(logic.decode("ascii", "replace"))
    if found is None:
        return Theories()
    return Theories(
        "bitvectors" in found,
        not found.isdisjoint(("ints", "int differences")),
        not found.isdisjoint(("reals", "real differences")),
        "arrays" in found,
    )
