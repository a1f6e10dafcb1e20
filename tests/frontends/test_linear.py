"""Readers take time in proportion to what they read, whatever that is: anybody writes inputs.

Times are compared as ratios only: a reader that is quadratic takes sixteen times as long for four
times the input, a linear one four times. Of several runs the quickest counts, in processor time.
"""

import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice, pairwise, product
from typing import Any

import pytest

from reducekit import registry
from reducekit.errors import ReducekitError
from reducekit.oracle.quotes import normalise
from reducekit.oracle.responses import error_end, read_answers, read_responses
from reducekit.oracle.signature import failure_line
from reducekit.session.place.inputs import unpacked
from reducekit.text import excerpt, printable_lines

Reader = Callable[[bytes], object]

STARTS: Mapping[str, Sequence[bytes]] = {
    "aiger": [b"aig 9 0 0 0 9\n", b"aag 90000 90000 0 0 0\n", b"aig 0 0 0 0 0\n"],
    "btor": [b"1 var 8\n", b"1 sort bitvec 8\n2 constd 1 ", b"1 const 8 ", b"; "],
    "cnf": [
        b"p cnf 5 5\n",
        b"p cnf 1 1\n-",
        b"p inccnf\n",
        b"c ",
        b"p cnf 9 9\nx",
        b"p knf 9 9\nk 2 ",
    ],
    "opb": [b"* #variable= 9 #constraint= 9\n1 x1 ", b"min: ", b"[3] 1 x1 >= ", b"* "],
    "qcir": [b"#QCIR-G14\nforall(", b"g = and(", b"g = exists(a; ", b"#"],
    "smt2": [b"(assert ", b'(echo "', b"(assert |", b"(assert (let ((a ", b";"],
    "trace": [b"init\nadd ", b"init\n"],
    "output": [b"sat\n(", b'(error "', b"Assertion `", b"error: ", b"s SATISFIABLE\nv "],
}
"""How texts begin that get a reader to where it reads on."""
UNITS = [b"\xff", b"\0", b" ", b"\n", b"(", b"9", b"a ", b"()"]
MORE = [
    b"a\n", b"1 x ", b"a,",
    b"1 0\n", b"(a ", b"((a ", b"(a)\n", b"/a", b"a:1:", b"\\\n", b'""', b"||", b"; \n",
    b"add 1\n", b"(push)\n", b"-1 0\n", b"(let ((a ", b"Assertion ", b"error: ", b"\x80\x01",
]  # fmt: skip
_SLOW = ("opb parse", "opb check", "opb inspect", "qcir parse", "qcir check")
"""These take a second for a megabyte, and are tried with `UNITS` only."""
_SIZES = (10_000, 40_000, 160_000)


def readers() -> dict[str, Reader]:
    """Return all that reads what others wrote, by name."""
    found: dict[str, Reader] = {
        "output responses": read_responses,
        "output answers": read_answers,
        "output error": lambda text: error_end(text, 0),
        "output failure": lambda text: failure_line(text, text),
        "output crash": lambda text: failure_line(text, text, crashed=True),
        "output normalised": normalise,
        "output printable": printable_lines,
        "output excerpt": lambda text: excerpt(text, 10, 80),
    }
    for name in registry.names(registry.FRONTENDS):
        found |= {f"{name} {what}": each for what, each in of_format(name).items()}
    return found


def of_format(name: str) -> dict[str, Reader]:
    """Return what a format reads."""
    kind: Any = registry.frontend_class(name)
    frontend: Any = kind()
    found: dict[str, Reader] = {
        "recognises": kind.recognises,
        "parse": lambda text: frontend.measure(frontend.parse(text)),
        "check": frontend.check,
    }
    if kind.offers("refuses"):
        found["refuses"] = frontend.refuses
        found["fingerprint"] = frontend.fingerprint
    if kind.offers("variant"):
        found["variant"] = lambda text: frontend.variant(text, 1)
    if kind.offers("wrong_model"):
        found["model"] = lambda text: frontend.wrong_model(b"p cnf 1 1\n1 0\n", text)
    if "inspect" in vars(kind):
        found["inspect"] = lambda text: list(islice(kind.inspect(text, None, None).lines(), 99))
    if (offer := kind.conversions()) is not None:
        found["conversion"] = offer.recognises
        for notation in offer.reads:
            found[f"from {notation.name}"] = lambda text, source=notation.name: offer.convert(  # type: ignore[misc]
                text, source, offer.writes[0].name
            )
    return found


READERS = readers()


def seconds(reader: Reader, text: bytes, runs: int = 1) -> float:
    """Return the processor time of the quickest of some runs."""
    took = []
    for _ in range(runs):
        begin = time.process_time()
        with suppress(ReducekitError):
            reader(text)
        took.append(time.process_time() - begin)
    return min(took)


def one_by_one(text: bytes) -> None:
    """Look at each byte, in Python."""
    for _ in text:
        pass


def grows(reader: Reader, text: bytes, longer: bytes) -> bool:
    """Return whether a text of four times the length takes more than ten times as long."""
    return all(seconds(reader, longer, n) > 10 * seconds(reader, text, n) for n in (1, 3, 9))


def superlinear(name: str, units: Sequence[bytes]) -> list[str]:
    """Return for which texts the time grows faster than their length.

    Those that take at most some ten times as long as to look at each byte need no second look.
    """
    reader, found = READERS[name], []
    quick = 40 * seconds(one_by_one, bytes(_SIZES[0]), 5)
    with suppress(ReducekitError):
        reader(b"")  # may import
    for start in (b"", *STARTS.get(name.split()[0], ())):
        for unit in units:
            texts = [start + unit * (size // len(unit)) for size in _SIZES]
            # Twice: once, what fits into a cache or an arena may end.
            if seconds(reader, texts[0]) > quick and all(
                grows(reader, text, longer) for text, longer in pairwise(texts)
            ):
                found.append(f"{start!r} {unit!r}")
    return found


@pytest.mark.parametrize("name", READERS)
def test_four_times_the_text_takes_four_times_as_long(name: str) -> None:
    assert superlinear(name, UNITS) == []


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [each for each in READERS if each not in _SLOW])
def test_every_byte(name: str) -> None:
    """Of those beyond ASCII some: they differ as parts of UTF-8 only."""
    some = (*range(128), *range(128, 256, 16))
    assert superlinear(name, [*MORE, *(bytes([each]) for each in some)]) == []


def peak(reader: Reader, text: bytes) -> tuple[float, float]:
    """Return the processor time of a process that reads a text, and its memory for each byte."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        begin = time.process_time()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with suppress(ReducekitError):
            reader(text)
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        os.write(theirs, f"{time.process_time() - begin} {more / len(text)}".encode())
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        found = file.read().split()
    os.waitpid(pid, 0)
    assert found, "it was killed"
    return float(found[0]), float(found[1])


_LARGE = 50_000_000
_NODES = {("smt2", b"("): 5_000_000, ("text", b"("): 5_000_000, ("text", b"\0"): 5_000_000}
"""Bytes of texts that have a node for each byte: fewer, as a node takes two microseconds."""


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "byte"),
    [
        *product(
            ("aiger", "btor", "cnf", "smt2", "text", "trace"),
            (b"\0", b"\xff", b" ", b"\n", b"(", b"0", b"a"),
        ),
        ("opb", b"0"),
        ("qcir", b"0"),
    ],
)
def test_fifty_megabytes(name: str, byte: bytes) -> None:
    """Compared with counting a byte that is not there, one of the quickest things to do.

    Not for `isolate`: it compares lists of lines, and takes 300 bytes for one that is empty.
    """
    text = byte * _NODES.get((name, byte), _LARGE)
    count = min(seconds(lambda text: text.count(b"\x01"), text) for _ in range(3))
    took, memory = peak(READERS[f"{name} parse"], text)
    assert took < 20_000 * count
    assert memory < 100


def test_an_archive_is_read_once() -> None:
    for magic in (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\3\4"):
        with pytest.raises(ReducekitError):
            unpacked(magic + b"\0" * 1_000_000, "x")
