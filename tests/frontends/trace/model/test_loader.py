"""Model files: what is shipped loads, and errors name table, key and what was expected."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.chart import draw_chart
from reducekit.frontends.trace.model.loader import load_model, parse_model, shipped
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.model.structure import ModelError

SMALL = """
[api]
name = "small"
[types]
lit = { kind = "literal" }
word = { kind = "word" }
number = { kind = "int" }
[states]
names = ["one", "two"]
initial = "one"
[counters]
count = { per = "variable" }
total = {}
[flags]
marked = { per = "literal" }
[calls]
"""
SETS = "x = { args = ['word', 'number'] }\n[options]\ncall = 'x'\n"
TABLE = "\n[options.table]\na = [0, 0, 1]"


def test_all_models_are_shipped() -> None:
    assert set(shipped()) >= {
        "boolector",
        "cadical",
        "cvc5",
        "ipasir",
        "lingeling",
        "minisat",
        "mobical",
        "picosat",
    }


@pytest.mark.parametrize("name", shipped())
def test_shipped_models_load_compile_and_draw(name: str) -> None:
    model = load_model(name)
    machine = Machine(model)
    assert machine.allowed(Call("nonsense", ())) is not None
    assert model.classify[0][0] == "contract"
    for option in model.options.table.values():
        assert option.low <= option.default <= option.high
    chart = ElementTree.fromstring(draw_chart(model))
    texts = {element.text or "" for element in chart.iter() if element.tag.endswith("text")}
    assert set(model.states) <= texts
    shown = " ".join(texts)
    missing = [n for n, call in model.calls.items() if not call.rejected and n not in shown]
    assert missing == []


def test_lingeling_has_the_probabilities_of_lglmbt() -> None:
    model = load_model("lingeling")
    assert model.data is not None
    assert model.data.variables == (10, 200)
    assert model.data.ratio == (390, 450)
    assert [str(each) for each in model.data.close] == ["1/100", "1/11", "2/3", "3/4"]
    assert len(model.options.table) > 300
    assert "plain" in model.options.meta
    assert str(model.options.probability) == "1/2"
    assert next(iter(model.phases)) == "start"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", r"\[calls\]: expected at least one call"),
        ("x = 1", r"\[calls.x\]: expected a table, found 1"),
        (
            "x = { args = ['nosuch'] }",
            r"\[calls.x\] args: expected .* of lit, word, number, found 'nosuch'",
        ),
        ("x = { arguments = [] }", r"\[calls.x\] arguments: unknown key; known are: args, from"),
        ("x = { from = 'three' }", r"\[calls.x\] from: expected states .*one, two"),
        ("x = { requires = ['nosuch(1)'] }", r"requires\[0\]: unknown name 'nosuch'"),
        ("x = { requires = ['total'] }", r"requires\[0\]: expected a condition, found a number"),
        ("x = { requires = ['total = '] }", r"requires\[0\]: cannot be read: .*, in 'total = '"),
        ("x = { requires = ['total = 1 2'] }", r"requires\[0\]: cannot be read: .* before '2'"),
        ("x = { requires = ['total ? 1'] }", r"requires\[0\]: cannot be read: .* before '\? 1'"),
        ("x = { requires = ['(lambda: 1)() = 1'] }", r"expected a value, found '\(lambda"),
        ("x = { requires = ['total.real = 1'] }", "expected a value, found 'total.real'"),
        ("x = { requires = ['0 < total < 2'] }", "expected a value, found '0 < total < 2'"),
        (f"x = {{ requires = ['{'-' * 50}total = 1'] }}", "more than 40 levels deep"),
        (f"x = {{ requires = ['{'(' * 9999}total'] }}", "cannot be read: too many nested"),
        ("x = { requires = [{ is = 1 }] }", r"requires\[0\]: expected a condition, found 1"),
        ("x = { requires = [{ if = 'true' }] }", r"requires\[0\]: expected \{is = "),
        ("x = { args = ['word'], requires = ['word > 1'] }", "a word is compared with a number"),
        ("x = { args = ['word'], requires = ['marked(word)'] }", "expected a number a literal"),
        ("x = { effects = ['count(1) = true'] }", r"effects\[0\]: expected a number after '='"),
        ("x = { effects = ['total'] }", r"effects\[0\]: expected '=', '\+=' or '-='"),
        ("x = { effects = ['marked(1) += true'] }", "expected '=' after the flag 'marked'"),
        ("x = { effects = ['total = result'] }", "unknown name 'result'"),
        ("x = { effects = ['goto three'] }", "no state or set of states is called 'three'"),
        (
            "x = { effects = ['total = 1 for v in total'] }",
            r"expected '\.\.' and a number after 'total'",
        ),
        ("x = { effects = ['total = 4 / total'] }", "expected a number other than 0 after '/'"),
        ("x = { role = 'none' }", r"role: expected one of init, release"),
        ("x = { pair = 'y' }", "pair: expected the name of a call, found 'y'"),
        ("x = { produces = 'lit' }", "produces: expected a type of kind handle"),
        (
            "x = { result = { yes = 'two' } }",
            r"\[calls.x.result\] yes: expected the name of a number",
        ),
        ("x = {}\n[options]\ncall = 'y'", r"\[options\] call: expected the name of a call"),
        (
            "x = {}\n[options]\ncall = 'x'\n[options.table]\na = [3, 0, 1]",
            r"\[options.table\] a: expected least <= default <= most",
        ),
        (
            "x = {}\n[options]\ncall = 'x'\nweights = { a = 1 }",
            r"\[options.weights\] a: expected the name of an option",
        ),
        (
            "x = {}\n[options]\ncall = 'x'\nweights = { a = -1 }\n[options.table]\na = [0, 0, 1]",
            r"\[options.weights\] a: expected a number of at least 0, found -1",
        ),
        (SETS + "forbid = [{ b = 1 }]" + TABLE, r"\[options.forbid\[0\]\] b: expected the name of"),
        (SETS + "forbid = [{ a = true }]" + TABLE, r"forbid\[0\]\] a: expected two whole numbers"),
        (SETS + "forbid = [{ a = 0 }]" + TABLE, "a combination that the defaults are not"),
        (
            SETS + "besides = [{ set = { a = 1 } }]\nforbid = [{ a = 1 }]" + TABLE,
            "expected a combination that no preset is, found {'a': 1}",
        ),
        (
            SETS.replace("'number'", "'word'") + "forbid = [{ a = 1 }]" + TABLE,
            r"\[calls.x\] args: expected a word, the option, and a number, its value",
        ),
        ("x = {}\n[data]\nvariables = [3, 1]", r"\[data\] .*expected"),
        ("x = {}\n[generate.a]\nnext = [{ to = 'b' }]", r"\[generate.a.next\[0\]\] to: expected"),
        ("x = {}\n[generate.a]\nsteps = [{ call = 'y' }]", r"\[generate.a.steps\[0\]\] call: exp"),
        (
            "x = {}\n[generate.a]\nsteps = [{ call = 'x', probability = '3/2' }]",
            r"steps\[0\]\] probability: expected a probability such as",
        ),
        (
            "x = {}\n[classify]\ncontract = [{ exit = 'a' }]",
            r"contract\[0\]\] exit: expected a whole",
        ),
        ("x = {}\n[classify]\na = [{ stderr = '(' }]", r"a\[0\]\] stderr: expected a regular"),
        ("x = {}\n[classify]\na = [{ signal = 'SIGNO' }]", r"a\[0\]\] signal: expected a signal"),
        ("x = {}\n[callz]\n", r"top level callz: unknown key; known are: api, types"),
        ("x = {", "not a TOML file"),
    ],
)
def test_errors_name_table_key_and_what_was_expected(more: str, expected: str) -> None:
    with pytest.raises(ModelError, match=expected) as caught:
        parse_model((SMALL + more).encode(), "mine.toml")
    assert str(caught.value).startswith("mine.toml: ")
    assert caught.value.exit_code == 2


def test_models_extend_shipped_ones_and_have_hooks(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def odd(number: int) -> int:\n    return number % 2\n")
    (tmp_path / "mine.toml").write_text(
        "[api]\nname = 'mine'\nextends = 'ipasir'\nhooks = 'mine.py'\n"
        "[calls.add]\nrequires = [{ is = 'odd(lit) = 1 or lit = 0', why = 'even' }]\n"
    )
    model = load_model(str(tmp_path / "mine.toml"))
    machine = Machine(model)
    machine.after(Call("init", ()))
    assert machine.allowed(Call("add", (3,))) is None
    assert machine.allowed(Call("add", (2,))) is not None
    assert machine.allowed(Call("assume", (2,))) is None


def test_a_model_without_calls_of_another() -> None:
    text = '[api]\nname = "x"\nextends = "ipasir"\nwithout = ["{}"]\n'
    model = parse_model(text.format("assume").encode(), "mine.toml")
    assert "assume" in model.calls
    assert [step.calls for step in model.phases["solve"].steps] == [(("solve", 1),)]
    with pytest.raises(ModelError, match=r"\[api\] without: expected the names of calls"):
        parse_model(text.format("nothing").encode(), "mine.toml")


def test_models_that_are_not_there() -> None:
    with pytest.raises(ModelError, match="no model is called 'nosuch'; there are: boolector"):
        load_model("nosuch")
    with pytest.raises(ModelError, match="cannot be read"):
        load_model("./nosuch.toml")


def test_families_are_calls_that_differ_in_name() -> None:
    more = "x = {}\n[[families]]\nnames = ['y', 'z']\nargs = ['lit']\nrole = 'query'\n"
    calls = parse_model((SMALL + more).encode()).calls
    assert list(calls) == ["x", "y", "z"]
    assert calls["y"].arguments == calls["z"].arguments != ()
    with pytest.raises(ModelError, match="described once, found 'x'"):
        parse_model((SMALL + more.replace("'z'", "'x'")).encode())
