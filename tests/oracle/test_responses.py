"""What solvers answer: the shapes of the standard, of real solvers, and of no solver at all."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cvc5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.oracle.responses import (
    Answer,
    Definition,
    Error,
    Model,
    Response,
    Status,
    Text,
    Values,
    error_end,
    is_plain,
    plain_tree,
    read_answers,
    read_responses,
    record,
    tree,
)

Z3 = Path(sys.prefix) / "bin" / "z3"


def z3(script: str) -> bytes:
    """Return the standard output of z3; scripts with an error in them exit with 1."""
    run = subprocess.run([Z3, "-in"], input=script.encode(), capture_output=True)
    return run.stdout


def cvc5_output(script: str) -> bytes:
    """Return what the program cvc5 prints for a script, by way of its Python package."""
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    out = []
    while not (command := parser.nextCommand()).isNull():
        out.append(command.invoke(solver, parser.getSymbolManager()))
    return "".join(out).encode()


SCRIPT = """
(set-option :produce-models true)
(set-option :produce-unsat-cores true)
(set-option :incremental true)
(set-logic ALL)
(declare-fun f (Int) Int)
(declare-const |a (b "| Int)
(declare-const s String)
(declare-const r Real)
(assert (! (= s "he ""said"" x") :named sat))
(assert (= (f 1) 2 |a (b "|))
(assert (= r (/ (- 1) 3)))
(check-sat)
(get-value (s |a (b "| (f 1) (+ 1 2)))
(get-model)
(push 1)
(assert (! (= s "y") :named unknown))
(check-sat)
(get-unsat-core)
(pop 1)
(check-sat)
(get-info :name)
"""
VALUES = Values((("s", '"he ""said"" x"'), ('|a (b "|', "2"), ("(f 1)", "2"), ("(+ 1 2)", "3")))


def model_of(response: Response) -> dict[str, Definition]:
    assert isinstance(response, Model)
    return {each.name: each for each in response.definitions}


@pytest.mark.parametrize("solver", [z3, cvc5_output])
def test_a_conversation(solver: Callable[[str], bytes]) -> None:
    script = SCRIPT.replace("(set-option :incremental true)\n", "") if solver is z3 else SCRIPT
    output = solver(script)
    first, values, model, second, core, third, name = read_responses(output)
    assert (first, second, third) == (Answer("sat"), Answer("unsat"), Answer("sat"))
    assert values == VALUES
    found = model_of(model)
    assert found['|a (b "|'] == Definition('|a (b "|', "()", "Int", "2")
    assert found["s"].value == '"he ""said"" x"'
    assert found["f"].parameters.startswith("((")
    assert (found["f"].sort, found["f"].value) == ("Int", "2")
    assert found["r"].value in ("(- (/ 1.0 3.0))", "(/ (- 1) 3)", "(- (/ 1 3))")
    assert isinstance(core, Text)
    assert core.text.strip("()").split() == ["sat", "unknown"]
    assert isinstance(name, Text)
    assert name.text.startswith("(:name ")
    assert read_answers(output) == (b"sat", b"unsat", b"sat")


def test_a_model_with_elements_of_sorts() -> None:
    script = "(declare-sort U 0)(declare-const u U)(declare-const v U)(assert (distinct u v))"
    script += "(check-sat)(get-model)"
    for output in (z3(script), cvc5_output("(set-option :produce-models true)" + script)):
        answer, model = read_responses(output)
        assert answer == Answer("sat")
        assert set(model_of(model)) == {"u", "v"}


def test_errors_of_z3() -> None:
    output = z3(
        "(declare-fun f (Int) Int)(assert (f 1 2))\n(assert y)\n(get-value (x))"
        '(get-info :no-such)(check-sat)(echo "a ""b""")(assert |o no|)(set-option :x "'
    )
    many, unknown, value, *_, quoted, cut = read_responses(output)
    assert isinstance(many, Error)
    assert " unknown constant f (Int Int) \ndeclared: (declare-fun f (Int) Int)" in many.message
    assert unknown == Error("line 2 column 8: unknown constant y")
    assert isinstance(value, Error)
    assert isinstance(quoted, Error)
    assert isinstance(cut, Error)
    found = read_responses(output)
    assert Status("unsupported") in found
    assert Answer("sat") in found
    assert Text('a "b"') in found


def test_errors_of_cvc5() -> None:
    model, option, info = read_responses(
        cvc5_output(
            "(set-option :produce-models 3)(set-logic ALL)(declare-const x Int)(get-value (x))"
            "(get-info :reason-unknown)"
        )
    )
    for error in (model, option, info):
        assert isinstance(error, Error)
        assert '"' not in error.message


@pytest.mark.debian("cvc5")
def test_an_error_of_cvc5_that_spans_lines(tmp_path: Path) -> None:
    script = tmp_path / "in.smt2"
    script.write_text('(set-logic ALL)(declare-const x String)(assert (= (str.++ x "a b") 1))')
    run = subprocess.run(["cvc5", script], capture_output=True)
    (error,) = read_responses(run.stdout)
    assert isinstance(error, Error)
    assert "\n" in error.message
    assert "Int" in error.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b"  \n\t\r\n", []),
        (b"sat\r\nunsat \n  unknown\nsuccess\nunsupported", None),
        (b'(error "a ""b"" c")', [Error('a "b" c')]),
        (b'(error "a\n(b\nsat")\nsat\n', [Error("a\n(b\nsat"), Answer("sat")]),
        (b'(error"")', [Error("")]),
        (b'( error ; x "\n "a|b" )', [Error("a|b")]),
        (b'(error "a \\"b\\" c")', [Error('a \\"b\\" c')]),
        (b'(error "a \\"b c")\nsat\n', None),
        (b"(error)", [Text("(error)")]),
        (b"(error other)", [Text("(error other)")]),
        (b"(errors 1)", [Text("(errors 1)")]),
        (b'(error "half', [Text('(error "half')]),
        (b"()", [Text("()")]),
        (b"(model)\n(model x)", [Model(()), Text("(model x)")]),
        (b"(a\n sat\n|x )|)", [Text("(a\n sat\n|x )|)")]),
        (b"(:reason-unknown timeout)", [Text("(:reason-unknown timeout)")]),
        (b"((not a) (not b))", [Text("((not a) (not b))")]),
        (b"(a (not b))", [Text("(a (not b))")]),
        (b"((> x 1))", [Text("((> x 1))")]),
        (b"((p true) (q false))", [Values((("p", "true"), ("q", "false")))]),
        (b"((x 0.10)(t nil)(y 007))", [Values((("x", "0.10"), ("t", "nil"), ("y", "007")))]),
        (b"((x\n  #b01) ; c\n ([i 'q))", [Values((("x", "#b01"), ("[i", "'q")))]),
        (b"(x) (y) sat\n", [Text("(x)"), Text("(y)"), Text("sat")]),
        (b"sat (x)\n", [Text("sat (x)")]),
        (b'"two\nlines"\n"no" literal', [Text('"two\nlines"'), Text('"no" literal')]),
        (b'"half\nsat', [Text('"half'), Answer("sat")]),
        (b"; note (\nsat", [Text("; note ("), Answer("sat")]),
        (b")\nsat\n", [Text(")"), Answer("sat")]),
        (b"(half |\nsat\n((x 1))\n", [Text("(half |"), Answer("sat"), Values((("x", "1"),))]),
        (b"((x \xff))", [Values((("x", "\udcff"),))]),
        (
            b"Fatal failure (at x.cpp\n#0 f (a=0x1)\n(gdb) bt\n",
            [Text("Fatal failure (at x.cpp"), Text("#0 f (a=0x1)"), Text("(gdb)"), Text("bt")],
        ),
        (
            b"(model (define-fun x () Int 3)\n(define-const y Int (-\n1)) (declare-sort U 0))",
            [
                Model(
                    (Definition("x", "()", "Int", "3"), Definition("y", "()", "Int", "(- 1)")),
                    ("(declare-sort U 0)",),
                )
            ],
        ),
        (
            b"(\n(define-fun x () Int 3)\n(define-fun y () In",
            [Text("("), Text("(define-fun x () Int 3)"), Text("(define-fun y () In")],
        ),
    ],
)
def test_shapes(text: bytes, expected: list[Response] | None) -> None:
    found = read_responses(text)
    if expected is not None:
        assert found == expected
    assert read_answers(text) == tuple(r.word.encode() for r in found if isinstance(r, Answer))


def test_words() -> None:
    assert read_responses(b"sat\r\nunsat \n  unknown\nsuccess\nunsupported") == [
        Answer("sat"),
        Answer("unsat"),
        Answer("unknown"),
        Status("success"),
        Status("unsupported"),
    ]


def test_any_depth() -> None:
    deep = b"(" * 100_000 + b"x" + b")" * 100_000
    (found,) = read_responses(b"((v " + deep + b"))")
    assert found == Values((("v", deep.decode()),))
    assert len(read_responses(deep[:-1])) == 1
    assert not is_plain("", 201)


def test_much_that_is_never_closed() -> None:
    """Each line opens something; looking for its end from each would never end."""
    for line in (b"(x\n", b'"\n', b'(x "\n', b"(|\n"):
        output = line * 20_001
        assert b"".join(
            response.text.encode()
            for response in read_responses(output)
            if isinstance(response, Text)
        ).replace(b"\n", b"") == output.replace(b"\n", b"")
        assert read_answers(output + b"sat\n")[-1:] in ((b"sat",), ())


def test_the_end_of_an_error() -> None:
    assert error_end(b'x(error "a)\nb")c', 1) == 15
    assert error_end(b'x(error "a)\nb', 1) is None


ATOMS = st.one_of(
    st.sampled_from(["sat", "error", "model", "define-fun", "define-const", "not", "()", "forall"]),
    st.sampled_from(["t", "nil", "0.10", "007", "1e5", "1_000", "inf", "+1", "#b01", ":k", "@x"]),
    st.text("abz019!$%&*+-./:<=>?@^_~{}#é,`", min_size=1, max_size=6),
    st.text("ab ()\n;:é[]'|", min_size=1, max_size=6).map('"{}"'.format),
)
GAPS = st.sampled_from([" ", "\n", "\t ", "\r\n", " ; a ( b\n", "\x0b", "\x0c"])


def written(parts: list[str], gap: str) -> str:
    return "(" + gap.join(parts) + gap + ")"


SEXPS = st.recursive(ATOMS, lambda inner: st.builds(written, st.lists(inner, max_size=5), GAPS))
RESPONSES = st.one_of(
    st.builds(written, st.lists(SEXPS, max_size=5), GAPS),
    SEXPS.map("(error {})".format),
    st.builds(
        written,
        st.lists(st.tuples(SEXPS, SEXPS).map(lambda pair: f"({pair[0]} {pair[1]})"), max_size=4),
        GAPS,
    ),
    st.builds(
        written,
        st.lists(SEXPS.map(lambda sexp: f"(define-fun f () {sexp} {sexp})"), max_size=3),
        GAPS,
    ),
)  # fmt: skip


@given(RESPONSES)
def test_both_parsers_give_the_same(text: str) -> None:
    if is_plain(text, 1):
        assert plain_tree(text) == tree(text)
        assert record(text, plain_tree(text)) == record(text, tree(text))
    assert len(read_responses(text.encode())) == 1


@pytest.mark.parametrize(
    "text", ["(|a b|)", '("he said ""x""")', '("a\\nb")', "(a'b)", "([a])", '("")', "(" * 5000]
)
def test_what_sexpdata_does_not_read(text: str) -> None:
    assert not is_plain(text, 1)


@given(st.text("()\";|\n sat\\error'x", max_size=60).map(str.encode) | st.binary(max_size=60))
def test_any_bytes(output: bytes) -> None:
    found = read_responses(output)
    assert read_answers(output) == tuple(r.word.encode() for r in found if isinstance(r, Answer))
    for start in range(len(output)):
        if output[start] == ord("("):
            end = error_end(output, start)
            assert end is None or output[end - 1 : end] == b")"


def test_sexpdata_is_loaded_only_when_needed() -> None:
    code = (
        "import sys; from reducekit.oracle import criterion, responses;"
        "responses.read_responses(b'sat\\n(a b)'); assert 'sexpdata' not in sys.modules;"
        "responses.read_responses(b'((a b))'); assert 'sexpdata' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
