"""Trees by grammars: whole and nested as those without, with items that a language has."""

import json
import re
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit import reduce
from reducekit.errors import UsageError
from reducekit.frontends.text import Text
from reducekit.frontends.text import languages as of_grammars
from reducekit.frontends.text.languages import installed, parser_for
from reducekit.frontends.text.syntax import differences, syntax_of
from reducekit.packed import pack
from tests.frontends.text.test_tree import outline_of, texts, whole_and_nested

SAMPLES = {
    ".c": b'#define A(x) x + 1\n#include <a.h>\nint b, c = 2;\nint f(int x) {\n  if (x) g("s");\n'
    b"  else { h('c'); }\n  while (x--) c += A(x) * b;\n  return c;\n}\n",
    ".java": b"class A<T> {\n  @B int f(int x) {\n    for (int i = 0; ; i++) { g(x); }\n  }\n}\n",
    ".json": b'{"a": [1, {"b": null}, "c"],\n "d": {}}\n',
    ".py": b'import a, b\n\nclass C(a):\n    """D"""\n    def f(self, x=1):\n        if x: return\n'
    b'        elif b:\n            g(f"{x}")\n        else:\n            pass\n        h()\n',
    ".rs": b"fn f<'a>(x: &'a str) -> u8 {\n    let y = r#\"s\"#;\n    match x { _ => 1 }\n}\n",
    ".sv": b"module m(input a);\n  always @(posedge a) begin\n    b <= 1;\n  end\nendmodule\n",
}
KINDS = st.sampled_from([*SAMPLES])


@given(KINDS, texts)
def test_nothing_is_lost_and_nodes_are_nested(suffix: str, text: bytes) -> None:
    whole_and_nested(Text(suffix).parse(text))


def mutant(text: bytes, dice: Random) -> bytes:
    """Return a text with a few bytes gone, repeated or replaced, or its end gone."""
    for _ in range(dice.randrange(1, 6)):
        first, last = sorted((dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)))
        new = dice.choice((b"", text[first:last] * 2, bytes((dice.randrange(256),)), b"("))
        text = text[:first] + new + (text[last:] if dice.random() < 0.8 else b"")
    return text


@pytest.mark.parametrize("suffix", SAMPLES)
def test_mutants_and_what_is_made_of_them(suffix: str) -> None:
    """An incremental parse finds as many errors as one from scratch, or both find some."""
    dice, form = Random(suffix), Text(suffix)
    for _ in range(100):
        text = mutant(SAMPLES[suffix], dice)
        view = form.parse(text)
        whole_and_nested(view)
        other = mutant(text, dice)
        form.misread(view, text, other)
        for syntax in view.syntax.values():
            again = syntax_of(syntax.parser, other)
            assert bool(syntax.of(other).errors) == bool(again.errors)


@given(st.lists(st.tuples(st.sampled_from([b"a", b"bc", b"(\n" * 9]), st.booleans())), texts)
def test_differences_make_one_text_the_other(parts: list[tuple[bytes, bool]], other: bytes) -> None:
    whole = b"".join(part for part, _ in parts)
    for new in (b"".join(part for part, stays in parts if stays), other):
        text = whole
        for first, last, low, high in differences(whole, new):
            assert text[low : low + last - first] == whole[first:last]
            text = text[:low] + new[low:high] + text[low + last - first :]
        assert text == new


@pytest.mark.parametrize(
    ("suffix", "text", "parts"),
    [
        pytest.param(
            ".c",
            "int a, *b = 0;\nint f(int x) {\n  if (x) { g(1); }\n  for (;;) h();\n"
            "  return x + 1;\n}\n",
            ["int a, *b = 0;", "  *b = 0", "int f(int x) {", "  if (x) { g(1); }",
             "    if (x)", "    g(1);", "  for (;;) h();", "    for (;;)", "  return x + 1;"],
            id="C",
        ),
        pytest.param(
            ".py",
            "x = 1\ndef f(a):\n    if a: b()\n    else:\n        c()\n        d()\n",
            ["x = 1", "def f(a):", "  c()", "  d()"],
            id="Python",
        ),
        pytest.param(
            ".json",
            '{"a": [1, {"b": 2}],\n "c": 3}\n',
            ['"a": [1, {"b": 2}]', '  "b": 2', '"c": 3'],
            id="JSON",
        ),
        pytest.param(
            ".v",
            "module m(input a, input b);\n  reg c; reg d;\n"
            "  always @(posedge a) begin c <= 1; d <= 2; end\nendmodule\n",
            ["module m(input a, input b);", "  input a", "  input b", "  reg c;", "  reg d;",
             "  always @(posedge a) begin c <= 1; d <= 2; end", "    @(posedge a)",
             "    c <= 1;", "    d <= 2;"],
            id="Verilog",
        ),
    ],
)  # fmt: skip
def test_items_are_what_may_go_or_be_there_twice(suffix: str, text: str, parts: list[str]) -> None:
    assert outline_of(Text(suffix).parse(text.encode())) == parts


def test_what_is_seen_in_one_place_can_stand_in_it() -> None:
    view = Text(".c").parse(b"void f() { if (a + b) { g(x); } h(y - 1); k(b); }")
    rules = {view.document.source(node): view.rule[node] for node in range(len(view.kind))}
    assert rules[b"if (a + b) { g(x); }"] == rules[b"g(x);"] != rules[b"y - 1"]
    assert rules[b"g(x)"] == rules[b"h(y - 1)"]


@pytest.mark.parametrize("unit", [b"[", b'{"a":', b'["', b"\xff", b"[]"])
def test_a_hundred_thousand_levels(unit: bytes) -> None:
    begin = time.process_time()
    text = unit * (10**5 // len(unit))
    view = Text(".json").parse(text)
    assert view.document.render({}) == text
    Text(".json").misread(view, text, text[:-9])
    assert time.process_time() - begin < 60, "not linear"


def odd(text: bytes) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    todo = [found]
    while todo:
        each = todo.pop()
        if each == 4711:
            return True
        todo += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return False


def test_what_stood_in_one_place_can_stand_in_it_later() -> None:
    form = Text(".py")
    form.parse(b"def f():\n    g(1)\na * b\n")
    view = form.parse(b"def f():\n    if a * b: pass\n")
    rules = {view.document.source(node): view.rule[node] for node in range(len(view.kind))}
    assert rules[b"a * b"] == rules[b"def f():\n    if a * b: pass"]


def test_what_does_not_parse_takes_no_run() -> None:
    data: dict[str, object] = {
        f"k{n}": [{"a": n, "b": [n, n + 1]}, "x" * (n % 7)] for n in range(80)
    }
    data["deep"] = [[{"c": [1, {"d": 4711}]}]]
    text = json.dumps(data, indent=1).encode()
    asked: list[bytes] = []

    def interesting(candidate: bytes) -> bool:
        asked.append(candidate)
        return odd(candidate)

    checks = [
        reduce(text, interesting, format=Text(".json", unchecked=unchecked)).counts.checks
        for unchecked in (False, True)
    ]
    assert checks[0] < 0.7 * checks[1]
    # Of those that do not parse a few run, to see whether the program minds.
    del asked[:]
    reduce(text, interesting, format=Text(".json"))
    parser, _ = parser_for(".json")
    assert parser is not None
    assert 0 < sum(syntax_of(parser, each).errors > 0 for each in asked) <= 8


def test_a_program_that_does_not_mind_gets_what_does_not_parse() -> None:
    text, wanted = SAMPLES[".c"] * 3, re.compile(rb"x--.*A.*return", re.DOTALL)
    checked, unchecked = (
        reduce(text, lambda each: bool(wanted.search(each)), format=Text(".c", unchecked=way)).text
        for way in (False, True)
    )
    assert len(checked) <= len(unchecked) < 30


def test_a_parse_error_is_reduced_unchecked() -> None:
    form = Text(".c")
    assert not form.for_failure(
        "exit status 1, `a.c:1: segmentation fault`", by_chance=False
    ).unchecked
    assert form.for_failure("exit status 1, `a.c:1: parse error`", by_chance=False).unchecked


def test_brackets_count_without_a_grammar() -> None:
    form, text = Text(".unknown"), b"(a b) {c}"
    view = form.parse(text)
    assert form.misread(view, text, b"(a {c}")
    assert not form.misread(view, text, b"(a) {}")
    assert not form.misread(view, b"(a", b"(a {c}")


def test_each_of_several_files_is_checked_by_its_own_grammar() -> None:
    form = Text()
    base = {
        "a.c": b"int f(int x) { return x; }\n",
        "b.json": b'{"a": 1}\n',
        "c.unknown": b"(a) b\n",
    }
    view = form.parse(pack(base))
    assert sorted(view.syntax) == ["a.c", "b.json"]
    for path, worse, well in (
        ("a.c", b"int f(int x) { return ; ; ) }\n", b"int f() { return 0; }\n"),
        ("b.json", b'{"a" 1}\n', b"{}\n"),
        ("c.unknown", b"(a b\n", b"a\n"),
    ):
        assert form.misread(view, pack(base), pack({**base, path: worse}))
        assert not form.misread(view, pack(base), pack({**base, path: well}))
        assert not form.misread(view, pack({**base, path: worse}), pack({**base, path: worse}))


def test_a_text_of_another_language_has_the_tree_without() -> None:
    view = Text(".json").parse(SAMPLES[".c"])
    assert not view.syntax


def test_the_suffix_or_an_option_names_the_grammar(tmp_path: Path) -> None:
    assert {"c", "json", "python"} <= {*installed()}
    assert Text().of_file("a/b.JSON").parser is not None
    assert Text(".txt", "C").parser is not None
    with pytest.raises(
        UsageError, match=r"no grammar 'cobol' is installed: .* c, .*tree-sitter-cobol"
    ):
        Text(language="cobol")


def test_a_grammar_that_could_be_installed_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_grammars, "language", lambda name: None)
    assert Text(".odd").notes == ()
    (note,) = Text(".c").notes
    assert "pip install tree-sitter tree-sitter-c " in note


def test_other_packages_offer_grammars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = tmp_path / "ours-1.dist-info"
    offered.mkdir()
    (offered / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1\n")
    (offered / "entry_points.txt").write_text(
        f"[{of_grammars.LANGUAGES}]\nours = tree_sitter_json:language\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    view = Text(".ours", "ours").parse(b'{"a": 1}')
    assert view.syntax
    assert "ours" in installed()


@pytest.mark.parametrize(
    ("suffix", "text", "name"),
    [
        (".c", b"static int *f(int x) { return x; }\nint g = f(f);\n", b"f"),
        (".py", b"def f(x):\n    return x\nf(f)\n", b"f"),
        (".v", b"module f(input x);\nendmodule\nmodule g;\n  f u(.x(1));\nendmodule\n", b"f"),
    ],
)
def test_what_a_part_defines_is_found_behind_words_of_the_language(
    suffix: str, text: bytes, name: bytes
) -> None:
    view = Text(suffix).parse(text)
    first, second = view.top[:2]
    assert view.defined(first) == [view.words[name][1:]]
    assert view.defined(second) == []
