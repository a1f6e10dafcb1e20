"""PyBoolector (from PyPI, without an executable) as a program for BTOR, BTOR2 and SMT-LIB files.

usage: python examples/btor_pyboolector.py [--set OPTION=NUMBER]... FILE

    reducekit btor in.btor --cmd 'python examples/btor_pyboolector.py --set rewrite-level=0'

It ends as `boolector` does: `sat` and exit status 10, `unsat` and 20, `unknown` and 0; an
error with status 1 and a message; a broken promise of the library's interface (a bug in it)
by SIGABRT and a message. Options are those of the command line of `boolector`.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

USAGE = "usage: btor_pyboolector.py [--set OPTION=NUMBER]... FILE"
ANSWERS = {10: "sat", 20: "unsat"}


def main(arguments: list[str]) -> int:
    """Solve a file; return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__ if arguments else USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 1
    *options, path = arguments
    # Without this, a C++ exception in the library's own threads could leave a core file.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module = import_module("pyboolector")  # without types
    solver = module.Boolector()
    try:
        set_options(module, solver, options)
    except module.BoolectorException as error:
        # Options that do not go together.
        return complain(str(error).strip())
    try:
        return solve(solver, path)
    except module.BoolectorException as error:
        crash(str(error))


def set_options(module: Any, solver: Any, words: list[str]) -> None:
    """Set the library's options. Raises SystemExit for what is none."""
    known = {option.lng: option for option in solver.Options()}
    for flag, setting in zip(words[::2], [*words[1::2], ""], strict=False):
        match = re.fullmatch(r"([\w-]+)=(\d+)", setting)
        option = known.get(match[1]) if match else None
        name = match[1].upper().replace("-", "_") if match else ""
        number = getattr(module.BtorOption, f"BTOR_OPT_{name}", None)
        if flag != "--set" or match is None or option is None or number is None:
            sys.exit(f"{USAGE}\nnot an option: {flag} {setting}")
        if not option.min <= int(match[2]) <= option.max:
            sys.exit(f"{match[1]} is from {option.min} to {option.max}")
        solver.Set_opt(number, int(match[2]))


def solve(solver: Any, path: str) -> int:
    """Parse and solve; return the exit status."""
    try:
        with open(path, "rb") as file:
            script = is_script(file.read(1 << 16))
    except OSError as error:
        return complain(f"{path}: {error.strerror}")
    result, _, message = solver.Parse(path)
    # After an error, Sat() would answer sat: of what was read before it.
    if result == solver.PARSE_ERROR:
        return complain(message or "parse error")
    if script:
        # Parsing has run all commands, and printed the answers.
        sys.stdout.flush()
        return int(result) if result in ANSWERS else 0
    answer = int(solver.Sat())
    print(ANSWERS.get(answer, "unknown"), flush=True)
    return answer if answer in ANSWERS else 0


def is_script(text: bytes) -> bool:
    """Tell whether a text is SMT-LIB: its first word, behind comments, is a parenthesis."""
    return re.match(rb"(?:\s|;[^\n]*\n)*\(", text) is not None


def complain(message: str) -> int:
    """Report an error; return its exit status."""
    folder = str(Path.cwd()) + os.sep
    print(f"error: {message.replace(folder, '')}", file=sys.stderr, flush=True)
    return 1


def crash(message: str) -> NoReturn:
    """End as the library does where no Python catches its abort.

    The words at the beginning make the message a crash report for reducekit.
    """
    sys.stdout.flush()
    print(f"fatal error: {message.replace('[pybtor] ', '').strip()}", file=sys.stderr, flush=True)
    os.abort()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
