"""Libraries that can be replayed against, and where they are found: nothing is imported for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.frontends.trace.replay.prototypes import (
    BOOLECTOR,
    CADICAL,
    CCADICAL,
    IPASIR,
    IPASIR_C,
    LINGELING,
    PICOSAT,
    Interface,
)

_ELF = b"\x7fELF"
_HEADER = 64  # bytes: a shorter file is cut off


@dataclass(frozen=True, slots=True)
class Engine:
    """A solver in a library that some distribution installs.

    `distribution` is the name on PyPI, "" for a library of the system;
    `verified` are the versions whose replays were tested. `find` returns the
    library's path, None if it is not installed.
    """

    name: str
    distribution: str
    verified: tuple[str, ...]
    find: Callable[[], str | None]
    interfaces: Mapping[str, Interface]


@dataclass(frozen=True, slots=True)
class Library:
    """A library that was found: its path, and how its API is called.

    `note` says, if need be, that the version is not one that was tested.
    """

    path: str
    interface: Interface
    note: str = ""


def _of_python_sat() -> str | None:
    spec = find_spec("pysolvers")  # an extension module; looking it up does not load it
    return None if spec is None else spec.origin


def _of_pyboolector() -> str | None:
    spec = find_spec("pyboolector")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parent.glob("pyboolector.libs/libboolector*.so*"))
    return str(found[0]) if found else None


def _of_the_system(name: str) -> str | None:
    # Where Debian and others install; an own place is given as a path.
    machine = os.uname().machine
    for folder in (f"/usr/lib/{machine}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        found = sorted(Path(folder).glob(f"{name}.so*"))
        if found:
            return str(found[0])
    return None


_PYTHON_SAT = ("python-sat", ("1.9.dev17", "1.9.dev22"), _of_python_sat)
_PYBOOLECTOR = ("pyboolector", ("3.2.4.38488416565",), _of_pyboolector)


def _cadical(version: str) -> Mapping[str, Interface]:
    cadical = CADICAL[version]
    return {"cadical": cadical, "mobical": cadical, "ipasir": IPASIR[version]}


ENGINES: tuple[Engine, ...] = (
    Engine("lingeling", *_PYTHON_SAT, {"lingeling": LINGELING}),
    Engine("cadical195", *_PYTHON_SAT, _cadical("195")),
    Engine("cadical153", *_PYTHON_SAT, _cadical("153")),
    Engine("cadical103", *_PYTHON_SAT, _cadical("103")),
    Engine("cadical300", *_PYTHON_SAT, _cadical("300")),
    Engine("boolector", *_PYBOOLECTOR, {"boolector": BOOLECTOR}),
    Engine("boolector-lingeling", *_PYBOOLECTOR, {"lingeling": LINGELING}),
    Engine("boolector-cadical", *_PYBOOLECTOR, {"cadical": CCADICAL, "mobical": CCADICAL}),
    Engine("picosat", "", (), lambda: _of_the_system("libpicosat"), {"picosat": PICOSAT}),
)
"""All engines; the first one of an API is its default."""


def engines(api: str) -> list[Engine]:
    """Return the engines that have an API, the default first. Raises UsageError for no such API."""
    found = [engine for engine in ENGINES if api in engine.interfaces]
    if not found:
        known = ", ".join(sorted({name for engine in ENGINES for name in engine.interfaces}))
        raise UsageError(
            f"there is no library for the API {api!r} (there are some for: {known}). "
            "`command` names an interpreter of its traces"
        )
    return found


def find_library(api: str, choice: str | None = None) -> Library:
    """Find a library that has an API.

    `choice` is an engine's name, or the path of a library with the same
    functions as one of the engines, or of IPASIR; None takes the first engine that is
    installed. Raises UsageError.
    """
    candidates = engines(api)
    if choice is not None and choice not in [engine.name for engine in candidates]:
        if os.sep not in choice and ".so" not in choice:
            known = ", ".join(engine.name for engine in candidates)
            raise UsageError(
                f"{choice!r} is neither the path of a library nor one of the engines "
                f"for the API {api} ({known})"
            )
        path = os.path.abspath(os.path.expanduser(choice))
        if not os.path.isfile(path):
            raise UsageError(f"there is no library {choice}")
        return Library(path, _fitting(path, api, candidates))
    for engine in candidates:
        if choice in (None, engine.name) and (found := engine.find()) is not None:
            return Library(found, engine.interfaces[api], _note(engine))
    wanted = [each for each in candidates if choice in (None, each.name)]
    sources = sorted({each.distribution or f"lib{each.name}" for each in wanted})
    raise UsageError(
        f"no library for the API {api} is installed; one comes with: {', '.join(sources)}"
    )


def _fitting(path: str, api: str, candidates: list[Engine]) -> Interface:
    """Return the first interface whose object the library can make, and take down if it says so.

    Raises UsageError if there is none: a library that cannot play a call shows no failure.
    """
    content = Path(path).read_bytes()
    if not content.startswith(_ELF) or len(content) < _HEADER:
        raise UsageError(f"cannot replay against {path}: it is not a shared library")
    interfaces = [engine.interfaces[api] for engine in candidates]
    if api == IPASIR_C.api:
        interfaces.append(IPASIR_C)
    lacking: list[str] = []
    for interface in interfaces:
        needed = _needed(interface)
        lacking = [symbol for symbol in needed if symbol.encode() not in content]
        if not lacking:
            return interface
    raise UsageError(
        f"{path} cannot play the API {api}: it does not have {', '.join(lacking)}"
        f" (--model names another API)"
    )


def _needed(interface: Interface) -> list[str]:
    """Return the functions without which nothing can be played: all those of IPASIR."""
    texts = interface.calls.values() if interface is IPASIR_C else [interface.calls["init"]]
    symbols = [call.partition("(")[0].split()[-1] for text in texts for call in text.split(";")]
    return [symbol for symbol in dict.fromkeys(symbols) if symbol not in ("calloc", "getppid")]


def _note(engine: Engine) -> str:
    if not engine.distribution:
        return ""
    try:
        version = metadata.version(engine.distribution)
    except metadata.PackageNotFoundError:
        return ""
    if version in engine.verified:
        return ""
    return (
        f"{engine.distribution} {version} is installed; replays were tested with "
        f"{', '.join(engine.verified)}"
    )
