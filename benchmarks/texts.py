"""Texts in ten languages by seed, each with a random property to keep while it is reduced.

    python -m benchmarks.texts FOLDER [--seeds A-B]

Writes a case for each seed: a folder with `input.SUFFIX` and an `oracle`, as all benchmarks expect.
A text comes from a grammar in `texts.grammars`, so it nests, defines names and uses them. Its
property is that it stays valid (gcc, iverilog and parsers of Python decide; for the others, a check
of brackets, operands and definitions), and that certain places remain in order: tokens, values or
statements below certain others, often two or three that share a name.
"""

import argparse
import ast
import builtins
import configparser
import csv
import io
import json
import random
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import NoneType
from typing import Any
from xml.etree import ElementTree

Labels = tuple[str, ...]
"""Labels from the outermost part of a text to one within."""

# Texts ------------------------------------------------------------------------------------------

_WORDS = ("queue", "node", "lease", "merge", "total", "index", "batch", "price", "level", "scope")
_PLACE = re.compile(r"@(@|[a-z]+(?:_[a-zA-Z]+)?)(?:\{(\d+),(\d+)(?::([^}]*))?\})?|\\n")
_DEEPEST = 7


@cache
def grammars() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the alternatives of each rule of each language."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in Path(__file__).with_suffix(".grammars").read_text(encoding="utf-8").splitlines():
        name, _, templates = line.partition(" ")
        if name == "=":
            rules = found[templates] = {}
        elif name not in ("", "#"):
            rules.setdefault(name, []).extend(templates.split(" ;; "))
    return found


class _Maker:
    """Expands rules of a language; keeps the names that it has made."""

    def __init__(self, language: str, chance: random.Random) -> None:
        self.chance = chance
        self.rules = grammars()[language]
        self.names: dict[str, list[str]] = {}
        self.pending: list[tuple[str, str]] = []
        self.total = 0

    def expand(self, rule: str, depth: int = 0) -> str:
        if rule in self.rules:
            templates = self.rules[rule]
            deep = depth > _DEEPEST
            return self.fill(templates[0] if deep else self.chance.choice(templates), depth)
        if rule.startswith("new_"):
            return self.new(rule[4:])
        if rule.startswith("old_"):
            return self.chance.choice(self.names.get(rule[4:], ["0"]))
        if rule == "word":
            return self.chance.choice(_WORDS)
        most = 10 if rule == "digit" else self.chance.choice((9, 100, 900))
        return str(self.chance.randrange(most))

    def new(self, kind: str) -> str:
        self.total += 1
        name = f"{kind}{self.total}"
        self.pending.append((kind, name))
        return name

    def fill(self, template: str, depth: int) -> str:
        """Expand what a template names; lines of an expansion are indented as its first one."""
        done, at = "", 0
        for place in _PLACE.finditer(template):
            done += template[at : place.start()]
            at = place.end()
            rule, least, most, between = place.groups()
            if rule is None or rule == "@":
                done += rule or "\n"
                continue
            count = self.chance.randint(int(least), int(most)) if least else 1
            parts = [self.expand(rule, depth + 1) for _ in range(count)]
            text = ("\n" if between is None else between.replace("\\n", "\n")).join(parts)
            line = done[done.rfind("\n") + 1 :]
            done += text.replace("\n", "\n" + line[: len(line) - len(line.lstrip())])
        return done + template[at:]

    def end_item(self) -> None:
        for kind, name in self.pending:
            self.names.setdefault(kind, []).append(name)
        self.pending.clear()


def text_of(language: str, chance: random.Random, size: float) -> str:
    """Make a text of about that many bytes."""
    maker = _Maker(language, chance)
    shape = chance.randrange(len(maker.rules["begin"]))
    items = maker.rules["item"]
    if language == "json":  # a list of records, or an object
        items = items[1:] if shape else items[:1]
    parts = [maker.fill(maker.rules["begin"][shape], 0)]
    length = 0
    while length < size:
        maker.end_item()
        parts.append(maker.fill(chance.choice(items), 0))
        length += len(parts[-1])
    maker.end_item()
    return "\n".join([*parts, maker.fill(maker.rules["end"][shape], 0)]) + "\n"


# Properties -------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/|^%[^\n]*)|"(?:\\.|[^"\\])*"|[A-Za-z_$`][\w$]*|\d[\w.']*|"""
    r"[<>=!:&|+*/%^~-]+|\S",
    re.S | re.M,
)
_PAIRS = {")": "(", "]": "[", "}": "{", "end": "begin"}
_OPENING = frozenset(_PAIRS.values())
_BETWEEN = set(re.findall(r"\S+", "== != < <= >= && || ==> <=> => | & + * / % , = :="))
"""These need an operand on either side."""
_OPERAND = re.compile(r"[A-Za-z]+\d+$|[a-zA-Z]$|\d+$")
_DEFINED = re.compile(r"\b(?:function|method|lemma) (\w+)")
_CALLED = re.compile(r"\b([a-z]+\d+)\s*\(")


def _nested(text: str, *, strict: bool = False) -> Iterator[Labels]:
    """Yield each token below the first words of the statements around it, and what it calls.

    Raises ValueError where brackets do not match; with `strict`, also where an operand is missing.
    """
    stack: list[tuple[str, str, str]] = []
    head = last = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match["comment"]:
            continue
        if strict and (
            (token in _BETWEEN and (not last or last in _BETWEEN or last in _OPENING))
            or (last in _BETWEEN and (token in _PAIRS or token == ";"))
            or (_OPERAND.match(token) and _OPERAND.match(last))
        ):
            raise ValueError(f"{last} {token}")
        if token in _OPENING:
            stack.append((token, last if token in ("(", "[") else head, head))
            head = ""
        elif token in _PAIRS:
            if not stack or stack[-1][0] != _PAIRS[token]:
                raise ValueError(token)
            before = stack.pop()[2]
            head = before if token in (")", "]") else ""
        elif token == ";":
            head = ""
        else:
            head = head or token
            yield (*[label for _, label, _ in stack], token)
        last = token
    if stack:
        raise ValueError(stack[-1][0])


def _compiled(words: Sequence[str], text: str) -> Iterator[Labels]:
    """As `_nested`, for a text that a compiler accepts."""
    done = subprocess.run(words, input=text.encode(), capture_output=True, timeout=10, check=False)
    if done.returncode:
        raise ValueError(words[0])
    yield from _nested(text)


def _defined(text: str) -> Iterator[Labels]:
    """As `_nested`, for a verifier's language: each function that is called is defined."""
    if missing := {*_CALLED.findall(text)} - {*_DEFINED.findall(text)}:
        raise ValueError(missing)
    yield from _nested(text, strict=True)


def _formulas(text: str) -> Iterator[Labels]:
    """As `_nested`, for TPTP: formulas, each with a name and a role."""
    plain = re.sub(r"^%.*", "", text, flags=re.M)
    formulas = re.split(r"\.\s*(?=fof\(|cnf\(|$)", plain.strip())
    if formulas.pop() or not all(re.match(r"(fof|cnf)\(\w+,\s*[a-z]+,", each) for each in formulas):
        raise ValueError("formula")
    yield from _nested(text, strict=True)


def _python(text: str) -> Iterator[Labels]:
    """Yield the nodes of the syntax tree, each below those around it. Names must be defined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    defined, used = {*dir(builtins), "__name__"}, set[str]()
    found, todo = list[Labels](), list[tuple[Any, Labels]]([(tree, ())])
    while todo:
        node, above = todo.pop()
        path = (*above, type(node).__name__ if isinstance(node, ast.AST) else str(node))
        found.append(path)
        if not isinstance(node, ast.AST):
            continue
        values = [value for _, value in ast.iter_fields(node)]
        parts = [part for each in values for part in (each if isinstance(each, list) else [each])]
        todo += [
            (part, path)
            for part in reversed(parts)
            if not isinstance(part, (NoneType, ast.expr_context))
        ]
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        else:
            defined |= {getattr(node, each, None) or "" for each in ("name", "arg", "asname")}
    if missing := used - defined:
        raise ValueError(missing)
    yield from found


def _json(text: str) -> Iterator[Labels]:
    """Yield each value below the keys around it, after the name of its type."""
    todo: list[tuple[object, Labels]] = [(json.loads(text), ())]
    while todo:
        value, above = todo.pop()
        path = (*above, type(value).__name__)
        if isinstance(value, dict):
            todo += [(each, (*path, key)) for key, each in reversed(value.items())]
        elif isinstance(value, list):
            todo += [(each, path) for each in reversed(value)]
        else:
            path = (*path, json.dumps(value))
        yield path


def _xml(text: str) -> Iterator[Labels]:
    """Yield the text and the attributes of each element below the tags around it."""
    todo: list[tuple[ElementTree.Element, Labels]] = [(ElementTree.fromstring(text), ())]
    while todo:
        node, above = todo.pop()
        path = (*above, node.tag)
        yield (*path, (node.text or "").strip())
        yield from ((*path, key, value) for key, value in node.items())
        todo += [(each, path) for each in reversed(node)]


def _ini(text: str) -> Iterator[Labels]:
    """Yield section, key and each word of its value."""
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    for section in parser.sections():
        for key, value in parser.items(section):
            yield from ((section, key, word) for word in value.split())


def _csv(text: str) -> Iterator[Labels]:
    """Yield the cells of each row, with the names of their columns. All rows have as many."""
    rows = list(csv.reader(io.StringIO(text), strict=True))
    if any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("columns")
    for row in rows[1:]:
        yield tuple(f"{name}={cell}" for name, cell in zip(rows[0], row, strict=True) if cell)


def _log(text: str) -> Iterator[Labels]:
    """Yield the words of each line, below the first lines of those around it, by indentation."""
    stack: list[tuple[int, Labels]] = []
    for line in text.splitlines():
        deep = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= deep:
            stack.pop()
        path = (*(stack[-1][1] if stack else ()), *line.split())
        stack.append((deep, path))
        yield path


_GCC = "gcc -fsyntax-only -w -Werror=implicit-function-declaration -Werror=implicit-int -x c -"
_IVERILOG = "iverilog -g2005 -t null /dev/stdin"
READ: Mapping[str, Callable[[str], Iterator[Labels]]] = {
    "c": partial(_compiled, _GCC.split()),
    "py": _python,
    "json": _json,
    "xml": _xml,
    "v": partial(_compiled, _IVERILOG.split()),
    "dfy": _defined,
    "p": _formulas,
    "log": _log,
    "ini": _ini,
    "csv": _csv,
}
"""By suffix, the labels of each part of a text, in order. They raise some of _INVALID."""
_INVALID = (
    *(ValueError, SyntaxError, RecursionError, MemoryError),
    *(ElementTree.ParseError, configparser.Error, csv.Error, subprocess.TimeoutExpired),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and what has to remain of it."""

    seed: int
    language: str
    text: bytes
    wants: Sequence[Labels]

    @property
    def name(self) -> str:
        return f"{self.language}-{self.seed}"

    def holds(self, text: bytes) -> bool:
        return holds(self.language, self.wants, text)


def holds(language: str, wants: Sequence[Labels], text: bytes) -> bool:
    """Return whether a text is valid, and has what is wanted, in this order."""
    try:
        paths = iter(list(READ[language](text.decode())))
    except _INVALID:
        return False
    return all(any(_within(want, path) for path in paths) for want in wants)


def _within(want: Labels, path: Labels) -> bool:
    """Return whether a path has the labels of `want`, in order, and ends with the last one."""
    labels = iter(path)
    return want[-1:] == path[-1:] and all(label in labels for label in want)


def case_of(seed: int) -> Case:
    """Make a case: seeds take turns in the languages."""
    language = tuple(READ)[seed % len(READ)]
    chance = random.Random(f"{language} {seed}")
    text = text_of(language, chance, 5_000 * 12 ** chance.random())
    paths = list(READ[language](text))
    common = Counter(label for path in paths for label in set(path))
    count, tries = chance.choice((1, 1, 2, 2, 3)), chance.choice((3, 9, 27))
    # The rarest of some, so that not all are met in every part of the text.
    places = [min(chance.choices(range(len(paths)), k=tries), key=lambda at: common[paths[at][-1]])]
    while len(places) < count:
        labels = paths[places[-1]]
        rare = min(labels[-3:], key=lambda label: common[label])
        linked = [at for at, path in enumerate(paths) if rare in path and at not in places]
        if not linked or chance.random() < 0.4:
            linked = [at for at in range(len(paths)) if at not in places]
        places.append(chance.choice(linked))
    wants = []
    for at in sorted(places):
        above = paths[at][:-1]
        kept = sorted(chance.sample(range(len(above)), min(len(above), chance.randint(1, 4))))
        wants.append((*(above[each] for each in kept), paths[at][-1]))
    return Case(seed, language, text.encode(), wants)


_ORACLE = """#!{python}
import sys
sys.path.insert(0, {checkout!r})
from benchmarks.texts import holds
sys.exit(not holds({language!r}, {wants!r}, open(sys.argv[-1], "rb").read()))
"""


def write(case: Case, folder: Path) -> Path:
    """Write a case into a folder of its own below `folder`, and return that."""
    place = folder / case.name
    place.mkdir(parents=True, exist_ok=True)
    (place / f"input.{case.language}").write_bytes(case.text)
    values = {"python": sys.executable, "checkout": str(Path(__file__).parents[1])}
    oracle = _ORACLE.format(**values, language=case.language, wants=list(case.wants))
    (place / "oracle").write_text(oracle, encoding="utf-8")
    (place / "oracle").chmod(0o755)
    return place


def seeds(text: str) -> range:
    """Parse `A-B` or `A`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=range(1, 31), metavar="A-B")
    given = parser.parse_args()
    for seed in given.seeds:
        case = case_of(seed)
        print(f"{write(case, given.folder)}: {len(case.text):,} bytes, {list(case.wants)}")


if __name__ == "__main__":
    main()
