"""Traces as those of another API, except for calls that it lacks; CNF in DIMACS, to and from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.loader import load_model, shipped
from reducekit.frontends.trace.model.machine import Machine

FORMAT_OF: Mapping[str, str] = MappingProxyType(
    {"lingeling": "lgl", "cadical": "mobical", "ipasir": "words"}
)
"""The format that traces of each API are written in."""
APIS = tuple(FORMAT_OF)
"""The APIs that traces are converted between."""
SOURCES = ("minisat", "picosat")
"""The APIs that traces are only converted from."""
WHOLE = "minisat"
"""Its calls take whole clauses, and all assumptions with the solve, which answers by a Boolean."""
BY_BOOLEAN: Mapping[Value | None, int] = MappingProxyType({1: 10, 0: 20, -1: 0})
"""The usual numbers for such answers."""

_LEMMA = "lemma"
_CONSTRAINTS = ("constrain", "reset_constraint")
_PROPAGATES = ("propagate", "propagate_assumptions")
DROP_ASSUMPTIONS = frozenset(("reset_assumptions", *_PROPAGATES))
DROP_CONSTRAINT = frozenset(("reset_constraint", *_PROPAGATES))
"""Calls of CaDiCaL after which assumptions or the constraint are gone."""
# A result that is the solver's choice (look-ahead) or counted differently (frozen, variables)
# is not kept.
_KEPT_RESULTS = frozenset(("solve", "simplify", "value", "failed", "fixed"))
SOLVES = frozenset(("solve", "simplify", "lookahead"))
"""What ends a round."""
_CONTEXTS = ("push", "pop")
_QUERIES = ("val", "failed")


@cache
def names_of(api: str) -> Mapping[str, str]:
    """Return the names of an API's calls by what they mean; none if no model says so."""
    if api not in shipped():
        return {}
    return {call.means: name for name, call in load_model(api).calls.items() if call.means}


def meanings_of(api: str) -> Mapping[str, str]:
    """Return what the calls of an API mean, by name. Raises UsageError unless it is in `APIS`."""
    if api not in APIS:
        raise UsageError(f"expected one of {', '.join(APIS)}, found {api!r}")
    return {name: what for what, name in names_of(api).items()}


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
    meaning, names = meanings_of(source), names_of(target)
    meanings_of(target)
    writer = _Writer(calls, meaning, target, source)
    dropped = _dropped(calls, meaning) if source == "cadical" != target else frozenset()
    held, lemmas = _Round(), False
    for index, call in enumerate(calls):
        what, first = meaning.get(call.name), call.arguments[0] if call.arguments else 0
        lemmas |= call.name == _LEMMA
        if source == "lingeling" != target and call.name == "fixate":
            for literal in () if held.solved else held.assumed:
                writer.clause([literal])
        elif (source != target and held.constrained_by(call)) or index in dropped:
            continue
        elif what is None or what not in names:
            writer.left_out += [call] if call.name != "return" else []
        else:
            if what in ("add", "assume") and isinstance(first, int):
                held.takes(first, assumed=what == "assume")
                writer.freeze(first)
            elif what in SOLVES and (constraint := held.solve()) is not None:
                writer.constrain(constraint)
            result = call.result if what in _KEPT_RESULTS and not lemmas else None
            if what == "value":
                result = _value(first, result, source, target)
            writer.put(Call(names[what], call.arguments, 0, result), call)
    return tuple(writer.calls), tuple(writer.left_out)


@dataclass
class _Round:
    """What holds for the next solve only: assumptions, and a constraint, `closed` once it ended."""

    assumed: list[int] = field(default_factory=list)
    constraint: list[int] = field(default_factory=list)
    closed: bool = False
    solved: bool = False

    def constrained_by(self, call: Call) -> bool:
        """Follow a call about constraints; return whether there is nothing else to it."""
        if call.name in DROP_CONSTRAINT:
            self.constraint, self.closed = [], False
        literal = call.arguments[0] if call.arguments else 0
        if call.name not in _CONSTRAINTS or not isinstance(literal, int):
            return False
        if self.closed:
            self.constraint, self.closed = [], False
        if call.name == "constrain":
            self.constraint += [literal] if literal else []
            self.closed = not literal
        return True

    def takes(self, literal: int, *, assumed: bool) -> None:
        """Follow a literal of a clause, or an assumption: with the first one a round begins."""
        if self.solved:
            self.assumed, self.constraint, self.closed, self.solved = [], [], False, False
        if assumed:
            self.assumed.append(literal)

    def solve(self) -> list[int] | None:
        """Follow a solve; return the constraint that it has, if any."""
        constraint = self.constraint if self.closed else None
        if self.closed:
            self.constraint, self.closed = [], False
        self.solved = True
        return constraint


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
_DROP = DROP_ASSUMPTIONS | DROP_CONSTRAINT


def from_cnf(text: bytes, api: str = "lingeling") -> tuple[Call, ...]:
    """Return the calls that add the clauses of a CNF in DIMACS format and solve it.

    Raises ParseError with the place and what was expected.
    """
    meanings_of(api)
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
        moments.append(_Solve(len(clauses), (), None))
    if not -len(moments) <= solve < len(moments):
        raise UsageError(f"there are {len(moments)} calls that solve, and no number {solve}")
    asked = moments[solve]
    found = clauses[: asked.clauses] + [(literal,) for literal in asked.assumed]
    found += [] if asked.constraint is None else [asked.constraint]
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
    before = moments[0].clauses if moments else 0
    for end, assumed, constraint in moments:
        lines += map(_line, clauses[before:end])
        if constraint is not None:
            constraints.append((*constraint, next(free)))
            assumed = (*assumed, -constraints[-1][-1])
        lines.append(f"a {_line(assumed)}")
        before = end
    # Where no clauses come later, solves are at the end, as CaDiCaL's reader wants it.
    first = [*clauses[: moments[0].clauses], *constraints] if moments else []
    return _written("p inccnf", [*map(_line, first), *lines, *map(_line, clauses[before:])])


def _greatest(clauses: Iterable[Iterable[int]]) -> int:
    return max((abs(literal) for each in clauses for literal in each), default=0)


def _line(literals: Iterable[int]) -> str:
    return " ".join(map(str, (*literals, 0)))


def _written(header: str, lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in (header, *lines)).encode("ascii")


class _Solve(NamedTuple):
    """How many clauses there were in a solve, its assumptions, and its constraint if any."""

    clauses: int
    assumed: tuple[int, ...]
    constraint: tuple[int, ...] | None


def _asked(calls: Iterable[Call], api: str) -> tuple[list[tuple[int, ...]], list[_Solve]]:
    """Return the clauses, and what each solve is asked. Raises UsageError."""
    meaning = {**meanings_of(api), "constrain": "constrain"}
    clauses: list[tuple[int, ...]] = []
    moments: list[_Solve] = []
    opened: dict[str, list[int]] = {"add": [], "constrain": []}
    assumed: list[int] = []
    constraint: tuple[int, ...] | None = None
    solved = False
    for call in calls:
        what = meaning.get(call.name)
        if solved and (what in ("add", "assume", "constrain", *SOLVES) or call.name in _DROP):
            assumed, constraint, solved = [], None, False  # they hold for one solve
        if call.name == "fixate" and api == "lingeling" and not solved:
            clauses += [(literal,) for literal in assumed]
        elif call.name in _DROP:
            assumed = [] if call.name in DROP_ASSUMPTIONS else assumed
            constraint = None if call.name in DROP_CONSTRAINT else constraint
        elif call.name == "lemma":
            raise UsageError(f"{call.place}: a CNF has no propagator that knows clauses")
        elif what in ("add", "assume", "constrain"):
            literal = call.arguments[0] if call.arguments else None
            if not isinstance(literal, int):
                raise UsageError(f"'{call}' has no literal")
            if what == "assume":
                assumed.append(literal)
            elif literal:
                opened[what].append(literal)
            elif what == "add":
                clauses.append(tuple(opened[what]))
                opened[what] = []
            else:
                constraint = tuple(opened[what])
                opened[what] = []
        elif what in SOLVES:
            moments.append(_Solve(len(clauses), tuple(assumed), constraint))
            solved = what != "lookahead"  # what is assumed holds until the next solve
    return clauses, moments
