"""What each symbol of a script refers to, and where definitions are visible."""

from reducekit.document import Document
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import Script, analyse
from tests.frontends.smt2.paper import FIGURE_1


def uses(text: bytes, name: bytes) -> list[tuple[str, int] | None]:
    """Return for each atom that spells `name` the kind and the line of what it refers to.

    None where it refers to nothing; the defining occurrences are left out.
    """
    document = parse(text)
    script = analyse(document)
    defined = {definition.node for definition in script.definitions}
    found: list[tuple[str, int] | None] = []
    for node in range(1, len(document)):
        if document.source(node) == name and node not in defined:
            reference = script.refs[node]
            if reference < 0:
                found.append(None)
            else:
                definition = script.definitions[reference]
                line = text.count(b"\n", 0, document.start[definition.node]) + 1
                found.append((definition.kind, line))
    return found


def analysed(text: bytes) -> tuple[Document, Script]:
    document = parse(text)
    return document, analyse(document)


def sorts_of(text: bytes, source: bytes) -> list[object]:
    """Return the sorts of all terms with this source."""
    document, script = analysed(text)
    nodes = range(1, len(document))
    return [script.sort[n] for n in nodes if script.is_term[n] and document.source(n) == source]


def test_the_example_of_the_ddsmt_paper() -> None:
    # ddSMT paper, figure 1: x and y are redeclared in the inner command-level
    # scope, z is a name and a bound variable, x and y are bound by a let.
    text = FIGURE_1.encode()
    assert uses(text, b"x") == [("fun", 3), ("fun", 8), ("fun", 8), ("let", 16)]
    assert uses(text, b"z") == [("named", 11), ("quantifier", 14)]
    assert uses(text, b"sort1") == [("sort", 2)] * 2
    assert uses(text, b"sort2") == [("sort", 7)] * 2
    _, script = analysed(text)
    assert [tuple(scope) for scope in script.scopes] == [(0, -1, 17, -1), (1, 5, 12, 0)]
    assert script.names[5] == b"push"
    assert sorts_of(text, b"x") == ["sort1", "Int"]
    assert sorts_of(text, b"z") == ["Bool", "Int"]


def test_let_is_parallel_and_ends_with_its_body() -> None:
    text = b"""(declare-const x Int)
(assert (= (let ((x true)
 (y x)) (and x (= y 1))) (> x 0)))"""
    assert uses(text, b"x") == [("fun", 1), ("let", 2), ("fun", 1)]
    assert sorts_of(text, b"x") == ["Int", "Bool", "Int"]


def test_bars_are_no_part_of_a_symbol() -> None:
    text = b"(declare-const |x| Bool)\n(declare-const |a b| Int)(assert (and x |x| (= |a b| 1)))"
    assert uses(text, b"x") == uses(text, b"|x|") == [("fun", 1)]
    document, script = analysed(text)
    assert [definition.name for definition in script.definitions] == [b"x", b"|a b|"]
    assert None not in (script.sort[n] for n in range(len(document)) if script.is_term[n])
    # But |1| is no numeral, and |let| no reserved word.
    text = b"(declare-const |1| Bool)\n(declare-const |let| Bool)(assert (and |1| |let| (= 1 2)))"
    assert sorts_of(text, b"|1|") == sorts_of(text, b"|let|") == ["Bool"]
    assert sorts_of(text, b"1") == ["Int"]


def test_parameters_hide_and_functions_do_not_see_themselves() -> None:
    text = b"""(declare-const f Int)
(define-fun f ((x Int) (y Bool)) Int (ite y (+ x f) 0))
(define-fun-rec g ((x Int)) Int (g (- x 1)))
(define-funs-rec ((h ((x Int)) Bool)
(k ((x Bool)) Int)) ((= (k true) x) (ite (h 1) 1 (ite x 1 2))))
(assert (= f (f 1 true) (g 1) (k (h 2))))"""
    assert uses(text, b"f") == [("fun", 1), ("define", 2), ("define", 2)]
    assert uses(text, b"g") == [("define", 3)] * 2
    assert uses(text, b"h") == [("define", 4)] * 2
    assert uses(text, b"k") == [("define", 5)] * 2
    assert uses(text, b"x") == [("parameter", n) for n in (2, 3, 4, 5)]
    document, script = analysed(text)
    assert next(d.parameters for d in script.definitions if d.kind == "define") == ("Int", "Bool")
    assert document.source(script.definitions[1].node) == b"x"


def test_functions_are_overloaded_by_argument_sorts() -> None:
    text = b"""(declare-fun f (Int) Int)
(declare-fun f (Bool) Real)
(assert (= (f 1) 1))
(assert (= (f true) 1.0))
(assert (f undeclared))"""
    assert uses(text, b"f") == [("fun", 1), ("fun", 2), ("fun", 2)]
    assert sorts_of(text, b"(f 1)") == ["Int"]
    assert sorts_of(text, b"(f true)") == ["Real"]


def test_a_redefined_theory_symbol_is_the_users() -> None:
    text = b"(define-fun abs ((x Int)) Bool true)\n(assert (abs 1))(assert (max 1))"
    assert uses(text, b"abs") == [("define", 1)]
    assert uses(text, b"max") == [None]
    assert sorts_of(text, b"(abs 1)") == ["Bool"]


def test_push_and_pop() -> None:
    text = b"""(declare-const x Int)
(push 2)
(declare-const x Bool)
(pop)
(assert x)
(push)
(declare-const x Real)
(pop 5)
(assert x)
(pop 2)
(assert x)
(pop 1)
(push 1)
(declare-const z Int)"""
    assert uses(text, b"x") == [("fun", 1), ("fun", 7), ("fun", 1)]
    _, script = analysed(text)
    assert [tuple(scope) for scope in script.scopes] == [
        (0, -1, 14, -1),
        (1, 1, 9, 0),
        (2, 1, 3, 1),
        (2, 5, 9, 1),
        (1, 12, 14, 0),
    ]


def test_a_sort_of_an_inner_scope_ends_with_it() -> None:
    text = b"""(define-sort S () Int)
(push 1)
(define-sort S () Bool)
(declare-const x S)
(pop 1)
(declare-const x S)
(assert x)"""
    assert uses(text, b"S") == [("sort", 3), ("sort", 1)]
    assert sorts_of(text, b"x") == ["Int"]


def test_global_declarations_and_resets() -> None:
    text = b"""(declare-const x Int)
(reset-assertions)
(assert x)
(set-option :global-declarations true)
(push 1)
(declare-const x Bool)
(pop 1)
(assert x)
(reset-assertions)
(assert x)
(reset)
(assert x)"""
    assert uses(text, b"x") == [None, ("fun", 6), ("fun", 6), None]


def test_named_terms_are_visible_afterwards() -> None:
    text = b"""(declare-const x Int)
(assert n)
(assert (let ((y 1)) (and (! (= x 1) :named n) n)))
(assert (! n :named m))
(check-sat-assuming (n (not m)))
(get-value (n x))"""
    assert uses(text, b"n") == [None] + [("named", 3)] * 4
    assert uses(text, b"m") == [("named", 4)]


def test_datatypes_of_the_standard() -> None:
    text = b"""(declare-datatypes ((Tree 1) (List 1)) (
(par (X) ((leaf) (node (value X) (children (List (Tree X))))))
(par (Y) ((nil) (cons (head Y) (tail (List Y)))))))
(declare-const t (Tree Int))
(assert (= (value t) (value (head (children t)))))
(assert ((_ is node) t))
(assert (= t (as leaf (Tree Int))))
(assert (match t ((leaf true) ((node v c) (= v (value (head c)))))))"""
    assert sorts_of(text, b"(value t)") == ["Int"]
    assert sorts_of(text, b"(children t)") == [("List", ("Tree", "Int"))]
    assert uses(text, b"node") == [("constructor", 2)] * 2
    assert uses(text, b"leaf") == [("constructor", 2)] * 2
    assert uses(text, b"v") == [("pattern", 8)]
    assert sorts_of(text, b"v") == ["Int"]
    assert uses(text, b"X") == [("parameter", 2)] * 2
    assert uses(text, b"Tree") == [("sort", 1)] * 3
    document, script = analysed(text)
    assert None not in (script.sort[n] for n in range(len(document)) if script.is_term[n])
    assert [script.definitions[n].name for n in script.constructors["Tree"]] == [b"leaf", b"node"]


def test_datatypes_of_the_older_standard() -> None:
    text = b"""(declare-datatypes (T) ((Lst nil (cons (hd T) (tl Lst)))))
(declare-datatypes () ((Color red green) (Box (box (open Color)))))
(declare-const l (Lst Int))
(assert (= (hd (tl l)) 1))
(assert (= (open (box red)) green))
(assert (is-cons (cons 1 l)))"""
    assert sorts_of(text, b"(tl l)") == [("Lst", "Int")]
    assert uses(text, b"red") == [("constructor", 2)]
    assert uses(text, b"Lst") == [("sort", 1)] * 2
    assert uses(text, b"is-cons") == [("constructor", 1)]
    document, script = analysed(text)
    assert None not in (script.sort[n] for n in range(len(document)) if script.is_term[n])


def test_sort_abbreviations_are_expanded() -> None:
    text = b"""(define-sort Word (X) (Array X (_ BitVec 32)))
(define-sort W () (Word Int))
(declare-const m W)
(assert (= m m (as m (Word Int))))"""
    assert sorts_of(text, b"m") == [("Array", "Int", ("BitVec", 32))] * 2
    assert uses(text, b"Word") == [("sort", 1)] * 2
    assert uses(text, b"X") == [("parameter", 1)]


def test_sort_parameters_make_functions_polymorphic() -> None:
    text = b"""(declare-sort-parameter X)
(declare-fun id (X) X)
(declare-fun (par (Y) (pick (Y Y) Y)))
(assert (= (id 1) 2))
(assert (id (pick true false)))
(assert (par (Z) (forall ((z Z)) (= z (id z)))))"""
    assert sorts_of(text, b"(id 1)") == ["Int"]
    assert sorts_of(text, b"(pick true false)") == ["Bool"]
    assert uses(text, b"X") == [("parameter", 1)] * 2


def test_terms_of_other_commands() -> None:
    text = b"""(declare-rel r (Int))
(declare-var v Int)
(rule (=> (= v 1) (r v)))
(query (r v))
(assert-soft (= v 1) :weight 2 :id v)
(minimize v)
(simplify (+ v 1) :foo v)
(define-const c Int (+ v 1))
(get-interpolant v (= c 1))
(unknown-command (v w))
(set-info :status v)"""
    _, script = analysed(text)
    terms = [script.is_term[command + 2] for command in script.commands]
    assert terms == [0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert uses(text, b"r") == [("fun", 1)] * 2
    kinds = [None if use is None else use[1] for use in uses(text, b"v")]
    # :id, :foo's value and set-info are no uses; the name of an interpolant is kept as one.
    assert kinds == [2, 2, 2, 2, None, 2, 2, None, 2, 2, 2, None]


def test_what_stands_at_no_term_position() -> None:
    text = b"(assert (! (forall ((x Int)) ((_ divisible 3) x)) :weight 5))(push 1)"
    document, script = analysed(text)
    terms = [document.source(n) for n in range(len(document)) if script.is_term[n]]
    assert terms[1:] == [b"(forall ((x Int)) ((_ divisible 3) x))", b"((_ divisible 3) x)", b"x"]


def test_commands_and_where_a_node_belongs() -> None:
    document, script = analysed(b"(check-sat) atom () ((x)) (assert true)")
    assert script.names == [b"check-sat", b"", b"", b"", b"assert"]
    assert [script.command_of(n) for n in range(len(document))] == [
        -1,
        0,
        0,
        1,
        2,
        3,
        3,
        3,
        4,
        4,
        4,
    ]
    assert [document.source(n) for n in script.commands][1:3] == [b"atom", b"()"]
