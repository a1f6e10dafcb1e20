"""Builds the graph of a script from its document: one pass over the nodes, front to back.

The sorts, and what each symbol refers to, are known from `script.analyse`. Here
each term becomes a shape (its text, cut where its arguments stand) and its
arguments. A let becomes nothing: its body stands for it, and a use of a bound
name is the bound value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reducekit.frontends.smt2.graph.model import TIGHT, Graph, ScriptContext, Shape, Shapes
from reducekit.frontends.smt2.passes.symbols import short_names
from reducekit.frontends.smt2.script import Script
from reducekit.frontends.smt2.sorts import RESERVED, Sort
from reducekit.frontends.smt2.theories import CONSTANTS, OPERATORS
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.lazy import Lazy

_OPEN = ord("(")
_APART_AFTER, _APART_BEFORE = b" \t\r\n\f\v()", b" \t\r\n\f\v("
"""What keeps a name apart that stands before it, or after it."""
_QUANTIFIERS = frozenset((b"forall", b"exists", b"lambda", b"choice"))
_BOUND = frozenset(("quantifier", "pattern", "parameter"))
_DROPPABLE = frozenset(
    b"declare-fun declare-const declare-sort declare-var define-fun define-const"
    b" define-sort".split()
)
_BARRIERS = frozenset((b"reset", b"reset-assertions"))
_RAW = frozenset((-1,))


class Unsuitable(Exception):
    """The script has something in it that a graph cannot stand for."""


@dataclass(slots=True)
class _Frame:
    """A term or command that is being read. `marks` are places in it that are no plain text."""

    node: int
    stop: int
    raw: bool
    head: bytes
    quantifier: bool
    annotation: int = -1
    """The `!` that is read as part of the quantifier around it."""
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    """Where it starts and ends, and what stands there: an item of a shape."""
    args: list[int] = field(default_factory=list)
    binds: list[tuple[int, ...]] = field(default_factory=list)
    raws: list[int] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)
    names: list[int] = field(default_factory=list)


def build(view: ScriptView) -> Graph | None:
    """Return the graph of a script; None if it has what no graph can stand for."""
    if TIGHT in view.document.text:
        return None
    try:
        return _Builder(view.script).build()
    except Unsuitable:
        return None


class _Builder:
    """The graph as far as it is built."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.document = script.document
        self.shapes = Shapes()
        self.shape: list[Shape] = []
        self.args: list[tuple[int, ...]] = []
        self.sort: list[Sort | None] = []
        self.known: dict[tuple[Shape, tuple[int, ...]], int] = {}
        self.value: dict[int, int] = {}
        """The node that the name of a let stands for, by definition."""
        self.variable: dict[int, int] = {}
        """The number of a bound variable, by definition."""
        self.variables: list[int] = []
        self.bound: set[int] = set()
        self.defined = {
            definition.node: number
            for number, definition in enumerate(script.definitions)
            if definition.kind in _BOUND or definition.kind in ("let", "named")
        }
        named = {i for i, each in enumerate(script.definitions) if each.kind == "named"}
        self.used_names = named.intersection(script.refs) if named else set()

    def build(self) -> Graph:
        """Read all commands."""
        document, script = self.document, self.script
        text, start, end, stop = document.text, document.start, document.end, document.stop
        is_term, refs, definitions = script.is_term, script.refs, script.definitions
        defined = self.defined
        frames: list[_Frame] = []
        roots: list[int] = []
        node, last = 1, len(document)
        while True:
            while frames and frames[-1].stop <= node:
                frame = frames.pop()
                if not frames:
                    roots.append(self._close(frame))
                elif frame.head == b"let":
                    self._argument(frames[-1], frame.node, frame.args[-1])
                else:
                    self._argument(frames[-1], frame.node, self._close(frame))
            if node >= last:
                break
            leaf = text[start[node]] != _OPEN
            if not frames:
                frames.append(_Frame(node, stop[node], False, self._head(node), False))
            elif is_term[node]:
                frame = frames[-1]
                raw = frame.raw or self._is_raw(frame, node)
                if leaf:
                    self._argument(frame, node, self._leaf(node, raw))
                elif frame.quantifier and self._is_annotation(frame, node):
                    frame.annotation = node
                else:
                    head = self._head(node)
                    quantifier = head in _QUANTIFIERS and node + 1 < last and refs[node + 1] < 0
                    if head == b"let" and not self._is_let(node):
                        raise Unsuitable
                    frames.append(_Frame(node, stop[node], raw, head, quantifier))
            elif leaf:
                frame = frames[-1]
                number = defined.get(node, -1)
                reference = refs[node]
                if number >= 0:
                    kind = definitions[number].kind
                    if kind == "named":
                        if number in self.used_names:
                            frame.names.append(number)
                    elif kind != "let" and definitions[number].sort is not None:
                        place = (start[node], end[node], self._variable(number))
                        frame.marks.append(place)
                elif reference >= 0:
                    kind = definitions[reference].kind
                    if kind == "let" or (kind in _BOUND and reference in self.variable):
                        self._argument(frame, node, self._leaf(node, frame.raw))
                    elif kind not in _BOUND:
                        frame.uses.append(reference)
            node += 1
        return Graph(
            self.shape,
            self.args,
            self.sort,
            tuple(roots),
            _context(script),
            self.shapes,
            self._names(),
            [definitions[each].sort for each in self.variables],
            frozenset(self.bound),
        )

    def _names(self) -> list[bytes]:
        """Return the names of the variables, other ones where they hide a name of the script."""
        definitions = self.script.definitions
        others = {each.name for each in definitions if each.kind not in (*_BOUND, "let")}
        others |= OPERATORS.keys() | CONSTANTS.keys()
        names = []
        for number in self.variables:
            node = definitions[number].node
            name = self.document.source(node)
            if definitions[number].name in others:
                name = b"%b!%d" % (name.strip(b"|"), node)
            names.append(name)
        return names

    def _head(self, node: int) -> bytes:
        """Return the operator of a list as it is written."""
        first = node + 1
        if first >= self.document.stop[node]:
            return b""
        return self.document.source(first)

    def _is_let(self, node: int) -> bool:
        """Tell whether a let is as the standard has it: names with a value each, and a body."""
        stop, last = self.document.stop, self.document.stop[node]
        bindings = node + 2
        if bindings >= last or self.document.text[self.document.start[bindings]] != _OPEN:
            return False
        binding, body = bindings + 1, stop[bindings]
        while binding < body:
            name = binding + 1
            if name + 1 >= stop[binding] or stop[name + 1] != stop[binding]:
                return False
            if self.script.definitions[self.defined.get(name, -1)].kind != "let":
                return False
            binding = stop[binding]
        return body < last and stop[body] == last

    def _is_annotation(self, frame: _Frame, node: int) -> bool:
        """Tell whether a node is `(! body ...)` as the body of a quantifier."""
        return (
            self.document.parent[node] == frame.node
            and not frame.args
            and frame.annotation < 0
            and self._head(node) == b"!"
        )

    def _is_raw(self, frame: _Frame, node: int) -> bool:
        """Tell whether a term stands in an attribute: there a let would not do."""
        return bool(frame.args) and (frame.annotation >= 0 or frame.head == b"!")

    def _variable(self, number: int) -> int:
        """Return the number of the bound variable that a definition is."""
        variable = self.variable.setdefault(number, len(self.variables))
        if variable == len(self.variables):
            self.variables.append(number)
        return variable

    def _leaf(self, node: int, raw: bool) -> int:
        """Return the node of a symbol or literal."""
        reference = self.script.refs[node]
        source = self.document.source(node)
        if reference >= 0:
            kind = self.script.definitions[reference].kind
            if kind == "let":
                return self.value[reference]
            if kind in _BOUND:
                if self.script.definitions[reference].sort is None:
                    raise Unsuitable
                variable = self._variable(reference)
                shape = Shape((variable,), source, 0, variable=variable)
                return self._node(self.shapes.get(shape), (), self.script.sort[node])
            shape = self.shapes.leaf(source, (reference,))
        else:
            shape = self.shapes.leaf(source)
        return self._node(shape, (), self.script.sort[node])

    def _node(self, shape: Shape, args: tuple[int, ...], sort: Sort | None) -> int:
        """Return the node of this shape and these arguments, a new one if there is none."""
        key = (shape, args)
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = len(self.shape)
            self.shape.append(shape)
            self.args.append(args)
            self.sort.append(sort)
        return node

    def _argument(self, frame: _Frame, place: int, node: int) -> None:
        """Add a term to the one around it."""
        document = self.document
        if frame.head == b"let":
            frame.args.append(node)
            if document.stop[place] < frame.stop:
                self.value[self.defined[place - 1]] = node
                if document.text[document.start[place]] == _OPEN:
                    self.bound.add(node)
            return
        if self._is_raw(frame, place):
            frame.raws.append(len(frame.args))
        frame.marks.append((document.start[place], document.end[place], ~len(frame.args)))
        frame.binds.append(self._bound_around(frame, place))
        frame.args.append(node)

    def _bound_around(self, frame: _Frame, place: int) -> tuple[int, ...]:
        """Return the variables that a form binds in the term at a place within it."""
        if not any(item >= 0 for _, _, item in frame.marks):
            return ()
        document = self.document
        path = {frame.node}
        above = document.parent[place]
        while above != frame.node:
            path.add(above)
            above = document.parent[above]
        variables = [item for _, _, item in frame.marks if item >= 0]
        definitions = self.script.definitions
        found = [each for each in variables if definitions[self.variables[each]].binder in path]
        if frame.head == b"define-funs-rec":
            number = self._position(document.parent[place], place)
            return tuple(each for each in found if self._function(frame.node, each) == number)
        return tuple(found)

    def _function(self, command: int, variable: int) -> int:
        """Return which function of a define-funs-rec has a variable as a parameter."""
        node, parent = self.script.definitions[self.variables[variable]].node, self.document.parent
        while parent[parent[node]] != command:
            node = parent[node]
        return self._position(parent[node], node)

    def _position(self, above: int, node: int) -> int:
        return list(self.document.children(above)).index(node)

    def _close(self, frame: _Frame) -> int:
        """Return the node of a term or command that has been read."""
        document = self.document
        text, position = document.text, document.start[frame.node]
        items: list[bytes | int] = []
        for begin, end, item in frame.marks:
            between = _spaced(text[position:begin], after=bool(items), before=True)
            if between:
                items.append(between)
            items.append(item)
            position = end
        items.append(_spaced(text[position : document.end[frame.node]], after=bool(items)))
        head = frame.head
        if head in (b"_", b"as") and len(items) == 1 and isinstance(items[0], bytes):
            head = items[0]  # a literal, `(_ bv0 64)` for one
        shape = Shape(
            tuple(items),
            head,
            len(frame.args),
            tuple(frame.binds) if any(frame.binds) else (),
            _RAW if frame.raw else frozenset(frame.raws),
            tuple(dict.fromkeys(frame.uses)),
            names=tuple(frame.names),
        )
        sort = self.script.sort[frame.node]
        return self._node(self.shapes.get(shape), tuple(frame.args), sort)


def _spaced(between: bytes, *, after: bool = False, before: bool = False) -> bytes:
    """Return a text after an item, before one or both, so that names at its sides stay apart."""
    if not between:
        return TIGHT if after and before else b""
    if after and between[0] not in _APART_AFTER:
        between = TIGHT + between
    return between + TIGHT if before and between[-1] not in _APART_BEFORE else between


def _context(script: Script) -> ScriptContext:
    """Return what is known of the commands."""
    document = script.document
    text, start, end = document.text, document.start, document.end
    commands, names = script.commands, script.names
    ends = [end[each] for each in commands]
    starts = [start[each] for each in commands]
    gaps = [
        text[before:after] for before, after in zip([0, *ends], [*starts, len(text)], strict=True)
    ]
    referred = set(script.refs)
    own: dict[int, list[int]] = {}
    visible: dict[int, tuple[int, int]] = {}
    scopes = _innermost(script)
    barriers = [i for i, name in enumerate(names) if name in _BARRIERS]
    index = {node: i for i, node in enumerate(commands)}
    for number, definition in enumerate(script.definitions):
        command = index.get(definition.binder)
        if command is not None:
            own.setdefault(command, []).append(number)
        elif definition.kind == "named":
            command = script.command_of(definition.binder)
        else:
            continue
        last = script.scopes[scopes[command]].last
        last = min([last, *(each for each in barriers if each > command)])
        visible[number] = (command, last)
    defines = [
        tuple(own[i])
        if name in _DROPPABLE and i in own and any(each in referred for each in own[i])
        else ()
        for i, name in enumerate(names)
    ]
    used_names = {
        i for i, each in enumerate(script.definitions) if each.kind == "named" and i in referred
    }
    taken = RESERVED | OPERATORS.keys() | CONSTANTS.keys()
    atoms = {
        text[start[node] : end[node]]
        for node in range(1, len(document))
        if document.stop[node] == node + 1
    }
    outer = [_outermost(script, scopes[i], i) for i in range(len(commands))]
    spare = Lazy(name for name in short_names() if name not in taken and name not in atoms)
    return ScriptContext(
        commands, gaps, defines, outer, visible, frozenset(used_names), bool(barriers), spare
    )


def _innermost(script: Script) -> list[int]:
    """Return the innermost scope of each command; a push and its pop are outside of it."""
    found = [0] * len(script.commands)
    changes: Mapping[int, list[int]] = _by_first(script)
    stack = [0]
    for command in range(len(script.commands)):
        while len(stack) > 1 and script.scopes[stack[-1]].last <= command:
            stack.pop()
        found[command] = stack[-1]
        stack += changes.get(command, ())
    return found


def _by_first(script: Script) -> Mapping[int, list[int]]:
    """Return the scopes that each command opens, the outer ones first."""
    found: dict[int, list[int]] = {}
    for number, scope in enumerate(script.scopes):
        if number:
            found.setdefault(scope.first, []).append(number)
    return found


def _outermost(script: Script, scope: int, command: int) -> int:
    """Return the command before which one is outside of all scopes that hold a command."""
    while scope:
        command = min(command, script.scopes[scope].first)
        scope = script.scopes[scope].parent
    return command
