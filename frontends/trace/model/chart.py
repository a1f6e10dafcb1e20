"""Draws a model as a state chart (SVG), and a trace as a timeline over the states of its model.

States form a row, in the order of the model. A frame represents all states inside it (Harel's
statecharts), so a call that is allowed in all of them is one arrow from the frame. Arrows from
single states run below the row, in a lane each, so that they do not overlap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from reducekit import svg
from reducekit.diagram import Chart, Diagram, Kind, Node, Transition
from reducekit.frontends.trace.language.calls import Trace
from reducekit.frontends.trace.model.definition import CallModel, Model
from reducekit.frontends.trace.model.machine import Machine
from reducekit.text import shortened

_CHARACTER = 6.7  # pixels a character of the 11-pixel monospaced font takes
_LINE = 14
_PAD = 10
_GAP = 46
_EDGE = 20  # from a state to the frame around it
_WIDEST = 26  # characters a line of a label may have
_LANE = 26
_TOP = 54  # of the frame: the title is above
_SHOWN = 80  # characters
# Calls that are named at an arrow of the chart.
_NAMED = 3
_KINDS: dict[str, Kind] = {"init": "root", "release": "root", "solve": "inner", "option": "other"}
_GOTO = re.compile(r"goto\s+(.*?)(?:\s+when\s+(.*))?$")
_STYLE = """
text { font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #223; }
.title { font-size: 15px; font-weight: bold; }
.name { font-weight: bold; font-size: 12px; }
.quiet { fill: #556; }
.middle { text-anchor: middle; }
.back { text-anchor: end; }
.label { stroke: #fff; stroke-width: 4px; paint-order: stroke; }
.frame { fill: #f4f7fb; stroke: #9ab; stroke-width: 1.5; }
.state { fill: #fff; stroke: #345; stroke-width: 1.5; }
.initial { stroke-width: 3; }
.final { fill: none; stroke: #345; }
.arrow { fill: none; stroke: #345; stroke-width: 1.3; marker-end: url(#tip); }
.port { fill: #345; }
"""


@dataclass(frozen=True, slots=True)
class _Arrow:
    """A transition: from a state, or from the frame (None), to a state, with lines of calls."""

    source: int | None
    target: int
    labels: tuple[str, ...]


@dataclass
class _Layout:
    """Where things are, in pixels.

    `boxes` are the lines in the states, `tops` those at arrows that come from above, by state;
    `inside` are the states in the frame, `lanes` the arrows below the row.
    """

    boxes: Sequence[Sequence[str]]
    tops: Sequence[Sequence[str]]
    inside: Sequence[int]
    lanes: Sequence[_Arrow]
    lefts: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    lane_tops: list[float] = field(default_factory=list)
    row: float = 0
    height: float = 0
    width: float = 24
    frame_bottom: float = 0

    def __post_init__(self) -> None:
        for number, (lines, above) in enumerate(zip(self.boxes, self.tops, strict=True)):
            widest = max(len(line) for line in (*lines, *above, "x" * 12))
            self.lefts.append(self.width)
            self.widths.append(widest * _CHARACTER + 2 * _PAD)
            # The frame needs room where it begins and ends.
            at_edge = (number in self.inside) != (number + 1 in self.inside)
            self.width += self.widths[-1] + _GAP + (24 if at_edge else 0)
        self.width += 24 - _GAP
        self.row = _TOP + max(map(len, self.tops)) * _LINE + 46
        self.height = max(map(len, self.boxes)) * _LINE + 2 * _PAD
        y = self.row + self.height + 26
        self.frame_bottom = y - 6
        for each in self.lanes:
            y += (len(each.labels) - 1) * _LINE + _LANE - _LINE // 2
            self.lane_tops.append(y)
            if each.source in self.inside and each.target in self.inside:
                self.frame_bottom = max(self.frame_bottom, y + 14)
            y += 8

    def right(self, state: int) -> float:
        return self.lefts[state] + self.widths[state]

    def middle(self, state: int) -> float:
        return self.lefts[state] + self.widths[state] / 2


def draw_chart(model: Model) -> str:
    """Return the state chart of a model as the text of an SVG file."""
    frame = _frame(model)
    arrows = _arrows(model, frame)
    states = range(len(model.states))
    layout = _Layout(
        [_inner_lines(model, number, frame) for number in states],
        [
            [
                line
                for each in arrows
                if (each.source, each.target) == (None, n)
                for line in each.labels
            ]
            for n in states
        ],
        [number for number in states if frame >> number & 1],
        sorted(
            (each for each in arrows if each.source is not None),
            key=lambda each: abs((each.source or 0) - each.target),
        ),
    )
    staying = [
        name
        for name, call in model.calls.items()
        if _is_wide(call, frame) and not (call.rejected or targets(model, name))
    ]
    words = ["without leaving the state:", *staying] if staying else []
    stays = _wrapped(words, int((layout.width - 60) / _CHARACTER))
    legend = max([layout.frame_bottom, *layout.lane_tops]) + 30
    title = f"{model.title}: states and calls"
    tip = svg.path("M0,1 L10,5 L0,9 z", fill="#345")
    parts = [
        svg.element(
            "defs",
            svg.element(
                "marker", tip, id="tip", viewBox="0 0 10 10", refX=9, refY=5, markerWidth=8,
                markerHeight=8, orient="auto",
            ),
        ),
        svg.style(_STYLE),
        svg.text(24, 24, title, class_="title"),
    ]  # fmt: skip
    if layout.inside:
        left, right = (
            layout.lefts[layout.inside[0]] - _EDGE,
            layout.right(layout.inside[-1]) + _EDGE,
        )
        height = layout.frame_bottom - _TOP
        parts.append(svg.rect(left, _TOP, right - left, height, class_="frame", rx=14))
        name = next((n for n, mask in model.sets.items() if mask == frame), "")
        parts.append(svg.text(left + 10, _TOP - 9, name, class_="name"))
        parts += _lines(24, legend, stays, "quiet")
    parts += _lane_arrows(layout)
    for each in arrows:
        if each.source is None:
            parts += _frame_arrow(each, layout)
    for number, (x, width) in enumerate(zip(layout.lefts, layout.widths, strict=True)):
        y, (name, *calls) = layout.row, layout.boxes[number]
        style = "state initial" if model.initial >> number & 1 else "state"
        parts.append(svg.rect(x, y, width, layout.height, class_=style, rx=9))
        if model.final >> number & 1:
            size = {"width": width - 6, "height": layout.height - 6}
            parts.append(svg.rect(x + 3, y + 3, **size, class_="final", rx=7))
        parts.append(svg.text(x + _PAD, y + _PAD + 11, name, class_="name"))
        parts += _lines(x + _PAD, y + _PAD + 11 + _LINE, calls, "call")
    bottom = legend + len(stays) * _LINE + 8
    return svg.picture(layout.width, bottom, parts, title=title)


def _lines(x: float, y: float, lines: Sequence[str], style: str) -> Iterator[str]:
    """Yield lines of text, the first of them at `y`."""
    for number, line in enumerate(lines):
        yield svg.text(x, y + number * _LINE, line, class_=style)


def _frame(model: Model) -> int:
    """Return the mask of the set of states that most calls may be made in, if it is one piece."""
    # A frame goes around neighbours only, and one around two states or around all says nothing.
    for mask, _ in Counter(call.source for call in model.calls.values()).most_common():
        states = [number for number in range(len(model.states)) if mask >> number & 1]
        if len(states) > 2 and states[-1] - states[0] == len(states) - 1 < len(model.states) - 1:
            return mask
    return 0


def targets(model: Model, name: str) -> list[tuple[int, str]]:
    """Return the masks that a call leads to, each with its label."""
    call = model.calls[name]
    if call.outcomes:
        return [(mask, f"{name} = {result}") for result, mask in call.outcomes.items()]
    found = [(call.target, name)] if call.target else []
    for effect in call.effects:
        match = _GOTO.search(effect.text)
        if match:
            mask = 0
            for word in match[1].split(" or "):
                mask |= model.sets[word.strip()]
            found.append((mask, f"{name} [{match[2]}]" if match[2] else name))
    return found


def _arrows(model: Model, frame: int) -> list[_Arrow]:
    found: dict[tuple[int | None, int, int], list[str]] = {}
    for name, call in model.calls.items():
        for mask, label in targets(model, name):
            for target in range(len(model.states)):
                if not mask >> target & 1:
                    continue
                # One arrow from the frame, in place of one from each state in it.
                wide = _is_wide(call, frame)
                if wide:
                    found.setdefault((None, target, call.source & frame), []).append(label)
                for source in range(len(model.states)):
                    outside = not frame >> source & 1
                    if call.source >> source & 1 and (outside or not wide) and source != target:
                        found.setdefault((source, target, 0), []).append(label)
    lines: dict[tuple[int | None, int], list[str]] = {}
    for (start, target, mask), labels in found.items():
        known = _wrapped(labels)
        if mask not in (0, frame):
            # The call may not be made in all states of the frame.
            missing = [n for k, n in enumerate(model.states) if (frame & ~mask) >> k & 1]
            known = [f"not while {', '.join(missing)}:", *("  " + line for line in known)]
        lines.setdefault((start, target), []).extend(known)
    return [_Arrow(start, target, tuple(each)) for (start, target), each in lines.items()]


def _is_wide(call: CallModel, frame: int) -> bool:
    """Return whether a call may be made in most states of the frame."""
    return (call.source & frame).bit_count() > 2


def _inner_lines(model: Model, number: int, frame: int) -> list[str]:
    """Return the lines in a state's box: its name, and the calls that hardly another one has."""
    calls = [
        name
        for name, call in model.calls.items()
        if call.source >> number & 1
        and not (call.rejected or targets(model, name) or _is_wide(call, frame))
        and call.source != model.sets["any"]
    ]
    return [model.states[number], *_wrapped(calls)]


def _wrapped(words: Sequence[str], widest: int = _WIDEST) -> list[str]:
    """Return words in lines of at most `widest` characters, where a word does not take more."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= widest:
            lines[-1] += (" " if lines[-1].endswith(":") else ", ") + word
        else:
            lines.append(word)
    return lines


def _lane_arrows(layout: _Layout) -> Iterator[str]:
    """Yield the arrows below the row: down, along their lane, and up, each at its own place."""
    ends: dict[int, list[tuple[float, int, bool]]] = {}
    for index, (each, y) in enumerate(zip(layout.lanes, layout.lane_tops, strict=True)):
        source = each.source or 0
        # Ends that go left stand left; the deeper a lane, the farther out.
        depth = 1000 - y if layout.middle(each.target) >= layout.middle(source) else y - 1000
        ends.setdefault(source, []).append((depth, index, True))
        ends.setdefault(each.target, []).append((-depth, index, False))
    place: dict[tuple[int, bool], float] = {}
    for state, found in ends.items():
        for number, (_, index, leaving) in enumerate(sorted(found), 1):
            share = number / (len(found) + 1)
            place[index, leaving] = layout.lefts[state] + layout.widths[state] * share
    bottom, labels = layout.row + layout.height, list[str]()
    for index, (each, y) in enumerate(zip(layout.lanes, layout.lane_tops, strict=True)):
        x0, x1 = place[index, True], place[index, False]
        turn = 8 if x1 > x0 else -8
        yield svg.path(
            "M", x0, bottom, "V", y - 8, "Q", x0, y, x0 + turn, y, "H", x1 - turn,
            "Q", x1, y, x1, y - 8, "V", bottom + 2, class_="arrow",
        )  # fmt: skip
        # Near where the arrow starts, so that labels of neighbouring lanes are apart.
        style, x = ("label", x0 + 10) if x1 > x0 else ("label back", x0 - 10)
        labels += _lines(x, y - 4 - (len(each.labels) - 1) * _LINE, each.labels, style)
    yield from labels


def _frame_arrow(arrow: _Arrow, layout: _Layout) -> Iterator[str]:
    """Yield the arrow from the frame to a state: from its upper edge, or from its side."""
    target, inside = arrow.target, layout.inside
    if target in inside:
        x = layout.lefts[target] + 14
        yield svg.circle(x, _TOP, 3.5, class_="port")
        yield svg.path("M", x, _TOP, "V", layout.row - 2, class_="arrow")
        yield from _lines(x + 7, _TOP + 20, arrow.labels, "call")
        return
    after = target > inside[-1]
    edge = layout.right(inside[-1]) + _EDGE if after else layout.lefts[inside[0]] - _EDGE
    end = layout.lefts[target] - 2 if after else layout.right(target) + 2
    y = layout.row + layout.height / 2
    yield svg.circle(edge, y, 3.5, class_="port")
    yield svg.path("M", edge, y, "H", end, class_="arrow")
    above = layout.row - 8 - (len(arrow.labels) - 1) * _LINE
    yield from _lines(layout.middle(target), above, arrow.labels, "label middle")


def diagram(trace: Trace, model: Model) -> Diagram:
    """Return the calls as a timeline; of one that breaks the contract, why."""
    machine = Machine(model)
    nodes: list[Node] = []
    states: list[list[int]] = []
    starts = accumulate((len(call.raw) for call in trace.calls), initial=0)
    for call, start in zip(trace.calls, starts, strict=False):
        violation = machine.allowed(call)
        detail = violation.message if violation is not None else ""
        if call.result is not None:
            detail = f"returns {call.result}" + (f"; {detail}" if detail else "")
        machine.after(call)
        known = model.calls.get(call.name)
        kind = _KINDS.get(known.role, "leaf") if known is not None else "other"
        words = " ".join([call.name, *map(str, call.arguments)])
        # Blank lines and comments before a call belong to its bytes, but not to its line.
        blank = len(call.raw) - len(call.raw.lstrip())
        nodes.append(
            Node(
                shortened(words, _SHOWN), shortened(detail, 2 * _SHOWN), kind,
                start + blank, start + len(call.raw.rstrip()),
            )
        )  # fmt: skip
        states.append([number for number in range(len(model.states)) if machine.mask >> number & 1])
    return Diagram("timeline", nodes, _chart(model), states)


def _chart(model: Model) -> Chart:
    labels: dict[tuple[int, int], list[str]] = {}
    for name, call in model.calls.items():
        if call.rejected:
            continue
        for mask, label in targets(model, name):
            for source in range(len(model.states)):
                for target in range(len(model.states)):
                    if call.source >> source & 1 and mask >> target & 1 and source != target:
                        labels.setdefault((source, target), []).append(label)
    return Chart(
        list(model.states),
        [
            Transition(source, target, ", ".join(found[:_NAMED]) + ("…" if found[_NAMED:] else ""))
            for (source, target), found in labels.items()
        ],
    )
