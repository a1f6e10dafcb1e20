"""What the search over a graph learns on its way, and how it takes many steps at once."""

import re
from typing import Any

import pytest

from reducekit.api import reduce
from reducekit.events import Checked, Event
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph import descent
from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.descent import Descent, Neighbourhood, Place, start
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.moves import direct, on_node, to_fresh
from reducekit.frontends.smt2.graph.printing import Command, Style, print_command
from reducekit.frontends.smt2.graph.site import Material, Site
from reducekit.search.problem import Search

HEAD = "(declare-fun %s () Int)\n(declare-fun %s () Int)\n"


def graph_of(text: str) -> tuple[Graph, Material]:
    view = Smt2().parse(text.encode())
    graph = build(view)
    return graph, Material(view)


def keys(text: str, head: bytes) -> list[bytes]:
    """Return the keys of all candidates for the node of an operator."""
    graph, material = graph_of(text)
    moves = Site(graph, material)
    neighbourhood = Neighbourhood(moves)
    (node,) = (each for each in moves.nodes if graph.shape[each].head == head)
    return [neighbourhood.key(each.replaced) for each in on_node(moves, node)]


def test_a_key_does_not_depend_on_what_is_elsewhere_nor_on_names() -> None:
    first = keys(HEAD % ("x", "y") + "(assert (and (> (* x 3) y) (< x 7)))", b"*")
    elsewhere = keys(HEAD % ("x", "y") + "(assert (or (> (* x 3) y) false))", b"*")
    renamed = keys(HEAD % ("p", "q") + "(assert (and (> (* p 3) q) (< p 7)))", b"*")
    beside = keys(HEAD % ("x", "y") + "(assert (and (> (* x 3) 5) (< x 7)))", b"*")
    swapped = keys(HEAD % ("x", "y") + "(assert (and (> (* y 3) x) (< x 7)))", b"*")
    assert len(first) >= 2
    assert set(first[:2]) == set(elsewhere[:2]) == set(renamed[:2])
    assert not set(first) & set(beside)
    assert not set(first) & set(swapped)


def search_over(text: str) -> Search:
    graph, material = graph_of(text)
    listing = list_commands(graph, Style.SHORTEST)
    return start(graph, material, Place(Style.SHORTEST, styled=1), listing)


def keys_of(search: Search) -> set[bytes]:
    assert isinstance(search, Descent)
    found, at = set(), 0
    while search.steps[at] is not None:
        found.add(search.steps.key(at))
        at += 1
    return found


@pytest.mark.parametrize("what", ["width", "fresh variable"])
def test_a_key_stays_when_the_changed_script_is_read_again(what: str) -> None:
    """Else all that was refuted is tried again as soon as the names get shorter."""
    text = (
        "(declare-fun a () (_ BitVec 8))\n(declare-fun b () (_ BitVec 8))\n"
        "(assert (= (bvadd (bvmul a #x03 a a a a a a a a) b) (bvxor a b)))"
    )
    search = search_over(text)
    while True:
        change = search.propose()
        assert change is not None, f"no {what}"
        if change.what == what:
            break
        search = search.after(False)
    search = search.after(True)
    assert isinstance(search, Descent)
    again = search_over(search.steps.listing.whole().decode())
    assert keys_of(search) - {b""} == keys_of(again) - {b""}


def test_hoists_in_a_row_go_on_by_twice_as_many_levels() -> None:
    """Only hoists by at most half of what is left succeed: a constant must not stand for it."""
    depth = 200
    text = "(declare-fun p () Int)\n(assert (= 1 " + "(- " * depth + "p" + ")" * depth + "))"
    search, left, successes = search_over(text), depth, 0
    for _ in range(400):
        change = search.propose()
        if change is None:
            break
        parts = [part for edit in change.edits for part in edit.template]
        new = sum(part.count(b"(- ") for part in parts if isinstance(part, bytes))
        ok = "hoist" in change.what and left // 2 <= new < left
        successes += ok
        left = new if ok else left
        search = search.after(ok)
    assert left <= 2
    assert successes < 30


def test_no_deep_part_of_what_was_refuted_is_hoisted_to_the_same_place() -> None:
    terms = [f"(- p {number})" for number in range(100, 164)]
    while len(terms) > 1:
        terms = [f"(- {one} {other})" for one, other in zip(terms[::2], terms[1::2], strict=True)]
    search: Search = search_over(f"(declare-fun p () Int)\n(assert (= 1 {terms[0]}))")
    lacking: set[int] = set()
    place = -1
    for ok in (False, False, False, True, *[False] * 5):
        assert isinstance(search, Descent)
        step = search.steps[search.at]
        assert step is not None
        ((node, other),) = step.candidate.replaced.items()
        assert place in (-1, node)
        assert step.candidate.what == "hoist" or other not in lacking
        place = other if ok else node
        if not ok:
            lacking.update(Analysis(step.candidate.graph).cone(other))
        search = search.after(ok)


def test_a_fresh_variable_is_declared_as_the_script_declares_its_own() -> None:
    body = "(assert (= 1 (+ %s (* a a a a a a a a a a a a a a a a a a a a a a a a a a a a))))"
    for command, other in (("declare-fun a ()", b"fun"), ("declare-const a", b"const")):
        text = f"({command} Int)\n" + body % "(* a (mod a 77777777777777777777777777777777))"
        graph, material = graph_of(text)
        moves = Site(graph, material)
        fresh = [
            graph.shape[other].fresh
            for node in moves.nodes
            for each in to_fresh(moves, node)
            for other in each.replaced.values()
        ]
        assert fresh
        assert all(each.startswith(b"(declare-" + other + b" ") for each in fresh)


def test_a_kind_of_move_that_rarely_helps_is_put_off() -> None:
    """After some failures, most terms are not replaced by constants until the rest is tried."""
    terms = " ".join(f"(bvudiv a (bvudiv b #x{n:02x}))" for n in range(60))
    text = (
        "(declare-fun a () (_ BitVec 8))\n(declare-fun b () (_ BitVec 8))\n"
        f"(assert (distinct {terms} a))"
    )
    search, tried = search_over(text), []
    for _ in range(200):
        change = search.propose()
        assert change is not None
        tried.append(change.what == "constant")
        search = search.after(False)
    assert 8 <= sum(tried) <= 20


def test_a_fresh_variable_stands_before_its_first_use() -> None:
    """Found by hypothesis: what a later command was given is used in an earlier one, too."""
    long = "(* a (+ a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a))"
    text = f"(declare-fun a () Int)\n(assert (= a 1))\n(assert (= 2 {long}))\n"
    graph, material = graph_of(text)
    listing = list_commands(graph, Style.SHORTEST)
    moves = Site(graph, material)
    (node,) = (each for each in moves.nodes if graph.shape[each].head == b"*")
    (fresh,) = to_fresh(moves, node)
    listing, _ = listing.printed_again(fresh.graph, Style.SHORTEST, fresh.replaced, {2})
    (leaf,) = fresh.replaced.values()
    graph = fresh.graph.rebuilt(fresh.replaced)
    (one,) = (each for each in graph.live() if graph.shape[each].head == b"1")
    listing, changed = listing.printed_again(graph, Style.SHORTEST, {one: leaf}, {1})
    lines = listing.whole().splitlines()
    assert lines[1:3] == [b"(declare-fun b () Int)", b"(assert (= a b))"]
    assert lines.count(b"(declare-fun b () Int)") == 1
    assert changed == {1, 2}


def test_names_that_an_interpolant_is_asked_for_by_stay() -> None:
    text = "(assert (! (= 1 (+ 1 1)) :named n))\n(get-interpolant (n))\n"
    graph, _ = graph_of(text)
    assert graph.around.named


def test_lets_that_have_to_stay_are_kept_though_printing_them_takes_more() -> None:
    """The descent begins on a text that is larger than the input, of which nobody is told."""
    text = (
        b"(declare-fun a () Int)\n(declare-fun b () Int)\n"
        b"(assert (let ((x (* a b)) (y (+ a b))) (= (* x 2) (+ y (* 3 (+ a (* b 7)))))))\n"
    )
    let = re.compile(rb"\(let \(\(\w+ \(\* ")
    printed: list[int] = []

    def listen(event: Event) -> None:
        if isinstance(event, Checked) and event.what == Style.AS_INPUT.value:
            printed.append(event.size)

    report = reduce(text, lambda each: let.search(each) is not None, listen=listen)
    assert printed
    assert printed[0] > len(text)
    assert len(report.text) < 70


def test_truth_values_wait_until_the_rest_was_tried() -> None:
    """They rarely help, and an assertion of `true` is as good as none."""
    search, tried = (
        search_over(HEAD % ("x", "y") + "(assert (or (> (* x 3) y) (< x 7)))\n(check-sat)"),
        list[bytes](),
    )
    while (change := search.propose()) is not None and len(tried) < 200:
        text = b"".join(p for e in change.edits for p in e.template if isinstance(p, bytes))
        tried.append(text)
        search = search.after(False)
    assert not any(b"(assert true)" in each for each in tried)
    early = next(at for at, each in enumerate(tried) if b"false" in each)
    assert early >= len(tried) / 2


def test_a_variable_that_must_be_asserted_gives_way_to_true() -> None:
    """Its declaration goes with it, as it does not where the assertion goes."""
    asserted = re.compile(rb"\(check-sat\)\s*\(assert (?!false)[^()]+\)\s*\(check-sat\)")
    text = b"(declare-fun p () Bool)\n(check-sat)\n(assert p)\n(check-sat)\n"
    left = reduce(text, lambda each: asserted.search(each) is not None).text
    assert left.split() == b"(check-sat) (assert true) (check-sat)".split()


def test_truth_values_are_tried_where_they_say_something() -> None:
    """Not below a connective; `false` is asserted only where something is asked afterwards."""

    def tried(text: str) -> list[bytes]:
        search, found = search_over(HEAD % ("x", "y") + text), list[bytes]()
        while (change := search.propose()) is not None and len(found) < 200:
            new = (p for e in change.edits for p in e.template if isinstance(p, bytes))
            found.append(b"".join(new))
            search = search.after(False)
        return found

    def truth_values(text: str) -> list[bytes]:
        return [each for each in tried(text) if b"false" in each or b"true" in each]

    assertion = "(assert (or (> (* x 3) y) (< x 7)))"
    assert truth_values(assertion) == []
    assert truth_values(assertion + "\n(check-sat)") == [b"(assert false)"]


def test_a_named_term_stands_for_nothing_before_it() -> None:
    text = (
        "(declare-const p Bool)\n(assert (or p (not p)))\n(assert (! (not (not p)) :named n))\n"
        "(check-sat-assuming (n))\n"
    )
    search, tried = search_over(text), list[bytes]()
    while (change := search.propose()) is not None:
        new = b"".join(p for e in change.edits for p in e.template if isinstance(p, bytes))
        tried.append(new)
        search = search.after(False)
    assert len(tried) > 5
    assert not any(re.search(rb"\bn\b.*\(! ", each, re.DOTALL) for each in tried)
    assert not any(re.search(rb"\(! \(?(not )*n\b", each) for each in tried)


def test_the_body_of_a_quantifier_leaves_its_patterns_behind() -> None:
    graph, material = graph_of(
        "(declare-fun f (Int) Int)\n"
        "(assert (forall ((x Int)) (! (< (f x) 7) :pattern ((f x)))))\n(check-sat)\n"
    )
    moves = Site(graph, material)
    (node,) = (each for each in moves.nodes if graph.shape[each].head == b"forall")
    heads = {graph.shape[each.replaced[node]].head for each in direct(moves, node)}
    assert heads == {b"<"}


def chain(length: int) -> str:
    """Write terms that `define-fun` names, each of the one before, and a function of one."""
    lines = ["(declare-const x Int)", "(define-fun n0 () Int (+ x 1))"]
    lines += [f"(define-fun n{n} () Int (- n{n - 1} (* {n} n{n - 1})))" for n in range(1, length)]
    return "\n".join((*lines, f"(assert (> (div x 7) n{length - 1}))", ""))


def test_a_chain_of_named_terms_is_one_term() -> None:
    events: list[Event] = []

    def interesting(text: bytes) -> bool:
        return b"(> (div x" in text and b"(assert " in text and text.count(b"(* ") >= 3

    found = reduce(chain(40).encode(), interesting, listen=events.append)
    made = [event for event in events if isinstance(event, Checked)]
    (at,) = (i for i, event in enumerate(made) if event.what == "named terms in place")
    assert made[at].interesting
    assert "inline" not in {event.what for event in made}
    assert b"define-fun" not in found.text


def test_commands_of_named_terms_are_not_printed_for_each_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each would be printed with all that its name stands for: that took a second a check."""
    printed: list[int] = []

    def counted(graph: Graph, command: int, *rest: Any) -> Command:
        printed.append(command)
        return print_command(graph, command, *rest)

    monkeypatch.setattr(descent, "print_command", counted)
    reduce(chain(60), lambda text: "(> (div x" in text and text.count("(* ") >= 3)
    assert printed
    assert not {*range(1, 61)} & {*printed[:20]}


def test_a_failure_that_needs_a_name_keeps_it() -> None:
    found = reduce(chain(12), lambda text: "(define-fun n" in text and "n5" in text)
    assert "(define-fun n5 () Int" in found.text
    assert len(found.text) < 60


def test_named_terms_stay_where_their_symbols_are_not_declared() -> None:
    """A use after a pop can see the function, and not what another scope has declared."""
    text = (
        "(push 1)\n(declare-const x Int)\n(define-fun n () Int (+ x 1))\n(assert (> n (* n x)))\n"
        "(pop 1)\n(declare-const n Bool)\n(assert n)\n(check-sat)\n"
    )
    tried: list[bytes] = []

    def interesting(candidate: bytes) -> bool:
        tried.append(candidate)
        return b"(assert (> " in candidate and b"(* " in candidate and b"(pop" in candidate

    reduce(text.encode(), interesting, only=("graph",))
    assert len(tried) > 5
    assert [each for each in tried if each.strip() and Smt2().check(each).problems] == []


def test_names_stay_apart_where_the_input_has_no_blanks() -> None:
    """As in `(f(or p q)(or q p))`, which is how other reducers print scripts."""
    text = (
        "(declare-fun p()Bool)(declare-fun q()Bool)(declare-fun f(Bool Bool Bool Bool)Bool)"
        "(assert(and(or p q p)(or q p q)(forall((x Bool))(or x p))(f(or p q p)(or q p q)(not p)q)))"
    )
    tried: list[bytes] = []

    def interesting(candidate: bytes) -> bool:
        tried.append(candidate)
        return re.search(rb"\(f\b.*\bq\b", candidate) is not None

    found = reduce(text.encode(), interesting, only=("graph",))
    assert re.search(rb"\(f \w+ \w+ \w+ q\)", found.text)
    assert len(tried) > 10
    assert [each for each in tried if Smt2().check(each).problems] == []


def test_a_script_with_a_zero_byte_keeps_it() -> None:
    text = b'(assert(= "\0"(str.++ "\0" "a")))\n(check-sat)\n'
    found = reduce(text, lambda text: b'"\0"' in text)
    assert found.text.count(b"\0") == 1


def test_where_only_the_text_fails_lets_and_their_names_are_kept() -> None:
    """Without lets, or with other names, it does not fail: the graph with the lets is searched."""
    rest = b" ".join(b"(> long%d %d)" % (number, number) for number in range(9))
    values = b" ".join(b"(long%d (+ 1 %d))" % (number, number) for number in range(9))
    text = b"(assert (let (%b) (and %b)))\n" % (values, rest)
    found = reduce(text, lambda each: each.count(b"long4 ") == 2, only=("graph",))
    assert found.text == b"(assert (let ((long4 0)) (> long4 0)))\n"
