"""Makes the lists of solvers' options that come with reducekit, from what the solvers say of them.

`python -m benchmarks.solver_options z3 /usr/bin/z3 .venv/bin/z3` writes the options that both
programs take, with values that they take in a script, or of CaDiCaL in a command. Left out is what
changes what a script means, what is printed, where files go, and how long or in how much memory a
run may go on.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "reducekit" / "frontends" / "options"
SCRIPTS = (
    "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (= (bvmul x x) #x11))\n"
    "(check-sat)\n",
    "(set-logic ALL)\n(declare-const x Int)\n(assert (forall ((y Int)) (=> (> y x) (> y 3))))\n"
    "(assert (< x 9))\n(check-sat)\n",
)
YICES_SCRIPTS = (
    SCRIPTS[0],
    "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (or (< x 9) (> (* 3 x) 40)))\n"
    "(check-sat)\n",
)
"""Yices has no logic with all theories."""
FORMULAS = (
    ("p cnf 3 4\n1 2 0\n-1 3 0\n-2 -3 0\n2 3 0\n", 10),
    ("p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n", 20),
)
"""And the exit codes for their answers."""
FRACTIONS = ("0.1", "0.5", "0.9", "1.5")
NUMBERS = ("0", "1", "2", "10", "1000")
Z3_MODULES = ("smt", "sat", "nlsat", "rewriter", "lp", "pi")
NOT_Z3 = re.compile(
    r"file|log|dump|thread|memory|timeout|rlimit|proof|drat|debug|dbg|verbose|max_conflicts|trace"
    r"|profil|solution|\.out$|display|statistics|console|cube|core\.validate|instantiations2"
    r"|print|incremental|dimacs|sat\.smt$|push_pop_contexts|validate|hi_div0|up\.|warnings"
    # With these, answers may be wrong on purpose.
    r"|ignore_int|array\.(extensional|weak)|int2bv|string_solver|candidate_models|hi_fp_unspec"
    r"|smt\.arith\.solver"
)
NO_VALUES = ("or", "and", "either", "local", "search", "algorithm")
"""Words of descriptions."""
NOT_CVC5 = re.compile(
    r"dump|print|output|err$|^in$|out$|trace|stats|limit|lang|parse|preprocess-only|interactive"
    r"|sygus|proof|check|produce|dag|verbos|segv|filesystem|portfolio|partition|declarations"
    r"|fp-exp|no-partial|incremental|show|copyright|force|help|version|quiet|abstract|debug"
    r"|solve-|learned|oracle|thresh|early-exit|difficulty|minisat-dump|unsat-cores|model-cores"
    r"|fmf-fun|cegis|interpolants|uf-ss|strict-parsing|user"
)
YICES_MODES = {
    "branching": ["default", "negative", "positive", "theory", "th-neg", "th-pos"],
    "ef-gen-mode": ["none", "substitution", "projection", "auto"],
}
"""Of the parameters that are modes, which its help does not list (manual, `set-param`)."""
NOT_YICES = re.compile(r"ef-max")
NOT_CADICAL = re.compile(
    r"verbose|quiet|report|check|profile|realtime|binary|seed|log"  # output, speed, no effect
)
_VERSION = re.compile(r"\d+\.\d+[\w.]*")
TITLE = "# Options of {name}, as `python -m benchmarks.solver_options` found them in {versions}."


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return done.stdout + done.stderr


def of_z3(program: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the options of z3, and values that they may take."""
    line = re.compile(r"\s+(\S+) \((bool|unsigned int|symbol)\)(.*?)(?: \(default: (.*)\))?$")
    for module in Z3_MODULES:
        for match in map(line.match, said(program, f"-pm:{module}").splitlines()):
            if match is None:
                continue
            name, kind, description, default = match.groups()
            values = {"bool": ["false", "true"], "unsigned int": list(NUMBERS)}.get(kind, [])
            if kind == "symbol" and default:
                values = re.findall(r"[a-z_]+", description.rpartition(":")[2])
                values = [each for each in values if each not in NO_VALUES]
            elif kind == "unsigned int" and re.search(r"^ .*\b0 ?[-:].*", description):
                values = re.findall(r"\b(\d)\b ?[-:]", description)
            yield f"{module}.{name}", values


def of_cvc5(program: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the options of cvc5, and values that they may take."""
    for text in re.split(r"\n  (?=--)", said(program, "--help")):
        match = re.match(r"(?:--)?([\w-]+)(?:=(\w+))?", text)
        if match is None or "EXPERTS" in text:
            continue
        name, kind = match.groups()
        if kind == "MODE":
            yield name, re.findall(r"(?m)^\+ (\S+)", said(program, f"--{name}=help"))
        elif kind == "N":
            yield name, list(NUMBERS)
        elif kind is None and "[*]" in text:
            yield name, ["false", "true"]


def of_yices(program: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the parameters of Yices, as the `yices` next to the program says them."""
    asked = "(help params)\n"
    beside = Path(program).with_name("yices")
    done = subprocess.run([beside], input=asked, capture_output=True, text=True, check=False)
    for name, kind in re.findall(r"\(set-param (\S+) \[(\w+)\]\)", done.stdout):
        values = {"boolean": ["false", "true"], "integer": list(NUMBERS), "float": list(FRACTIONS)}
        yield f"yices-{name}", values.get(kind, YICES_MODES.get(name, []))


def of_cadical(program: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the options of CaDiCaL, and values that they may take."""
    line = re.compile(r"(?m)^  (--[a-z]+)=(?:bool|(-?[\de]+)\.\.([\de]+)) .*\[(.*)\]$")
    for match in line.finditer(said(program, "--help")):
        name, first, last, default = match.groups()
        if first is None:
            yield name, ["false", "true"]
            continue
        low, high = int(float(first)), int(float(last))
        some = {low, low + 1, *map(int, NUMBERS), int(float(default))}
        yield name, [str(each) for each in sorted(some) if low <= each <= high]


FOUND = {
    "z3": ("smt2", of_z3, NOT_Z3),
    "cvc5": ("smt2", of_cvc5, NOT_CVC5),
    "yices": ("smt2", of_yices, NOT_YICES),
    "cadical": ("cnf", of_cadical, NOT_CADICAL),
}


def takes(program: str, name: str, value: str) -> bool:
    """Return whether a program answers with this option as it should."""
    if name.startswith("-"):
        return all(answers(program, f"{name}={value}", *each) for each in FORMULAS)
    for script in YICES_SCRIPTS if name.startswith("yices-") else SCRIPTS:
        with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
            file.write(f"(set-option :{name} {value})\n{script}")
            file.flush()
            try:
                answer = said(program, file.name)
            except subprocess.TimeoutExpired:
                return False
        if answer not in ("sat\n", "unknown\n"):
            return False
    return True


def answers(program: str, option: str, formula: str, status: int) -> bool:
    """Return whether a SAT solver ends with the exit code of a formula's answer."""
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as file:
        file.write(formula)
        file.flush()
        try:
            words = (program, "-q", option, file.name)
            done = subprocess.run(words, capture_output=True, timeout=20, check=False)
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == status


def table(solver: str, programs: Sequence[str]) -> str:
    """Return the text of a list."""
    _, options, without = FOUND[solver]
    lists = [dict(options(each)) for each in programs]
    lines = []
    with ThreadPoolExecutor(2) as pool:
        for name, values in lists[0].items():
            if without.search(name) or any(name not in each for each in lists[1:]):
                continue
            taken = pool.map(
                lambda value, name=name: all(takes(each, name, value) for each in programs), values
            )
            kept = [value for value, good in zip(values, taken, strict=True) if good]
            if len(kept) > 1:
                lines.append(f"{name} = {' '.join(dict.fromkeys(kept))}")
    said_of = [said(each, "--version") for each in programs]
    versions = " and ".join(
        (_VERSION.findall(each) or each.split() or ["an unknown version"])[0] for each in said_of
    )
    return "\n".join([TITLE.format(name=solver, versions=versions), *lines, ""])


def main() -> None:
    """Write the list of a solver."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solver_options")
    parser.add_argument("solver", choices=FOUND)
    parser.add_argument("programs", nargs="+", help="the versions that all have to take it")
    arguments = parser.parse_args()
    text = table(arguments.solver, arguments.programs)
    path = FOLDER / FOUND[arguments.solver][0] / f"{arguments.solver}.txt"
    path.write_text(text, "utf-8")
    print(f"{path}: {text.count(chr(10)) - 1} options")


if __name__ == "__main__":
    main()
