"""Versions of a package: the wheels that pip finds for this Python and platform."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import sys
import venv
from pathlib import Path

from reducekit.bisect.versions import (
    Source,
    UnavailableError,
    Version,
    executables,
    last_line,
    locked,
    run,
    the_program,
)
from reducekit.errors import UsageError
from reducekit.interpreter import own_python

_LISTED = re.compile(r"^Available versions:\s*(.+)$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")  # PEP 508
_WHEELS = ("--only-binary", ":all:", "--disable-pip-version-check")
_DONE = ".installed"
_MACH_O = b"\xcf\xfa\xed\xfe"


class Wheels(Source):
    """The wheels of a package; each is installed once, in a virtual environment of its own.

    The program may be a script, or need packages of its version, hence the environment. It also
    allows to run a script with the package by `program="python"`.
    """

    def __init__(self, package: str, cache: Path, program: str | None) -> None:
        if not _NAME.fullmatch(package):
            raise UsageError(f"`wheels`: {package!r} is not the name of a package")
        if importlib.util.find_spec("pip") is None:
            raise UsageError(f"`wheels` needs pip: {shlex.join(own_python('-m', 'ensurepip'))}")
        self._package = package
        self._program = program
        python = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self._folder = cache / "wheels" / python
        self.fetched = 0
        self._has_programs = False
        status, out, err = _pip("index", "versions", package, *_WHEELS)
        listed = _LISTED.search(out)
        if status != 0 or listed is None:
            raise UsageError(
                f"`wheels`: pip finds no wheel of {package} for this Python and platform: "
                f"{last_line(err, out)}"
            )
        names = [each.strip() for each in listed[1].split(",")]
        self.versions = [Version(name) for name in reversed(names)]

    def program(self, version: Version) -> Path:
        what = f"{self._package} {version.name}"
        folder = self._folder / f"{self._package}-{version.name}"
        with locked(folder):
            done = folder / _DONE
            if not done.exists():
                self._install(version, folder)
                done.touch()
        found = executables(folder / "bin")
        if self._program is None:
            found = [each for each in found if not _of_environment(each)]
            # Packages that it depends on may bring programs, too.
            named = [each for each in found if each.name in self._package.lower()]
            found = named if len(found) > 1 and named else found
            if not found and not self._has_programs:
                raise UsageError(
                    f"{what} has no program: to run a script with its Python, give `program` "
                    "(python) and a command such as '{solver} script.py'"
                )
        program = the_program(found, self._program, what, folder / "bin")
        self._has_programs = True
        return program

    def _install(self, version: Version, folder: Path) -> None:
        for each in folder.iterdir():  # what an interrupted run has left
            shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
        venv.EnvBuilder(symlinks=True).create(folder)
        python = str(folder / "bin" / "python")
        requirement = f"{self._package}=={version.name}"
        status, out, err = _pip(
            "--python", python, "install", "--quiet", "--no-compile", *_WHEELS, requirement
        )
        if status != 0:
            raise UnavailableError(f"pip could not install it: {last_line(err, out)}")
        self.fetched += 1
        for each in (folder / "bin").iterdir():
            if each.is_file() and not each.is_symlink() and _is_program(each):
                each.chmod(each.stat().st_mode | 0o111)  # some wheels forget it


def _pip(*words: str) -> tuple[int, str, str]:
    return run(own_python("-m", "pip", *words))


def _of_environment(path: Path) -> bool:
    """Return whether a file is in every virtual environment."""
    return path.name.startswith(("python", "activate", "Activate"))


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4)
    return head == b"\x7fELF" or head == _MACH_O or head.startswith(b"#!")
