"""Patches for faults of a library, found once in each process: its symbols take 0.4 s to read."""

from functools import cache

from reducekit.frontends.trace.player import Fault, Patch
from reducekit.frontends.trace.player import resolve as _resolve


@cache
def resolve(fault: Fault, path: str) -> Patch:
    return _resolve(fault, path)
