"""Reduces recordings of calls of a solver's API: the frontend `trace`.

- `language`: what a trace is, and how its formats are read and printed.
- `model`: what is known of an API, read from a TOML file in `models`; which call is allowed when.
- `formats`: a trace as another API's, as CNF or as SMT-LIB.
- `generate`: random traces that keep to a model.
- `player`: plays a trace against a solver's library.
- `programs`: traces as programs in C, C++ and Python.
- `passes`: what a reduction tries to change in a trace, and in which order.
- `hunt`: random traces for `generate` and `hunt`.

Each folder imports only those above it in this list; `frontend` and the other files of this one put
them together.
"""

from __future__ import annotations

from reducekit.frontends.trace.frontend import Traces

__all__ = ["Traces"]
