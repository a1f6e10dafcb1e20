"""Libraries that can be replayed against, and where they are found: nothing is imported for it.

Helpers of a replay are code that is compiled when it is first needed. In C, the loop that plays a
trace, and the propagator that replays connect to CaDiCaL. In C++, what MiniSat has only in its
header.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from hashlib import blake2b
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.frontends.trace.player.prototypes import (
    BOOLECTOR,
    CADICAL,
    CCADICAL,
    CVC5,
    HELPS,
    IPASIR,
    IPASIR_C,
    LINGELING,
    MINISAT,
    PICOSAT,
    Interface,
    as_ipasir,
    as_mobical,
    stock_cadical,
    with_constants,
    without_mapping,
)
from reducekit.runtime import cache_folder

_ELF = b"\x7fELF"
_HEADER = 64  # bytes: a shorter file is cut off


@dataclass(frozen=True, slots=True)
class Engine:
    """A solver in a library that some distribution installs.

    `distribution` is the name on PyPI, "" for a library of the system;
    `oldest` is its first version whose replays were tested. `find` returns the
    library's path, None if it is not installed.
    """

    name: str
    distribution: str
    oldest: str
    find: Callable[[], str | None]
    interfaces: Mapping[str, Interface]


@dataclass(frozen=True, slots=True)
class Library:
    """A library that was found: its path, and how its API is called.

    `note` says, if need be, that the version is older than those that were tested. `engine`
    is the name of an engine, empty for a library that was given by its path.
    """

    path: str
    interface: Interface
    note: str = ""
    engine: str = ""

    def __str__(self) -> str:
        """Return the library as it is shown: its path, after the engine if it is one."""
        return f"{self.engine} ({self.path})" if self.engine else self.path


def _of_package(module: str, above: int, pattern: str) -> str | None:
    """Return a library of a wheel: it lies in a folder next to the module's."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parents[above].glob(pattern))
    return str(found[0]) if found else None


def _of_the_system(name: str) -> str | None:
    # Where Debian and others install; an own place is given as a path.
    machine = os.uname().machine
    for folder in (f"/usr/lib/{machine}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        found = sorted(Path(folder).glob(f"{name}.so*"))
        if found:
            return str(found[0])
    return None


_PYTHON_SAT = (
    "python-sat",
    "1.9.dev17",
    # An extension module; looking it up does not load it.
    lambda: None if (spec := find_spec("pysolvers")) is None else spec.origin,
)
_CVC5 = ("cvc5", "1.4.2", partial(_of_package, "cvc5", 1, "cvc5.libs/libcvc5-*.so*"))
_PYBOOLECTOR = (
    "pyboolector",
    "3.2.4.38488416565",
    partial(_of_package, "pyboolector", 0, "pyboolector.libs/libboolector*.so*"),
)
# Bytes that python-sat's versions have in the object before CaDiCaL's own.
_PATCHED = {"300": 24}


def _cadical(version: str) -> Mapping[str, Interface]:
    cadical = CADICAL[version]
    mobical = as_mobical(cadical, _PATCHED.get(version, 0), maps=version >= "300")
    return {"cadical": cadical, "mobical": mobical, "ipasir": IPASIR[version]}


# What is beyond the last one has the name of another, as its number is taken to be smaller.
_SPELL = """
import ctypes, sys
spell = ctypes.CDLL(sys.argv[1])[sys.argv[2]]
spell.restype = ctypes.c_char_p
for number in range(1000):
    print((spell(number) or b"?").decode(), number)
"""
# In a library of CaDiCaL's own build (and in Bitwuzla's and cvc5's), whatever the version.
_STOCK = b"_ZN7CaDiCaL6SolverC1Ev"
_METHOD = re.compile(rb"_ZNK?\d+CaDiCaL\w+")
_OF_LIBC = ("calloc", "fopen", "getppid", "_exit", "memchr", "mempcpy", "strcspn")
# Without these calls there is nothing to play. Others may be missing: they are left out.
_ALWAYS = frozenset(("init", "new", "reset", "release", "delete", "add", "solve", "sat"))
# APIs of libraries that have another API too, which can do more.
_ASKED_LAST = ("ipasir",)

# All engines; the first one of an API is its default.
ENGINES: tuple[Engine, ...] = (
    Engine("lingeling", *_PYTHON_SAT, {"lingeling": LINGELING}),
    Engine("cadical195", *_PYTHON_SAT, _cadical("195")),
    Engine("cadical153", *_PYTHON_SAT, _cadical("153")),
    Engine("cadical103", *_PYTHON_SAT, _cadical("103")),
    Engine("cadical300", *_PYTHON_SAT, _cadical("300")),
    Engine("boolector", *_PYBOOLECTOR, {"boolector": BOOLECTOR}),
    Engine("boolector-lingeling", *_PYBOOLECTOR, {"lingeling": LINGELING}),
    Engine("boolector-cadical", *_PYBOOLECTOR, {"cadical": CCADICAL, "mobical": CCADICAL}),
    Engine("cvc5", *_CVC5, {"cvc5": CVC5}),
    Engine("picosat", "", "", partial(_of_the_system, "libpicosat"), {"picosat": PICOSAT}),
    Engine("minisat", "", "", partial(_of_the_system, "libminisat"), {"minisat": MINISAT}),
)


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

    `choice` is an engine's name, or the path of a library with the functions of an engine or of
    IPASIR; None takes the first engine that is installed. Raises UsageError.
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
        interface = _fitting(path, api, candidates)
        names = ", ".join(interface.lacking)
        note = f"the library lacks these calls, so they are left out: {names}" if names else ""
        return Library(path, interface, note)
    # Which calls a helper plays, and which constants there are, depends on what is installed.
    for engine in candidates:
        if choice in (None, engine.name) and (found := engine.find()) is not None:
            interface = engine.interfaces[api]
            if interface.source:
                interface = _playable(interface, found, Path(found).read_bytes())
            elif interface.spells:
                interface = _spelled(interface, found)
            return Library(found, interface, _note(engine), engine.name)
    wanted = [each for each in candidates if choice in (None, each.name)]
    sources = sorted({each.distribution or f"lib{each.name}" for each in wanted})
    raise UsageError(
        f"no library for the API {api} is installed; one comes with: {', '.join(sources)}"
    )


def linked_interface(api: str, *, classes: bool) -> Interface:
    """Return an API as a program calls it that is linked with the library: by C functions.

    `classes`: by the methods of a C++ class, where it has one. Raises UsageError for no such API.
    """
    if classes and api in ("cadical", "mobical"):
        return stock_cadical(b"")
    if api == MINISAT.api:
        if not classes:
            raise UsageError(f"{api} has no functions of C: write a .cpp file")
        return MINISAT
    interfaces = [engine.interfaces[api] for engine in engines(api)]
    if any(each.spells for each in interfaces):
        raise UsageError(f"the constants of {api} are numbers of its library: write a .py file")
    interfaces += [IPASIR_C] if api == IPASIR_C.api else []
    return next(
        each for each in interfaces if not any("_ZN" in text for text in each.calls.values())
    )


def api_of(choice: str) -> str:
    """Return the API of an engine, or the first that a library has the functions of.

    Raises UsageError if there is none.
    """
    apis = list(dict.fromkeys(api for engine in ENGINES for api in engine.interfaces))
    for engine in ENGINES:
        if engine.name == choice:
            return next(iter(engine.interfaces))
    if os.sep not in choice and ".so" not in choice:
        find_library(apis[0], choice)  # raises: it is neither
    # A library may have several APIs: the one that can do more comes first.
    apis.sort(key=_ASKED_LAST.__contains__)
    said: dict[str, None] = {}
    for api in apis:
        try:
            find_library(api, choice)
        except UsageError as error:
            said[str(error)] = None
        else:
            return api
    # All say the same: there is no such file, or it is no library.
    if len(said) == 1:
        raise UsageError(*said)
    raise UsageError(f"{choice} has the functions of none of the APIs {', '.join(apis)}")


def _fitting(path: str, api: str, candidates: list[Engine]) -> Interface:
    """Return the first interface whose object the library can make, and take down if it says so.

    Raises UsageError if there is none: a library that cannot play a call shows no failure.
    """
    # Symbols are looked up as bytes: to load the library here could run or crash anything.
    content = Path(path).read_bytes()
    if not content.startswith(_ELF) or len(content) < _HEADER:
        raise UsageError(f"cannot replay against {path}: it is not a shared library")
    interfaces = [engine.interfaces[api] for engine in candidates]
    if api == IPASIR_C.api:
        interfaces.append(IPASIR_C)
    # CaDiCaL's own build has no version in its namespace, as those of python-sat have.
    if _STOCK in content and api in ("cadical", "mobical", "ipasir"):
        interfaces.insert(0, _stock(api, content))
    lacking: list[str] = []
    for interface in interfaces:
        # Of IPASIR all functions are needed, which every library of it has.
        texts = (
            text
            for name, text in interface.calls.items()
            if interface is IPASIR_C or name in _ALWAYS
        )
        lacking = [
            symbol
            for symbol in dict.fromkeys(chain.from_iterable(map(_symbols, texts)))
            if not _is_own(symbol) and symbol.encode() not in content
        ]
        if not lacking:
            return _playable(interface, path, content)
    raise UsageError(
        f"{path} cannot play the API {api}: it does not have {', '.join(lacking)}"
        f" (--model names another API)"
    )


def _stock(api: str, content: bytes) -> Interface:
    cadical = stock_cadical(content)
    declares = b"declare_more_variables" in content
    if api == "mobical":
        return as_mobical(cadical, maps=declares)
    return as_ipasir(cadical, declares=declares) if api == IPASIR_C.api else cadical


def _playable(interface: Interface, path: str, content: bytes) -> Interface:
    """Return an interface without the calls that a library has no functions for.

    Raises UsageError if that leaves nothing to play.
    """
    methods = frozenset(_METHOD.findall(content))  # one look at megabytes instead of eighty

    def has(symbol: str) -> bool:
        name = symbol.encode()
        return name in methods if _METHOD.match(name) else name in content

    calls = {
        name: text
        for name, text in _spelled(interface, path).calls.items()
        if all(_is_own(symbol) or has(symbol) for symbol in _symbols(text))
    }
    # The helper needs a compiler: it is made only if a call of the API is played by it.
    helper = ""
    if any(map(_is_own, chain.from_iterable(map(_symbols, calls.values())))):
        helper = compiled(interface.source, path) or ""
    if not helper:
        calls = {name: without_mapping(text) for name, text in calls.items()}
        calls = {
            name: text for name, text in calls.items() if not any(map(_is_own, _symbols(text)))
        }
    lacking = tuple(name for name in interface.calls if name not in calls)
    if gone := _ALWAYS.intersection(lacking):
        raise UsageError(
            f"cannot play {', '.join(sorted(gone))} of the API {interface.api} with {path}: "
            "that needs a C++ compiler and the headers of the library"
        )
    return replace(interface, calls=calls, lacking=lacking, helper=helper)


def _spelled(interface: Interface, path: str) -> Interface:
    """Return an interface with numbers for constants, without the calls of unknown ones."""
    if interface.spells is None:
        return interface
    known = _constants(path, *interface.spells)
    texts = {name: with_constants(text, known) for name, text in interface.calls.items()}
    calls = {name: text for name, text in texts.items() if text is not None}
    lacking = tuple(name for name in texts if name not in calls)
    return replace(interface, calls=calls, lacking=lacking)


@lru_cache(16)
def _constants(path: str, function: str, prefix: str) -> Mapping[str, int]:
    """Return the constants that a library has names for, without what these begin with."""
    found: dict[str, int] = {}
    for line in answer(_SPELL, path, function).splitlines():
        name, _, number = line.partition(" ")
        found.setdefault(name.removeprefix(prefix), int(number))
    return found


def _is_own(symbol: str) -> bool:
    return symbol.startswith(HELPS)


def _symbols(text: str) -> list[str]:
    found = [call.partition("(")[0].split()[-1] for call in text.split(";")]
    found += re.findall(r"&(\w+)", text)
    return [symbol for symbol in found if symbol not in _OF_LIBC]


def _note(engine: Engine) -> str:
    """Return a warning if the version that is installed is older than those that were tested."""
    if not engine.distribution:
        return ""
    try:
        version = metadata.version(engine.distribution)
    except metadata.PackageNotFoundError:
        return ""
    installed, oldest = (
        [int(each) for each in re.findall(r"\d+", text)] for text in (version, engine.oldest)
    )
    if installed >= oldest:
        return ""
    return (
        f"{engine.distribution} {version} is installed; replays were tested with "
        f"{engine.oldest} and newer"
    )


_COMPILERS = {".c": ("cc", "gcc", "clang"), ".cpp": ("c++", "g++", "clang++")}
_LANGUAGES = {".c": "c", ".cpp": "c++"}
_FLAGS = ("-shared", "-fPIC", "-O2")
_HEADERS = 4  # folders above a library where its headers may be: MiniSat's build makes three
_SECONDS = 60.0
_ASKING = 10.0  # seconds for a question


def text_of(name: str) -> str:
    """Return the text of a helper; nothing if it cannot be part of a program that is linked."""
    source = Path(__file__).with_name(name)
    return source.read_text("utf-8") if source.suffix == ".cpp" else ""


@cache
def compiled(name: str, library: str) -> str | None:
    """Return the path of the helper for a library that is compiled from a file of this folder.

    One in C++ includes headers of the library, which may be in the folders above, and is linked
    with it. None if the helper cannot be made: that needs a compiler, the headers, and a cache
    folder that can be written.
    """
    source = Path(__file__).with_name(name)
    content = source.read_bytes()
    folder = cache_folder()
    words = [*_FLAGS, "-x", _LANGUAGES[source.suffix], "-"]
    version = blake2b(content, digest_size=8)
    if source.suffix == ".cpp":
        words += _linked(library)
        version.update(b"\0".join([*map(os.fsencode, words), Path(library).read_bytes()]))
    # By its content: another version of this program makes another file.
    path = folder / f"{source.stem}-{os.uname().machine}-{version.hexdigest()}.so"
    if path.is_file():
        return str(path)
    compiler = next(filter(None, map(shutil.which, _COMPILERS[source.suffix])), None)
    if compiler is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        folder.mkdir(parents=True, exist_ok=True)
        # In a folder of its own first: another process may be looking for it.
        with tempfile.TemporaryDirectory(dir=folder) as room:
            made = Path(room, path.name)
            command = [compiler, "-o", str(made), *words]
            subprocess.run(
                command, input=content, check=True, capture_output=True, timeout=_SECONDS
            )
            made.replace(path)
        return str(path)
    return None


def _linked(library: str) -> list[str]:
    """Return the words that have a compiler find the headers of a library, and link with it."""
    above = Path(library).resolve().parents[:_HEADERS]
    headers = [str(folder) for each in above for folder in (each, each / "include")]
    where = str(Path(library).parent)
    return [*(f"-I{each}" for each in headers), "-x", "none", library, f"-Wl,-rpath,{where}"]


def answer(program: str, *arguments: str) -> str:
    """Return what a Python program prints, given arguments; nothing if it fails.

    A library is asked in a process of its own: it may crash, print, or not load at all.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-IS", "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ASKING,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "backslashreplace")
