"""Bitwuzla (from PyPI) as a program for BTOR2 and SMT-LIB files, and for BTOR by conversion.

usage: python examples/btor_bitwuzla.py [--set OPTION=VALUE]... FILE

    reducekit btor in.btor2 --cmd 'python examples/btor_bitwuzla.py --set rewrite-level=0'

Prints `sat` (exit status 10), `unsat` (20) or `unknown` (0); an error is a message and status
1; where Bitwuzla aborts, so does this. Options are those of its command line.

Bitwuzla has no reader for BTOR 1, so such a file is converted to BTOR2 first. Of BTOR2 it
decides whether the constraints can hold together: `bad` it reads and forgets (and answers
sat), so files with properties are refused here, as it refuses states itself.
"""

from __future__ import annotations

import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from reducekit.errors import ReducekitError
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.model.operators import Dialect, detect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical

USAGE = "usage: btor_bitwuzla.py [--set OPTION=VALUE]... FILE"
STATUS = {"sat": 10, "unsat": 20}
PROPERTY = re.compile(rb"^ *[0-9]+ (bad|fair|justice)\b", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Solve a file; return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__ if arguments else USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 1
    *words, path = arguments
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        return complain(f"{path}: {error.strerror}")
    module = import_module("bitwuzla")  # without types
    try:
        options = module.Options()
        for flag, setting in zip(words[::2], [*words[1::2], ""], strict=False):
            if flag != "--set" or "=" not in setting:
                return complain(f"not an option: {flag} {setting}\n{USAGE}")
            options.set_args(f"--{setting}")
        if re.match(rb"(?:\s|;[^\n]*\n)*\(", text):
            return solve(module, options, path, "smt2")
        found = PROPERTY.search(text)
        if found is not None:
            return complain(f"{found[1].decode()}: only constraints are decided")
        if detect(text) is Dialect.BTOR2:
            return solve(module, options, path, "btor2")
        with tempfile.TemporaryDirectory() as folder:
            converted = Path(folder) / "converted.btor2"
            converted.write_bytes(canonical(convert(read(text), Dialect.BTOR2)))
            return solve(module, options, str(converted), "btor2")
    except (module.BitwuzlaException, ReducekitError) as error:
        return complain(str(error))


def solve(module: Any, options: Any, path: str, language: str) -> int:
    """Parse and solve; return the exit status."""
    parser = module.Parser(module.TermManager(), options, language)
    if language == "smt2":
        # Parsing runs all commands and prints their answers.
        parser.parse(path)
        sys.stdout.flush()
        return 0
    # For BTOR2 it would ask and print as well: True is to parse only.
    parser.parse(path, True)
    answer = str(parser.bitwuzla().check_sat()).rpartition(".")[2].lower()
    print(answer, flush=True)
    return STATUS.get(answer, 0)


def complain(message: str) -> int:
    """Report an error; return its exit status."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
