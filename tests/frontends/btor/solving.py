"""Asks solvers: bitwuzla in this process, Debian's boolector as a program."""

import subprocess
import tempfile
from importlib import import_module
from pathlib import Path

from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.writer import canonical

BOOLECTOR = {10: "sat", 20: "unsat"}


def bitwuzla_reads(text: bytes, language: str) -> str:
    """Return what bitwuzla answers to a file of `btor2` or `smt2`: "sat" or "unsat"."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"in.{language}"
        path.write_bytes(text)
        bitwuzla = import_module("bitwuzla")  # without types
        parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options(), language)
        parser.parse(str(path), True)
        return str(parser.bitwuzla().check_sat()).rpartition(".")[2].lower()


def bitwuzla_says(dag: Dag) -> str:
    return bitwuzla_reads(canonical(convert(dag, Dialect.BTOR2)), "btor2")


def boolector_says(dag: Dag) -> str:
    """Return what Debian's boolector answers, which takes `btor1`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.btor"
        path.write_bytes(canonical(dag))
        run = subprocess.run(["boolector", path], capture_output=True, text=True)
    return BOOLECTOR.get(run.returncode, run.stdout + run.stderr)
