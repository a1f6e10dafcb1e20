"""What holds of each format: made, changed, read, refused, converted, shown, reduced.

One table a question, over all formats; the examples of the docs stand for plug-ins. That passes are
deterministic and any damaged text is read or refused, tests/test_testing.py asks; that reading
takes linear time, test_linear.py.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reducekit import registry
from reducekit.api import reduce
from reducekit.errors import ParseError, ReducekitError, UsageError
from reducekit.format import Format, help_of
from reducekit.frontends.btor import Btor
from reducekit.frontends.mutation import LARGEST
from reducekit.frontends.trace import Traces
from reducekit.offers import Conversions, Generation, InputGenerator, with_defaults
from reducekit.reduction import STAGES
from tests.cli.inprocess import Shell, shell
from tests.strategies.test_everywhere import CASES, FRONTENDS

__all__ = ["shell"]

MADE: Sequence[tuple[str, Mapping[str, Any]]] = [
    *(("aiger", {"gates": 20, "notation": notation, "version": version})
      for notation in ("aag", "aig") for version in ("1.0", "1.9")),
    *(("btor", {"nodes": 30, "dialect": dialect})
      for dialect in ("btor-old", "btor1", "btor1+fun", "btor2")),
    ("btor", {"nodes": 30, "dialect": "btor2", "system": True}),
    *(("cnf", {"variables": 20, "shape": "uniform", "notation": notation})
      for notation in ("cnf", "wcnf", "qdimacs", "icnf")),
    *(("opb", {"variables": 20, "notation": notation}) for notation in ("opb", "wbo")),
    ("qcir", {"variables": 20}),
    *(("smt2", {"logic": logic, "levels": 3}) for logic in ("QF_LIA", "UFDTLIA", "QF_SLIA")),
    *(("trace", {"variables": 9, "model": model}) for model in ("lingeling", "ipasir", "mobical")),
]  # fmt: skip
"""Formats, and options of their generators."""
CHANGED = [row for row in MADE if row[0] != "trace"]
TEXTS = b"".join(b"let v%d = f(%d, g(%d, h(v)));\n" % (n, n, n * n) for n in range(6))


def offered(name: str) -> Generation:
    found = registry.frontend_class(name).generation()
    assert found is not None
    return found


def generator(name: str, **values: object) -> InputGenerator:
    offer = offered(name)
    return offer.make({"seed": 0, "default_seed": 0, **with_defaults(offer.options, values)})


def reader(name: str, made: InputGenerator) -> Format:
    return registry.frontend(name, **made.frontend_options)


@pytest.mark.parametrize(("name", "options"), MADE, ids=str)
def test_a_seed_makes_the_same_text_and_keeps_the_rules(
    shell: Shell, name: str, options: Mapping[str, Any]
) -> None:
    with generator(name, **options) as made, generator(name, **options) as again:
        texts = [made.generate(seed).text for seed in range(6)]
        assert texts == [again.generate(seed).text for seed in range(6)]
        assert len({*texts}) == len(texts)
        for text in texts:
            checked = reader(name, made).check(text)
            assert list(checked.problems) == []
        done = shell("generate", name, *made.words(5), "-o", "out")
    assert (done.code, (shell.folder / "out").read_bytes()) == (0, texts[5])


@pytest.mark.parametrize(("name", "options"), [*CHANGED, ("text", {})], ids=str)
def test_mutants_differ_and_keep_the_rules(
    shell: Shell, tmp_path: Path, name: str, options: Mapping[str, Any]
) -> None:
    seeds, place = {TEXTS}, tmp_path / "seeds"
    place.mkdir()
    suffix = ".k"
    if name != "text":
        with generator(name, **options) as made:
            seeds, suffix = {made.generate(seed).text for seed in range(3)}, made.suffix
    for number, text in enumerate(sorted(seeds)):
        (place / f"{number}{suffix}").write_bytes(text)
    only = {key: value for key, value in options.items() if key in ("notation", "version")}
    with (
        generator(name, **only, mutate=str(place)) as made,
        generator(name, **only, mutate=str(place)) as again,
    ):
        assert made.suffix == suffix or name == "btor"
        texts = [made.generate(seed).text for seed in range(80)]
        assert texts == [again.generate(seed).text for seed in range(80)]
        assert len({*texts} - seeds) > 60
        assert max(map(len, texts)) > 1.1 * max(map(len, seeds))  # two in one, or one grown
        for text in texts:
            found = registry.frontend(name).check(text)
            assert list(found.problems) == [], text
        words = made.words(7)
    assert "--mutate" in words
    done = shell("generate", name, *words, "-o", "out")
    assert (done.code, (shell.folder / "out").read_bytes()) == (0, texts[7])


@pytest.mark.parametrize("name", sorted({name for name, _ in CHANGED}))
@pytest.mark.parametrize("text", [b"", b"x", b"(assert", b"p cnf 3 0\n", b";" * (LARGEST + 1)])
def test_what_cannot_be_mutated(tmp_path: Path, name: str, text: bytes) -> None:
    path = tmp_path / f"a{registry.frontend_class(name).suffix}"
    path.write_bytes(text)
    with generator(name, mutate=str(path)) as made, pytest.raises(UsageError, match="no mutant of"):
        made.generate(1)
    with pytest.raises(UsageError, match="neither a file nor a folder of"):
        generator(name, mutate=str(tmp_path / "none"))


REFUSED: Mapping[str, Sequence[tuple[bytes, str]]] = {
    "aiger": [
        (b"aag 1 1\n2\n", "line 1, column 1: expected 'aag M I L O A'"),
        (b"aag 1 1 0 1 0\n2\nx\n", "line 3, column 1: expected the literal of an output, found"),
        (b"aig 2 1 0 0 1\n\0\0", "byte 14: expected a difference of 1 to 4"),
    ],
    "btor": [
        (b"1 mul what\n", "line 1, column "),
        (b"1 var 4\n2 add 4 1 7\n3 root 1 2\n", "line 2, column 11: node 2 (add): 7"),
    ],
    "cnf": [
        (b"p cnf 1 1\n1 x 0\n", "line 2, column 3"),
        (b"p cnf 1 1\n1\n", "line 2"),
        (b"p cnf 1\n1 0\n", "line 1"),
        (b"-1 2 0\n", "line 1"),
    ],
    "opb": [
        (b"+1 x1 +2 x2 >= ;\n", "line 1, column 16: expected a number"),
        (b"min: 1 x1 ;\n1 x1 >= 1\n", "line 3, column 1: expected ';'"),
        (b"1 2 x1 >= 1 ;\n", "line 1, column 3: expected a variable"),
        (b"soft: x ;\n", "line 1, column 7: expected a number or ';'"),
    ],
    "qcir": [
        (b"#QCIR-G14\ng = nand(a)\n", "line 2, column 5: expected a gate"),
        (b"output(g)\ng = and(a b)\n", "line 2, column 11: expected ',' or ')'"),
        (b"forall(a\n", "line 2, column 1: expected ',' or ')'"),
    ],
    "smt2": [
        (b"(check-sat)\n (assert true))\n", "line 2, column 15: unmatched ')'"),
        (b"(check-sat)\n (a (b)\n", "line 2, column 2: this '(' is never closed"),
        (b'(a)\n(echo "b"" )\n(c)', "line 2, column 7: this string is never closed"),
        (b"(a)\r\n(b |c\n)", "line 2, column 4: this quoted symbol is never closed"),
    ],
    "trace": [
        (b"init\nfoo 1\n", "line 2, column 1: expected a call of Lingeling"),
        (b"init\nadd\n", "line 2, column 1: 'add': expected 'add LIT'"),
        (b"init\nadd 99999999999\n", "line 2, column 1: expected a number between"),
        (b"\x00\xff\xfe", "found binary data"),
        (b"init\nadd 1\nad", "the file ends within this line"),
        (b"0 init\n1 add 1\n2 frobnicate\n", "line 3, column 1: expected a call of CaDiCaL"),
        (b"init\nadd 1 2\n", "line 2, column 1: 'add 1 2': expected 'add LIT' (1 argument)"),
        (b"init\noption elim\n", "line 2, column 1: 'option elim': expected 'option NAME VALUE'"),
        (b"init\nsat\nreturn\n", "line 3, column 1: expected a value after 'return'"),
        (b"init\nmaxvar\nreturn 99999999999\n", "line 3, column 1: expected a number between"),
    ],
}
EMPTY = "line 1, column 1: the input is empty"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        *((name, *row) for name, rows in REFUSED.items() for row in rows),
        *((name, text, EMPTY) for name in FRONTENDS for text in (b"", b" \n\t\r\n")),
    ],
)
def test_a_refusal_has_a_place(shell: Shell, name: str, text: bytes, said: str) -> None:
    shell.write("bad.x", text)
    shell.write("base.x", b"a\n")
    more = ["--baseline", "base.x"] if name == "isolate" else []
    more += ["--cmd", "false"] if name != "trace" else []  # damaged traces are for a command
    done = shell(name, "bad.x", *more)
    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert ("--lenient" in done.err) == (said != EMPTY and name != "trace")
    assert "Traceback" not in done.err
    assert sorted(path.name for path in shell.folder.iterdir()) == ["bad.x", "base.x"]


@pytest.mark.parametrize("name", FRONTENDS)
def test_what_is_cut_off_is_read_or_refused_with_a_place(name: str) -> None:
    text = CASES[name].text
    for end in range(1, len(text)):
        said = "line 1, column 1"
        try:
            found = registry.frontend(name).parse(text[:end])
            assert found.document.render({}) == text[:end]
        except ParseError as error:
            said = str(error)
        assert re.search(r"line \d+, column \d+|byte \d+", said), text[:end]


CONVERTED = [
    ("aiger", source, target)
    for source in ("aag", "aig") for target in ("aag", "aig", "btor2")
] + [
    ("btor", source, target)
    for source in ("btor-old", "btor1", "btor2")
    for target in ("btor-old", "btor1", "btor2")
] + [("cnf", "cnf", "icnf")] + [
    ("trace", "ipasir", target) for target in ("lgl", "mobical", "ipasir", "cnf")
]  # fmt: skip
OPTION = {"aiger": "notation", "btor": "dialect", "cnf": "notation", "trace": "model"}


@cache
def conversions(name: str) -> Conversions:
    found = registry.frontend_class(name).conversions()
    assert found is not None
    return found


def converting(source: str, target: str) -> Conversions:
    """Return what converts this: not always the format of the text."""
    for name in sorted(OPTION):
        offer = conversions(name)
        known = {each.name for each in offer.reads}, {each.name for each in offer.writes}
        if source in known[0] and target in known[1]:
            return offer
    raise AssertionError(f"nothing converts {source} to {target}")


@pytest.mark.parametrize(("name", "source", "target"), CONVERTED)
def test_there_and_back_is_the_same_from_then_on(name: str, source: str, target: str) -> None:
    """What is written is the same for the same text, and a second round changes nothing."""
    options = {"nodes": 25} if name == "btor" else {"gates": 12} if name == "aiger" else {}
    with generator(name, **options, **{OPTION[name]: source}) as made:
        for seed in range(4):
            text = made.generate(seed).text
            there, back = converting(source, target), converting(target, source)
            try:
                first = there.convert(text, source, target).text
                home = back.convert(first, target, source).text
            except UsageError:  # what has no counterpart
                continue
            assert there.convert(text, None, target).text == first or source == "btor-old"
            again = there.convert(home, source, target).text
            assert back.convert(again, target, source).text == home


@pytest.mark.parametrize("name", FRONTENDS)
def test_show_says_what_is_in_a_text_and_draws_it(name: str) -> None:
    kind = registry.frontend_class(name)
    found = kind.inspect(CASES[name].text, None, None)
    assert len(list(found.lines())) >= 1
    begins = {".svg": b"<svg ", ".dot": b"digraph ", ".graphml": b"<"}
    for suffix, picture in found.pictures.items():
        assert picture().startswith(begins[suffix])
        assert picture() == picture()
    for text, _ in REFUSED.get(name, ()) if name != "trace" else ():
        with pytest.raises(ReducekitError):
            list(kind.inspect(text, None, None).lines())


@pytest.mark.parametrize("name", FRONTENDS)
def test_each_pass_says_what_it_does(shell: Shell, name: str) -> None:
    schedule = registry.frontend(name).schedule("own")
    listed = shell("passes", name).out
    for stage in STAGES:
        for each in getattr(schedule, stage):
            assert f"  {each.name} " in listed
            assert help_of(each)[:1].isalpha()


@pytest.mark.parametrize("name", [each for each in FRONTENDS if each != "isolate"])
def test_jobs_do_not_change_the_result(name: str) -> None:
    text, needed = CASES[name]
    test = " && ".join(f"grep -qF '{word.decode().strip()}' $1" for word in needed)
    found = {
        reduce(
            text, oracle=["sh", "-c", test, "sh"], format=name, jobs=jobs, width=2, max_checks=40
        ).text
        for jobs in (1, 2)
    }
    assert len(found) == 1
    assert len(found.pop()) < len(text)


def test_the_formats_of_the_suite_are_all() -> None:
    assert {name for name, _ in MADE} | {"text", "isolate"} == {*FRONTENDS}
    assert {Btor, Traces} < {registry.frontend_class(name) for name in FRONTENDS}
