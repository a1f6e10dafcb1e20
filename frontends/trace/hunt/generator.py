"""Makes random traces for `generate`, and for hunts whose programs read traces from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends.trace.generate.generator import Generated as Made
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.hunt.options import OPTIONS, TraceOptions
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import CONTRACT, PARSE
from reducekit.frontends.trace.player.contract import classified
from reducekit.frontends.trace.player.fitted import fitted
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.offers import Generated, Generation, InputGenerator
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome

LIMITS = Limits(wall=60, cpu=10, memory=4 << 30, output=1 << 20)
"""Of a trace that is played while it is made: most take some milliseconds."""
_NOT_ALLOWED = ("contract", "parse")


class TraceGenerator(InputGenerator):
    """Makes traces of a model, played while they are made if there is a library for that."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._options = options = TraceOptions.of(values)
        self._feedback: bool | None = values["feedback"]
        if self._feedback is False and (options.library, options.fault) != (None, None):
            raise UsageError("`library` and `fault` have no effect with `no_feedback`")
        self._model = model = load_model(options.model)
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
            library, patch = options.target(self._model.name)
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
        live.begin(LIMITS)
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
