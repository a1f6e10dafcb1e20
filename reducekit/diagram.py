"""A text as a picture shows it: nodes with their place in the text, what they refer to, and states.

A format draws nothing: it says what there is (`Format.diagram`), and each face draws it in
its own way, a part at a time where there is much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["root", "inner", "leaf", "constant", "other"]
"""What a node is to a picture: where reading begins, an operator, a variable, a literal."""
COLOURS: Mapping[Kind, tuple[str, str]] = {
    "root": ("#7a3fb8", "#cda4ff"),
    "inner": ("#2159b8", "#8ab4ff"),
    "leaf": ("#17653a", "#8fdcae"),
    "constant": ("#8a5a00", "#f0c674"),
    "other": ("#566070", "#a3adbb"),
}
"""The colour of each kind, on light and on dark paper. The page has the same (`app.css`)."""
WORDS: Mapping[Kind, str] = {
    "root": "root",
    "inner": "operator",
    "leaf": "variable",
    "constant": "constant",
    "other": "other",
}
"""What legends call the kinds."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph, or a call of a trace.

    `start` and `end` are bytes of the text (end exclusive); nodes may be nested.
    `edges` are the nodes it refers to, in order, by index: `i`, or `~i` where the reference is
    complemented.
    """

    label: str
    detail: str  # its sort or its state, in words
    kind: Kind
    start: int
    end: int
    edges: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """An arrow of a state chart, between states by index."""

    source: int
    target: int
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The states that an API may be in, and which calls lead from one to another."""

    states: Sequence[str]
    transitions: Sequence[Transition]


class Ink(NamedTuple):
    """The colour of the bytes `start` to `end` (exclusive) of a text."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Diagram:
    """What there is to draw of a text.

    A `graph` is read from its roots along the edges. A `timeline` is read from the first node to
    the last; `state` has, for each, the states of the chart that hold after it. An `outline` is a
    graph that is a tree, in the order of the text.
    """

    shape: Literal["graph", "timeline", "outline"]
    nodes: Sequence[Node]
    chart: Chart | None = None
    state: Sequence[Sequence[int]] = field(default=())
    inks: Sequence[Ink] = ()  # colours of the text, in order; the rest has none
