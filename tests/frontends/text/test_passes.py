"""Texts in many languages are small after few checks, without a word about their languages."""

import csv
import json
import random
import re
from collections.abc import Callable

import pytest

from reducekit import reduce
from reducekit.frontends.text.passes import Arguments
from reducekit.frontends.text.tree import tree_of
from reducekit.frontends.text.view import TextView
from reducekit.search.problem import NOTHING
from tests.lines import Lines


def functions(count: int) -> str:
    """Return functions in a language like C, each of which calls the one before."""
    chance = random.Random(count)
    parts = ["int f0(int a, int b)\n{\n  return a;\n}\n"]
    for n in range(1, count):
        body = "".join(
            f"  x = f{n - 1}(x + {chance.randrange(99)}, {k});\n"
            f"  if (x > {k}) {{\n    x = {k};\n  }}\n"
            for k in range(5)
        )
        parts.append(f"int f{n}(int a, int b)\n{{\n  int x = a;\n{body}  return x;\n}}\n")
    return "\n".join(parts)


def declared(text: bytes) -> bool:
    """Return whether all functions that are called are declared above, and brackets match."""
    known: set[bytes] = set()
    for match in re.finditer(rb"(int )?\bf(\d+)\(", text):
        if match[1]:
            known.add(match[2])
        elif match[2] not in known:
            return False
    return text.count(b"{") == text.count(b"}") and text.count(b"(") == text.count(b")")


def nested(count: int) -> str:
    """Return a value in JSON, nested at random."""
    chance = random.Random(count)

    def value(depth: int) -> object:
        if depth == 0 or chance.random() < 0.2:
            return chance.choice([None, True, chance.randrange(10**6), f"s{chance.randrange(999)}"])
        if chance.random() < 0.4:
            return [value(depth - 1) for _ in range(chance.randrange(5))]
        return {
            f"k{chance.randrange(999)}": value(depth - 1) for _ in range(chance.randrange(1, 6))
        }

    rows = [value(4) for _ in range(count)]
    rows.insert(count // 3, {"deep": [{"mode": "odd", "limits": [3, -1]}]})
    return json.dumps({"rows": rows, "version": 2}, indent=2)


def odd(text: bytes) -> bool:
    """Return whether a text is a value in JSON with an object somewhere that is odd."""
    try:
        todo = [json.loads(text)]
    except ValueError:
        return False
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            if each.get("mode") == "odd" and "limits" in each:
                return True
            todo += each.values()
        elif isinstance(each, list):
            todo += each
    return False


def modules(count: int) -> str:
    """Return modules of hardware and one that has an instance of each."""
    parts = [
        f"module m{n}(input a, output b);\n  wire w{n};\n  assign w{n} = a & {n};\n"
        f"  always begin\n    b <= w{n};\n  end\nendmodule\n"
        for n in range(count)
    ]
    uses = "".join(f"  m{n} u{n}(x, y{n});\n" for n in range(count))
    return "\n".join([*parts, f"module top;\n{uses}  initial begin\n    stop;\n  end\nendmodule\n"])


def instances(text: bytes) -> bool:
    """Return whether each instance has a module, and top stops."""
    known = {*re.findall(rb"module (\w+)", text)}
    used = {*re.findall(rb"^\s*(m\d+) u", text, re.MULTILINE)}
    pairs = text.count(b"begin") == len(re.findall(rb"\bend\b", text))
    whole = len(re.findall(rb"\bmodule\b", text)) == text.count(b"endmodule")
    return pairs and whole and used <= known and b"top" in known and b"stop;" in text


CASES: dict[str, tuple[str, Callable[[bytes], bool], int, int]] = {
    "functions": (functions(30), lambda text: declared(text) and b"f7(x + " in text, 60, 150),
    "JSON": (nested(60), odd, 40, 150),
    "modules": (modules(40), instances, 60, 110),
    "log": (
        "".join(f"2026-01-{n % 30:02} [INFO] worker {n}: did {n * 7}\n" for n in range(800)),
        lambda text: b"worker 400:" in text and b"did 4900" in text,
        40,
        100,
    ),
    "markup": (
        "<list>\n"
        + "".join(
            f'  <item id="{n}"><name>n{n}</name><price>{n}</price></item>\n' for n in range(300)
        )
        + "</list>\n",
        lambda text: b"<price>77</price>" in text and text.count(b"<item") == text.count(b"</item"),
        40,
        80,
    ),
    "table": (
        "id,name,price,note\n" + "".join(f'{n},n{n % 9},{n * 7},"a, {n}"\n' for n in range(200)),
        lambda text: any(
            row.get("price") == "700" for row in csv.DictReader(text.decode().splitlines())
        ),
        10,
        80,
    ),
}
"""A text, its test, the most bytes that may be left, and the most checks."""


@pytest.mark.parametrize("name", CASES)
def test_little_is_left_after_few_checks(name: str) -> None:
    text, interesting, most, checks = CASES[name]
    report = reduce(text.encode(), interesting, format="text")
    assert len(report.text) <= most
    assert report.counts.checks <= checks


@pytest.mark.parametrize("checks", [50, 150, 500])
@pytest.mark.parametrize("name", CASES)
def test_it_is_not_worse_than_lines_at_any_time(name: str, checks: int) -> None:
    text, interesting, _, _ = CASES[name]
    ours = reduce(text.encode(), interesting, format="text", max_checks=checks)
    lines = reduce(text.encode(), interesting, format=Lines(), strategy="ddmin", max_checks=checks)
    assert len(ours.text) <= len(lines.text)


def test_a_parameter_goes_with_its_arguments() -> None:
    text = b"int f(int a, int b, int c);\nx = f(1, g(2, 3), 4) + f(5);\n"
    view = TextView(tree_of(text))
    items = Arguments(view)
    assert len(items.items) == len(items.weights)
    at = {each: number for number, each in enumerate(items.items)}
    calls = [call for call, found in enumerate(items.calls) if len(found) == 3]
    (call,) = calls
    change = items.change(frozenset({at[call, 1]}), NOTHING)
    edits = {each.node: each.template for each in change.edits}
    assert view.document.render(edits) == b"int f(int a, int c);\nx = f(1, 4) + f(5);\n"
    change = items.change(frozenset({at[call, 0], at[call, 2]}), frozenset({at[call, 1]}))
    edits |= {each.node: each.template for each in change.edits}
    assert view.document.render(edits) == b"int f();\nx = f() + f();\n"


def test_what_nothing_uses_goes_in_one_run() -> None:
    unused = "".join(f"extern int f{n}(int a, int b);\n" for n in range(300))
    text = unused + "int main(int x)\n{\n  x = f7(x + 1, 2);\n  return f250(f99(x, 3), x);\n}\n"
    kept = reduce(
        text.encode(),
        lambda text: declared(text) and b"f7(x + 1" in text and b"f99(" in text,
        format="text",
        max_checks=10,
    )
    assert len(kept.text) <= 250


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"static int *x = a;\nint y = x + a;\n", [b"x"]),
        (b"def f(a):\n  return a\nf(1)\n", [b"f"]),
        (b"module m(input a);\nendmodule\nm m1(a);\n", [b"m"]),
        (b"struct s { int a; };\nint f(struct s a);\n", [b"s"]),
        (b"x = y\nx = y\n", []),
        (b"12:30 lease of a\n12:31 lease of a\n", []),
    ],
)
def test_what_a_part_seems_to_define(text: bytes, names: list[bytes]) -> None:
    view = TextView(tree_of(text))
    found = view.defined(view.top[0])
    assert [view.document.source(places[0]) for places in found] == names
