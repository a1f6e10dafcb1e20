"""BtorMC, Boolector's model checker, over the library in pyboolector's wheel: as a program.

    python -m tests.frontends.btor.btormc FILE [BOUND]

Prints `sat` and a witness for the first `bad` that can be reached in BOUND steps (default: 6), or
`unsat`. Boolector's own reader takes no system, so ours reads the file; fair and justice are left
out, as BtorMC has neither.
"""

import ctypes
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reducekit.frontends.btor.model.dag import Array, Dag, literal_value
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read

_NAMES = {Op.ITE: "cond", Op.UEXT: "uext", Op.SEXT: "sext", Op.SLICE: "slice"}


def _library() -> ctypes.CDLL:
    found = find_spec("pyboolector")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "pyboolector.libs"
    return ctypes.CDLL(str(next(folder.glob("libboolector-*.so"))))


class Checker:
    """A system in BtorMC."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.library = _library()
        self.mc = self.call("mc_new")
        self.btor = self.call("mc_get_btor", self.mc)
        self.call("mc_set_opt", self.mc, self.option("trace-gen"), 1)
        self.sorts: list[Any] = []
        for sort in dag.sorts:
            if isinstance(sort, Array):
                index, element = self.sorts[sort.index], self.sorts[sort.element]
                self.sorts.append(self.call("array_sort", self.btor, index, element))
            else:
                self.sorts.append(self.call("bitvec_sort", self.btor, getattr(sort, "width", 0)))
        self.nodes: list[Any] = []
        for line in range(len(dag)):
            self.nodes.append(self.node(line))

    def call(self, name: str, *words: Any, result: Any = ctypes.c_void_p) -> Any:
        function = getattr(self.library, f"boolector_{name}")
        function.restype = result
        return function(*(w if isinstance(w, int) and w < 1 << 31 else ctypes.c_void_p(w)
                          if isinstance(w, int) else w for w in words))  # fmt: skip

    def option(self, name: str) -> int:
        for number in range(100):
            said = self.call("mc_get_opt_lng", self.mc, number, result=ctypes.c_char_p)
            if said == name.encode():
                return number
        raise LookupError(name)

    def find(self, reference: int) -> Any:
        if reference >= 0:
            return self.nodes[reference]
        return self.call("not", self.btor, self.nodes[~reference])

    def node(self, line: int) -> Any:
        dag, btor, mc = self.dag, self.btor, self.mc
        code, width = Op(dag.op[line]), dag.width(line)
        args = [self.find(each) for each in dag.arguments(line)] if code != Op.SORT else []
        sort = self.sorts[dag.sort[line]] if dag.sort[line] >= 0 else None
        match code:
            case Op.SORT | Op.FAIR | Op.JUSTICE | Op.OUTPUT:
                return None
            case Op.INPUT | Op.STATE:
                return self.call(f"mc_{code.name.lower()}", mc, sort, None)
            case Op.INIT:
                state = dag.arguments(line)[0]
                if isinstance(dag.sorts[dag.sort[state]], Array) and dag.width(
                    _line(dag.arguments(line)[1])
                ):
                    args[1] = self.call("const_array", btor, sort, args[1])
                return self.call("mc_init", mc, *args)
            case Op.NEXT:
                return self.call("mc_next", mc, *args)
            case Op.BAD | Op.CONSTRAINT:
                return self.call(f"mc_{code.name.lower()}", mc, *args)
            case Op.ZERO | Op.ONE | Op.ONES | Op.CONST | Op.CONSTD | Op.CONSTH:
                value = {Op.ZERO: 0, Op.ONE: 1, Op.ONES: (1 << width) - 1}.get(code)
                if value is None:
                    value = literal_value(code, dag.literals[line], width)
                return self.call("const", btor, format(value, f"0{width}b").encode())
        name = _NAMES.get(code, code.name.lower())
        return self.call(name, btor, *args, *dag.numbers.get(line, ()))

    def reach(self, bound: int) -> bool:
        """Search, and return whether a bad is reached; then BtorMC has printed the witness."""
        return bool(self.call("mc_bmc", self.mc, 0, bound, result=ctypes.c_int32) >= 0)


def _line(reference: int) -> int:
    return reference if reference >= 0 else ~reference


def main(path: str, bound: str = "6") -> None:
    dag = read(Path(path).read_bytes(), Dialect.BTOR2)
    if not Checker(dag).reach(int(bound)):
        print("unsat", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
