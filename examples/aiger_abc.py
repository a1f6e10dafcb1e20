"""ABC as a model checker for AIGER files: prints `sat` if an output can be 1, `unsat` if not.

usage: python examples/aiger_abc.py [COMMANDS] FILE

    reducekit hunt aiger --version 1.0 --notation aig --cmd 'python examples/aiger_abc.py pdr' \
        --cmd 'python examples/aiger_abc.py "scorr; pdr"'

COMMANDS are what ABC does with the circuit, the last one a check: `pdr` (the default), `int`,
`bmc3 -F 9`. A check that is out of frames answers `unknown`. ABC reads binary files of AIGER 1.0;
yosys brings it along as `yosys-abc`. A crash of ABC is one of this program.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

USAGE = "usage: aiger_abc.py [COMMANDS] FILE"
ANSWERS = (
    ("was asserted in frame", "sat"),
    ("Property proved", "unsat"),
    ("all reachable states", "unsat"),
    ("reachable states are visited", "unsat"),
    ("not work for combinational networks", "unknown"),
    ("No output asserted", "unknown"),
    ("No output failed", "unknown"),
    ("undecided", "unknown"),
)


def main(arguments: list[str]) -> int:
    """Check a file; return the exit status."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    program = shutil.which("yosys-abc") or shutil.which("abc") or shutil.which("berkeley-abc")
    if program is None:
        return complain("error: neither yosys-abc nor abc is in PATH")
    if len(arguments) not in (1, 2):
        return complain(USAGE)
    *given, path = arguments
    commands = f"read_aiger {path}; strash; orpos; {given[0] if given else 'pdr'}"
    done = subprocess.run([program, "-q", commands], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode < 0:
        print(said, file=sys.stderr, flush=True)
        signal.signal(-done.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -done.returncode)
    found = [answer for words, answer in ANSWERS if words in said]
    if not found:
        return complain(said.strip() or f"error: {program} said nothing")
    print(found[0])
    return 0


def complain(message: str) -> int:
    """Report an error; return its exit status."""
    print(message, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
