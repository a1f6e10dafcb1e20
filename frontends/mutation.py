"""What mutants of files have in common: seeds, how they are drawn, options, their generator."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

from reducekit.errors import UsageError
from reducekit.frontends.solver_options import read_options
from reducekit.offers import FormatOption, InputGenerator, words_of

S = TypeVar("S")
"""A seed: a file, ready to be changed."""

LARGEST = 1 << 16
"""The size of the largest seed in bytes: each mutant is parsed."""
TRIES = 20
"""Seeds that are drawn for a mutant, and changes that are tried on one, at most."""
JOINED = 0.25
"""How often two seeds are joined before they are changed."""


class Mutants(Generic[S]):
    """Mutants of the files at a path: those that can be changed are seeds, each read once."""

    def __init__(
        self,
        path: Path,
        suffixes: Sequence[str] | None,
        noun: str,
        read: Callable[[bytes], S | None],
        change: Callable[[Random, S, S | None], bytes | None],
    ) -> None:
        """List the files. Raises UsageError if there are none.

        `read` returns None for a file that is no seed; `change` gets a seed and sometimes another
        one to join with it, and returns None where it finds no change that keeps the rules.
        """
        self.path = path
        self.noun = noun
        self.files = _files(path, suffixes, noun)
        self._change = change

        @cache
        def seed_of(number: int) -> S | None:
            try:
                text = self.files[number].read_bytes()
            except OSError:
                return None  # removed since
            return read(text) if len(text) <= LARGEST else None

        self._seed_of = seed_of

    def mutant(self, dice: Random) -> bytes:
        """Return a mutant. Raises UsageError if none of the files that are drawn can be changed."""
        count = len(self.files)
        for _ in range(TRIES):
            seed = self._seed_of(dice.randrange(count))
            if seed is None:
                continue
            other = self._seed_of(dice.randrange(count)) if dice.random() < JOINED else None
            text = self._change(dice, seed, other)
            if text is not None:
                return text
        raise UsageError(
            f"no mutant of {self.path} keeps the rules of the format: give {self.noun}, of "
            f"{LARGEST >> 10} kB at most"
        )


class MutatingGenerator(InputGenerator, Generic[S]):
    """Makes random files or, with `mutate`, mutants of files; draws options of solvers, too."""

    def __init__(
        self,
        format_name: str,
        options: Sequence[FormatOption],
        values: Mapping[str, Any],
        mutants: Callable[[Path], Mutants[S]],
    ) -> None:
        self.values = values
        self._options = options
        self.solver_options = read_options(values.get("solver_options"), format_name)
        self.has_options = bool(self.solver_options.each)
        self.mutants = None if values["mutate"] is None else mutants(Path(values["mutate"]))
        if self.mutants is not None:
            self.files = self.mutants.files

    @abstractmethod
    def random(self, seed: int) -> bytes:
        """Make the random file of a seed."""

    def made(self, seed: int) -> bytes:
        """Make the file of a seed, random or a mutant, without options.

        Raises UsageError for options that contradict each other, and if no file can be mutated.
        """
        if self.mutants is not None and (dice := dice_of(seed, self.values["mix"])) is not None:
            return self.mutants.mutant(dice)
        return self.random(seed)

    def words(self, seed: int) -> Sequence[str]:
        return ["--seed", str(seed), *words_of(self._options, self.values)]


def drawn_size(share: float, smallest: int, largest: int) -> int:
    """Return a size on a logarithmic scale, so that there are as many small files as large ones."""
    size: float = smallest ** (1 - share) * largest**share
    return round(size)


def dice_of(seed: int, mix: float) -> Random | None:
    """Return the dice for the mutant of a seed; None if it is not among that share of mutants."""
    dice = Random(f"mutant {seed}")
    return dice if dice.random() < mix else None


def _files(path: Path, suffixes: Sequence[str] | None, noun: str) -> Sequence[Path]:
    """Return the files at a path, sorted by name. Raises UsageError if there are none.

    Without suffixes, those of the most frequent one.
    """
    if path.is_file():
        return (path,)
    files = [each for each in path.rglob("*") if each.is_file()]
    if suffixes is None:
        visible = (each for each in files if "/." not in f"/{each.relative_to(path)}")
        suffixes = [most for most, _ in Counter(each.suffix for each in visible).most_common(1)]
    found = sorted(each for each in files if each.suffix in suffixes)
    if not found:
        kinds = ", ".join(f"*{each}" for each in suffixes) + " " * bool(suffixes)
        raise UsageError(f"{path} is neither a file nor a folder of {kinds}files: give {noun}")
    return found


OPTIONS = (
    FormatOption(
        "mutate", "Change this file, or the files of this folder.", "path", metavar="PATH"
    ),
    FormatOption(
        "mix", "Share of mutants with --mutate; the others are random.", "decimal", 1.0,
        metavar="P", least=0.0, most=1.0, rare=True,
    ),
)  # fmt: skip
"""Those of formats whose generator needs no option to be asked for."""
