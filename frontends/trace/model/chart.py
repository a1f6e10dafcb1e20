"""Draws a model as a state chart (SVG).

States form a row, in the order of the model. A frame represents all states
inside it (Harel's statecharts), so a call that is allowed in all of them is one
arrow from the frame. Arrows from single states run below the row, in a lane
each, so that they do not overlap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from reducekit.frontends.trace.model.definition import Model

_CHARACTER = 6.7  # pixels a character of the 11-pixel monospaced font takes
_LINE = 14
_PAD = 10
_GAP = 46
_WIDEST = 26  # characters a line of a label may have
_LANE = 26
_GOTO = re.compile(r"goto\s+(.*?)(?:\s+when\s+(.*))?$")


@dataclass(frozen=True, slots=True)
class _Arrow:
    """A transition: from a state, or from the frame (None), to a state, with lines of calls."""

    source: int | None
    target: int
    labels: tuple[str, ...]


def draw_chart(model: Model) -> str:
    """Return the state chart of a model as the text of an SVG file."""
    frame = _frame(model)
    arrows = _arrows(model, frame)
    inside = [number for number in range(len(model.states)) if frame >> number & 1]
    boxes = [_inner_lines(model, number, frame) for number in range(len(model.states))]
    tops = [
        [line for each in arrows if each.source is None and each.target == number
         for line in each.labels]
        for number in range(len(model.states))
    ]  # fmt: skip
    widths = [
        max(len(line) for line in [*boxes[number], *tops[number], "x" * 12]) * _CHARACTER + 2 * _PAD
        for number in range(len(model.states))
    ]
    left: list[float] = []
    x = 24.0
    for number, width in enumerate(widths):
        left.append(x)
        beyond = number in inside and number + 1 not in inside
        before = number not in inside and number + 1 in inside
        x += width + _GAP + (24 if beyond or before else 0)
    total = x - _GAP + 24
    title = 54.0
    label_height = max(len(lines) for lines in tops) * _LINE
    frame_top = title
    row = frame_top + label_height + 46
    height = max(len(lines) for lines in boxes) * _LINE + 2 * _PAD
    stays = _wrapped(_staying(model, frame), int((total - 60) / _CHARACTER))
    lanes = [each for each in arrows if each.source is not None]
    lanes.sort(key=lambda each: abs((each.source or 0) - each.target))
    lane_tops: list[float] = []
    y = row + height + 26
    for each in lanes:
        y += (len(each.labels) - 1) * _LINE + _LANE - _LINE // 2
        lane_tops.append(y)
        y += 8
    inner = [
        top
        for top, each in zip(lane_tops, lanes, strict=True)
        if each.source in inside and each.target in inside
    ]
    frame_bottom = max([row + height + 20, *(top + 14 for top in inner)])
    legend = max([frame_bottom, *lane_tops]) + 30
    bottom = legend + len(stays) * _LINE + 8
    out = [_head(total, bottom, f"{model.title}: states and calls")]
    if inside:
        x0, x1 = left[inside[0]] - 20, left[inside[-1]] + widths[inside[-1]] + 20
        out.append(_box(x0, frame_top, x1 - x0, frame_bottom - frame_top, "frame", 14))
        name = next((n for n, mask in model.sets.items() if mask == frame), "")
        out.append(_text(x0 + 10, frame_top - 9, name, "name"))
        out += [
            _text(24, legend + number * _LINE, line, "quiet") for number, line in enumerate(stays)
        ]
    out += _lane_arrows(lanes, lane_tops, left, widths, row + height)
    for each in arrows:
        if each.source is None:
            out += _frame_arrow(each, left, widths, inside, frame_top, row, height)
    for number, lines in enumerate(boxes):
        style = "state initial" if model.initial >> number & 1 else "state"
        out.append(_box(left[number], row, widths[number], height, style, 9))
        if model.final >> number & 1:
            out.append(_box(left[number] + 3, row + 3, widths[number] - 6, height - 6, "final", 7))
        for index, line in enumerate(lines):
            style = "name" if index == 0 else "call"
            out.append(_text(left[number] + _PAD, row + _PAD + 11 + index * _LINE, line, style))
    return "\n".join([*out, "</svg>", ""])


def _frame(model: Model) -> int:
    """Return the mask of the set of states that most calls may be made in, if it is one piece."""
    counts: dict[int, int] = {}
    for call in model.calls.values():
        counts[call.source] = counts.get(call.source, 0) + 1
    for mask in sorted(counts, key=lambda each: -counts[each]):
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
    """Return all arrows, those with the same ends as one."""
    found: dict[tuple[int | None, int, int], list[str]] = {}
    for name, call in model.calls.items():
        for mask, label in targets(model, name):
            for target in range(len(model.states)):
                if not mask >> target & 1:
                    continue
                common = (call.source & frame).bit_count()
                wide = common > 2
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
            known = [_but(mask, model, frame), *("  " + line for line in known)]
        lines.setdefault((start, target), []).extend(known)
    return [_Arrow(start, target, tuple(each)) for (start, target), each in lines.items()]


def _but(source: int, model: Model, frame: int) -> str:
    """Return the states of the frame that a call may not be made in, as a heading."""
    missing = frame & ~source
    names = [name for number, name in enumerate(model.states) if missing >> number & 1]
    return f"not while {', '.join(names)}:"


def _inner_lines(model: Model, number: int, frame: int) -> list[str]:
    """Return the lines in a state's box: its name, and the calls that hardly another one has."""
    calls = [
        name
        for name, call in model.calls.items()
        if call.source >> number & 1
        and not call.rejected
        and not targets(model, name)
        and (call.source & frame).bit_count() <= 2
        and call.source != model.sets["any"]
    ]
    return [model.states[number], *_wrapped(calls)]


def _staying(model: Model, frame: int) -> list[str]:
    """Return the calls that may be made in most states of the frame, and lead nowhere."""
    calls = [
        name
        for name, call in model.calls.items()
        if (call.source & frame).bit_count() > 2 and not call.rejected and not targets(model, name)
    ]
    return ["without leaving the state:", *calls] if calls else []


def _wrapped(words: Sequence[str], widest: int = _WIDEST) -> list[str]:
    """Return words in lines of at most `widest` characters, where a word does not take more."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= widest:
            joint = " " if lines[-1].endswith(":") else ", "
            lines[-1] += joint + word
        else:
            lines.append(word)
    return lines


def _middle(left: Sequence[float], widths: Sequence[float], number: int) -> float:
    return left[number] + widths[number] / 2


def _lane_arrows(
    lanes: Sequence[_Arrow],
    tops: Sequence[float],
    left: Sequence[float],
    widths: Sequence[float],
    bottom: float,
) -> list[str]:
    """Return the arrows below the row: down, along their lane, and up, each at its own place."""
    ends: dict[int, list[tuple[float, int, bool]]] = {}
    for index, each in enumerate(lanes):
        source = each.source or 0
        here, there = _middle(left, widths, source), _middle(left, widths, each.target)
        # Ends that go left stand left; the deeper a lane, the farther out.
        side = -1 if there < here else 1
        ends.setdefault(source, []).append((side * (1000 - tops[index]), index, True))
        ends.setdefault(each.target, []).append((-side * (1000 - tops[index]), index, False))
    place: dict[tuple[int, bool], float] = {}
    for state, found in ends.items():
        found.sort()
        for number, (_, index, leaving) in enumerate(found):
            share = (number + 1) / (len(found) + 1)
            place[index, leaving] = left[state] + widths[state] * share
    out: list[str] = []
    for index in range(len(lanes)):
        x0, x1, y = place[index, True], place[index, False], tops[index]
        turn = 8 if x1 > x0 else -8
        out.append(
            f'<path class="arrow" d="M{x0:.1f},{bottom:.1f} V{y - 8:.1f} '
            f"Q{x0:.1f},{y:.1f} {x0 + turn:.1f},{y:.1f} H{x1 - turn:.1f} "
            f'Q{x1:.1f},{y:.1f} {x1:.1f},{y - 8:.1f} V{bottom + 2:.1f}"/>'
        )
    for index, each in enumerate(lanes):
        x0, x1, y = place[index, True], place[index, False], tops[index]
        # Near where the arrow starts, so that labels of neighbouring lanes are apart.
        style, x = ("label", x0 + 10) if x1 > x0 else ("label back", x0 - 10)
        for number, line in enumerate(each.labels):
            out.append(_text(x, y - 4 - (len(each.labels) - 1 - number) * _LINE, line, style))
    return out


def _frame_arrow(
    arrow: _Arrow,
    left: Sequence[float],
    widths: Sequence[float],
    inside: Sequence[int],
    top: float,
    row: float,
    height: float,
) -> list[str]:
    """Return the arrow from the frame to a state: from its upper edge, or from its side."""
    target = arrow.target
    lines = arrow.labels
    if target in inside:
        x = left[target] + 14
        out = [
            f'<circle class="port" cx="{x:.1f}" cy="{top:.1f}" r="3.5"/>',
            f'<path class="arrow" d="M{x:.1f},{top:.1f} V{row - 2:.1f}"/>',
        ]
        out += [
            _text(x + 7, top + 20 + number * _LINE, line, "call")
            for number, line in enumerate(lines)
        ]
        return out
    after = target > inside[-1]
    edge = left[inside[-1]] + widths[inside[-1]] + 20 if after else left[inside[0]] - 20
    end = left[target] - 2 if after else left[target] + widths[target] + 2
    y = row + height / 2
    middle = left[target] + widths[target] / 2
    out = [
        f'<circle class="port" cx="{edge:.1f}" cy="{y:.1f}" r="3.5"/>',
        f'<path class="arrow" d="M{edge:.1f},{y:.1f} H{end:.1f}"/>',
    ]
    out += [
        _text(middle, row - 8 - (len(lines) - 1 - number) * _LINE, line, "label middle")
        for number, line in enumerate(lines)
    ]
    return out


def _head(width: float, height: float, title: str) -> str:
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" \
viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title)}">
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" \
orient="auto"><path d="M0,1 L10,5 L0,9 z" fill="#345"/></marker></defs>
<style>
text {{ font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #223; }}
.title {{ font-size: 15px; font-weight: bold; }}
.name {{ font-weight: bold; font-size: 12px; }}
.quiet {{ fill: #556; }}
.middle {{ text-anchor: middle; }}
.back {{ text-anchor: end; }}
.label {{ stroke: #fff; stroke-width: 4px; paint-order: stroke; }}
.frame {{ fill: #f4f7fb; stroke: #9ab; stroke-width: 1.5; }}
.state {{ fill: #fff; stroke: #345; stroke-width: 1.5; }}
.initial {{ stroke-width: 3; }}
.final {{ fill: none; stroke: #345; }}
.arrow {{ fill: none; stroke: #345; stroke-width: 1.3; marker-end: url(#tip); }}
.port {{ fill: #345; }}
</style>
<rect width="100%" height="100%" fill="#fff"/>
{_text(24, 24, title, "title")}"""


def _box(x: float, y: float, width: float, height: float, style: str, round_: float) -> str:
    return (
        f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{round_}"/>'
    )


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
