"""What each call of an API does in a library, as data: C calls in a small notation.

The calls of an API are a table from the call's name to C calls separated by `;`, such as
`lglsetopt($, str, int)`: most are rows of its model. The result of the last one is the call's.

    int, bool, ptr f(...)   result of the call; with nothing before it there is none
    $ = f(...)              the result is the object that all other calls work on
    $                       the object
    ~$                      the object, which is dead afterwards
    % = f(...)              the result is kept for the next C calls of this call
    %                       what was kept; `%%` is a second one
    int, str                the call's next argument: a number, a word
    int*                    the C call is made once for each argument of the call that no other
                            C call of it takes, with that number
    word                    the call's next argument if there is one, else a null pointer
    self, skip              passes the object, passes nothing: for the call's next argument,
                            which is not looked at
    handle                  the call's next argument: a name that an earlier call returned
    handle f(...)           the result is what the recorded result names from now on
    handle*, #              an array of what names stand for, and how many these are: the call's
                            arguments that no other word takes
    [int int]               an array of the call's next arguments: numbers of 32 bits
    room                    the address of room for a pointer that the function returns there
    KIND                    a constant that the library has a name for
    5, 'w', &f              a number, a word, the address of a function
    {name types}            a method of CaDiCaL's solver; `{const name types}`
    if f(...)               what follows the last `if` is only done if one of them returns something
                            else than 0; each is given the call's arguments from the first
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from reducekit.frontends.trace.language.calls import Value
from reducekit.frontends.trace.model.loader import load_model

# With which a child ends that broke the contract of the API.
CONTRACT_STATUS = 86
# What the names of functions begin with that no solver has: see `libraries.py`.
HELPS = "reducekit_"
# Words for an argument of the call, one each.
TAKEN = ("int", "str", "word", "self", "~self", "skip", "handle")
_MANY = ("int*", "handle*")
_NUMBERS = re.compile(r"\[int( int)*\]")
_GUARDS = re.compile(r".*\bif [^;]*; ")
_STEP = re.compile(r"(?:(int|bool|ptr|handle|if)\s+|([$]|%%?)\s*=\s*)?(\w+)\((.*)\)")
_METHOD = re.compile(r"\{(const )?(\w+) (\w+)\}")
_CONSTANT = re.compile(r"\b[A-Z][A-Z_0-9]+\b")


@dataclass(frozen=True, slots=True)
class Step:
    """One C call in the notation of this module.

    `stores` is where its result is kept, `$`, `%` or `%%`; `result` its type if it is the call's.
    """

    function: str
    arguments: tuple[str, ...]
    result: str
    stores: str


def steps_of(text: str) -> Iterator[Step]:
    """Yield the C calls of a text in the notation of this module."""
    for part in text.split(";"):
        match = _STEP.fullmatch(part.strip())
        assert match, part
        result, stores, function, inner = match.groups()
        words = tuple(word.strip() for word in inner.split(",") if word.strip())
        yield Step(function, words, result or "", stores or "")


def taken(word: str) -> int:
    """Return how many arguments of the call a word takes."""
    return word.count("int") if _NUMBERS.fullmatch(word) else int(word in TAKEN)


def spread(steps: Sequence[Step], arguments: int) -> tuple[list[Step], int]:
    """Return the C calls that a call with this number of arguments makes: `int*` is repeated.

    Also return how many arguments `int*` or `handle*` take.
    """
    # The rest is for the word that takes any number.
    many = arguments - sum(taken(word) for step in steps for word in step.arguments)
    found = []
    for step in steps:
        words = tuple("int" if word == "int*" else word for word in step.arguments)
        found += [replace(step, arguments=words)] * (1 if words == step.arguments else many)
    return found, many


def bound(step: Step, given: Iterator[Value], many: int) -> Iterator[tuple[str, Any]]:
    """Yield what each argument of a C call is, and its value; what it takes of a call is `given`.

    It is "object", "kept" (`%` or `%%`), "function", "string" (None: a null pointer), "number",
    "handle" (a name), "names" and "numbers" (an array of them), or "room" for a pointer. `many` is
    how many arguments are for an array of names.
    """
    for word in step.arguments:
        value = next(given, None) if word in TAKEN else None
        if word in ("$", "~$", "self", "~self"):
            yield "object", None
        elif word in ("%", "%%"):
            yield "kept", word
        elif word.startswith("&"):
            yield "function", word[1:]
        elif word in ("str", "word"):
            yield "string", value
        elif word.startswith("'"):
            yield "string", word.strip("'")
        elif word == "handle":
            yield "handle", value
        elif word == "handle*":
            yield "names", [*islice(given, many)]
        elif word.startswith("["):
            yield "numbers", [*islice(given, taken(word))]
        elif word == "room":
            yield "room", None
        elif word == "#":
            yield "number", many
        elif word != "skip":
            yield "number", value if word == "int" else int(word)


def takes_any(steps: Sequence[Step]) -> bool:
    """Return whether a call has any number of arguments."""
    return any(word in _MANY for step in steps for word in step.arguments)


def with_constants(text: str, constants: Mapping[str, int]) -> str | None:
    """Return a text with numbers for the names of constants; None if one is not known."""
    # A call with a kind that this version does not have is no call of it.
    names = set(_CONSTANT.findall(text))
    if not names <= constants.keys():
        return None
    return _CONSTANT.sub(lambda match: str(constants[match[0]]), text) if names else text


def unguarded(text: str) -> str:
    """Return a text in the notation of this module without its `if`."""
    return _GUARDS.sub("", text, count=1)


@dataclass(frozen=True, slots=True)
class Interface:
    """An API in a library: `calls` in the notation of this module.

    `contract` is a regular expression that finds a broken contract in what the library printed to
    standard error. `options` is the symbol of its table of options, in CaDiCaL's layout ("" if it
    has none), `lacking` the calls that this library has not. `error` are two functions: whether the
    last call has failed, and what it says of it. `spells` is the function that returns the names of
    constants, and what these begin with. `source` is the file of the functions whose names begin
    with HELPS ("" for none), `helper` the path of a library with them.
    """

    api: str
    calls: Mapping[str, str]
    contract: bytes
    options: str = ""
    lacking: tuple[str, ...] = ()
    error: tuple[str, str] | None = None
    spells: tuple[str, str] | None = None
    source: str = ""
    helper: str = ""


def prefixed(prefix: str, names: str, arguments: str) -> dict[str, str]:
    """Return calls with these names; their functions begin with a prefix."""
    return {name: f"{prefix}{name}({arguments})" for name in names.split()}


class _Calls(Mapping[str, str]):
    """What calls do in C, made when it is first needed: the rows of models say it."""

    def __init__(self, make: Callable[[], Mapping[str, str]]) -> None:
        self._make = make

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return self._make()

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _of_model(model: str) -> Mapping[str, str]:
    """Return what the calls of a shipped model do in C."""
    return _Calls(
        lambda: {call.name: call.c for call in load_model(model).calls.values() if call.c}
    )


# lglib.h. With a callback the library does not abort itself when its contract
# is broken. The calls are those that Lingeling's own reader of traces has; its
# recorder also writes meltall, reconstk and cassume.
LINGELING = Interface("lingeling", _of_model("lingeling"), contract=rb"API usage error")

# picosat.h, of version 965.
PICOSAT = Interface(
    api="picosat",
    calls=_Calls(
        lambda: {
            **_of_model("picosat"),
            # Not in the model: the solver has to record proofs for them.
            **prefixed("int picosat_", "usedlit corelit coreclause", "$, int"),
            "stats": "picosat_stats($)",
        }
    ),
    contract=rb"picosat: API usage",
)

# core/Solver.h; nearly all of it is in that header, and so in the helper.
MINISAT = Interface("minisat", _of_model("minisat"), contract=rb"(?!)", source="minisat.cpp")

# boolector.h, of version 3.2. Not played: what clones. What is printed to a file goes nowhere, and
# what some calls take is freed with the solver, as a trace has no names for it.
BOOLECTOR = Interface(
    api="boolector",
    calls=_of_model("boolector"),
    contract=rb"\[boolector\] boolector_[a-z_0-9]+:|currently not supported",
)

# cvc5/c/cvc5.h of 1.4. A call that makes a term has the name of SMT-LIB's operator; the kind of
# that term is a number in the library.
CVC5 = Interface(
    api="cvc5",
    calls=_of_model("cvc5"),
    contract=rb"API usage error: ",
    error=("cvc5_has_error", "cvc5_get_error_message"),
    spells=("cvc5_kind_to_string", "CVC5_KIND_"),
)


def _cadical(
    namespace: str, *, strict: bool = False, batches: bool = True, level: str = "m"
) -> Interface:
    """Return CaDiCaL as C++ methods, by their names in the Itanium C++ ABI.

    The object is of unknown size, at most a few hundred bytes: it only points
    to the solver proper. `strict`: `val` also says whether the variable must be declared.
    `batches`: a propagator receives several assignments in one call (2.1 and later). `level` is
    the type of a decision level: "i" from 3.0 on.
    """

    def mangled(match: re.Match[str]) -> str:
        # As the Itanium C++ ABI mangles them: each name after its length, then the types.
        const, name, types = match.groups()
        named = name if name in ("C1", "D1") else f"{len(name)}{name}"
        return f"_ZN{'K' if const else ''}{len(namespace)}{namespace}6Solver{named}E{types}"

    def calls() -> Mapping[str, str]:
        # Not in the model: mobical does not have them.
        texts = {
            **_of_model("cadical"),
            "terminate": "{terminate v}($)",
            "inconsistent": "bool {inconsistent v}($)",
        }
        if strict:
            texts["val"] = "int {val ib}($, int, 1)"
        if not batches:
            texts["connect"] = texts["connect"].replace("$, 0, skip", "$, 1, skip")
        texts["force_backtrack"] = texts["force_backtrack"].replace("k i}", f"k {level}}}")
        return {name: _METHOD.sub(mangled, text) for name, text in texts.items()}

    return Interface(
        api="cadical",
        calls=_Calls(calls),
        contract=rb"invalid API usage",
        options=f"_ZN{len(namespace)}{namespace}7Options5tableE",
        source="propagator.c",
    )


CADICAL = {
    version: _cadical(f"CaDiCaL{version}", strict=new, batches=new, level="i" if new else "m")
    for version, new in (("103", False), ("153", False), ("195", False), ("300", True))
}


def stock_cadical(content: bytes) -> Interface:
    """Return CaDiCaL as its own build makes it, in any version: as a library's bytes say."""
    return _cadical(
        "CaDiCaL",
        strict=b"_ZN7CaDiCaL6Solver3valEib" in content,
        batches=b"connect_fixed_listener" in content,
        level="i" if b"_ZN7CaDiCaL6Solver15force_backtrackEi" in content else "m",
    )


# The state is in eight bytes of the object, the first ones up to 2.2 (cadical.hpp).
_SATISFIED, _UNSATISFIED, _INCONCLUSIVE = (f"if memchr(%, {byte}, 8)" for byte in (32, 64, 1))
_ASKED = {
    **dict.fromkeys(("val", "flip", "flippable"), (_SATISFIED,)),
    **dict.fromkeys(("failed", "constraint_failed"), (_UNSATISFIED,)),
    "implied": (_SATISFIED, _INCONCLUSIVE),
    "conclude": (_SATISFIED, _UNSATISFIED),
}


# From 2.2 on the solver makes variables of its own. mobical maps those of a trace to the others:
# a call of the first kind gives a new one its place, one of the second only asks for it.
_KNOWN = {
    **dict.fromkeys(("phase", "add", "assume", "freeze", "constrain"), 1),
    **dict.fromkeys(("val", "flip", "flippable", "failed", "fixed", "frozen", "melt", "lemma"), 0),
}
_MAPPED = re.compile(rf"% = {HELPS}map\([^;]*; |; {HELPS}begin\([^;]*")
_PROPAGATED = re.compile(rf"{HELPS}propagate\(\$, &(\w+)[^;]*")


def without_mapping(text: str) -> str:
    """Return a text in the notation of this module with mobical's variables as they are."""
    text = _PROPAGATED.sub(r"\1($)", text)
    without = _MAPPED.sub("", text)
    return text if without == text else without.replace("$, %", "$, int")


def as_mobical(cadical: Interface, state: int = 0, *, maps: bool = False) -> Interface:
    """Return CaDiCaL as mobical replays it: calls that an answer does not allow are skipped.

    `state` is the offset of the bytes with the state. `maps`: as in mobical of 2.2, variables are
    mapped, and what is propagated is asked for. They are mapped past those of the solver, so they
    need not be declared, as 3.0 insists.
    """

    def calls() -> Mapping[str, str]:
        return _as_mobical(cadical.calls, state, maps=maps)

    return replace(cadical, calls=_Calls(calls))


def _as_mobical(given: Mapping[str, str], state: int, *, maps: bool) -> Mapping[str, str]:
    at = f"% = mempcpy($, $, {state})"  # copies them to where they are, and returns where they end
    guards = {name: (at, *_ASKED[name]) for name in _ASKED if name in given}
    calls = dict(given)
    if maps:
        for name, known in _KNOWN.items():
            mapped = calls[name].replace("$, int", "$, %")
            calls[name] = f"% = {HELPS}map($, int, {known}); {mapped}"
        calls["observe"] = calls["observe"].replace("int, 0)", "int, 1)")
        count, propagate, implied = (
            list(steps_of(calls[name]))[-1].function for name in ("vars", "propagate", "implied")
        )
        calls["init"] += f"; {_setting(given, 'factorcheck')}; {HELPS}begin($, &{count})"
        calls["propagate"] = f"int {HELPS}propagate($, &{propagate}, &{implied})"
    if "frozen" in calls:
        guards["melt"] = (calls["frozen"].replace("bool ", "if "),)
    return {name: "; ".join([*guards.get(name, ()), text]) for name, text in calls.items()}


def _setting(calls: Mapping[str, str], option: str) -> str:
    """Return the call that turns an option off; a version that lacks it ignores that."""
    return calls["set"].replace("str, int", f"'{option}', 0").removeprefix("bool ")


# What neither changes an answer nor has one: a harmless call in their place.
_HINTS = {"signature": "getppid()", "set_terminate": "getppid()", "set_learn": "getppid(int)"}


# Any library with the functions of ipasir.h. It says nothing of a broken contract.
IPASIR_C = Interface("ipasir", _of_model("ipasir"), contract=rb"(?!)")


def as_ipasir(cadical: Interface, *, declares: bool) -> Interface:
    """Return CaDiCaL as IPASIR. From 3.0 on variables are declared, unless `factor` is off."""
    names = {
        "init": "init", "release": "reset", "add": "add", "assume": "assume",
        "solve": "solve", "val": "val", "failed": "failed",
    }  # fmt: skip

    def calls() -> Mapping[str, str]:
        texts = {name: cadical.calls[key] for name, key in names.items()}
        if declares:
            texts["init"] += f"; {_setting(cadical.calls, 'factor')}"
        return {**texts, **_HINTS}

    return Interface("ipasir", _Calls(calls), cadical.contract)


IPASIR = {version: as_ipasir(each, declares=version >= "300") for version, each in CADICAL.items()}

# The C interface of CaDiCaL 1.0, as in pyboolector's library.
CCADICAL = Interface(
    api="cadical",
    calls={
        "init": "$ = ccadical_init()",
        "reset": "ccadical_release(~$)",
        **prefixed("ccadical_", "add assume freeze melt", "$, int"),
        **prefixed("int ccadical_", "val failed fixed frozen", "$, int"),
        **prefixed("int ccadical_", "solve", "$"),
        "simplify": "int ccadical_simplify($, skip)",  # always one round
        **prefixed("ptr ccadical_", "active irredundant", "$"),
        "set": "ccadical_set_option($, str, int)",
        "limit": "ccadical_limit($, str, int)",
    },
    contract=rb"invalid API usage",
)
