"""Traces as those of another API, except for calls that it lacks; CNF in DIMACS, to and from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, count
from types import MappingProxyType

from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.formats.rounds import (
    BY_BOOLEAN,
    DROP_ASSUMPTIONS,
    SOLVES,
    TAKES,
    WHOLE,
    Asked,
    asked,
    meanings_of,
    names_of,
)
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.model.machine import Machine

FORMAT_OF: Mapping[str, str] = MappingProxyType(
    {"lingeling": "lgl", "cadical": "mobical", "ipasir": "words"}
)
"""The format that traces of each API are written in."""
APIS = tuple(FORMAT_OF)
"""The APIs that traces are converted between."""
SOURCES = ("minisat", "picosat")
"""The APIs that traces are only converted from."""
_LEMMA = "lemma"
_CONSTRAINTS = ("constrain", "reset_constraint")
# A result that is the solver's choice (look-ahead) or counted differently (frozen, variables)
# is not kept.
_KEPT_RESULTS = frozenset(("solve", "simplify", "value", "failed", "fixed"))
_CONTEXTS = ("push", "pop")
_QUERIES = ("val", "failed")


def _known(api: str) -> None:
    if api not in APIS:
        raise UsageError(f"expected one of {', '.join(APIS)}, found {api!r}")


def convert(
    calls: Sequence[Call], source: str, target: str
) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    """Return the calls in the words of another API, and those that it has no words for.

    Lingeling must not be given variables again that it may have eliminated, so a trace for it that
    solves more than once freezes every variable at its first use. Its `fixate` becomes units. A
    constraint of CaDiCaL becomes a clause with one more variable, which is assumed to be false in
    its solve; assumptions that it drops are left out, as are queries that the other API does not
    allow. Raises UsageError for an API that is not among `APIS`.
    """
    _known(source)
    _known(target)
    meaning, names = meanings_of(source), names_of(target)
    writer = _Writer(calls, meaning, target, source)
    # What another API has no words for: by the index of the call that it belongs to.
    solves = {each.at: each for each in asked(calls, source)[1] if source != target}
    dropped = _dropped(calls, meaning) if source == "cadical" != target else frozenset()
    lemmas = False
    for index, call in enumerate(calls):
        what, first = meaning.get(call.name), call.arguments[0] if call.arguments else 0
        lemmas |= call.name == _LEMMA
        held = solves.get(index)
        if held is not None and held.what == "fixate":
            for literal in held.assumed:
                writer.clause([literal])
        elif (source != target and call.name in _CONSTRAINTS) or index in dropped:
            continue
        elif what is None or what not in names:
            writer.left_out += [call] if call.name != "return" else []
        else:
            if what in ("add", "assume") and isinstance(first, int):
                writer.freeze(first)
            elif held is not None and held.constraint is not None:
                writer.constrain(held.constraint)
            result = call.result if what in _KEPT_RESULTS and not lemmas else None
            if what == "value":
                result = _value(first, result, source, target)
            writer.put(Call(names[what], call.arguments, 0, result), call)
    return tuple(writer.calls), tuple(writer.left_out)


class _Writer:
    """Makes calls of another API; leaves out queries that this one does not allow."""

    def __init__(
        self, calls: Sequence[Call], meaning: Mapping[str, str], target: str, source: str
    ) -> None:
        self.calls: list[Call] = []
        self.left_out: list[Call] = []
        self._names = names_of(target)
        self._machine = Machine(load_model(target))
        known = self._machine.model.calls
        # Where the beginning is missing, the state of the solver is unknown.
        whole = any(meaning.get(call.name) == "init" for call in calls[:1])
        self._omitted = {
            name
            for name in self._names.values()
            if whole and source == "cadical" and known[name].role in ("query", "hint")
        }
        solves = sum(meaning.get(call.name, "") in SOLVES for call in calls)
        self._freezing = target == "lingeling" != source and solves > 1
        self._frozen: set[int] = set()
        literals = (call.arguments[0] for call in calls if call.arguments)
        self._last = max((abs(each) for each in literals if isinstance(each, int)), default=0)

    def put(self, call: Call, original: Call | None = None) -> None:
        """Make a call; a query that is not allowed is left out, as the original one."""
        refused = call.name in self._omitted and self._machine.allowed(call) is not None
        if refused and original is not None:
            self.left_out.append(original)
            return
        self._machine.after(call)
        self.calls.append(call)

    def freeze(self, literal: int) -> None:
        """Freeze a variable at its first use, if that is needed."""
        if self._freezing and literal and abs(literal) not in self._frozen:
            self._frozen.add(abs(literal))
            self.put(Call("freeze", (abs(literal),)))

    def clause(self, literals: Sequence[int]) -> None:
        for literal in (*literals, 0):
            self.freeze(literal)
            self.put(Call(self._names["add"], (literal,)))

    def constrain(self, literals: Sequence[int]) -> None:
        """Add a clause that holds for the next solve only."""
        self._last += 1
        self.clause([*literals, self._last])
        self.put(Call(self._names["assume"], (-self._last,)))


def _dropped(calls: Sequence[Call], meaning: Mapping[str, str]) -> frozenset[int]:
    """Return the indices of assumptions that are dropped before any solve."""
    found: set[int] = set()
    waiting: list[int] = []
    for index, call in enumerate(calls):
        if meaning.get(call.name) == "assume":
            waiting.append(index)
        elif call.name in DROP_ASSUMPTIONS:
            found.update(waiting)
            waiting = []
        elif meaning.get(call.name) in SOLVES:
            waiting = []
    return frozenset(found)


def _value(literal: Value, result: Value | None, source: str, target: str) -> Value | None:
    """Return the value of a literal as the target says it.

    Lingeling returns 1, -1 or 0 for unassigned; the others the literal that is
    true, and IPASIR 0 if both values do.
    """
    if not isinstance(result, int) or not isinstance(literal, int):
        return None
    if (source == "lingeling") == (target == "lingeling"):
        return result
    if target == "lingeling":
        return 0 if not result else 1 if result == literal else -1
    return result * literal


def to_ipasir(calls: Sequence[Call], api: str) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    """Return the calls in the words of IPASIR, and those that it has no words for.

    A clause of MiniSat becomes its literals, and what a solve of it takes become assumptions.
    Queries that IPASIR does not allow are left out. Raises UsageError for a context of PicoSAT.
    """
    own = names_of("ipasir")
    names = {name: own.get(what, own["solve"]) for what, name in names_of(api).items()}
    machine = Machine(load_model("ipasir"))
    made: list[Call] = []
    left_out = []
    for call in calls:
        if api == "picosat" and call.name in _CONTEXTS:
            raise UsageError(f"{call.place}: IPASIR has no clauses that can be taken back")
        spelled = _in_ipasir(call, names.get(call.name, ""), whole=api == WHOLE)
        if any(each.name in _QUERIES and machine.allowed(each) for each in spelled):
            spelled = []
        if not spelled:
            left_out.append(call)
        for each in spelled:
            machine.after(each)
        made += spelled
    return tuple(made), tuple(left_out)


def _in_ipasir(call: Call, name: str, *, whole: bool) -> list[Call]:
    """Return a call in the words of IPASIR, where it is called `name`; none if that is empty."""
    result = call.result
    if not name:
        return []
    if name == "solve" and not whole:
        return [Call(name, (), 0, result)]
    if name == "solve":
        return [
            *(Call("assume", (literal,)) for literal in call.arguments),
            Call(name, (), 0, BY_BOOLEAN.get(result)),
        ]
    if name == "add" and whole:
        return [Call(name, (literal,)) for literal in (*call.arguments, 0)]
    if name == "val":
        # The literal that is true: 0 if neither is, None if that is unknown.
        literal = call.arguments[0]
        if isinstance(literal, int) and isinstance(result, int):
            return [Call(name, call.arguments, 0, literal * result)]
        return [Call(name, call.arguments)]
    return [Call(name, call.arguments, 0, result if name == "failed" else None)]


_TOKEN = re.compile(rb"[^\s]+")


def from_cnf(text: bytes, api: str = "lingeling") -> tuple[Call, ...]:
    """Return the calls that add the clauses of a CNF in DIMACS format and solve it.

    Raises ParseError with the place and what was expected.
    """
    _known(api)
    names = names_of(api)
    calls = [Call(names["init"], ())]
    add = names["add"]
    header: tuple[int, int] | None = None
    clauses, open_at, offset = 0, -1, 0
    for line in text.splitlines(keepends=True):
        words = line.split()
        if words and words[0] == b"%":  # SATLIB ends its files so
            break
        if words and words[0] == b"p":
            if header is not None:
                raise ParseError("expected one 'p cnf' line, found another", text, offset)
            header = _header(words, text, offset)
        elif words and not words[0].startswith(b"c"):
            if header is None:
                raise ParseError("expected 'p cnf VARIABLES CLAUSES' first", text, offset)
            for match in _TOKEN.finditer(line):
                at = offset + match.start()
                literal = _literal(match.group(), header[0], text, at)
                calls.append(Call(add, (literal,)))
                clauses += not literal
                open_at = at if literal else -1
        offset += len(line)
    if header is None:
        raise ParseError("expected 'p cnf VARIABLES CLAUSES', found the end", text, len(text))
    if open_at >= 0:
        raise ParseError("expected 0 at the end of the last clause", text, open_at)
    if clauses != header[1]:
        what = f"expected {header[1]} clauses as the header says, found {clauses}"
        raise ParseError(what, text, text.find(b"p"))
    return (*calls, Call(names["solve"], ()), Call(names["release"], ()))


def _header(words: list[bytes], text: bytes, offset: int) -> tuple[int, int]:
    try:
        if len(words) == 4 and words[1] == b"cnf":
            variables, clauses = int(words[2]), int(words[3])
            if 0 <= variables < 1 << 31 and clauses >= 0:
                return variables, clauses
    except ValueError:
        pass
    raise ParseError("expected 'p cnf VARIABLES CLAUSES'", text, offset)


def _literal(word: bytes, variables: int, text: bytes, offset: int) -> int:
    try:
        literal = int(word) if len(word) < 20 else None
    except ValueError:
        literal = None
    if literal is None or b"_" in word:
        raise ParseError(
            f"expected a literal, found {ascii(word.decode('latin-1'))[:40]}", text, offset
        )
    if abs(literal) > variables:
        what = f"expected variables up to {variables} as the header says, found {abs(literal)}"
        raise ParseError(what, text, offset)
    return literal


def to_cnf(calls: Iterable[Call], api: str, solve: int = -1) -> bytes:
    """Return what is solved as a CNF in DIMACS format: the clauses, and assumptions as units.

    `solve` counts the calls that solve from 0, or from the end if negative; a
    trace without any gives its clauses. Raises UsageError if there is no
    such one, or if a propagator has clauses of its own.
    """
    clauses, moments = _asked(calls, api)
    if not moments and solve == -1:
        moments.append(Asked(-1, "", len(clauses), (), None))
    if not -len(moments) <= solve < len(moments):
        raise UsageError(f"there are {len(moments)} calls that solve, and no number {solve}")
    last = moments[solve]
    found = clauses[: last.end] + [(literal,) for literal in last.assumed]
    found += [] if last.constraint is None else [last.constraint]
    return _written(f"p cnf {_greatest(found)} {len(found)}", map(_line, found))


def to_icnf(calls: Iterable[Call], api: str) -> bytes:
    """Return all that is solved as an incremental CNF: a line of assumptions for each solve.

    A constraint holds for one solve: it is a clause with one more variable, which is assumed to
    be false in this solve only. Raises UsageError if a propagator has clauses of its own.
    """
    clauses, moments = _asked(calls, api)
    said = [literals for each in moments for literals in (each.assumed, each.constraint or ())]
    free = count(_greatest([*clauses, *said]) + 1)
    constraints: list[tuple[int, ...]] = []
    lines: list[str] = []
    before = moments[0].end if moments else 0
    for _, _, end, assumed, constraint in moments:
        lines += map(_line, clauses[before:end])
        if constraint is not None:
            constraints.append((*constraint, next(free)))
            assumed = (*assumed, -constraints[-1][-1])
        lines.append(f"a {_line(assumed)}")
        before = end
    # Where no clauses come later, solves are at the end, as CaDiCaL's reader wants it.
    first = [*clauses[: moments[0].end], *constraints] if moments else []
    return _written("p inccnf", [*map(_line, first), *lines, *map(_line, clauses[before:])])


def _greatest(clauses: Iterable[Iterable[int]]) -> int:
    return max((abs(literal) for each in clauses for literal in each), default=0)


def _line(literals: Iterable[int]) -> str:
    return " ".join(map(str, (*literals, 0)))


def _written(header: str, lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in (header, *lines)).encode("ascii")


def _asked(calls: Iterable[Call], api: str) -> tuple[list[tuple[int, ...]], list[Asked]]:
    """Return the clauses, and what each solve is asked, its `end` in clauses. Raises UsageError."""
    _known(api)
    calls, meaning = [*calls], meanings_of(api)
    for call in calls:
        if call.name == _LEMMA:
            raise UsageError(f"{call.place}: a CNF has no propagator that knows clauses")
        if meaning.get(call.name) in TAKES and not isinstance((*call.arguments, "")[0], int):
            raise UsageError(f"'{call}' has no literal")
    literals, found = asked(calls, api)
    clauses: list[tuple[int, ...]] = []
    opened: list[int] = []
    for literal in literals:
        opened.append(literal)
        if not literal:
            clauses.append(tuple(opened[:-1]))
            opened = []
    closed = [*accumulate((not literal for literal in literals), initial=0)]
    return clauses, [each._replace(end=closed[each.end]) for each in found if each.what in SOLVES]
