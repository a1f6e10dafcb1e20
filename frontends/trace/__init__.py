"""Reduces recordings of calls of a solver's API: the frontend `trace`.

- `model`: what is known of an API, read from a TOML file; which call is allowed when.
- `formats`: reading, printing and converting traces.
- `generate`: random traces that keep to a model.
- `replay`: playing a trace against a solver's library.
- `programs`: traces as programs in C, C++ and Python.
- `passes`: what a reduction tries to change in a trace, and in which order.
- `view`: a parsed trace, as the passes see it; `frontend` puts all of this together.
"""

from __future__ import annotations

from reducekit.frontends.trace.frontend import Traces

__all__ = ["Traces"]
