"""Builds the graph of a script from its document, in one pass over the nodes, front to back.

`script.analyse` provides the sorts and the referents of symbols. Each term becomes
a shape (its text with gaps for its arguments) and its arguments. A let disappears:
it becomes its body, and each use of a bound name becomes the bound value. What only looks
like a let (it has no body, or two values for a name) binds variables, as a quantifier does:
solvers report an error there and read on, so a failure may follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reducekit.frontends.smt2.graph.model import RAW, TIGHT, Graph, ScriptContext, Shape, Shapes
from reducekit.frontends.smt2.language.constants import short_names
from reducekit.frontends.smt2.language.script import Script
from reducekit.frontends.smt2.language.sorts import RESERVED, Sort
from reducekit.frontends.smt2.language.theories import TAKEN
from reducekit.frontends.smt2.language.view import ScriptView, subterms
from reducekit.search.lazy import Lazy

_OPEN = ord("(")
_APART_AFTER, _APART_BEFORE = b" \t\r\n\f\v()", b" \t\r\n\f\v("
"""Characters that separate a name from the text before it (`_APART_AFTER`) or after it."""
_QUANTIFIERS = frozenset((b"forall", b"exists", b"lambda", b"choice"))
_BINDS = frozenset(("quantifier", "pattern", "parameter", "let"))
"""The kinds of definitions of bound variables."""
_DROPPABLE = frozenset(
    b"declare-fun declare-const declare-sort declare-var define-fun define-const"
    b" define-sort".split()
)
_BARRIERS = frozenset((b"reset", b"reset-assertions"))


@dataclass(slots=True)
class _Frame:
    """A term or command that is being read. `marks` are the parts of it that are not plain text."""

    node: int
    stop: int
    raw: bool
    head: bytes
    quantifier: bool
    dissolved: bool = False
    """Whether it is a let that becomes its body."""
    annotation: int = -1
    """The `!` that is read as part of the quantifier around it."""
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    """Start, end, and the item of the shape in between."""
    args: list[int] = field(default_factory=list)
    binds: list[tuple[int, ...]] = field(default_factory=list)
    raws: list[int] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)
    names: list[int] = field(default_factory=list)
    binders: dict[int, list[int]] = field(default_factory=dict)
    """By binding form in the text: the variables it binds."""


def build(view: ScriptView, *, as_written: bool = False, grains: int = 0) -> Graph:
    """Return the graph of a script.

    With `as_written`, lets stay: they bind variables, so that the graph is printed like the script,
    but for a failure that needs neither the lets nor their names, it takes longer to reduce. With
    `grains`, too, terms are nodes only where they differ in size by that part of the script, so a
    script of millions of terms has a graph of some thousand nodes.
    """
    chosen = _grains(view.script, grains) if grains else None
    return _Builder(view.script, chosen, as_written=as_written or chosen is not None).build()


_WIDE = 16
"""All arguments of a larger form are nodes in a graph of grains, as they may be dropped in runs."""


def _grains(script: Script, count: int) -> bytearray:
    """Mark the terms that are nodes: a part of the text apart, so that chains have few, too."""
    document, is_term = script.document, script.is_term
    start, end, stop = document.start, document.end, document.stop
    # A term is a node if it is smaller than the node around it by one grain. Then a chain of nested
    # lets has a node for each grain, not for each let, and there are at most about three nodes a
    # grain: leaves hold a grain each, and so does each step down a chain.
    least = len(document.text) // count
    chosen = bytearray(len(document))
    above: list[tuple[int, int]] = []
    for node in range(1, len(document)):
        if not is_term[node]:
            continue
        while above and above[-1][0] <= node:
            above.pop()
        size = end[node] - start[node]
        if chosen[node] or not above or (size >= least and above[-1][1] - size >= least):
            chosen[node] = 1
            above.append((stop[node], size))
            below = subterms(script, node)
            if len(below) > _WIDE:
                for each in below:
                    chosen[each] = 1
    return chosen


class _Builder:
    """The state of building a graph."""

    def __init__(self, script: Script, chosen: bytearray | None, *, as_written: bool) -> None:
        self.script = script
        self.chosen = chosen
        """The terms that are nodes; the others are text. None if all are."""
        self.as_written = as_written
        self.document = script.document
        self.tight = b" " if TIGHT in script.document.text else TIGHT
        """A text that has the mark in it is printed with a blank around each argument."""
        self.shapes = Shapes()
        self.shape: list[Shape] = []
        self.args: list[tuple[int, ...]] = []
        self.sort: list[Sort | None] = []
        self.known: dict[tuple[Shape, tuple[int, ...]], int] = {}
        self.value: dict[int, int] = {}
        """By definition: the node bound to a name of a let."""
        self.variable: dict[int, int] = {}
        """By definition: the number of a bound variable."""
        self.variables: list[int] = []
        self.bound: set[int] = set()
        self.defined = {
            definition.node: number
            for number, definition in enumerate(script.definitions)
            if definition.kind in _BINDS or definition.kind == "named"
        }
        named = {i for i, each in enumerate(script.definitions) if each.kind == "named"}
        self.used_names = named.intersection(script.refs) if named else set()

    def build(self) -> Graph:
        """Read all commands."""
        document, script = self.document, self.script
        text, start, stop = document.text, document.start, document.stop
        is_term, chosen = script.is_term, self.chosen
        # One loop over the nodes in the order of the text, with a stack of the open forms. A term
        # is closed when the loop has come to its end, so arguments get their numbers before the
        # terms that contain them: `Graph.ordered` says so, and the printer uses it.
        frames: list[_Frame] = []
        roots: list[int] = []
        node, last = 1, len(document)
        while True:
            while frames and frames[-1].stop <= node:
                frame = frames.pop()
                if not frames:
                    roots.append(self._close(frame))
                elif frame.dissolved:
                    self._argument(frames[-1], frame.node, frame.args[-1])
                else:
                    self._argument(frames[-1], frame.node, self._close(frame))
            if node >= last:
                break
            leaf = text[start[node]] != _OPEN
            if not frames:
                frames.append(_Frame(node, stop[node], False, self._head(node), False))
            elif is_term[node] and (chosen is None or chosen[node]):
                frame = frames[-1]
                if leaf:
                    self._argument(frame, node, self._leaf(node))
                elif frame.quantifier and self._is_annotation(frame, node):
                    frame.annotation = node
                else:
                    frames.append(self._opened(frame, node))
            elif leaf:
                self._symbol(frames[-1], node)
            node += 1
        return Graph(
            self.shape,
            self.args,
            self.sort,
            tuple(roots),
            _context(script),
            self.shapes,
            self._names(),
            [script.definitions[each].sort for each in self.variables],
            frozenset(self.bound),
            coarse=self.chosen is not None,
        )

    def _opened(self, frame: _Frame, node: int) -> _Frame:
        """Return the frame of a term that is a list, inside of another frame."""
        head = self._head(node)
        quantifier = (
            head in _QUANTIFIERS
            and node + 1 < len(self.document)
            and self.script.refs[node + 1] < 0
        )
        dissolved = not self.as_written and head == b"let" and self._is_let(node)
        raw = frame.raw or self._is_raw(frame, node)
        return _Frame(node, self.document.stop[node], raw, head, quantifier, dissolved)

    def _symbol(self, frame: _Frame, node: int) -> None:
        """Take in a symbol that is no term: what it defines there, or what it names."""
        # It defines a variable or a `:named` term, or it refers to one, or to what a command
        # declares. Only the last is a dependency on another command.
        definitions = self.script.definitions
        number, reference = self.defined.get(node, -1), self.script.refs[node]
        if number >= 0:
            if definitions[number].kind == "named":
                if number in self.used_names:
                    frame.names.append(number)
            elif not frame.dissolved:
                variable = self._variable(number)
                place = self.document.start[node], self.document.end[node]
                frame.marks.append((*place, variable))
                frame.binders.setdefault(definitions[number].binder, []).append(variable)
        elif reference >= 0:
            if reference in self.value or reference in self.variable:
                self._argument(frame, node, self._leaf(node))
            elif definitions[reference].kind not in _BINDS:
                frame.uses.append(reference)

    def _names(self) -> list[bytes]:
        """Return the names of the variables, renamed if they shadow a name of the script."""
        definitions = self.script.definitions
        # A replacement may bring a symbol of the script below any binder, so no variable keeps a
        # name that would capture it. Variables that capture each other are renamed when they are
        # printed.
        others = {each.name for each in definitions if each.kind not in _BINDS}
        others |= TAKEN
        names = []
        for number in self.variables:
            node = definitions[number].node
            name = self.document.source(node)
            if definitions[number].name in others:
                name = b"%b!%d" % (name.strip(b"|"), node)
            names.append(name)
        return names

    def _head(self, node: int) -> bytes:
        """Return the operator of a list as written."""
        first = node + 1
        if first >= self.document.stop[node]:
            return b""
        return self.document.source(first)

    def _is_let(self, node: int) -> bool:
        """Return whether a let has the form of the standard: names with values, and a body."""
        stop, last = self.document.stop, self.document.stop[node]
        bindings = node + 2
        if bindings >= last or self.document.text[self.document.start[bindings]] != _OPEN:
            return False
        binding, body = bindings + 1, stop[bindings]
        while binding < body:
            name = binding + 1
            if name + 1 >= stop[binding] or stop[name + 1] != stop[binding]:
                return False
            if name not in self.defined:
                return False
            binding = stop[binding]
        return body < last and stop[body] == last

    def _is_annotation(self, frame: _Frame, node: int) -> bool:
        """Return whether a node is `(! body ...)` and the body of a quantifier."""
        is_body = self.document.parent[node] == frame.node and not frame.args
        return is_body and frame.annotation < 0 and self._head(node) == b"!"

    def _is_raw(self, frame: _Frame, node: int) -> bool:
        """Return whether a term is in an attribute, where a let is not allowed."""
        return bool(frame.args) and (frame.annotation >= 0 or frame.head == b"!")

    def _variable(self, number: int) -> int:
        """Return the number of the bound variable of a definition."""
        variable = self.variable.setdefault(number, len(self.variables))
        if variable == len(self.variables):
            self.variables.append(number)
        return variable

    def _leaf(self, node: int) -> int:
        """Return the node of a symbol or literal."""
        reference, source = self.script.refs[node], self.document.source(node)
        if reference in self.value:
            return self.value[reference]
        if reference < 0:
            shape = self.shapes.leaf(source)
        elif self.script.definitions[reference].kind in _BINDS:
            variable = self._variable(reference)
            shape = self.shapes.get(Shape((variable,), source, 0, variable=variable))
        else:
            shape = self.shapes.leaf(source, (reference,))
        return self._node(shape, (), self.script.sort[node])

    def _node(self, shape: Shape, args: tuple[int, ...], sort: Sort | None) -> int:
        """Return the node with this shape and these arguments; add it if there is none."""
        key = (shape, args)
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = len(self.shape)
            self.shape.append(shape)
            self.args.append(args)
            self.sort.append(sort)
        return node

    def _argument(self, frame: _Frame, place: int, node: int) -> None:
        """Add a term as an argument of the one around it."""
        document = self.document
        if frame.dissolved:
            frame.args.append(node)
            if document.stop[place] < frame.stop:
                self.value[self.defined[place - 1]] = node
                if document.text[document.start[place]] == _OPEN:
                    self.bound.add(node)
            return
        if self._is_raw(frame, place):
            frame.raws.append(len(frame.args))
        frame.marks.append((document.start[place], document.end[place], ~len(frame.args)))
        frame.binds.append(self._bound_around(frame, place, node))
        frame.args.append(node)

    def _bound_around(self, frame: _Frame, place: int, node: int) -> tuple[int, ...]:
        """Return the variables that a form binds in its subterm at a place."""
        binders = frame.binders
        if not binders:
            return ()
        definitions, parent = self.script.definitions, self.document.parent
        variable = self.shape[node].variable
        if self.chosen is not None and variable >= 0:
            binder = definitions[self.variables[variable]].binder
            return (variable,) if binder in binders else ()
        found: list[int] = []
        above, below = parent[place], place
        while True:
            # The values of a let are outside of it.
            if above in binders and not (below == above + 2 and self._head(above) == b"let"):
                found[:0] = binders[above]  # the innermost last
            if above == frame.node:
                break
            above, below = parent[above], above
        if frame.head == b"define-funs-rec":
            number = self._position(place)
            return tuple(each for each in found if self._function(frame.node, each) == number)
        return tuple(found)

    def _function(self, command: int, variable: int) -> int:
        """Return which function of a define-funs-rec has a variable as its parameter."""
        node, parent = self.script.definitions[self.variables[variable]].node, self.document.parent
        while parent[parent[node]] != command:
            node = parent[node]
        return self._position(node)

    def _position(self, node: int) -> int:
        return list(self.document.children(self.document.parent[node])).index(node)

    def _close(self, frame: _Frame) -> int:
        """Return the node of a term or command that has been read."""
        document = self.document
        text, position = document.text, document.start[frame.node]
        items: list[bytes | int] = []
        for begin, end, item in frame.marks:
            between = self._spaced(text[position:begin], after=bool(items), before=True)
            if between:
                items.append(between)
            items.append(item)
            position = end
        items.append(self._spaced(text[position : document.end[frame.node]], after=bool(items)))
        head, chosen, script = frame.head, self.chosen, self.script
        if chosen is not None and script.is_term[frame.node] == 1:
            # No operator to any move if some of its arguments are only text.
            head = head if all(chosen[each] for each in subterms(script, frame.node)) else b""
        # `(_ bv0 64)` is one literal to all moves, though it is written as a list.
        if head in (b"_", b"as") and len(items) == 1 and isinstance(items[0], bytes):
            head = items[0]
        shape = Shape(
            tuple(items),
            head,
            len(frame.args),
            tuple(frame.binds) if any(frame.binds) else (),
            RAW if frame.raw else frozenset(frame.raws),
            tuple(dict.fromkeys(frame.uses)),
            names=tuple(frame.names),
        )
        sort = self.script.sort[frame.node]
        return self._node(self.shapes.get(shape), tuple(frame.args), sort)

    def _spaced(self, between: bytes, *, after: bool = False, before: bool = False) -> bytes:
        """Return the text between items, with blanks where needed to keep names apart."""
        if not between:
            return self.tight if after and before else b""
        if after and between[0] not in _APART_AFTER:
            between = self.tight + between
        return between + self.tight if before and between[-1] not in _APART_BEFORE else between


def _context(script: Script) -> ScriptContext:
    """Return the facts about the commands of a script."""
    document, commands, names = script.document, script.commands, script.names
    ends = [0, *(document.end[each] for each in commands)]
    starts = [*(document.start[each] for each in commands), len(document.text)]
    gaps = [document.text[before:after] for before, after in zip(ends, starts, strict=True)]
    scopes = _innermost(script)
    barriers = [i for i, name in enumerate(names) if name in _BARRIERS]
    # What each command defines, and where each definition is visible: first and end.
    own: dict[int, list[int]] = {}
    visible: dict[int, tuple[int, int]] = {}
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
        visible[number] = (command, min([last, *(each for each in barriers if each > command)]))
    # A declaration goes with its last user. One that nothing uses from the start stays: whether the
    # failure needs it is the question of the pass *commands*.
    referred = set(script.refs)
    defines = [
        tuple(found)
        if name in _DROPPABLE and not referred.isdisjoint(found := own.get(i, ()))
        else ()
        for i, name in enumerate(names)
    ]
    outer = []
    for command, scope in enumerate(scopes):
        place = command
        while scope:  # to before all scopes around the command
            place, scope = min(place, script.scopes[scope].first), script.scopes[scope].parent
        outer.append(place)
    stop, source = document.stop, document.source
    atoms = {source(node) for node in range(1, len(document)) if stop[node] == node + 1}
    taken = atoms.union(RESERVED, TAKEN)
    return ScriptContext(
        commands,
        gaps,
        defines,
        outer,
        visible,
        frozenset(i for i in referred if i >= 0 and script.definitions[i].kind == "named"),
        bool(barriers),
        Lazy(name for name in short_names() if name not in taken),
        TIGHT not in document.text,
    )


def _innermost(script: Script) -> list[int]:
    """Return the innermost scope of each command; a push and its pop are outside their scope."""
    opened: dict[int, list[int]] = {}
    for number, scope in enumerate(script.scopes):
        if number:
            opened.setdefault(scope.first, []).append(number)
    found, stack = [0] * len(script.commands), [0]
    for command in range(len(script.commands)):
        while len(stack) > 1 and script.scopes[stack[-1]].last <= command:
            stack.pop()
        found[command] = stack[-1]
        stack += opened.get(command, ())
    return found
