"""What several formats share; here, how they load what they offer apart from reductions."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reducekit.format import Format

if TYPE_CHECKING:
    from reducekit.offers import Conversions, Generation, Inspection


class Offering(Format):
    """A format with a generator, conversions and a look into its files, each in a module."""

    package: str
    """The name of the package that has the modules."""
    generator, converter, inspector = "generate", "convert", "convert"

    @classmethod
    def _from(cls, module: str, name: str) -> Any:
        return getattr(import_module(f"{cls.package}.{module}"), name)

    @classmethod
    def generation(cls) -> Generation:
        """Return the generator of random files."""
        found: Generation = cls._from(cls.generator, "GENERATION")
        return found

    @classmethod
    def conversions(cls) -> Conversions:
        """Return the conversions to other notations and formats."""
        found: Conversions = cls._from(cls.converter, "CONVERSIONS")
        return found

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        """Look into a file. Raises ParseError."""
        found: Inspection = cls._from(cls.inspector, "inspect")(text, notation)
        return found


class JudgesModels(Offering):
    """A format whose module `model_check` judges the models that programs print."""

    def wrong_model(self, text: bytes, output: bytes) -> bool:
        """Return whether a printed model is wrong."""
        from reducekit.frontends.model_verdict import is_wrong

        # Without a model there is no need to parse the text.
        has_model, judge = (self._from("model_check", name) for name in ("has_model", "judge"))
        return has_model(output) and is_wrong(judge, text, output)
