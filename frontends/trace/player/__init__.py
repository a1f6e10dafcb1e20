"""Replay of API traces against a library, each in a process of its own.

- `prototypes` has, as data, what each call does in a library, mostly as the models say; `libraries`
  finds what to play against and compiles what helps, `target` says what a trace is played by, and
  `faults` overwrites an instruction of a library, a real failing system without a compiler.
- `server` is the program that loads the library and forks, `session` its client, and `records` are
  the calls as they exchange them. A child runs `player.c`, or the same loop in Python.
- `server_pool.ReplayServer` plays whole traces and returns an `outcome.ReplayOutcome`;
  `live_replay.LiveReplay` plays a trace while it is made.
- `batch` plays many traces together, `replay_executor` checks the candidates of a reduction, and
  `live_tester` makes and tests random traces. `contract` rejects a wrong use of the API, `checker`
  checks what a solver answered (`answers`).
"""

from __future__ import annotations

from reducekit.frontends.trace.player.faults import Fault, Patch, read_fault, resolve
from reducekit.frontends.trace.player.libraries import Library, api_of, find_library
from reducekit.frontends.trace.player.outcome import CONTRACT, MISMATCH, PARSE, ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS

__all__ = [
    "CONTRACT",
    "DEFAULT_LIMITS",
    "MISMATCH",
    "PARSE",
    "Fault",
    "Library",
    "Patch",
    "ReplayOutcome",
    "ReplayServer",
    "api_of",
    "find_library",
    "read_fault",
    "resolve",
]
