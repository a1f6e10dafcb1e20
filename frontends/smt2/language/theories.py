"""The sort rules of operators: made from the table of operators, or written here.

Written here are the rules that no rank says: of indices, of widths that are added up, of arrays
with several indices, and of what cvc5 and Z3 do with more than one kind of collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypeAlias, TypeVar

from reducekit.frontends.smt2.language.operators import DIALECTS, Signature, all_signatures
from reducekit.frontends.smt2.language.rules import (
    SETS,
    Rule,
    Sorts,
    apply_value,
    every,
    first_of,
    function,
    join,
    ranked,
)
from reducekit.frontends.smt2.language.sorts import Sort, bitvector, compound

T = TypeVar("T")
# The sort of `((_ f numeral ...) term ...)`, by numerals and sorts; None if they do not fit.
Indexed: TypeAlias = "Callable[[list[int], Sorts], Sort | None]"


def _ite(sorts: Sorts) -> Sort | None:
    """As in the table, but faster, as scripts may be made of little else."""
    if len(sorts) != 3 or sorts[0] not in ("Bool", None):
        return None
    return sorts[1] if sorts[1] == sorts[2] else join(sorts[1], sorts[2])[1]


def _store(sorts: Sorts) -> Sort | None:
    array = sorts[0] if sorts else None
    if not isinstance(array, tuple):
        return None
    if array[0] == "Array" and len(sorts) == len(array):
        expected = array[1:]
    elif array[0] == "Set" and len(sorts) == 3:
        expected = (array[1], "Bool")
    else:
        return None
    if expected == tuple(sorts[1:]):
        return array
    pairs = zip(expected, sorts[1:], strict=True)
    return array if all(join(want, have)[0] for want, have in pairs) else None  # type: ignore[arg-type]


def _default(sorts: Sorts) -> Sort | None:
    """Z3's default element of an array."""
    array = sorts[0] if len(sorts) == 1 else None
    if not isinstance(array, tuple) or array[0] != "Array":
        return None
    return array[-1]  # type: ignore[return-value]  # arrays hold sorts


def _width(sort: Sort | None) -> int | None:
    if isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
        return sort[1]
    return None


def _concat(sorts: Sorts) -> Sort | None:
    total = 0
    for sort in sorts:
        width = _width(sort)
        if width is None:
            return None
        total += width
    return bitvector(total)


def _extract(indices: list[int], sorts: Sorts) -> Sort | None:
    if len(indices) != 2 or len(sorts) != 1:
        return None
    high, low = indices
    width = _width(sorts[0])
    if high < low or (sorts[0] is not None and (width is None or high >= width)):
        return None
    return bitvector(high - low + 1)


def _widen(new_width: Callable[[int, int], int], indices: list[int], sorts: Sorts) -> Sort | None:
    """One bit-vector and one numeral: the new width from the width and the numeral."""
    width = _width(sorts[0]) if len(sorts) == len(indices) == 1 else None
    return None if width is None else bitvector(new_width(width, indices[0]))


def _one(parameters: tuple[Sort, ...], result: Callable[[int], Sort | None] | Sort) -> Indexed:
    """A function of this rank with one numeral, on which its result may depend."""
    rule = function(parameters, "Bool")

    def indexed(indices: list[int], sorts: Sorts) -> Sort | None:
        if len(indices) != 1 or not rule(sorts):
            return None
        return result(indices[0]) if callable(result) else result

    return indexed


_BOOLEANS = every("Bool", "Bool")


def _fp(sorts: Sorts) -> Sort | None:
    """(fp sign exponent significand), without the hidden bit."""
    widths = [_width(sort) for sort in sorts]
    if len(widths) != 3 or widths[0] != 1 or widths[1] is None or widths[2] is None:
        return None
    return ("FloatingPoint", widths[1], widths[2] + 1)


def _ieee_bits(sorts: Sorts) -> Sort | None:
    sort = sorts[0] if len(sorts) == 1 else None
    if not isinstance(sort, tuple) or sort[0] != "FloatingPoint":
        return None
    _, exponent, significand = sort
    return bitvector(exponent + significand)  # type: ignore[operator,arg-type]  # both are int


def _to_fp(indices: list[int], sorts: Sorts) -> Sort | None:
    """to_fp in all its forms: the target sort is in the indices."""
    if len(indices) != 2 or 0 in indices or not 0 < len(sorts) < 4:
        return None
    # Z3 also takes a Real and an exponent, and then a rounding mode.
    modes = ("RoundingMode", None)
    fits = len(sorts) == 1 or sorts[0] in modes or (len(sorts) == 3 and sorts[-1] == modes[0])
    return ("FloatingPoint", *indices) if fits else None


def _image(collection: str, sorts: Sorts) -> Sort | None:
    """A map has the collection of its function's results."""
    head = sorts[0] if len(sorts) > 1 else None
    if isinstance(head, tuple) and head[0] in ("->", "Array"):
        return compound(collection, head[-1])  # type: ignore[arg-type]
    return None


def _about(collections: tuple[str, ...], sorts: Sorts) -> Sort | None:
    """A predicate on one or more values, one of them a collection of these kinds."""
    kinds = ("Array", *collections)
    known = (each is None or (isinstance(each, tuple) and each[0] in kinds) for each in sorts)
    return "Bool" if any(known) else None


def _fields(sort: Sort | None, collection: str = "") -> tuple[Sort, ...] | None:
    """Return the fields of a tuple sort, or of the tuples in a collection of them."""
    if collection:
        if not isinstance(sort, tuple) or sort[0] != collection:
            return None
        sort = sort[1]  # type: ignore[assignment]
    if isinstance(sort, tuple) and sort[0] == "Tuple":
        return sort[1:]  # type: ignore[return-value]
    return None


def _product(collection: str, shared: int, sorts: Sorts) -> Sort | None:
    """Two relations put side by side, less the `shared` columns they are joined on."""
    if len(sorts) != 2:
        return None
    left, right = _fields(sorts[0], collection), _fields(sorts[1], collection)
    if left is None or right is None or min(len(left), len(right)) < shared:
        return None
    fields = left[: len(left) - shared] + right[shared:]
    return compound(collection, compound("Tuple", *fields))


def _transpose(sorts: Sorts) -> Sort | None:
    fields = _fields(sorts[0], "Set") if len(sorts) == 1 else None
    return None if fields is None else compound("Set", compound("Tuple", *reversed(fields)))


def _column(sorts: Sorts) -> Sort | None:
    """The identity relation over a unary one and the join image, by its first column."""
    fields = _fields(sorts[0], "Set") if sorts else None
    if not fields:
        return None
    columns = (fields[0], fields[0]) if len(sorts) == 1 else (fields[0],)
    return compound("Set", compound("Tuple", *columns))


def _joined(collection: str, indices: list[int], sorts: Sorts) -> Sort | None:
    """Two relations side by side, joined on the columns that the indices pair."""
    if len(sorts) != 2 or None in sorts or len(indices) % 2:
        return None
    left, right = (_fields(each, collection) for each in sorts)
    if left is None or right is None:
        return None
    pairs = zip(indices[::2], indices[1::2], strict=True)
    fits = (i < len(left) and j < len(right) and left[i] == right[j] for i, j in pairs)
    return _product(collection, 0, sorts) if all(fits) else None


def _grouped(collection: str, indices: list[int], sorts: Sorts) -> Sort | None:
    """A relation in parts, the rows of each alike in the chosen columns."""
    fields = _fields(sorts[0], collection) if len(sorts) == 1 else None
    fits = fields is not None and all(each < len(fields) for each in indices)
    return compound(collection, sorts[0]) if fits else None


def _aggregate(collection: str, _: list[int], sorts: Sorts) -> Sort | None:
    """A fold of each group of rows: the function, its start value, the relation."""
    return compound(collection, sorts[1]) if len(sorts) == 3 else None


def lifted(element: Callable[[Sorts], Sort | None], sorts: Sorts) -> Sort | None:
    """Apply the rule of a function on values to nullable ones, which it takes and gives."""
    inner: Sorts = []
    for sort in sorts:
        if not isinstance(sort, tuple) or sort[0] != "Nullable":
            return None
        inner.append(sort[1])  # type: ignore[arg-type]  # a sort
    return compound("Nullable", element(inner)) if sorts else None


def _lift(sorts: Sorts) -> Sort | None:
    """(nullable.lift f x ...): f on nullable values."""
    return lifted(lambda inner: apply_value([sorts[0], *inner]), sorts[1:]) if sorts else None


def _tuple_select(indices: list[int], sorts: Sorts) -> Sort | None:
    fields = _fields(sorts[0]) if len(sorts) == len(indices) == 1 else None
    return fields[indices[0]] if fields is not None and indices[0] < len(fields) else None


def _project(collection: str, indices: list[int], sorts: Sorts) -> Sort | None:
    """Chosen columns of a tuple, or of each tuple in a collection."""
    fields = _fields(sorts[0], collection) if len(sorts) == 1 else None
    if fields is None or any(i >= len(fields) for i in indices):
        return None
    row = compound("Tuple", *[fields[i] for i in indices])
    return compound(collection, row) if collection else row


_NUMBER = first_of((every("Int", "Int"), every("Real", "Real")))
_ABOUT_SETS = partial(_about, SETS)
_WRITTEN: Mapping[str, Rule] = {
    "abs": lambda sorts: _NUMBER(sorts) if len(sorts) == 1 else None,
    "@ select": apply_value,
    "ite if": _ite,
    "store": _store,
    "default": _default,
    "concat": _concat,
    "mkbv @from_bools from_bools": lambda sorts: (
        bitvector(len(sorts)) if _BOOLEANS(sorts) else None
    ),
    "fp": _fp,
    "fp.to_ieee_bv to_ieee_bv": _ieee_bits,
    "seq.map seq.mapi": partial(_image, "Seq"),
    "seq.foldl": lambda sorts: sorts[1] if len(sorts) == 3 else None,
    "seq.foldli": lambda sorts: sorts[2] if len(sorts) == 4 else None,
    "set.subset subset set.member member set.is_empty set.is_singleton": _ABOUT_SETS,
    "is_singleton set.has_size set.all set.some": _ABOUT_SETS,
    "set.insert insert": lambda sorts: (  # element ... set
        sorts[-1]
        if len(sorts) > 1 and isinstance(sorts[-1], tuple) and sorts[-1][0] in SETS
        else None
    ),
    "set.map": partial(_image, "Set"),
    "bag.map": partial(_image, "Bag"),
    "set.filter bag.filter": lambda sorts: (
        sorts[1] if len(sorts) == 2 and isinstance(sorts[1], tuple) else None
    ),
    "set.fold bag.fold": lambda sorts: sorts[-2] if len(sorts) > 2 else None,  # the start value
    "bag.all bag.some": partial(_about, ("Bag",)),
    "bag.partition": lambda sorts: compound("Bag", sorts[1]) if len(sorts) == 2 else None,
    "rel.join join": partial(_product, "Set", 1),
    "rel.product product": partial(_product, "Set", 0),
    "table.product": partial(_product, "Bag", 0),
    "rel.transpose transpose": _transpose,
    "rel.tclosure tclosure": lambda sorts: sorts[0] if len(sorts) == 1 else None,
    "rel.iden iden rel.join_image join_image": _column,
    "tuple mkTuple": lambda sorts: compound("Tuple", *sorts),
    "nullable.lift": _lift,
}


def _by_name(rules: Mapping[str, T]) -> dict[bytes, T]:
    return {name: rule for names, rule in rules.items() for name in names.encode().split()}


_REGULAR = every("RegLan", "RegLan")
INDEXED: Mapping[bytes, Indexed] = _by_name(
    {
        "extract": _extract,
        "repeat": partial(_widen, lambda width, times: width * times),
        "zero_extend sign_extend": partial(_widen, lambda width, more: width + more),
        "rotate_left rotate_right": partial(_widen, lambda width, _: width),
        "int2bv int_to_bv nat2bv": _one(("Int",), bitvector),
        "bit2bool bitOf @bit bit": _one((("BitVec", "'n"),), "Bool"),
        "iand": _one(("Int", "Int"), "Int"),
        "divisible": _one(("Int",), "Bool"),
        "to_fp to_fp_unsigned to_fp_signed to_fp_bv to_fp_fp to_fp_real to_fp_from_ubv": _to_fp,
        "to_fp_from_sbv to_fp_from_fp to_fp_from_real to_fp_from_ieee_bv asFloat": _to_fp,
        "fp.to_ubv fp.to_sbv fp.to_ubv_total fp.to_sbv_total": _one(
            ("RoundingMode", ("FloatingPoint", "'e", "'s")), bitvector
        ),
        "at-most at-least pble pbge pbeq": lambda indices, sorts: (
            _BOOLEANS(sorts) if indices else None
        ),
        "partial-order linear-order tree-order piecewise-linear-order": _one(("'X", "'X"), "Bool"),
        "tuple.select tupSel tuple_select": _tuple_select,
        "tuple.update tuple_update": lambda indices, sorts: (
            sorts[0] if len(indices) == 1 and len(sorts) == 2 else None
        ),
        "tuple.project tuple_project": partial(_project, ""),
        "rel.project": partial(_project, "Set"),
        "table.project": partial(_project, "Bag"),
        "rel.table_join": partial(_joined, "Set"),
        "table.join": partial(_joined, "Bag"),
        "rel.group": partial(_grouped, "Set"),
        "table.group": partial(_grouped, "Bag"),
        "rel.aggr": partial(_aggregate, "Set"),
        "table.aggr": partial(_aggregate, "Bag"),
        "re.^ re.loop": lambda indices, sorts: _REGULAR(sorts) if 0 < len(indices) < 3 else None,
    }
)


def _of_table() -> tuple[dict[bytes, Rule], dict[bytes, Sort]]:
    ranks: dict[str, list[Signature]] = {}
    dialects: dict[str, list[Signature]] = {}
    constants: dict[bytes, Sort] = {}
    for theories, each in all_signatures():
        for name in each.names:
            if each.parameters:
                found = dialects if theories == DIALECTS else ranks
                found.setdefault(name, []).append(each)
            else:
                constants[name.encode()] = each.result
    made = cache(ranked)
    rules = {}
    for name, all_of in (ranks | dialects).items():
        # One that repeats says all that others with arguments and results of its sorts say.
        repeated = {(e.parameters[-1], e.result) for e in all_of if e.repeats}
        keys = dict.fromkeys(
            (e.parameters, e.result, e.optional, e.repeats)
            for e in all_of
            if e.repeats or (e.parameters[-1], e.result) not in repeated
        )
        rules[name.encode()] = first_of([made(*key) for key in keys])
    return rules, constants


_RULES, CONSTANTS = _of_table()
OPERATORS: Mapping[bytes, Rule] = {
    **_RULES,
    **_by_name(_WRITTEN),
    **{
        name: partial(rule, [])
        for name, rule in INDEXED.items()
        if name.startswith((b"rel.", b"table.", b"tuple.p"))
    },  # without indices: no column is chosen
}


_OWN_WORDS = frozenset(
    b"bag card choose complement iden insert intersection is_singleton join join_image member"
    b" mkTuple product pto sep setminus singleton subset tclosure transpose tuple union"
    b" wand".split()
)
"""Names of collections that scripts without collections use for symbols of their own."""
TAKEN = (OPERATORS.keys() | CONSTANTS.keys()) - _OWN_WORDS
"""Names that mean something to solvers: no symbol gets one of them as its new name."""


FLOAT_CONSTANTS = (b"+oo", b"-oo", b"+zero", b"-zero", b"NaN")
"""The constants `(_ NaN e s)` and similar ones."""
