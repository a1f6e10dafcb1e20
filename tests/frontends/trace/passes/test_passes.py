"""What may be changed in a trace: no candidate breaks the contract of the API."""

import random

import pytest

from reducekit.document import Patched
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model, parse_model
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.arguments import Fold, compact, merge, shorten, signs
from reducekit.frontends.trace.passes.drop import Begin, Units, truncate
from reducekit.frontends.trace.passes.items import Substitutions
from reducekit.frontends.trace.passes.options import Lower, default, import_options, values
from reducekit.frontends.trace.passes.schedule import OPTION_MODES, own_schedule
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.frontends.trace.player import ReplayOutcome
from reducekit.frontends.trace.player.batch import CrashCache
from reducekit.search.problem import Search
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.lglddtrace import lglddtrace, smaller

LINGELING = load_model("lingeling")
TRACE = b"""\
init
option elim 1
option druplig 0
add 4
add -7
add 0
freeze 4
assume -4
sat
return 10
deref 4
return -1
fixed 4
return 0
add 4
add 0
melt 4
simp 3
return 10
maxvar
return 7
release
"""


def view_of(
    text: bytes, last: int | None = None, model: Model = LINGELING, keep: str = ""
) -> TraceView:
    names = frozenset(keep.split())
    return TraceView(read_trace(text, "lgl"), model, lambda: last, keep=names)


def first(problem: object) -> bytes:
    """Return the text of the first candidate of a pass."""
    assert problem is not None
    search = adaptive.start(problem)  # type: ignore[arg-type]
    change = search.propose()
    assert change is not None
    return b"".join([Patched(problem.view.document).render_with(dict(change.edits))])  # type: ignore[attr-defined]


def candidates(
    text: bytes,
    strategy: Strategy,
    each: object,
    seed: int,
    model: Model = LINGELING,
    keep: str = "",
) -> list[bytes]:
    """Return what a pass tries when some of it succeeds, at random."""
    chance = random.Random(seed)
    view = view_of(text, 12, model, keep)
    problem = each.problem(view)  # type: ignore[attr-defined]
    found: list[bytes] = []
    if problem is None:
        return found
    search: Search = strategy.start(problem)
    base = Patched(view.document)
    for _ in range(200):
        change = search.propose()
        if change is None:
            return found
        candidate = base.render_with(dict(change.edits))
        ok = bool(change.edits) and chance.random() < 0.4
        if change.edits:
            found.append(candidate)
        if ok:
            base = base.with_(dict(change.edits))
        search = search.after(ok)
    return found


ITEM_PASSES = [
    truncate,
    import_options,
    Lower(),
    default,
    Units("kinds", drop.kinds),
    Units("rounds", drop.rounds),
    Units("solves", drop.solves),
    Units("clauses", drop.clauses),
    Units("singles", drop.singles),
    Units("pieces", drop.pieces),
    Units("calls", drop.every_call),
    Units("variables", drop.variables),
    Fold(2),
]
OPTION_PASSES = [import_options, Lower(), Lower(2), default]
TREE_PASSES = [compact, merge, shorten, signs, values]


@pytest.mark.parametrize("each", [*ITEM_PASSES, *TREE_PASSES], ids=lambda each: each.name)
@pytest.mark.parametrize("strategy", [adaptive, ddmin], ids=lambda each: each.name)
def test_no_candidate_drops_calls_that_stay(each: object, strategy: Strategy) -> None:
    """Unless nothing but these is left."""
    for seed in range(10):
        for one in candidates(TRACE, strategy, each, seed, keep="init release sat"):
            assert [one.count(name) for name in (b"init\n", b"sat\n", b"release\n")] == [1, 1, 1]
    assert view_of(TRACE, keep="sat").after(dict.fromkeys(range(23), ()))[0].name == "sat"


@pytest.mark.parametrize("each", OPTION_PASSES, ids=lambda each: type(each).__name__)
def test_no_candidate_has_a_combination_of_options_that_is_forbidden(each: object) -> None:
    model = parse_model(
        b"[api]\nname = 'mine'\nextends = 'lingeling'\n"
        b"[options]\nforbid = [{ elim = 0, block = 0 }, { gluescale = 4, boost = 0 }]\n"
    )
    text = TRACE.replace(b"option elim 1\n", b"option elim 1\noption block 1\noption gluescale 5\n")
    text = text.replace(b"option druplig 0\n", b"option druplig 0\noption boost 0\n")
    tried = [one for seed in range(20) for one in candidates(text, adaptive, each, seed, model)]
    assert tried
    for one in tried:
        assert not (b"option elim 0\n" in one and b"option block 0\n" in one)
        # The default of gluescale is 4: what is not set counts.
        assert not (b"option boost 0\n" in one and b"option gluescale" not in one)


@pytest.mark.parametrize("each", ITEM_PASSES, ids=lambda each: each.name)
@pytest.mark.parametrize("strategy", [adaptive, ddmin, lglddtrace], ids=lambda each: each.name)
def test_no_candidate_breaks_the_contract(each: object, strategy: Strategy) -> None:
    for seed in range(5):
        for text in candidates(TRACE, strategy, each, seed):
            calls = read_trace(text, "lgl").calls
            bare = [Call(call.name, call.arguments) for call in calls if call.name != "return"]
            assert first_violation(bare, LINGELING) is None, text


@pytest.mark.parametrize("each", TREE_PASSES, ids=lambda each: each.name)
def test_the_first_substitution_keeps_to_the_contract(each: object) -> None:
    view = view_of(TRACE)
    tree = each.problem(view)  # type: ignore[attr-defined]
    assert tree is not None
    for node in tree.roots:
        for move in tree.moves(node):
            text = view.document.render(dict(move.change.edits))
            calls = [
                Call(call.name, call.arguments)
                for call in read_trace(text, "lgl").calls
                if call.name != "return"
            ]
            assert first_violation(calls, LINGELING) is None, text


def test_begin_leaves_what_was_replayed() -> None:
    begun = first(Begin().problem(view_of(TRACE, 9)))
    assert begun == (
        b"init\noption elim 1\noption druplig 0\nadd 4\nadd -7\nadd 0\nfreeze 4\nassume -4\n"
        b"sat\nderef 4\n"
    )


def test_begin_keeps_the_result_that_was_wrong() -> None:
    view = TraceView(read_trace(TRACE, "lgl"), LINGELING, lambda: 9, keeps_result=True)
    assert first(Begin().problem(view)).endswith(b"sat\nderef 4\nreturn -1\n")


def test_all_literals_become_positive_at_once_before_some_do() -> None:
    text = b"init\n" + b"add -1\nadd -2\nadd -3\nadd 0\n" * 3 + b"sat\n"
    alone = signs.problem(view_of(text))
    assert isinstance(alone, Substitutions)
    view = TraceView(read_trace(text, "lgl"), LINGELING, first_failing=lambda traces: None)
    tree = signs.problem(view)
    assert isinstance(tree, Substitutions)
    assert len(tree.roots) > len(alone.roots)  # where each costs a run, all of them by themselves
    moves = [move for node in reversed(tree.roots) for move in tree.moves(node)]
    left = [view.document.render(dict(move.change.edits)).count(b"-") for move in moves]
    assert left[0] == 0  # all, then some, then one by one
    assert left.index(8) > left.index(6)
    assert left[-1] == 8


def test_a_pair_goes_together() -> None:
    view = view_of(b"init\nfreeze 1\nmelt 1\nadd 1\nadd 0\nsat\n")
    items = Units("singles", drop.singles).problem(view)
    assert items is not None
    freeze = next(number for number, unit in enumerate(items.units) if 1 in unit)
    change = items.change({freeze} | items.close({freeze}, frozenset()).required, frozenset())
    assert view.document.render(dict(change.edits)) == b"init\nadd 1\nadd 0\nsat\n"


def test_a_clause_with_a_melted_literal_goes_as_a_whole() -> None:
    view = view_of(b"init\nadd 1\nadd 0\nfreeze 1\nsat\nadd 2\nadd 1\nadd 3\nadd 0\nsat\n")
    assert view.contract_closure({3: ()}) == frozenset((5, 6, 7, 8))


def test_import_sets_what_is_not_set() -> None:
    text = first(import_options.problem(view_of(b"init\noption elim 0\nadd 1\n")))
    assert text.startswith(b"init\noption ")
    assert text.endswith(b"\noption elim 0\nadd 1\n")
    assert text.count(b"option elim ") == 1
    assert not any(name.encode() in text for name in (" plain ", " wait ", " log ", " verbose "))


def test_import_sets_a_part_of_the_options_where_all_are_too_many() -> None:
    trace = read_trace(b"init\nadd 1\nadd 0\nsat\n", "lgl")
    played = TraceView(trace, LINGELING, first_failing=lambda traces: None)
    problem = import_options.problem(played)
    alone = import_options.problem(TraceView(trace, LINGELING))
    assert isinstance(problem, Substitutions)
    assert isinstance(alone, Substitutions)
    assert len(alone.moves(0)) == 1  # each of them would cost a run
    lines = [Patched(played.document).render_with(dict(m.change.edits)) for m in problem.moves(0)]
    texts = [text.removeprefix(b"init\n").removesuffix(b"add 1\nadd 0\nsat\n") for text in lines]
    assert len(texts) == 15
    whole, first_half, last_half = texts[:3]
    assert first_half + last_half == b"".join(texts[3:7]) == b"".join(texts[7:]) == whole
    assert abs(first_half.count(b"\n") - last_half.count(b"\n")) <= 1


def test_lower_sets_options_to_their_least_values() -> None:
    """That leaves the solver little to do besides what fails (TAP 2013, table 1)."""
    table = LINGELING.options.table
    least, most = table["elim"].low, table["elim"].high
    assert least < most
    trace = b"init\noption elim %d\noption %s %d\nadd 1\nadd 0\nsat\n"
    minimum = b"minimize"
    assert first(Lower().problem(view_of(trace % (most, minimum, table["minimize"].high)))) == (
        trace % (least, minimum, table["minimize"].low)
    )
    assert Lower().problem(view_of(trace % (least, minimum, table["minimize"].low))) is None


def test_import_drops_what_breaks_the_contract_of_a_recorded_trace() -> None:
    text = first(import_options.problem(view_of(b"init\nmelt 7\nadd 1\nadd 0\nsat\n")))
    assert text.startswith(b"init\noption ")
    assert text.endswith(b"\nadd 1\nadd 0\nsat\n")
    assert b"melt" not in text


def test_compact_keeps_the_order_first() -> None:
    text = b"init\nadd 9\nadd -5\nadd 0\n"
    assert first(compact.problem(view_of(text))) == b"init\nadd 2\nadd -1\nadd 0\n"


@pytest.mark.parametrize("options", OPTION_MODES)
def test_options_are_left_alone_when_asked(options: str) -> None:
    names = {each.name for each in own_schedule(options).prepare}  # type: ignore[arg-type]
    assert ("import options" in names) == (options == "all")
    assert ("options to least" in names) == (options != "none")


def test_order_is_calls_then_options_then_bytes() -> None:
    frontend = Traces(LINGELING, format="lgl")
    texts = [
        b"init\n",
        b"init\nsat\n",
        b"init\nlkhd\n",
        b"init\nsat\nreturn 10\n",
        b"init\noption elim 0\nsat\n",
        b"init\nadd 1\nadd 0\n",
    ]
    assert min(texts, key=frontend.order) == texts[0]
    assert [*sorted({*texts}, key=frontend.order)] == texts


def test_measure() -> None:
    frontend = Traces(format="lgl")
    assert frontend.measure(frontend.parse(TRACE)) == {
        "calls": 15,
        "options": 2,
        "clauses": 2,
        "variables": 2,
        "bytes": len(TRACE),
    }


def test_a_crash_proves_that_of_its_beginning_once() -> None:
    crashes = CrashCache()
    text = b"init\nadd 1\nreturn 3\nadd 0\nsat\n"
    calls = read_trace(text, "lgl").calls
    outcome = ReplayOutcome("signal", None, 4, 2, (), b"", b"", "", 0.0, 0.0)
    crashes.remember(text, calls, outcome)
    assert crashes.last(text) == 2
    short = b"init\nadd 1\nadd 0\n"
    short_calls = read_trace(short, "lgl").calls
    assert crashes.proof(text, calls) is None
    assert crashes.proof(short, short_calls) is outcome
    assert crashes.last(short) == 2
    crashes.remember(text, calls, outcome)
    assert crashes.proof(short, short_calls) is None


def test_sizes_of_lglddtrace() -> None:
    sizes = [50]
    while sizes[-1]:
        sizes.append(smaller(sizes[-1], 50))
    assert sizes == [50, 25, 12, 6, 3, 2, 1, 0]
    assert smaller(50, 12) == 6
    assert smaller(3, 0) == 0


def test_variables_are_numbered_before_the_last_steps_only_where_each_trace_costs_a_run() -> None:
    text = b"init\nadd 3\nadd 0\nsat\n"
    alone = view_of(text)
    played = TraceView(read_trace(text, "lgl"), LINGELING, first_failing=lambda traces: None)
    schedule = own_schedule("all")
    for steps, among, by_itself in ((schedule.closing, False, True), (schedule.sweep, True, True)):
        (last,) = (each for each in steps if each.name == compact.name)
        assert (last.problem(played) is not None) == among
        assert (last.problem(alone) is not None) == by_itself


def test_options_of_a_tiny_trace_stay_where_each_trace_costs_a_run() -> None:
    def lowers(text: bytes) -> bool:
        found = view_of(text)
        steps = own_schedule("all").prepare
        return any(
            step.problem(found) is not None for step in steps if step.name == "import options"
        )

    assert not lowers(b"init\nadd 1\nadd 0\nsat\n")
    assert lowers(b"init\n" + b"add 1\nadd 0\n" * 9 + b"sat\n")
