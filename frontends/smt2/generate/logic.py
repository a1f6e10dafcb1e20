"""Which theories the name of a logic says a script may use."""

from __future__ import annotations

import re

from reducekit.errors import UsageError

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
ANY = "any"
DRAWN = (
    "ALL", "QF_ABV", "QF_ALIA", "QF_AUFBV", "QF_AUFLIA", "QF_AX", "QF_BV", "QF_BVFP", "QF_DT",
    "QF_FP", "QF_IDL", "QF_LIA", "QF_LIRA", "QF_LRA", "QF_NIA", "QF_NRA", "QF_RDL", "QF_S",
    "QF_SLIA", "QF_UF", "QF_UFBV", "QF_UFDTLIA", "QF_UFLIA", "QF_UFLRA", "ABV", "ALIA", "AUFDTLIA",
    "AUFLIRA", "BV", "FP", "LIA", "LRA", "NIA", "NRA", "UF", "UFBV", "UFDT", "UFLIA", "UFLRA",
)  # fmt: skip
"""What `ANY` draws from."""


def theories_of(logic: str) -> frozenset[str]:
    """Return the theories of a logic by name, and "quantifiers" where it has them.

    Raises UsageError for a name that is none.
    """
    found = _theories(logic)
    if found is None:
        known = logic.upper() if _theories(logic.upper()) else "ALL, any, or one such as QF_LIA"
        raise UsageError(f"there is no logic {logic!r}: say {known}")
    return found


def is_logic(name: str) -> bool:
    """Return whether there is a logic of this name."""
    return _theories(name) is not None


def _theories(logic: str) -> frozenset[str] | None:
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
