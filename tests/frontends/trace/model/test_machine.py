"""The machine that runs models."""

from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.loader import load_model, parse_model, shipped
from reducekit.frontends.trace.model.machine import Machine, Violation

LINGELING = load_model("lingeling")


def made(*texts: str) -> list[Call]:
    """Return calls that are written as `name arg ... [= result]`."""
    found = []
    for text in texts:
        words, _, result = text.partition(" = ")
        name, *arguments = words.split()
        values = tuple(int(a) if a.lstrip("-").isdigit() else a for a in arguments)
        found.append(Call(name, values, 0, int(result) if result else None))
    return found


def run(machine: Machine, calls: list[Call]) -> Violation | None:
    """Make calls; stop at the first that is not allowed."""
    return next((found for call in calls if (found := machine.make(call)) is not None), None)


def test_unknown_results_leave_several_states_until_a_call_tells() -> None:
    machine = Machine(LINGELING)
    assert run(machine, made("init", "add 1", "add 0", "sat")) is None
    assert machine.states == ("sat", "unsat", "unknown")
    assert run(machine.copy(), made("deref 1", "deref 1")) is None
    assert run(machine, made("deref 1")) is None
    assert run(machine, made("failed 1")) is not None


def test_counters_flags_and_copies() -> None:
    machine = Machine(LINGELING)
    run(machine, made("init", "add -3", "add 0", "freeze 3", "freeze -3"))
    assert machine.value("frozen", 3) == machine.value("frozen", -3) == 2
    assert machine.value("variables") == 3
    other = machine.copy()
    run(other, made("melt 3", "sat = 10", "release", "init"))
    assert machine.value("frozen", 3) == 2
    assert machine.states == ("ready",)
    assert other.value("frozen", 3) == 0
    assert other.states == ("config",)


def test_assumptions_are_literals_and_end_with_the_next_change() -> None:
    machine = Machine(LINGELING)
    run(machine, made("init", "assume 1", "assume 1", "sat = 20"))
    assert machine.value("assumptions") == 1
    assert machine.value("assumed", 1) == 1
    assert machine.value("assumed", -1) == 0
    run(machine, made("add 2"))
    assert machine.value("assumed", 1) == 0


def test_a_literal_that_was_looked_up_may_be_used_again() -> None:
    start = ("init", "add 1", "add 2", "add 0")
    assert run(Machine(LINGELING), made(*start, "lkhd = -2", "add 2", "add 0")) is None
    assert run(Machine(LINGELING), made(*start, "lkhd = -2", "add 1")) is not None
    # Without the result, nothing is refused.
    assert run(Machine(LINGELING), made(*start, "lkhd", "add 1")) is None


def test_rules_for_generators_are_asked_apart() -> None:
    machine = Machine(LINGELING)
    run(machine, made("init", "add 1", "add 2", "add 0", "sat = 10"))
    (reuse,) = made("reuse 1")
    assert machine.allowed(reuse) is None
    assert machine.careful(reuse) is not None
    run(machine, made("reusable 1 = 1"))
    assert machine.careful(reuse) is None


def test_ends_of_groups() -> None:
    machine = Machine(LINGELING)
    assert [machine.ends_group(call) for call in made("add 1", "add 0", "sat")] == [
        False,
        True,
        False,
    ]


@given(st.lists(st.integers(-6, 6), max_size=12), st.integers(0, 5))
def test_lists_of_arguments(literals: list[int], count: int) -> None:
    machine = Machine(load_model("minisat"))
    calls = made("new", *(f"new_var = {number + 1}" for number in range(count)))
    assert run(machine, calls) is None
    violation = machine.allowed(Call("add_clause", tuple(literals)))
    assert (violation is None) == all(0 < abs(each) <= count for each in literals)


@settings(deadline=None)  # models are read when they are first asked for
@given(st.data())
def test_machines_of_all_models_answer_to_anything(data: st.DataObject) -> None:
    model = load_model(data.draw(st.sampled_from(shipped())))
    machine = Machine(model)
    values = st.integers(-3, 3) | st.sampled_from(["x", "n1", "n-1", "0x5", "incremental"])
    for _ in range(data.draw(st.integers(0, 15))):
        name = data.draw(st.sampled_from([*model.calls, "return", "nonsense"]))
        size = data.draw(st.sampled_from([None, 0, 1, 2, 3]))
        if size is None:
            size = len(model.calls[name].arguments) if name in model.calls else 1
        call = Call(name, tuple(data.draw(values) for _ in range(size)))
        result = data.draw(st.none() | values)
        before = machine.copy()
        refused = machine.allowed(call)
        # Asking changes nothing, and nothing that is done raises.
        assert (before.mask, before.data) == (machine.mask, machine.data)
        if refused is None and name in model.calls:
            machine.careful(call)
        machine.after(call, result)
        assert machine.mask


def test_a_small_model_of_ones_own() -> None:
    model = parse_model(b"""
[api]
name = "files"
[types]
file = { kind = "handle" }
mode = { kind = "choice", values = ["r", "w"] }
size = { kind = "int", min = 0, max = 9 }
[states]
names = ["running"]
initial = "running"
[counters]
written = { per = "file" }
opened = {}
[flags]
readable = { per = "file", initial = true }
[calls]
open = { args = ["mode"], produces = "file", effects = [
  "readable(result) = mode = 'r'", "written(result) = 0", "opened += 1",
] }
write = { args = ["file", "size"], effects = ["written(file) += size"], requires = [
  "not readable(file)",
  "written(file) + size < 12",
] }
close = { args = ["file"], releases = ["file"], effects = ["opened -= 1"] }
quit = { requires = [{ is = "opened = 0", why = "a file is open" }] }
""")
    machine = Machine(model)

    def step(name: str, *arguments: int | str, result: str | None = None) -> str | None:
        call = Call(name, arguments)
        violation = machine.allowed(call)
        if violation is None:
            machine.after(call, result)
        return violation.rule if violation else None

    assert step("open", "x") == "mode in r, w"
    assert step("open", "w", result="f1") is None
    assert step("open", "r", result="f2") is None
    assert step("write", "f1", 10) == "size <= 9"
    assert step("write", "f1", 9) is None
    assert step("write", "f1", 3) == "written(file) + size < 12"
    assert step("write", "f2", 1) == "not readable(file)"
    assert step("quit") == "opened = 0"
    assert step("close", "f1") is None
    assert step("write", "f1", 1) == "live(file)"
    assert step("close", "f2") is None
    assert step("quit") is None


def test_a_loop_over_numbers_takes_in_both_ends() -> None:
    model = parse_model(b"""
[api]
name = "marks"
[types]
number = { kind = "int", min = 0, max = 9 }
[states]
names = ["running"]
initial = "running"
[counters]
largest = {}
[flags]
marked = { per = "variable" }
[calls]
grow = { args = ["number"], effects = ["largest = number"] }
mark = { effects = ["marked(v) = true for v in 2..largest"] }
""")
    machine = Machine(model)
    run(machine, made("grow 4", "mark"))
    assert [machine.value("marked", number) for number in range(1, 6)] == [0, 1, 1, 1, 0]
