"""What traces offer to `show`: the time line of a trace, the state chart of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reducekit.frontends.trace.formats import player, read_trace
from reducekit.frontends.trace.language import timeline
from reducekit.frontends.trace.language.calls import Trace
from reducekit.frontends.trace.model.chart import draw_chart
from reducekit.frontends.trace.model.check import find_model
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model, parse_model, shipped
from reducekit.offers import Inspection


def inspect(text: bytes, notation: str | None, path: Path | None) -> Inspection:
    """Look into a trace, or into a model (a file `.toml`). Raises ParseError or UsageError."""
    if path is not None and path.suffix == ".toml":
        return inspect_model(parse_model(text, str(path), path.parent))
    trace = read_trace(text, {"ipasir": "words"}.get(notation or "", notation))
    model = find_model(trace)
    return Inspection(
        lambda: _trace_lines(trace, model), {".svg": lambda: timeline.picture(trace, model)}
    )


def named(name: str) -> Inspection | None:
    """Look into a model that is shipped; None if there is none of this name."""
    return inspect_model(load_model(name)) if name in shipped() else None


def inspect_model(model: Model) -> Inspection:
    """Look into a model: its states and calls, and the chart of its states."""
    return Inspection(lambda: _model_lines(model), {".svg": lambda: draw_chart(model).encode()})


def _model_lines(model: Model) -> Iterator[str]:
    yield f"model of {model.name}: {len(model.states):,} states, {len(model.calls):,} calls"
    yield f"formats: {', '.join(model.formats)}"
    for number, state in enumerate(model.states):
        calls = [name for name, call in model.calls.items() if call.source >> number & 1]
        yield f"  {state}: {', '.join(calls) if calls else 'no calls'}"


def _trace_lines(trace: Trace, model: Model) -> Iterator[str]:
    calls = [call for call in trace.calls if call.name != "return"]
    names = Counter(call.name for call in calls)
    yield f"{trace.format}: {len(calls):,} calls of {model.name}"
    if trace.head:
        given = player.read(trace.head).items()
        yield "names: " + " ".join(f"--{name} {value}" for name, value in given)
    yield "calls: " + ", ".join(f"{name} {count:,}" for name, count in names.most_common())
    yield "time line:"
    yield from timeline.lines(trace, model)
