"""Replay of API traces against a library, each in a process of its own.

- `server_pool.ReplayServer` plays calls and says how that ended (`outcome.ReplayOutcome`);
  `replay_executor.ReplayExecutor` makes of it what a reduction asks.
- `libraries.find_library` finds what to play against; `prototypes` says, as
  data, what each call does in it.
- `faults` overwrites an instruction of the library, so that there is a real
  failing system without a compiler.
- `live_replay.LiveReplay` plays a trace while it is made; `live_tester.LiveTester` makes such
  traces, and checks what was answered (`answers`).
- `server` is the program that loads the library and forks; `records` is what
  the two sides exchange, and `results` what comes back.
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
