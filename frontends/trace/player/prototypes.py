"""What each call of an API does in a library, as data: C calls in a small notation.

The calls of an API are a table from the call's name to C calls parted by `;`,
such as `lglsetopt($, str, int)`. The result of the last one is the call's.

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
    if f(...)               what follows the last `if` is only done if one of them returns something
                            else than 0; each is given the call's arguments from the first
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

CONTRACT_STATUS = 86
"""With which a child ends that broke the contract of the API."""
HELPS = "reducekit_"
"""What the names of functions begin with that no solver has: see `helpers.py`."""
TAKEN = ("int", "str", "word", "self", "~self", "skip", "handle")
"""Words for an argument of the call, one each."""
_MANY = ("int*", "handle*")
_NUMBERS = re.compile(r"\[int( int)*\]")
_GUARDS = re.compile(r".*\bif [^;]*; ")
_STEP = re.compile(r"(?:(int|bool|ptr|handle|if)\s+|([$]|%%?)\s*=\s*)?(\w+)\((.*)\)")
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

    Besides, how many arguments `int*` or `handle*` take.
    """
    many = arguments - sum(taken(word) for step in steps for word in step.arguments)
    found = []
    for step in steps:
        words = tuple("int" if word == "int*" else word for word in step.arguments)
        found += [replace(step, arguments=words)] * (1 if words == step.arguments else many)
    return found, many


def takes_any(steps: Sequence[Step]) -> bool:
    """Return whether a call has any number of arguments."""
    return any(word in _MANY for step in steps for word in step.arguments)


def with_constants(text: str, constants: Mapping[str, int]) -> str | None:
    """Return a text with numbers for the names of constants; None if one is not known."""
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

    `contract` is a regular expression that finds a broken contract in what the
    library printed to standard error. `options` is the symbol of its table of options,
    in CaDiCaL's layout ("" if it has none), `lacking` the calls that this library has not.
    `error` are two functions: whether the last call has failed, and what it says of it. `spells`
    is the function that returns the names of constants, and what these begin with.
    `source` is the file of the functions whose names begin with HELPS ("" for none), `helper`
    the path of a library with them.
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
    """Return calls with these names, the functions of which begin with a prefix."""
    return {name: f"{prefix}{name}({arguments})" for name in names.split()}


# lglib.h. With a callback the library does not abort itself when its contract
# is broken. The calls are those that Lingeling's own reader of traces has; its
# recorder also writes meltall, reconstk and cassume.
LINGELING = Interface(
    api="lingeling",
    calls={
        "init": f"$ = lglinit(); lglonabort($, {CONTRACT_STATUS}, &_exit)",
        "release": "lglrelease(~$)",
        "option": "lglsetopt($, str, int)",
        **prefixed("lgl", "add assume freeze melt reuse", "$, int"),
        **prefixed("lgl", "setimportant setphase resetphase", "$, int"),
        **prefixed("int lgl", "deref failed fixed repr frozen usable reusable simp", "$, int"),
        **prefixed("int lgl", "sat maxvar incvar changed inconsistent", "$"),
        **prefixed("lgl", "fixate chkclone setphases stats", "$"),
        "lkhd": "int lglookahead($)",
        "reduce": "lglreducecache($)",
        "flush": "lglflushcache($)",
    },
    contract=rb"API usage error",
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
    prefix = f"_ZN{len(namespace)}{namespace}6Solver"
    const = prefix.replace("_ZN", "_ZNK", 1)

    def method(name: str, types: str, arguments: str, result: str = "", start: str = prefix) -> str:
        return f"{result} {start}{len(name)}{name}E{types}({arguments})".strip()

    literal = "add assume freeze melt constrain phase unphase reserve resize"
    answering = "solve lookahead propagate vars declare_one_more_variable"
    silent = "terminate reset_assumptions reset_constraint conclude statistics resources"
    asking = "is_witness is_decision observed flip flippable failed"
    value = ("ib", "$, int, 1") if strict else ("i", "$, int")
    # What returns an object, or fills a vector, gets room that is zero: an empty vector.
    room = "% = calloc(1, 64)"
    vector = "RSt6vectorIiSaIiEE"
    connect = method("connect_external_propagator", "PNS_18ExternalPropagatorE", "$, %")
    add, drop, eliminated, disconnect, drop_all, backtrack = (
        f"&{method(name, types, '').partition('(')[0]}"
        for name, types in (
            ("add_observed_var", "i"),
            ("remove_observed_var", "i"),
            ("is_witness", "i"),
            ("disconnect_external_propagator", "v"),
            ("reset_observed_vars", "v"),
            ("force_backtrack", level),
        )
    )
    return Interface(
        api="cadical",
        calls={
            "init": f"$ = calloc(1, 65536); {prefix}C1Ev($)",
            "reset": f"{prefix}D1Ev(~$)",
            **{name: method(name, "i", "$, int") for name in literal.split()},
            **{name: method(name, "v", "$", "int") for name in answering.split()},
            **{name: method(name, "v", "$") for name in silent.split()},
            **{name: method(name, "i", "$, int", "bool") for name in asking.split()},
            # What CaDiCaL's recorder calls it.
            "propagate_assumptions": method("propagate", "v", "$", "int"),
            "inconsistent": method("inconsistent", "v", "$", "bool"),
            "declare_more_variables": method("declare_more_variables", "i", "$, int", "int"),
            "stats": method("statistics", "v", "$"),
            "dump": method("dump_cnf", "v", "$"),
            "constraint_failed": method("constraint_failed", "v", "$", "bool"),
            "simplify": method("simplify", "i", "$, int", "int"),
            "val": method("val", *value, "int"),
            "fixed": method("fixed", "i", "$, int", "int", const),
            "frozen": method("frozen", "i", "$, int", "bool", const),
            "active": method("active", "v", "$", "int", const),
            "redundant": method("redundant", "v", "$", "ptr", const),
            "irredundant": method("irredundant", "v", "$", "ptr", const),
            "set": method("set", "PKci", "$, str, int", "bool"),
            "limit": method("limit", "PKci", "$, str, int", "bool"),
            "optimize": method("optimize", "i", "$, int"),
            "configure": method("configure", "PKc", "$, str", "bool"),
            "connect": f"% = {HELPS}propagator($, {int(not batches)}, skip); {connect}",
            "disconnect": f"{HELPS}disconnect($, {disconnect}, skip)",
            "observe": f"{HELPS}observe($, {add}, {eliminated}, int, 0)",
            "unobserve": f"{HELPS}unobserve($, {drop}, int)",
            "reset_observed_vars": f"{HELPS}unobserve_all($, {drop_all})",
            "lemma": f"{HELPS}lemma($, int)",
            "force_backtrack": f"{HELPS}backtrack($, {backtrack}, int)",
            "implied": f"{room}; {method('implied', vector, '$, %')}",
            "cubing": f"{room}; {method('generate_cubes', 'ii', '%, $, int, 0')}",
            # Not to the file that is named: a replay leaves nothing behind.
            "trace_proof": method("trace_proof", "PKc", "$, skip, '/dev/null'", "bool"),
            "flush_proof_trace": method("flush_proof_trace", "b", "$, 0"),
            "close_proof_trace": method("close_proof_trace", "b", "$, 0"),
        },
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
    """Return CaDiCaL as mobical replays it: what an answer does not allow is passed over.

    `state` is how many bytes there are before those with the state; `maps` says that it is as
    mobical of 2.2 does: variables are mapped, and what is propagated is asked for. As they are
    mapped past those of the solver, it need not insist that they are declared, as 3.0 does.
    """
    at = f"% = mempcpy($, $, {state})"  # copies them to where they are, and returns where they end
    guards = {name: (at, *_ASKED[name]) for name in _ASKED if name in cadical.calls}
    calls = dict(cadical.calls)
    if maps:
        for name, known in _KNOWN.items():
            mapped = calls[name].replace("$, int", "$, %")
            calls[name] = f"% = {HELPS}map($, int, {known}); {mapped}"
        calls["observe"] = calls["observe"].replace("int, 0)", "int, 1)")
        count, propagate, implied = (
            list(steps_of(calls[name]))[-1].function for name in ("vars", "propagate", "implied")
        )
        calls["init"] += f"; {_setting(cadical.calls, 'factorcheck')}; {HELPS}begin($, &{count})"
        calls["propagate"] = f"int {HELPS}propagate($, &{propagate}, &{implied})"
    if "frozen" in calls:
        guards["melt"] = (calls["frozen"].replace("bool ", "if "),)
    calls = {name: "; ".join([*guards.get(name, ()), text]) for name, text in calls.items()}
    return replace(cadical, calls=calls)


def _setting(calls: Mapping[str, str], option: str) -> str:
    """Return the call that turns an option off; a version that lacks it ignores that."""
    return calls["set"].replace("str, int", f"'{option}', 0").removeprefix("bool ")


# What neither changes an answer nor has one: a harmless call in their place.
_HINTS = {"signature": "getppid()", "set_terminate": "getppid()", "set_learn": "getppid(int)"}


def _ipasir(calls: Mapping[str, str], contract: bytes, *, declares: bool) -> Interface:
    names = {
        "init": "init", "release": "reset", "add": "add", "assume": "assume",
        "solve": "solve", "val": "val", "failed": "failed",
    }  # fmt: skip
    played = {name: calls[key] for name, key in names.items()}
    if declares:
        played["init"] += f"; {_setting(calls, 'factor')}"
    return Interface("ipasir", {**played, **_HINTS}, contract)


IPASIR_C = Interface(
    api="ipasir",
    calls={
        "init": "$ = ipasir_init()",
        "release": "ipasir_release(~$)",
        **prefixed("ipasir_", "add assume", "$, int"),
        "solve": "int ipasir_solve($)",
        **prefixed("int ipasir_", "val failed", "$, int"),
        **_HINTS,
    },
    contract=rb"(?!)",
)
"""Any library with the functions of ipasir.h. It says nothing of a broken contract."""


def as_ipasir(cadical: Interface, *, declares: bool) -> Interface:
    """Return CaDiCaL as IPASIR. From 3.0 on variables are declared, unless `factor` is off."""
    return _ipasir(cadical.calls, cadical.contract, declares=declares)


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

# picosat.h, of version 965.
PICOSAT = Interface(
    api="picosat",
    calls={
        "init": "$ = picosat_init()",
        "reset": "picosat_reset(~$)",
        "sat": "int picosat_sat($, int)",
        **prefixed("int picosat_", "add deref deref_partial deref_toplevel", "$, int"),
        **prefixed("int picosat_", "failed_assumption failed_context usedlit corelit", "$, int"),
        **prefixed("int picosat_", "coreclause", "$, int"),
        **prefixed("picosat_", "assume adjust remove_learned set_plain set_seed", "$, int"),
        **prefixed("picosat_", "set_more_important_lit set_less_important_lit", "$, int"),
        **prefixed("picosat_", "set_global_default_phase set_verbosity", "$, int"),
        **prefixed("picosat_", "set_propagation_limit", "$, int"),
        **prefixed("int picosat_", "inc_max_var push pop context res inconsistent", "$"),
        **prefixed("int picosat_", "variables added_original_clauses changed", "$"),
        **prefixed("int picosat_", "enable_trace_generation", "$"),
        **prefixed("picosat_", "simplify save_original_clauses stats failed_assumptions", "$"),
        **prefixed("picosat_", "reset_phases reset_scores measure_all_calls", "$"),
        "set_default_phase_lit": "picosat_set_default_phase_lit($, int, int)",
    },
    contract=rb"picosat: API usage",
)

# core/Solver.h; nearly all of it is in that header, and so in the helper.
MINISAT = Interface(
    api="minisat",
    calls={
        "new": "$ = calloc(1, 65536); _ZN7Minisat6SolverC1Ev($)",
        "delete": "_ZN7Minisat6SolverD1Ev(~$)",
        "simplify": "bool _ZN7Minisat6Solver8simplifyEv($)",
        **{
            name: f"{HELPS}literal($, int*); {result} {HELPS}{name}($)"
            for name, result in (
                ("add_clause", "bool"),
                ("solve", "bool"),
                ("solve_limited", "int"),
            )
        },
        **prefixed(f"int {HELPS}", "value model_value", "$, int"),
        **prefixed(f"bool {HELPS}", "conflict", "$, int"),
        **prefixed(HELPS, "set_polarity set_decision_var", "$, int"),
        **prefixed(HELPS, "set_conf_budget set_prop_budget", "$, int"),
        **prefixed(HELPS, "budget_off", "$"),
        **prefixed(f"int {HELPS}", "new_var n_vars n_clauses n_learnts", "$"),
        **prefixed(f"bool {HELPS}", "okay", "$"),
    },
    contract=rb"(?!)",
    source="minisat.cpp",
)
