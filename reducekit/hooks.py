"""The hooks of a format: what it may do besides being reduced.

What they return is plain data, of classes in `reducekit.offers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from reducekit.diagram import Diagram
    from reducekit.offers import Conversions, Generation, Inspection, Part, Playing, Probe


class Hooks:
    """What a format may do besides being reduced, as hooks: their defaults offer nothing.

    Import what a hook needs inside of it. The types of the hooks without one are in
    `reducekit.executors.own`.
    """

    @classmethod
    def offers(cls, hook: str) -> bool:
        """Return whether a format has a hook of its own: `offers("variant")`."""
        return getattr_static(cls, hook) is not vars(Hooks)[hook]

    # For commands.

    @classmethod
    def generation(cls) -> Generation | None:
        """Return the generator of random inputs, for `generate` and `hunt`."""
        return None

    @classmethod
    def conversions(cls) -> Conversions | None:
        """Return what is translated between notations, for `convert`."""
        return None

    @classmethod
    def named(cls, name: str) -> Inspection | None:
        """Look into what is no file but has this name, such as a model that is shipped."""
        return None

    @classmethod
    def playing(cls) -> Playing | None:
        """Return how an input is played once, for `replay`."""
        return None

    @classmethod
    def respelled(cls, words: Sequence[str]) -> Sequence[str]:
        """Translate the command line of an older program into ours."""
        return words

    def diagram(self, view: Any) -> Diagram | None:
        """Return what the page draws of a parsed text."""
        return None

    notes: Sequence[str] = ()  # what the user should know before a reduction, in sentences

    def of_file(self, name: str) -> Self:
        """Return the format for a file of this name."""
        return self

    # For the result.

    def pretty(self, text: bytes) -> bytes:
        """Pretty-print a text."""
        return text

    def in_form(self, text: bytes, suffix: str) -> bytes:
        """Return a text in the form of files with a suffix, where a format has several."""
        return text

    def remark(self, text: bytes) -> str | None:
        """Return what a person should know about a result in which everything is needed."""
        return None

    def labels(self, texts: Sequence[bytes]) -> Sequence[Part]:
        """Return the parts of the last text, followed from the first over the steps between.

        Such as the axioms of a verifier.
        """
        return ()

    def instances(self, text: bytes, probe: Probe) -> Sequence[int | None]:
        """Return how often each part is used in a run, in the order of `labels`; None: unknown."""
        return ()

    # Which candidates run. These are asked about each one, and about the input.

    def refuses(self, text: bytes) -> str | None:
        """Return why a text must not run, and what to type instead; None: it may run."""
        return None

    def misread(self, view: Any, base: bytes, text: bytes) -> bool:
        """Return whether a text breaks the rules of the format where that it is made from did not.

        `view` is of a text that both come from. Such texts do not run, but for a few: if one of
        these fails, all run from then on.
        """
        return False

    def fingerprint(self, text: bytes) -> bytes | None:
        """Return a fingerprint: texts with equal fingerprints are assumed to behave alike.

        Such as a hash of all but the names. A text is not run if one of the same fingerprint was
        refuted, except in the sweep of a schedule. None: only the text itself is remembered.
        """
        return None

    # How the input fails.

    def beside(self, passing: bytes) -> Self:
        """Return the format that compares with this text, which passes, in place of `baseline`.

        A candidate that passes becomes the baseline, so that both sides come nearer to each other.
        """
        return self

    def for_failure(self, described: str, *, by_chance: bool) -> Self:
        """Return the format to reduce with, given in words how the input fails.

        `by_chance`: it is unstable, so that parts of it fail or not as if by chance.
        """
        return self

    def guesses(self, text: bytes, good: Sequence[Probe], bad: Probe | None) -> Iterable[bytes]:
        """Return parts of the input, the smallest first: the reduction begins with one that fails.

        The runs `good` answered unsat; `bad` did not, or was costly. Without a failure about
        answers there are no runs to ask.
        """
        return ()

    def variant(self, text: bytes, number: int) -> bytes:
        """Return a variant of a text, on which programs should end in the same way.

        Such as the same query with other names. It is always the same for a number; that of 0, and
        of what cannot be parsed, is the text.
        """
        return text

    def overrides(self, text: bytes, words: Sequence[str]) -> Sequence[str]:
        """Return the options that a text sets and that decide how the command's words end."""
        return ()

    def yielding(
        self, text: bytes, commands: Sequence[Sequence[str]]
    ) -> tuple[bytes, Sequence[str]]:
        """Return a text that leaves the options to the commands which all of them set, and these.

        Lines keep their numbers.
        """
        return text, ()

    def claimed(self, text: bytes) -> str | None:
        """Return the answer that a text claims; None if there is none, or several.

        Some programs fail if they answer otherwise.
        """
        return None

    def unclaimed(self, text: bytes) -> bytes:
        """Return a text without its claims."""
        return text

    # Bugs in a hunt.

    def rejects(self, line: str, *, well_formed: bool) -> bool:
        """Return whether the failure line of a run means that its program need not accept the text.

        Texts of the format's own generator are `well_formed`.
        """
        return False

    def skeleton(self, text: bytes) -> str:
        """Return what a reduced text is made of, in a few words.

        Failures without a place in the code are different bugs if these words differ.
        Raises ParseError.
        """
        return ""

    model_check: str = ""
    """The module that evaluates models as an interestingness test, for `--wrong-model`.

    Its words are a program's, after `--` those of one that may check models, and a file.
    """
    asks_checkers: bool = False
    """Whether it asks another program about a model that it cannot evaluate."""

    def wrong_model(self, text: bytes, output: bytes) -> bool:
        """Return whether the model in a program's output violates the text."""
        return False

    # Checks of its own, where inputs can be played to a library.

    def own_oracle(self, request: Any) -> Any:
        """Return how candidates are checked without a command: an `OwnOracle`, or None.

        Raises NotInterestingError if the input does not fail so.
        """
        return None

    @classmethod
    def testing(cls) -> Any:
        """Return the `Testing` of random inputs in hunts without a command, if it has one."""
        return None

    def opener(self, opener: Any, text: bytes) -> Any:
        """Return what opens executors for a command, given what does so for any text.

        Candidates that break the rules of the format are no failures then.
        """
        return opener
