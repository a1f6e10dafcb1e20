"""Checks that the witness that a model checker prints for a BTOR2 file is one.

The test of `--wrong-model`: `python -m reducekit.frontends.btor.model_check CHECKER [OPTION...]
FILE`. The exit code is 0 if the simulation does not reach the property, breaks a constraint, or
finds other values of states: the witness is wrong. It is 1 if there is no witness or a correct one,
and 2 if that cannot be decided; a line on stderr says why.

The format and its meaning: A. Niemetz, M. Preiner, C. Wolf, A. Biere, "Btor2, BtorMC and Boolector
3.0", CAV 2018, section 3, as btorsim has it. `sat`, the properties (`b0`, `j1`), then frames: `#k`
with values of states, `@k` with values of inputs, and a `.` at the end. For a justice property the
states after the last frame have to be those of an earlier one: in this loop each of its conditions,
and each of `fair`, has to hold once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reducekit.errors import UsageError
from reducekit.frontends import model_verdict
from reducekit.frontends.btor.model.dag import Array, Dag, line_of, parts_of, values_given
from reducekit.frontends.btor.model.evaluate import ArrayValue, Value, equal, evaluate
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.model_verdict import Finding


def judge(text: bytes, output: bytes) -> Finding:
    """Simulate the witnesses in a checker's output. Raises ParseError if the text is no BTOR2."""
    if not has_model(output):
        return Finding()
    dag = read(text, Dialect.BTOR2, any_ending=True)
    unknown = ""
    try:
        for each in witnesses(output):
            found = judge_witness(dag, each)
            if found.wrong:
                return found
            unknown = unknown or found.unknown
    except ValueError as error:
        unknown = unknown or str(error)
    return Finding(unknown=unknown)


_HEAD = re.compile(rb"^sat[ \t\r]*\n((?:[bj][0-9]+[ \t\r]*)+)$", re.MULTILINE)
_FRAME = re.compile(rb"([#@])(0|[1-9][0-9]*)")
_BITS = re.compile(rb"[01x]+")
_MOST = 100_000
"""Frames that are simulated at most."""


class Frame(NamedTuple):
    """What a witness says of a frame, by the number of the state or input: words of its lines."""

    states: list[list[bytes]]
    inputs: list[list[bytes]]


class Witness(NamedTuple):
    """The properties that are claimed to hold, such as `b0`, and the frames."""

    properties: tuple[bytes, ...]
    frames: tuple[Frame, ...]


class _WrongError(Exception):
    """The witness is wrong; the message says why."""


class _UnreadableError(Exception):
    """The witness cannot be read; the message says where."""


def has_model(output: bytes) -> bool:
    """Return whether an output has a witness."""
    return _HEAD.search(output) is not None


def witnesses(output: bytes) -> Iterator[Witness]:
    """Yield the witnesses in an output. Raises ValueError for one that cannot be read."""
    for head in _HEAD.finditer(output):
        frames: list[Frame] = []
        into: list[list[bytes]] | None = None
        for line in output[head.end() :].splitlines():
            words = line.split()
            if not words or words[0].startswith(b";"):
                continue
            if words == [b"."]:
                break
            marker = _FRAME.fullmatch(words[0])
            if marker is None:
                if into is None or len(words) < 2:
                    raise ValueError(f"the witness has a line {_shown(line)}")
                into.append(words)
                continue
            number = int(marker[2])
            if number == len(frames):
                frames.append(Frame([], []))
            if number != len(frames) - 1 or number >= _MOST:
                raise ValueError(f"the witness has a frame {number} after {len(frames)} frames")
            into = frames[-1].states if marker[1] == b"#" else frames[-1].inputs
        else:
            raise ValueError("the witness does not end with a line '.'")
        yield Witness(tuple(head[1].split()), tuple(frames))


def judge_witness(dag: Dag, witness: Witness) -> Finding:
    """Simulate a witness: `wrong` says what does not hold, `unknown` what cannot be decided."""
    simulation = _Simulation(dag)
    try:
        simulation.run(witness)
    except _WrongError as error:
        # What has no value might have another one than that which was tried.
        if simulation.free:
            return Finding(unknown=f"{error}; {simulation.free} has no value in the witness")
        return Finding(wrong=str(error))
    except (_UnreadableError, UsageError) as error:
        return Finding(unknown=str(error))
    return Finding()


class _Simulation:
    """The values of a file's lines in each frame."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.states = list(dag.lines_of(Op.STATE))
        self.inputs = list(dag.lines_of(Op.INPUT))
        self.first = values_given(dag, Op.INIT)
        self.next = values_given(dag, Op.NEXT)
        self.given: list[Mapping[int, Value]] = []
        """The values of states and inputs, by frame."""
        self.values: list[list[Value | None]] = []
        self.free = ""
        """The first state or input without a value."""
        self.partly = set[int]()
        """The arrays for which the witness gives only some elements of the last frame."""

    def run(self, witness: Witness) -> None:
        """Simulate all frames. Raises an error if a property does not hold."""
        if not witness.frames:
            raise _WrongError("the witness has no frame")
        for number, frame in enumerate(witness.frames):
            self._step(number, frame)
        for name in witness.properties:
            code = Op.BAD if name.startswith(b"b") else Op.JUSTICE
            lines = list(self.dag.lines_of(code))
            number = int(name[1:])
            if number >= len(lines):
                raise _WrongError(f"there is no property {name.decode()}")
            if code == Op.BAD:
                if not self.values[-1][lines[number]]:
                    last = len(self.values) - 1
                    raise _WrongError(f"{name.decode()} is false in frame {last}, the last one")
            else:
                self._require_loop(name.decode(), lines[number])

    def _step(self, number: int, frame: Frame) -> None:
        """Add a frame, and check its constraints."""
        dag = self.dag
        said = self._read(number, frame.states, self.states, "state")
        given = self._read(number, frame.inputs, self.inputs, "input")
        if number:
            before = self.values[-1]
            for state, following in self.next.items():
                given[state] = self._operand(before, following, state)
        for state in self.states:
            if state not in given and state in said:
                given[state] = said[state]
                if state in self.partly:
                    self.free = self.free or f"a part of line {dag.ids[state]} in frame {number}"
        values = evaluate(dag, given)
        if not number:
            # An init value may depend on other states, which stand before it.
            for state, first in sorted(self.first.items()):
                given[state] = self._operand(values, first, state)
                values = evaluate(dag, given)
        for line in (*self.states, *self.inputs):
            if line not in given:
                self.free = self.free or f"line {dag.ids[line]} in frame {number}"
        for state, value in said.items():
            if not _same(dag, state, given[state], value):
                said_of = f"the state of line {dag.ids[state]} has another value in frame {number}"
                raise _WrongError(f"{said_of} than the witness says")
        for line in dag.lines_of(Op.CONSTRAINT):
            if not values[line]:
                raise _WrongError(
                    f"the constraint of line {dag.ids[line]} is false in frame {number}"
                )
        self.given.append(given)
        self.values.append(values)

    def _read(
        self, number: int, lines: Iterable[list[bytes]], of: Sequence[int], what: str
    ) -> dict[int, Value]:
        """Return the values that lines of a witness give to states or inputs."""
        found: dict[int, Value] = {}
        self.partly -= set(of)
        for words in lines:
            if not words[0].isdigit() or int(words[0]) >= len(of):
                raise _UnreadableError(f"frame {number} has no {what} {_shown(words[0])}")
            line = of[int(words[0])]
            sort = self.dag.sorts[self.dag.sort[line]]
            if not isinstance(sort, Array):
                value = self._bits(words[1], self.dag.width(line), number)
                if value is not None:
                    found[line] = value
                continue
            if line not in found:
                self.partly.add(line)
            cells = found.setdefault(line, ArrayValue())
            widths = [getattr(self.dag.sorts[each], "width", 0) for each in parts_of(sort)]
            if not isinstance(cells, ArrayValue) or len(words) < 3 or 0 in widths:
                raise _UnreadableError(f"frame {number}: arrays of arrays are not simulated")
            index = self._bits(words[1].strip(b"[]"), widths[0], number, star=True)
            value = self._bits(words[2], widths[1], number)
            if value is None:
                continue
            if index is None:
                cells.default = value
                self.partly.discard(line)
            else:
                cells.cells[index] = value
        return found

    def _bits(self, digits: bytes, width: int, number: int, *, star: bool = False) -> int | None:
        """Return the value of binary digits; None if one is unknown, or for `*`."""
        if star and digits == b"*":
            return None
        if _BITS.fullmatch(digits) is None or len(digits) != width:
            raise _UnreadableError(
                f"frame {number}: {_shown(digits)} is no value of {width} binary digits"
            )
        return None if b"x" in digits else int(digits, 2)

    def _operand(self, values: Sequence[Value | None], reference: int, state: int) -> Value:
        """Return a value that is given to a state: one element may stand for a whole array."""
        found = values[line_of(reference)]
        dag = self.dag
        if isinstance(found, int):
            if reference < 0:
                found ^= (1 << dag.width(line_of(reference))) - 1
            if isinstance(dag.sorts[dag.sort[state]], Array):
                return ArrayValue(found)
        assert found is not None
        return found

    def _require_loop(self, name: str, line: int) -> None:
        """Raise an error unless the last frame leads back, and all that is needed recurs."""
        dag = self.dag
        wanted = [*dag.arguments(line)]
        wanted += [dag.arguments(each)[0] for each in dag.lines_of(Op.FAIR)]
        after = {s: self._operand(self.values[-1], v, s) for s, v in self.next.items()}
        back = [
            frame
            for frame, given in enumerate(self.given)
            if all(_same(dag, state, given[state], value) for state, value in after.items())
        ]
        if not back:
            raise _WrongError(f"{name}: the states after the last frame are those of no other one")
        # The longest loop has the most chances.
        loop = self.values[back[0] :]
        for reference in wanted:
            if not any(self._operand(values, reference, -1) for values in loop):
                where = dag.ids[line_of(reference)]
                raise _WrongError(f"{name}: line {where} is never true in the loop")


def _same(dag: Dag, line: int, one: Value, other: Value) -> bool:
    """Return whether two values agree; of an array, a witness may say a part only."""
    if isinstance(one, ArrayValue) and isinstance(other, ArrayValue):
        if other.cells:
            return all(one.cells.get(at, one.default) == each for at, each in other.cells.items())
        return equal(one, other, dag.sorts, dag.sort[line])
    return one == other


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("ascii", "backslashreplace"))


if __name__ == "__main__":
    module = "reducekit.frontends.btor.model_check"
    sys.exit(model_verdict.main(sys.argv[1:], module, judge))
