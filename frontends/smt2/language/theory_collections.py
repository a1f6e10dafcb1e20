"""The sort rules of Strings and of the collections of cvc5 and Z3: sequences, sets, bags, tuples.

Tables from symbol to rule, as in `theories`. Strings: theory UnicodeStrings
2.6, with the older names of Z3 and CVC4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reducekit.frontends.smt2.language.rules import (
    SETS,
    Rule,
    Sorts,
    apply_value,
    common,
    every,
    function,
)
from reducekit.frontends.smt2.language.sorts import Sort, compound
from reducekit.frontends.smt2.language.theories import Indexed

_S, _I, _B, _R, _C = "String", "Int", "Bool", "RegLan", "Char"
_X, _Y = "'X", "'Y"
_SEQ: Sort = ("Seq", _X)
_SET: Sort = ("Set", _X)
_BAG: Sort = ("Bag", _X)
_FINITE: Sort = ("FiniteSet", _X)


def _optional(parameters: tuple[Sort, ...], result: Sort) -> Rule:
    """A function whose last argument may be left out."""
    full, short = function(parameters, result), function(parameters[:-1], result)
    return lambda sorts: short(sorts) if len(sorts) < len(parameters) else full(sorts)


def _names(names: str, rule: Rule) -> dict[bytes, Rule]:
    """Give one rule to several symbols."""
    return dict.fromkeys(names.encode().split(), rule)


_STRINGS: Mapping[bytes, Rule] = {
    **_names("str.++ str.concat", every(_S, _S)),
    **_names("str.len", function((_S,), _I)),
    **_names("str.< str.<= str.> str.>=", every(_S, _B, 2)),
    **_names("str.at", function((_S, _I), _S)),
    **_names("str.substr", function((_S, _I, _I), _S)),
    **_names("str.prefixof str.suffixof str.contains", function((_S, _S), _B)),
    **_names("str.indexof", _optional((_S, _S, _I), _I)),
    **_names("str.last_indexof", function((_S, _S), _I)),
    **_names("str.replace str.replace_all str.replaceall", function((_S, _S, _S), _S)),
    **_names("str.replace_re str.replace_re_all", function((_S, _R, _S), _S)),
    **_names("str.indexof_re", _optional((_S, _R, _I), _I)),
    **_names("str.is_digit", function((_S,), _B)),
    **_names("str.to_code str.to_int str.to.int", function((_S,), _I)),
    **_names("str.from_code str.from_int int.to.str str.from-int", function((_I,), _S)),
    **_names("str.to-int", function((_S,), _I)),
    **_names("str.rev str.tolower str.toupper str.to_lower str.to_upper", function((_S,), _S)),
    **_names("str.update", lambda sorts: _updated(sorts)),
    **_names("str.to_re str.to.re", function((_S,), _R)),
    **_names("str.in_re str.in.re", function((_S, _R), _B)),
    **_names("str.from_ubv str.from_sbv", function((("BitVec", _X),), _S)),
    **_names("str.unit", function((_C,), _S)),
    **_names("re.++ re.union re.inter re.or re.and", every(_R, _R)),
    **_names("re.* re.+ re.opt re.comp re.complement re.reverse re.derivative", every(_R, _R)),
    **_names("re.diff re.xor", every(_R, _R, 2)),
    **_names("re.range", function((_S, _S), _R)),
    **_names("re.^", function((_R, _I), _R)),
    **_names("re.loop", _optional((_R, _I, _I), _R)),
    **_names("re.of.pred", function((("Array", _C, _B),), _R)),
    **_names("char.<= char.<", function((_C, _C), _B)),
    **_names("char.to_int char.to-int", function((_C,), _I)),
    **_names("char.is_digit", function((_C,), _B)),
    **_names("char.to_bv", function((_C,), ("BitVec", 18))),
    **_names("char.from_bv", function((("BitVec", 18),), _C)),
}


def _updated(sorts: Sorts) -> Sort | None:
    """str.update: a sequence, a place, and a sequence of that sort."""
    if len(sorts) != 3 or sorts[1] not in (_I, None):
        return None
    return _sequences([sorts[0], sorts[2]])


def _sequences(sorts: Sorts) -> Sort | None:
    """seq.++: any number of sequences of one sort."""
    sort = common(sorts)[1] if sorts else None
    return sort if sort == _S or (isinstance(sort, tuple) and sort[0] == "Seq") else None


def _fold(sorts: Sorts) -> Sort | None:
    """A fold has the sort of its start value."""
    return sorts[-2] if len(sorts) > 2 else None


def _image(collection: str) -> Rule:
    """A map has the collection of its function's results."""

    def rule(sorts: Sorts) -> Sort | None:
        head = sorts[0] if len(sorts) > 1 else None
        if isinstance(head, tuple) and head[0] in ("->", "Array"):
            return compound(collection, head[-1])  # type: ignore[arg-type]
        return None

    return rule


_SEQUENCES: Mapping[bytes, Rule] = {
    b"seq.unit": function((_X,), _SEQ),
    b"seq.++": _sequences,
    b"seq.concat": _sequences,
    b"seq.len": function((_SEQ,), _I),
    **_names("seq.extract", function((_SEQ, _I, _I), _SEQ)),
    **_names("seq.at", function((_SEQ, _I), _SEQ)),
    **_names("seq.nth seq.nth_i seq.nth_u", function((_SEQ, _I), _X)),
    **_names("seq.contains seq.prefixof seq.suffixof", function((_SEQ, _SEQ), _B)),
    **_names("seq.indexof", _optional((_SEQ, _SEQ, _I), _I)),
    **_names("seq.last_indexof", function((_SEQ, _SEQ), _I)),
    **_names("seq.replace seq.replace_all", function((_SEQ, _SEQ, _SEQ), _SEQ)),
    **_names("seq.replace_re seq.replace_re_all", function((_SEQ, _R, _SEQ), _SEQ)),
    b"seq.update": function((_SEQ, _I, _SEQ), _SEQ),
    b"seq.rev": function((_SEQ,), _SEQ),
    **_names("seq.map seq.mapi", _image("Seq")),
    b"seq.foldl": lambda sorts: sorts[1] if len(sorts) == 3 else None,
    b"seq.foldli": lambda sorts: sorts[2] if len(sorts) == 4 else None,
    **_names("seq.to_re seq.to.re", function((_SEQ,), _R)),
    **_names("seq.in_re seq.in.re", function((_SEQ, _R), _B)),
}


def _sets(least: int) -> Rule:
    """Any number of sets of one sort, which may be arrays of Bool (Z3)."""

    def rule(sorts: Sorts) -> Sort | None:
        sort = common(sorts)[1] if len(sorts) >= least else None
        if isinstance(sort, tuple) and (sort[0] in SETS or sort[-1] == "Bool"):
            return sort
        return None

    return rule


def _insert(sorts: Sorts) -> Sort | None:
    """(set.insert element ... set)."""
    sort = sorts[-1] if len(sorts) > 1 else None
    return sort if isinstance(sort, tuple) and sort[0] in SETS else None


def _filter(sorts: Sorts) -> Sort | None:
    """(set.filter predicate set) and the like: the sort of what is filtered."""
    return sorts[1] if len(sorts) == 2 and isinstance(sorts[1], tuple) else None


def _about(collection: str, result: Sort) -> Rule:
    """A function of one or more values of which one is a collection of this kind."""
    kinds = ("Array", *(SETS if collection == "Set" else (collection,)))

    def rule(sorts: Sorts) -> Sort | None:
        for sort in sorts:
            if sort is None or (isinstance(sort, tuple) and sort[0] in kinds):
                return result
        return None

    return rule


_SETS: Mapping[bytes, Rule] = {
    **_names("set.union set.inter set.intersect union intersection", _sets(1)),
    **_names("set.minus set.difference setminus set.symdiff", _sets(2)),
    **_names("set.complement complement", _sets(1)),
    **_names("set.subset subset set.member member", _about("Set", _B)),
    **_names("set.is_empty set.is_singleton is_singleton set.has_size", _about("Set", _B)),
    **_names("set.all set.some", _about("Set", _B)),
    **_names("set.singleton singleton", function((_X,), _SET)),
    **_names("set.insert insert", _insert),
    **_names("set.card card", function((_SET,), _I)),
    b"set.in": function((_X, _FINITE), _B),
    b"set.size": function((_FINITE,), _I),
    b"set.range": function((_I, _I), ("FiniteSet", _I)),
    **_names("set.choose choose", function((_SET,), _X)),
    b"set.map": _image("Set"),
    b"set.filter": _filter,
    b"set.fold": _fold,
}


def _bags(sorts: Sorts) -> Sort | None:
    """bag.union_max and its like: two bags of one sort or more, from the left."""
    sort = common(sorts)[1] if len(sorts) > 1 else None
    return sort if isinstance(sort, tuple) and sort[0] == "Bag" else None


_BAGS: Mapping[bytes, Rule] = {
    **_names("bag bag.make", function((_X, _I), _BAG)),
    b"bag.count": function((_X, _BAG), _I),
    b"bag.member": function((_X, _BAG), _B),
    b"bag.card": function((_BAG,), _I),
    **_names(
        "bag.union_max bag.union_disjoint bag.inter_min bag.difference_subtract"
        " bag.difference_remove",
        _bags,
    ),
    b"bag.subbag": function((_BAG, _BAG), _B),
    **_names("bag.setof bag.duplicate_removal", function((_BAG,), _BAG)),
    b"bag.choose": function((_BAG,), _X),
    b"bag.is_singleton": function((_BAG,), _B),
    b"bag.from_set": function((_SET,), _BAG),
    b"bag.to_set": function((_BAG,), _SET),
    b"bag.map": _image("Bag"),
    b"bag.filter": _filter,
    b"bag.fold": _fold,
    **_names("bag.all bag.some", _about("Bag", _B)),
    b"bag.partition": lambda sorts: compound("Bag", sorts[1]) if len(sorts) == 2 else None,
}


def _fields(sort: Sort | None, collection: str = "") -> tuple[Sort, ...] | None:
    """Return the fields of a tuple sort, or of the tuples in a collection of them."""
    if collection:
        if not isinstance(sort, tuple) or sort[0] != collection:
            return None
        sort = sort[1]  # type: ignore[assignment]
    if isinstance(sort, tuple) and sort[0] == "Tuple":
        return sort[1:]  # type: ignore[return-value]
    return None


def _product(collection: str, shared: int) -> Rule:
    """Two relations put side by side, less the `shared` columns they are joined on."""

    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) != 2:
            return None
        left, right = _fields(sorts[0], collection), _fields(sorts[1], collection)
        if left is None or right is None or min(len(left), len(right)) < shared:
            return None
        fields = left[: len(left) - shared] + right[shared:]
        return compound(collection, compound("Tuple", *fields))

    return rule


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


def _joined(collection: str) -> Indexed:
    """Two relations side by side, joined on the columns that the indices pair."""
    product = _product(collection, 0)

    def indexed(indices: list[int]) -> Rule | None:
        def rule(sorts: Sorts) -> Sort | None:
            if len(sorts) != 2 or None in sorts or len(indices) % 2:
                return None
            left, right = _fields(sorts[0], collection), _fields(sorts[1], collection)
            pairs = zip(indices[::2], indices[1::2], strict=True)
            if (
                left is None
                or right is None
                or not all(
                    one < len(left) and other < len(right) and left[one] == right[other]
                    for one, other in pairs
                )
            ):
                return None
            return product(sorts)

        return rule

    return indexed


def _grouped(collection: str) -> Indexed:
    """A relation in parts, the rows of each alike in the chosen columns."""

    def indexed(indices: list[int]) -> Rule | None:
        def rule(sorts: Sorts) -> Sort | None:
            fields = _fields(sorts[0], collection) if len(sorts) == 1 else None
            fits = fields is not None and all(each < len(fields) for each in indices)
            return compound(collection, sorts[0]) if fits else None

        return rule

    return indexed


def _aggregate(collection: str) -> Indexed:
    """A fold of each group of rows: the function, its start value, the relation."""

    def indexed(indices: list[int]) -> Rule | None:
        return lambda sorts: compound(collection, sorts[1]) if len(sorts) == 3 else None

    return indexed


def lifted(element: Callable[[Sorts], Sort | None]) -> Rule:
    """Return the rule of a function that takes and gives nullable values, by that of the values."""

    def rule(sorts: Sorts) -> Sort | None:
        inner: Sorts = []
        for sort in sorts:
            if not isinstance(sort, tuple) or sort[0] != "Nullable":
                return None
            inner.append(sort[1])  # type: ignore[arg-type]  # a sort
        return compound("Nullable", element(inner)) if sorts else None

    return rule


def _lift(sorts: Sorts) -> Sort | None:
    """(nullable.lift f x ...): f on nullable values."""
    return lifted(lambda inner: apply_value([sorts[0], *inner]))(sorts[1:]) if sorts else None


_RELATIONS: Mapping[bytes, Rule] = {
    **_names("rel.join join", _product("Set", 1)),
    **_names("rel.product product", _product("Set", 0)),
    b"table.product": _product("Bag", 0),
    **_names("rel.transpose transpose", _transpose),
    **_names("rel.tclosure tclosure", lambda sorts: sorts[0] if len(sorts) == 1 else None),
    **_names("rel.iden iden", _column),
    **_names("rel.join_image join_image", _column),
    **_names("tuple mkTuple", lambda sorts: compound("Tuple", *sorts)),
    b"nullable.lift": _lift,
    b"nullable.some": function((_X,), ("Nullable", _X)),
    b"nullable.val": function((("Nullable", _X),), _X),
    **_names("nullable.is_null nullable.is_some", function((("Nullable", _X),), _B)),
}


def _tuple_select(indices: list[int]) -> Rule | None:
    if len(indices) != 1:
        return None

    def rule(sorts: Sorts) -> Sort | None:
        fields = _fields(sorts[0]) if len(sorts) == 1 else None
        return fields[indices[0]] if fields is not None and indices[0] < len(fields) else None

    return rule


def _tuple_update(indices: list[int]) -> Rule | None:
    return lambda sorts: sorts[0] if len(indices) == 1 and len(sorts) == 2 else None


def _project(collection: str) -> Indexed:
    """Chosen columns of a tuple, or of each tuple in a collection."""

    def indexed(indices: list[int]) -> Rule | None:
        def rule(sorts: Sorts) -> Sort | None:
            fields = _fields(sorts[0], collection) if len(sorts) == 1 else None
            if fields is None or any(i >= len(fields) for i in indices):
                return None
            row = compound("Tuple", *[fields[i] for i in indices])
            return compound(collection, row) if collection else row

        return rule

    return indexed


def _power(indices: list[int]) -> Rule | None:
    return every(_R, _R) if 0 < len(indices) < 3 else None


_SEPARATION: Mapping[bytes, Rule] = {
    **_names("sep wand", every(_B, _B, 2)),
    b"pto": function((_X, _Y), _B),
}

INDEXED: Mapping[bytes, Indexed] = {
    **dict.fromkeys((b"tuple.select", b"tupSel", b"tuple_select"), _tuple_select),
    **dict.fromkeys((b"tuple.update", b"tuple_update"), _tuple_update),
    **dict.fromkeys((b"tuple.project", b"tuple_project"), _project("")),
    b"rel.project": _project("Set"),
    b"table.project": _project("Bag"),
    b"rel.table_join": _joined("Set"),
    b"table.join": _joined("Bag"),
    b"rel.group": _grouped("Set"),
    b"table.group": _grouped("Bag"),
    b"rel.aggr": _aggregate("Set"),
    b"table.aggr": _aggregate("Bag"),
    **dict.fromkeys((b"re.^", b"re.loop"), _power),
}

OPERATORS: Mapping[bytes, Rule] = {
    **_STRINGS,
    **_SEQUENCES,
    **_SETS,
    **_BAGS,
    **_RELATIONS,
    **_SEPARATION,
    **{
        name: rule
        for name, make in INDEXED.items()
        if name.startswith((b"rel.", b"table.", b"tuple.p")) and (rule := make([])) is not None
    },  # without indices: no column is chosen
}

CONSTANTS: Mapping[bytes, Sort] = {
    **dict.fromkeys(b"re.none re.nostr re.all re.allchar re.empty re.full".split(), _R),
    **dict.fromkeys((b"tuple.unit", b"tuple"), ("Tuple",)),
    b"sep.emp": "Bool",
}
