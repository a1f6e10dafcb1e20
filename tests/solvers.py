"""Released solvers as single programs, fetched once with pip: `python tests/solvers.py z3-4.8.5.0`.

The newest solvers are installed by the `test` extra. An old release of the same
package cannot live beside the new one in an environment, but its wheel holds a
self-contained program, which is unpacked into a cache: `.cache/` in the
checkout, or the folder that REDUCEKIT_SOLVERS names.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

CACHE = "REDUCEKIT_SOLVERS"
_CHECKOUT = Path(__file__).resolve().parent.parent


class SolverError(Exception):
    """A solver that cannot be had here; says why, and what would help."""


def cache_folder() -> Path:
    """Return the folder that holds the unpacked solvers (it may not exist yet)."""
    named = os.environ.get(CACHE)
    return Path(named).expanduser().resolve() if named else _CHECKOUT / ".cache"


def z3(version: str) -> Path:
    """Return the path of a released z3, such as "4.8.5.0", fetching it the first time.

    Of several processes that ask at once, one fetches it and the others wait. Raises SolverError
    if pip cannot fetch the wheel or it has no such program.
    """
    program = cache_folder() / f"z3-{version}" / "z3"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with locked(program.parent), tempfile.TemporaryDirectory(dir=program.parent) as name:
        if not program.exists():
            folder = Path(name)
            print(f"fetching z3 {version} with pip into {program.parent}", file=sys.stderr)
            wheel = _download(f"z3-solver=={version}", folder)
            unpacked = _unpack(wheel, "/bin/z3", folder / "z3")
            unpacked.chmod(0o755)
            unpacked.replace(program)
    return program


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder of the cache; the lock ends with the process."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _download(requirement: str, folder: Path) -> Path:
    """Fetch the wheel of a package for this machine, without what it depends on."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    command = [sys.executable, "-m", "pip", "download", *options, "-d", str(folder), requirement]
    run = subprocess.run(command, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if run.returncode != 0 or len(wheels) != 1:
        raise SolverError(
            f"pip could not fetch {requirement} (a wheel for this machine, from the "
            f"package index that pip is set up for):\n{run.stderr.strip()}"
        )
    return wheels[0]


def _unpack(wheel: Path, suffix: str, target: Path) -> Path:
    """Write the one member of the wheel whose name ends in `suffix` to `target`."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(suffix)]
        if len(names) != 1:
            raise SolverError(f"{wheel.name} holds {len(names)} files *{suffix}, expected 1")
        target.write_bytes(archive.read(names[0]))
    return target


def main(arguments: list[str]) -> int:
    """Print the path of each solver asked for, such as `z3-4.8.5.0`."""
    try:
        for argument in arguments:
            name, _, version = argument.partition("-")
            if name != "z3" or not version:
                raise SolverError(f"unknown solver {argument!r}: expected z3-VERSION")
            print(z3(version))
    except SolverError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
