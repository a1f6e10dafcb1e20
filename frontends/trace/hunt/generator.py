"""Makes random traces for `generate`, and for hunts whose programs read traces from files.

`OPTIONS` say which model, which library plays the traces, and how large they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends.trace.generate.generator import Generated as Made
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import CONTRACT, DEFAULT_LIMITS, PARSE, api_of
from reducekit.frontends.trace.player.contract import classified
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.target import TARGET_OPTIONS, Target, fitted
from reducekit.offers import FormatOption, Generated, Generation, InputGenerator
from reducekit.run import Outcome

_NOT_ALLOWED = ("contract", "parse")
_USUAL = "lingeling"
OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        "model",
        "The model of the API (default: the library's, else lingeling).",
        metavar="API|FILE",
    ),
    FormatOption(
        "fuzzed",
        "Always or never set random options (default: as often as the model says).",
        "flag",
        spelled="options",
    ),
    FormatOption(
        "variables",
        "Initial number of variables; 40 make traces of about 500 calls (default: by the model).",
        "whole",
        metavar="N",
        least=1,
        most=100_000,
    ),
    *TARGET_OPTIONS,
    FormatOption(
        "feedback",
        "Play calls while generating, so that results steer the rest (default: if there is a "
        "library).",
        "flag",
        rare=True,
    ),
)


@dataclass(frozen=True, slots=True)
class TraceOptions(Target):
    """The values of `OPTIONS`, but for the feedback."""

    fuzzed: bool | None = None
    variables: int | None = None

    def label(self, api: str) -> tuple[str, ...]:
        """Return what a bug in it is said to be in."""
        fault = () if self.fault is None else ("--fault", self.fault)
        return (self.library or api, *fault)

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make the trace of a seed again."""
        words = [*self.played_by]
        if self.fuzzed is not None:
            words.append("--options" if self.fuzzed else "--no-options")
        if self.variables is not None:
            words += ["--variables", str(self.variables)]
        return [*words, "--seed", str(seed)]


def options_of(values: Mapping[str, Any]) -> tuple[TraceOptions, Model]:
    """Return the options, and the model, by default that of the library. Raises UsageError."""
    found = TraceOptions.of(values)
    name = found.model or (_USUAL if found.library is None else api_of(found.library))
    return replace(found, model=name), load_model(name)


class TraceGenerator(InputGenerator):
    """Makes traces of a model, played while they are made if there is a library for that."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        options, model = options_of(values)
        self._options = options
        self._feedback: bool | None = values["feedback"]
        if self._feedback is False and (options.library, options.fault) != (None, None):
            raise UsageError("`library` and `fault` have no effect with `no_feedback`")
        self._model = model
        """As the library has it, if one plays the calls."""
        self._format = model.formats[0]
        self.suffix = ".mobical" if self._format == "mobical" else ".trace"
        self.frontend_options = {"model": options.model}
        notes: list[str] = []
        self._path = ""
        """Of the library."""
        self._live = None if self._feedback is False else self._opened(notes)
        self.notes = notes
        self._generator = Generator(
            self._model, options=options.fuzzed, variables=options.variables
        )

    def _opened(self, notes: list[str]) -> LiveReplay | None:
        """Open what plays the calls; None if there is nothing, and nobody has asked for it."""
        options = self._options
        try:
            library, patch = options.opened(self._model.name)
            if library.note:
                notes.append(library.note)
            self._path = library.path
            self._model = fitted(self._model, library)
            return LiveReplay(library, patch=patch)
        except UsageError as error:
            if self._feedback or options.library is not None or options.fault is not None:
                raise
            notes.append(f"no feedback: {error}")
            return None

    def generate(self, seed: int) -> Generated:
        live = self._live
        if live is None:
            made = self._generator.generate(seed)
            return Generated(self._text(made))
        live.begin(DEFAULT_LIMITS)
        made = self._generator.generate(seed, live.play)
        outcome = live.finish()
        if outcome.kind == "parse":
            raise UsageError(
                f"the library {self._path} cannot play traces of {self._model.name}: "
                f"{outcome.reason}"
            )
        note = ""
        if outcome.kind != "ok":
            last = made.calls[-1] if made.calls else "the first call"
            note = f"seed {seed}: {outcome.describe()}, in the last call: {last}"
        return Generated(self._text(made), note)

    def _text(self, made: Made) -> bytes:
        return self._options.head(self._format) + print_trace(made.recorded(), self._format)

    def words(self, seed: int) -> Sequence[str]:
        words = self._options.words(seed)
        if self._feedback is None:
            return words
        return [*words, "--feedback" if self._feedback else "--no-feedback"]

    def breaks_rules(self, outcome: Outcome) -> bool:
        """Return whether an interpreter complains of the trace: then its solver is not to blame."""
        if outcome.limit is None and outcome.status in (CONTRACT, PARSE):
            return True
        return classified(self._model.classify, outcome) in _NOT_ALLOWED

    def close(self) -> None:
        if self._live is not None:
            self._live.close()


GENERATION = Generation(
    TraceGenerator,
    OPTIONS,
    "The traces keep to a model of the API. The solver plays the calls while they are made: what "
    "it answers decides what comes next, and is written to the trace.",
    "trace",
    presets={
        "CaDiCaL": {"model": "cadical"},
        "PicoSAT": {"model": "picosat"},
        "IPASIR": {"model": "ipasir"},
        "few variables": {"variables": 10},
    },
)
