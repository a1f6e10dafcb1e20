"""Patches for faults of a library, found once in each process: its symbols take 0.4 s to read."""

from functools import cache

from reducekit.frontends.trace.player import Fault, Library, Patch, read_fault
from reducekit.frontends.trace.player import resolve as _resolve


@cache
def resolve(fault: Fault, path: str) -> Patch:
    return _resolve(fault, path)


def seeded(library: Library, text: str) -> Patch:
    fault = read_fault(text)
    assert fault is not None
    return resolve(fault, library.path)
