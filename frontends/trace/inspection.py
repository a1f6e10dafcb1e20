"""What traces offer to `show`: the time line of a trace, the state chart of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from reducekit import svg
from reducekit.frontends.trace.language.calls import Call, Trace
from reducekit.frontends.trace.language.text import head_options, read_trace
from reducekit.frontends.trace.model.chart import draw_chart
from reducekit.frontends.trace.model.check import find_model
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model, parse_model, shipped
from reducekit.offers import Inspection

_SAID = {10: "satisfiable", 20: "unsatisfiable", 0: "unknown"}
_COLORS = {10: "#2a8f3c", 20: "#c0392b"}
_OTHER_COLOR = "#888888"
_ROWS = {
    "option": "options",
    "clause": "clauses",
    "assume": "assumptions",
    "solve": "solves",
    "query": "queries",
    "other": "other calls",
}
"""What is shown of calls by their role; of all other roles, `other`."""
_LISTED = 200  # solves that are listed
_WIDTH, _LEFT, _ROW, _TOP = 1000, 110, 26, 44
"""Of a picture, in pixels: the line, the names before it, a row, what is above."""


def inspect(text: bytes, notation: str | None, path: Path | None) -> Inspection:
    """Look into a trace, or into a model (a file `.toml`). Raises ParseError or UsageError."""
    if path is not None and path.suffix == ".toml":
        return inspect_model(parse_model(text, str(path), path.parent))
    trace = read_trace(text, {"ipasir": "words"}.get(notation or "", notation))
    model = find_model(trace)
    return Inspection(lambda: _trace_lines(trace, model), {".svg": lambda: picture(trace, model)})


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
        given = head_options(trace.head).items()
        yield "names: " + " ".join(f"--{name} {value}" for name, value in given)
    yield "calls: " + ", ".join(f"{name} {count:,}" for name, count in names.most_common())
    yield "time line:"
    yield from timeline(trace, model)


@dataclass(frozen=True, slots=True)
class _Step:
    """A call: its row, and if it solves what it answered (None: not recorded)."""

    call: Call
    row: str
    clause: bool
    """Whether a clause ends with it."""
    answer: int | None = None


def _steps(trace: Trace, model: Model) -> Iterator[_Step]:
    calls = trace.calls
    for index, call in enumerate(calls):
        if call.name == "return":
            continue
        known = model.calls.get(call.name)
        row = known.role if known is not None and known.role in _ROWS else "other"
        # Literal by literal, with 0 at the end; or whole.
        literal = call.arguments[0] if len(call.arguments) == 1 else 0
        result = call.result
        if result is None and calls[index + 1 : index + 2]:
            following = calls[index + 1]
            given = following.arguments if following.name == "return" else ()
            result = given[0] if given else None
        answer = result if row == "solve" and isinstance(result, int) else None
        yield _Step(call, row, row == "clause" and literal == 0, answer)


def timeline(trace: Trace, model: Model) -> Iterator[str]:
    """Yield a line for each solve, with what came before it, and one for what comes after."""
    counted: Counter[str] = Counter()
    clauses = listed = 0
    for step in _steps(trace, model):
        if step.row == "clause":
            counted["clauses"] += step.clause
        elif step.row != "solve":
            counted[_ROWS[step.row]] += 1
        else:
            clauses += counted["clauses"]
            listed += 1
            if listed <= _LISTED:
                said = "" if step.answer is None else f" answers {_said(step.answer)}"
                call = f"line {step.call.line}: {step.call.name}{said}"
                yield f"  {_since(counted)}; {call} ({clauses:,} clauses)"
            counted.clear()
    if listed > _LISTED:
        yield f"  ... {listed - _LISTED:,} more solves"
    if counted:
        yield f"  {_since(counted)}"


def _said(answer: int) -> str:
    return _SAID.get(answer, str(answer))


def _since(counted: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counted.items() if count) or "nothing"


def picture(trace: Trace, model: Model) -> bytes:
    """Return an SVG file: a row for each kind of call, from left to right as they were made.

    Solves are green where satisfiable, red where unsatisfiable.
    """
    found = list(_steps(trace, model))
    scale = _WIDTH / max(1, len(found))
    tops = {row: _TOP + number * _ROW for number, row in enumerate(_ROWS)}
    parts = [svg.text(10, 22, f"{model.title}: {len(found):,} calls", font_weight="bold")]
    for row, top in tops.items():
        parts.append(svg.text(10, top + 14, _ROWS[row]))
        parts.append(svg.rect(_LEFT, top + 9, _WIDTH, 1, fill="#dddddd"))
    first = 0
    for (row, answer), group in groupby(found, lambda step: (step.row, step.answer)):
        made = list(group)
        x, width = _LEFT + first * scale, max(1.0, len(made) * scale)
        first += len(made)
        if row == "solve":
            color = _OTHER_COLOR if answer is None else _COLORS.get(answer, _OTHER_COLOR)
        else:
            color = "#3b6ea5"
        begin, end = made[0].call, made[-1].call
        words = f"line {begin.line}: {begin}"
        if len(made) > 1:
            words = f"{len(made):,} calls, {words} to line {end.line}: {end}"
        if answer is not None:
            words += f", {_said(answer)}"
        box = svg.rect(x, tops[row] + 2, width, 15, fill=color)
        parts.append(svg.group([svg.tooltip(words), box]))
    height = _TOP + len(_ROWS) * _ROW + 10
    text = svg.picture(
        _LEFT + _WIDTH + 20,
        height,
        parts,
        title=f"time line of a trace of {model.title}",
        font_family="sans-serif",
        font_size=12,
    )
    return text.encode()
