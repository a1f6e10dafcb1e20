"""Versions of a git repository: revisions, built by a command in a clone."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import ExitStack
from pathlib import Path

from reducekit.bisect.versions import Source, UnavailableError, Version, last_line, locked, run
from reducekit.errors import UsageError

_ABBREVIATED = 12  # digits of a hash


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


_OURS = re.compile(r"GIT_(?!SSH|ASKPASS|CONFIG_GLOBAL|CONFIG_SYSTEM)")


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
