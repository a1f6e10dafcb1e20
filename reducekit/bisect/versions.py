"""The versions of a program, oldest first, and a program for each: wheels, builds, a repository."""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol

from reducekit.bisect.search import version_key
from reducekit.errors import ReducekitError, UsageError
from reducekit.runtime import own_python
from reducekit.text import shortened

_SHOWN = 200  # characters of a reason
_CLOSE = 4  # versions named in a message
_ABBREVIATED = 12  # digits of a hash
_OURS = re.compile(r"GIT_(?!SSH|ASKPASS|CONFIG_GLOBAL|CONFIG_SYSTEM)")
_LISTED = re.compile(r"^Available versions:\s*(.+)$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")  # PEP 508
_WHEELS = ("--only-binary", ":all:", "--disable-pip-version-check")
_DONE = ".installed"
_MACH_O = b"\xcf\xfa\xed\xfe"


class Version(NamedTuple):
    """A version of a program."""

    name: str
    title: str = ""  # what changed in it, such as the subject of a commit

    def __str__(self) -> str:
        return f"{self.name} ({self.title})" if self.title else self.name


class UnavailableError(ReducekitError):
    """A version is unavailable here; the message says why."""


class Source(Protocol):
    """Versions, oldest first, and a way to get each of them."""

    versions: Sequence[Version] = ()  # the versions, oldest first; at least one
    fetched: int = 0  # how many versions were downloaded or built

    def ends(self, good: str | None, bad: str | None) -> tuple[int, int]:
        """Return the positions of two versions; the default is the end far from the other.

        Raises UsageError.
        """
        versions = self.versions
        first = 0 if good is None else find(versions, good, "good")
        last = len(versions) - 1 if bad is None else find(versions, bad, "bad")
        if first == last:
            named = versions[first].name
            raise UsageError(
                f"`good` and `bad` are the same version: {named}"
                if len(versions) > 1
                else f"there is only one version, {named}: nothing to search"
            )
        return first, last

    def program(self, version: Version) -> Path:
        """Return the program of a version. Raises UnavailableError."""

    def close(self) -> None:
        """Release what only one process can use at a time."""
        return


def find(versions: Sequence[Version], name: str, option: str) -> int:
    """Return the position of a version by its name, or a unique prefix of it. Raises UsageError."""
    for number, each in enumerate(versions):
        if each.name == name:
            return number
    begins = [number for number, each in enumerate(versions) if each.name.startswith(f"{name}.")]
    if len(begins) == 1:
        return begins[0]
    names = [each.name for each in versions]
    close = [names[each] for each in begins] or difflib.get_close_matches(name, names, _CLOSE, 0.0)
    which = "is no version" if not begins else "may be several versions"
    raise UsageError(
        f"`{option}`: {name} {which}; did you mean {' or '.join(close[:_CLOSE])}? "
        f"(the oldest is {names[0]}, the newest {names[-1]})"
    )


def the_program(found: Sequence[Path], wanted: str | None, what: str, folder: Path) -> Path:
    """Return the program of a version among its executable files.

    `wanted` is a path relative to the folder, or a name. Raises UsageError if there are several,
    UnavailableError if there is none.
    """
    if wanted is not None:
        exact = folder / wanted
        named = [exact] if exact.is_file() else [each for each in found if each.name == wanted]
    else:
        named = list(found)
    if not named:
        raise UnavailableError(f"{what} has no program{f' {wanted}' if wanted else ''}")
    if len(named) > 1:
        names = ", ".join(str(each.relative_to(folder)) for each in named[:8])
        raise UsageError(f"{what} has several programs: name one with `program` ({names})")
    return named[0]


def executables(folder: Path) -> list[Path]:
    """Return the executable files in a folder, by name."""
    if not folder.is_dir():
        return []
    found = [each for each in folder.iterdir() if each.is_file() and os.access(each, os.X_OK)]
    return sorted(found)


def run(
    argv: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a program; return its status and outputs. An interrupt kills all that it started."""
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=None if environment is None else dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="backslashreplace",
        start_new_session=True,
    )
    try:
        while process.returncode is None:
            # In slices: a signal that comes just before a wait does not end it.
            with contextlib.suppress(subprocess.TimeoutExpired):
                out, err = process.communicate(timeout=1)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, out, err


def last_line(*outputs: str) -> str:
    """Return the last line that a program printed, from the first output that is not empty."""
    for text in outputs:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return shortened(lines[-1].encode(), _SHOWN)
    return "no output"


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Create a folder of the cache and lock it. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"`cache`: {folder} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(
            f"`cache`: another process uses {folder}: wait for it, or name another folder"
        ) from None
    finally:
        os.close(handle)


class Builds(Source):
    """The builds in a folder, ordered by the versions in their names."""

    def __init__(self, folder: Path, program: str | None) -> None:
        self._folder = folder.absolute()
        self._program = program
        try:
            entries = list(self._folder.iterdir())
        except OSError as error:
            raise UsageError(f"`builds`: {folder} cannot be read: {error.strerror}") from None
        names = [
            each.name
            for each in entries
            if not each.name.startswith(".")
            and (each.is_dir() or (each.is_file() and os.access(each, os.X_OK)))
        ]
        if not names:
            raise UsageError(f"`builds`: {folder} holds no executable file and no folder")
        self.versions = [
            Version(name) for name in sorted(names, key=lambda name: (version_key(name), name))
        ]

    def program(self, version: Version) -> Path:
        """Return the file, or the program in the folder or its `bin`."""
        path = self._folder / version.name
        if path.is_file():
            return path
        found = [*executables(path), *executables(path / "bin")]
        return the_program(found, self._program, version.name, path)


class Checkout(Source):
    """The revisions of a repository from `good` to `bad`, along first parents.

    They are built in a clone in the cache, which shares the objects: the repository, its work tree
    and its branches are not changed. Each build starts with the files of the previous one, as with
    `git bisect`.
    """

    def __init__(
        self, repository: Path, build: str, program: str, good: str, bad: str, cache: Path
    ) -> None:
        self._repository = repository.absolute()
        self._build = build
        self._program = program
        self._built: Version | None = None
        self._held: ExitStack | None = None
        self.fetched = 0
        ends = [_git(self._repository, "rev-parse", "--verify", f"{each}^{{commit}}")
                for each in (good, bad)]  # fmt: skip
        for (status, _, err), name, option in zip(ends, (good, bad), ("good", "bad"), strict=True):
            if status != 0:
                raise UsageError(f"`{option}`: {name} in {repository}: {last_line(err)}")
        first, last = (out.strip() for _, out, _ in ends)
        if first == last:
            raise UsageError(f"`good` and `bad` are the same revision: {first[:_ABBREVIATED]}")
        self._forward = self._before(first, last)
        if not self._forward:
            first, last = last, first
            if not self._before(first, last):
                base = _git(self._repository, "merge-base", first, last)[1].strip()
                raise UsageError(
                    f"neither of {good} and {bad} contains the other: "
                    + (f"start from {base[:_ABBREVIATED]}" if base else "nothing in common")
                )
        form = "--format=%H%x09%s"
        _, out, _ = _git(self._repository, "log", "-1", form, first)
        _, rest, _ = _git(
            self._repository, "log", "--first-parent", "--reverse", form, f"{first}..{last}"
        )
        lines = [line.partition("\t") for line in (out + rest).splitlines()]
        self.versions = [Version(name[:_ABBREVIATED], title) for name, _, title in lines]
        key = hashlib.sha256(os.fsencode(self._repository)).hexdigest()[:_ABBREVIATED]
        self._folder = cache / "git" / f"{self._repository.name}-{key}"

    def ends(self, good: str | None, bad: str | None) -> tuple[int, int]:
        """Return the positions of the two revisions: first and last, the older one first."""
        last = len(self.versions) - 1
        return (0, last) if self._forward else (last, 0)

    def program(self, version: Version) -> Path:
        """Check the revision out and build it, unless it was the last one built."""
        if self._held is None:
            self._held = ExitStack()
            lock = self._folder.with_name(f"{self._folder.name}.lock")
            self._held.enter_context(locked(lock, wait=False))
        if self._built != version:
            self._built = None
            self._make(version)
            self._built = version
        path = self._folder / self._program
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UnavailableError(f"the build has left no program {self._program}")
        return path

    def close(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None

    def _make(self, version: Version) -> None:
        if not (self._folder / ".git").exists():
            self._must(
                _git(
                    self._folder.parent, "clone", "--quiet", "--shared", "--no-checkout",
                    str(self._repository), str(self._folder),
                )
            )  # fmt: skip
        # What an interrupted run has left; nobody else is in here.
        (self._folder / ".git" / "index.lock").unlink(missing_ok=True)
        self._must(_git(self._folder, "checkout", "--quiet", "--force", "--detach", version.name))
        status, out, err = run(["/bin/sh", "-c", self._build], self._folder, _environment())
        self.fetched += 1
        if status != 0:
            raise UnavailableError(
                f"the build ended with exit status {status}: {last_line(err, out)}"
            )

    def _must(self, ended: tuple[int, str, str]) -> None:
        status, out, err = ended
        if status != 0:
            raise UnavailableError(f"git: {last_line(err, out)}")

    def _before(self, first: str, last: str) -> bool:
        return _git(self._repository, "merge-base", "--is-ancestor", first, last)[0] == 0


def _environment() -> dict[str, str]:
    """Return the environment without variables that point git elsewhere, as in a hook."""
    kept = {name: value for name, value in os.environ.items() if not _OURS.match(name)}
    return {**kept, "GIT_TERMINAL_PROMPT": "0"}


def _git(folder: Path, *words: str) -> tuple[int, str, str]:
    try:
        return run(["git", *words], folder, _environment())
    except FileNotFoundError:
        raise UsageError("`git` needs git, which is not in PATH") from None
    except OSError as error:
        raise UsageError(f"`git`: {folder}: {error.strerror}") from None


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
            in_each_environment = ("python", "activate", "Activate")
            found = [each for each in found if not each.name.startswith(in_each_environment)]
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


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4)
    return head == b"\x7fELF" or head == _MACH_O or head.startswith(b"#!")
