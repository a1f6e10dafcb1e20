"""Container sorts: which arguments of an operator are containers, and which are elements.

Used to find the terms that must have the same sort or width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from reducekit.frontends.smt2.language.sorts import Sort, print_sort

_HOLDING_ONE = frozenset(("Seq", "Set", "Bag"))
_EMPTY = re.compile(
    rb"\(as ((?:seq|set|bag)\.empty|set\.universe|emptyset|emptybag) .*\)", re.DOTALL
)
WHOLE, ELEMENT, OTHER = "wxo"


def _roles(names: str, roles: str) -> dict[bytes, str]:
    return dict.fromkeys(names.encode().split(), roles)


# By the documentation of cvc5 (sets, bags, sequences) and Z3 (sequences); `union`, `member` and the
# like without a prefix are the spelling of CVC4.
_ROLES: Mapping[bytes, str] = {
    **_roles("seq.unit set.singleton singleton", "xw"),
    **_roles("seq.++ seq.rev set.union set.inter set.minus set.complement", "ww"),
    **_roles("union intersection setminus bag.setof bag.duplicate_removal", "ww"),
    **_roles("bag.union_max bag.union_disjoint bag.inter_min", "ww"),
    **_roles("bag.difference_subtract bag.difference_remove", "ww"),
    **_roles("seq.len set.card card set.is_empty set.is_singleton bag.card bag.is_singleton", "wo"),
    **_roles("seq.at", "wow"),
    **_roles("seq.nth", "wox"),
    **_roles("seq.extract", "woow"),
    **_roles("seq.contains seq.prefixof seq.suffixof seq.last_indexof", "wwo"),
    **_roles("set.subset subset bag.subbag", "wwo"),
    **_roles("seq.indexof", "wwoo"),
    **_roles("seq.replace seq.replace_all", "wwww"),
    **_roles("seq.update", "woww"),
    **_roles("set.member member bag.member bag.count", "xwo"),
    **_roles("set.insert insert", "xww"),
    **_roles("set.choose choose bag.choose", "wx"),
    **_roles("bag bag.make", "xow"),
}
"""For each parameter and the result: whether it is the container, an element, or of another sort.

Arguments beyond the number of roles have the role of the first parameter.
"""


def is_array(skeleton: Any) -> TypeGuard[tuple[Any, ...]]:
    """Return whether a sort is an array of one index."""
    return isinstance(skeleton, tuple) and skeleton[0] == "Array" and len(skeleton) == 3


def is_container(skeleton: Any) -> TypeGuard[tuple[Any, ...]]:
    """Return whether a sort is a container, whose element sort may change."""
    if not isinstance(skeleton, tuple):
        return False
    if skeleton[0] == "Array":
        return is_array(skeleton)
    return skeleton[0] in _HOLDING_ONE and len(skeleton) == 2


def roles(head: bytes, skeletons: Sequence[Any]) -> str:
    """Return the roles of the arguments and the result of an operator; empty if it has none.

    `skeletons` are their sorts, the result's last.
    """
    found = _ROLES.get(head, "")
    if not found:
        return ""
    found = found[0] * (len(skeletons) - len(found)) + found
    if len(found) != len(skeletons):
        return ""
    wholes = [each for role, each in zip(found, skeletons, strict=True) if role == WHOLE]
    return found if all(is_container(each) and each[0] != "Array" for each in wholes) else ""


def joined(found: str, skeletons: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs that must have the same sort: the first container and each other term."""
    whole = skeletons[found.index(WHOLE)]
    for role, each in zip(found, skeletons, strict=True):
        if role != OTHER:
            yield whole[1] if role == ELEMENT else whole, each


def is_empty_container(text: bytes) -> bool:
    """Return whether a term is the empty set, or another constant of a container sort."""
    return _EMPTY.fullmatch(text) is not None


def with_sort(text: bytes, sort: Sort) -> bytes:
    """Return such a constant with another sort."""
    match = _EMPTY.fullmatch(text)
    assert match is not None
    return b"(as %b %b)" % (match[1], print_sort(sort))
