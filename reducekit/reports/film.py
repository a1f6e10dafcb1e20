"""A reduction as a film: an SVG in which the graph of the input melts to that of the result.

It needs no script, so that it moves in a README and in a report. The idea is that a node lives
through several steps: it is drawn once, and a track of key frames says where it is and when it
shrinks away. A second track is the camera, which comes closer as the graph gets smaller. Viewers
who want no motion see the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from reducekit import registry
from reducekit import svg as draw
from reducekit.diagram import Diagram
from reducekit.errors import ReducekitError, UsageError
from reducekit.graphs import (
    DARK_PAPER,
    GAP,
    HEIGHT,
    RISE,
    WIDTH,
    Box,
    boxes_of,
    drawn_box,
    drawn_edges,
    layout,
    style,
    target,
)
from reducekit.journal import Contents, Step
from reducekit.text import printable

_FRAMES = 16
"""Steps that are shown, the input and the result included."""
_NODES, _ROOTS = 110, 48
"""Nodes that are drawn of a step: the first roots, and those nearest to them."""
_SHRINK, _GLIDE, _REST, _FIRST, _LAST = 0.25, 0.5, 0.35, 1.0, 3.0
"""Seconds: until what is gone has shrunk, until the others are in their places, and how long they
stay there; the input and the result longer."""
_SCREEN = (720, 460)
_LETTERS: dict[str, Any] = {"font_family": "sans-serif", "font_size": "11", "text_anchor": "middle"}
_BYTES = 200_000
"""Larger texts are not drawn."""
_PASSING = ' class="passing"'
"""Of what the last frame does not show."""
_ROW, _LINE = 12, HEIGHT + 10
"""Boxes in a line at most, and the height of a line in a row of several."""
_CLOSEST = 1.6
"""How much larger than drawn the camera shows a small graph at most."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A step: its boxes, with which box of the step before each one is (-1: none)."""

    boxes: Sequence[Box]
    before: Sequence[int]
    caption: str


class Key(NamedTuple):
    """What holds at a moment, in seconds: a value of a CSS property."""

    at: float
    value: str


def chosen(sizes: Sequence[int]) -> list[int]:
    """Return the steps to show: the first, the last, and those between that removed most."""
    gains = {step: old - new for step, (old, new) in enumerate(pairwise(sizes), 1)}
    best = sorted(gains, key=lambda step: -gains[step])[: _FRAMES - 1]
    return sorted({0, *best, len(sizes) - 1})


class Film(NamedTuple):
    """The rules of a style sheet, and the elements that they move."""

    rules: str
    parts: str

    def file(self, title: str) -> str:
        """Return an SVG file."""
        return draw.picture(
            *_SCREEN,
            [draw.style(f"{self.rules}\n{DARK_PAPER}"), self.parts],
            title=title,
            **_LETTERS,
        )

    def figure(self, title: str) -> str:
        """Return an element of a page that has the rules in its style sheet."""
        box = f"0 0 {_SCREEN[0]} {_SCREEN[1]}"
        return draw.element(
            "svg", self.parts, viewBox=box, role="img", aria_label=printable(title), **_LETTERS
        )


def film_of(found: Contents) -> Film | None:
    """Return the film of a reduction; None if its format has no graphs, or they are too large."""
    assert found.head is not None
    try:
        it = registry.frontend(found.head.frontend)
    except UsageError:  # a plug-in that is no longer installed
        return None
    if not it.offers("diagram"):
        return None
    steps = _line(found)
    frames = list[tuple[Diagram, str]]()
    for step in (steps[at] for at in chosen([each.size for each in steps])):
        if step.size > _BYTES:
            continue
        try:
            diagram = it.diagram(it.parse(found.text(step.number)))
        except ReducekitError:
            continue
        if diagram is None or diagram.shape != "graph":
            return None
        if diagram.nodes:
            begin = f"{found.steps[0].size:,} → " if step.number else ""
            frames.append((diagram, f"{begin}{step.size:,} bytes"))
    return film(frames) if len(frames) > 1 else None


def _line(found: Contents) -> list[Step]:
    """Return the steps that lead to the best text, the input first."""
    steps = [found.steps[found.current]]
    while steps[-1].number:
        steps.append(found.steps[steps[-1].base])
    return steps[::-1]


def film(diagrams: Iterable[tuple[Diagram, str]]) -> Film:
    """Return the film of graphs with their captions. Raises UsageError for other diagrams."""
    frames: list[Frame] = []
    for diagram, caption in diagrams:
        boxes = _near(boxes_of(diagram))
        if frames and boxes == frames[-1].boxes:  # what went is not in view
            frames[-1] = replace(frames[-1], caption=caption)
            continue
        before = _same(frames[-1].boxes, boxes) if frames else [-1] * len(boxes)
        frames.append(Frame(boxes, before, caption))
    if not frames:
        raise UsageError("there is no step to show")
    begins = [0.0]
    for number in range(len(frames)):
        rest = _FIRST if number == 0 else _LAST if number == len(frames) - 1 else _REST
        begins.append(begins[-1] + rest + (_SHRINK + _GLIDE if number < len(frames) - 1 else 0))
    return _drawn(frames, begins)


def _near(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes near the roots, in breadth-first order, with the edges among them."""
    used = {target(edge) for box in boxes for edge in box.edges}
    found = dict.fromkeys(node for node in range(len(boxes)) if node not in used)
    for node in (queue := [*found][:_ROOTS]):
        for each in map(target, boxes[node].edges):
            if each not in found and len(queue) < _NODES:
                found[each] = None
                queue.append(each)
    index = {node: number for number, node in enumerate(queue)}
    return [
        boxes[node]._replace(
            edges=[
                ~index[~edge] if edge < 0 else index[edge]
                for edge in boxes[node].edges
                if target(edge) in index
            ]
        )
        for node in queue
    ]


def _same(before: Sequence[Box], after: Sequence[Box]) -> list[int]:
    """Return for each box which one before it is; as `matching.js` does for the web interface.

    First those of equal words and operands, then of equal words, then of equal words but for
    numbers; among equal ones in their order.
    """

    signs: tuple[Callable[[Sequence[Box], Box], object], ...] = (
        lambda boxes, box: (box.tip, *(boxes[target(edge)].label for edge in box.edges)),
        lambda _, box: box.tip,
        lambda _, box: ("".join("0" if c.isdigit() else c for c in box.tip), box.kind),
    )
    found = [-1] * len(after)
    taken: set[int] = set()
    for sign in signs:
        free = defaultdict[object, list[int]](list)
        for number in reversed(range(len(before))):
            if number not in taken:
                free[sign(before, before[number])].append(number)
        for number, box in enumerate(after):
            if found[number] < 0 and (fitting := free[sign(after, box)]):
                found[number] = fitting.pop()
                taken.add(found[number])
    return found


def _drawn(frames: Sequence[Frame], begins: Sequence[float]) -> Film:
    whole = begins[-1]
    forever = f"animation-duration: {whole:.1f}s; animation-iteration-count: infinite"
    rules = [style(".film"), f".film * {{ {forever} }}"]
    parts: list[str] = []
    camera: list[Key] = []
    tracks: list[list[Key]] = []
    drawn: list[str] = []
    owner: list[int] = []
    """The track of each box of the frame before."""
    for number, (frame, begin, end) in enumerate(zip(frames, begins, begins[1:], strict=False)):
        places = _wrapped(layout([box.edges for box in frame.boxes]))
        leaves = end - (_SHRINK + _GLIDE if number < len(frames) - 1 else 0)
        camera += [Key(begin, view := _view(places)), Key(leaves + (end < whole) * _SHRINK, view)]
        now: list[int] = []
        for box, old, place in zip(frame.boxes, frame.before, places, strict=True):
            if old < 0:
                tracks.append([Key(begin - 0.01, _state(place, 0.3, 0))] if number else [])
                drawn.append(drawn_box(box, -WIDTH / 2, -HEIGHT / 2))
                now.append(len(tracks) - 1)
            else:
                now.append(owner[old])
            stays = leaves + (_SHRINK if end < whole else 0)
            tracks[now[-1]] += [Key(begin, _state(place)), Key(stays, _state(place))]
        for gone in set(owner) - set(now):
            # It has stayed until `_SHRINK` after the frame before: in that time it shrinks.
            last = tracks[gone].pop()
            tracks[gone].append(Key(last.at - _SHRINK, last.value))
            small = last.value.replace("scale(1)", "scale(.3)").replace("opacity: 1", "opacity: 0")
            tracks[gone].append(Key(last.at, small))
        owner = now
        edges = "".join(drawn_edges(frame.boxes, places))
        parts.append(f'<g id="e{number}"{"" if end == whole else _PASSING}>{edges}</g>')
        rules.append(
            _animation(f"e{number}", _fading(begin, leaves, 0.1, last=end == whole), whole)
        )
    for number, (track, shape) in enumerate(zip(tracks, drawn, strict=True)):
        parts.append(f'<g id="n{number}"{"" if number in owner else _PASSING}>{shape}</g>')
        rules.append(_animation(f"n{number}", track, whole))
        if number in owner:
            rules.append(f"#n{number} {{ {track[-1].value} }}")
    rules += [_animation("camera", camera, whole), f"#camera {{ {camera[-1].value} }}"]
    captions = list(_captions(frames, begins, rules))
    rules.append(
        "@media (prefers-reduced-motion: reduce), print { "
        ".film, .film * { animation: none !important } .film .passing { display: none } }"
    )
    inner = draw.element("g", *parts, id="camera")
    return Film("\n".join(rules), draw.group([inner, *captions], class_="film"))


def _captions(frames: Sequence[Frame], begins: Sequence[float], rules: list[str]) -> Iterator[str]:
    width, height = _SCREEN
    whole = begins[-1]
    for number, (frame, begin, end) in enumerate(zip(frames, begins, begins[1:], strict=False)):
        words = draw.text(width / 2, height - 14, frame.caption, font_size=15)
        yield f'<g id="c{number}"{"" if end == whole else _PASSING}>{words}</g>'
        keys = _fading(begin, end - 0.01, 0.01, last=end == whole)
        rules.append(_animation(f"c{number}", keys, whole))


def _fading(begin: float, end: float, seconds: float, *, last: bool) -> list[Key]:
    """Return the keys of what is shown from a moment to another; the last of all stays."""
    keys = [Key(begin - seconds, "opacity: 0")] if begin else []
    keys += [Key(begin, "opacity: 1"), Key(end, "opacity: 1")]
    return keys if last else [*keys, Key(end + seconds, "opacity: 0")]


def _state(place: tuple[int, int], scale: float = 1, opacity: int = 1) -> str:
    x, y = place[0] + WIDTH / 2, place[1] + HEIGHT / 2
    return f"transform: translate({x:.0f}px, {y:.0f}px) scale({scale:g}); opacity: {opacity}"


def _wrapped(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places with long rows cut: a script of 100 assertions is one row of them."""
    rows = defaultdict[int, list[int]](list)
    for node in sorted(range(len(places)), key=places.__getitem__):
        rows[places[node][1]].append(node)
    found = list(places)
    down = 0
    for _, row in sorted(rows.items()):
        lines = -(-len(row) // _ROW)
        for number, node in enumerate(row if lines > 1 else ()):
            found[node] = (number // lines * (WIDTH + GAP), down + number % lines * _LINE)
        if lines == 1:
            for node in row:
                found[node] = (places[node][0], down)
        down += RISE + (lines - 1) * _LINE
    middle = max((x for x, _ in places), default=0) / 2
    long = min(_ROW, max(map(len, rows.values()), default=1)) * (WIDTH + GAP) / 2
    shift = int(middle - long) if any(len(row) > _ROW for row in rows.values()) else 0
    return [
        (x if len(rows[old[1]]) > _ROW else x - shift, y)
        for (x, y), old in zip(found, places, strict=True)
    ]


def _view(places: Sequence[tuple[int, int]]) -> str:
    """Return how the camera shows all of a graph, in the middle of the screen."""
    width, height = _SCREEN[0] - 2 * GAP, _SCREEN[1] - 60
    right = max((x for x, _ in places), default=0) + WIDTH
    bottom = max((y for _, y in places), default=0) + HEIGHT
    left = min((x for x, _ in places), default=0)
    scale = min(_CLOSEST, width / (right - left), height / bottom)
    x = _SCREEN[0] / 2 - scale * (left + right) / 2
    y = GAP + (height - scale * bottom) / 2
    return f"transform: translate({x:.1f}px, {y:.1f}px) scale({scale:.3f})"


def _animation(name: str, keys: Sequence[Key], whole: float) -> str:
    """Return the rules of an element: its key frames, the first and the last of them held."""
    frames = dict[str, str]()
    for key in (keys[0]._replace(at=0), *keys, keys[-1]._replace(at=whole)):
        frames[f"{100 * min(key.at, whole) / whole:.2f}%"] = key.value
    steps = " ".join(f"{at} {{ {value} }}" for at, value in frames.items())
    return f"#{name} {{ animation-name: {name} }} @keyframes {name} {{ {steps} }}"
