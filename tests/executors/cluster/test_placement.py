"""Where checks go: none is lost, whatever workers come and go."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from reducekit.executors.cluster.placement import Load, Placed, Placement


def placement(**slots: int) -> Placement:
    made = Placement()
    for name, number in slots.items():
        made.add_worker(name, number)
    return made


def submitted(made: Placement, number: int) -> Placement:
    for ticket in range(number):
        made.submit(ticket)
    return made


def test_idle_slots_come_first_and_then_a_few_wait_on_workers() -> None:
    made = submitted(placement(a=4, b=4), 20)
    first = made.place(0.0)
    assert Counter(each.worker for each in first[:8]) == {"a": 4, "b": 4}
    assert Counter(each.worker for each in first) == {"a": 5, "b": 5}
    assert [each.ticket for each in first] == list(range(10))
    assert made.place(0.0) == []


def test_the_checks_of_a_lost_worker_come_first() -> None:
    made = submitted(placement(a=1, b=1), 6)
    assert {each.ticket for each in made.place(0.0)} == {0, 1, 2, 3}
    assert made.remove_worker("a") == 2
    made.add_worker("c", 1)
    assert made.place(0.0) == [Placed(0, "c"), Placed(2, "c")]


def test_a_late_check_is_made_twice_and_the_first_verdict_counts() -> None:
    made = submitted(placement(a=1, b=1), 2)
    made.place(0.0)
    assert made.finish(1, "b", 1.0) == []
    assert made.place(3.0) == []
    assert made.place(5.0) == [Placed(0, "b")]
    assert made.place(50.0) == []
    assert made.finish(0, "b", 51.0) == ["a"]
    assert made.finish(0, "a", 52.0) is None
    assert len(made) == 0


def test_a_check_to_be_made_again_goes_elsewhere() -> None:
    made = submitted(placement(a=1, b=1), 1)
    ((_, first),) = made.place(0.0)
    made.put_back(0, first)
    ((_, second),) = made.place(0.0, {0: first})
    assert {first, second} == {"a", "b"}


def test_executors_of_one_connection_share_the_workers() -> None:
    load = Load()
    made = [Placement(load) for _ in range(4)]
    for each in made:
        each.add_worker("a", 2)
        each.add_worker("b", 2)
        submitted(each, 1)
    placed = [each.place(0.0)[0].worker for each in made]
    assert Counter(placed) == {"a": 2, "b": 2}
    made[0].cancel(0)
    assert load[placed[0]] == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["submit", "place", "finish", "cancel", "lose", "join"]), st.integers(0, 9)
    ),
    max_size=60,
)


@given(STEPS)
def test_no_check_is_lost(steps: list[tuple[str, int]]) -> None:
    """Whatever happens, each check that was not cancelled finishes, and once."""
    made, now, ticket, joined = placement(w0=2), 0.0, 0, 1
    where: dict[int, list[str]] = {}
    done: list[int] = []
    cancelled = 0

    def place() -> None:
        for each in made.place(now):
            where.setdefault(each.ticket, []).append(each.worker)

    def finish(number: int, worker: str) -> None:
        if made.finish(number, worker, now) is not None:
            done.append(number)

    for step, number in steps:
        now += 0.7
        held = [(t, w) for t, ws in where.items() for w in ws]
        match step:
            case "submit":
                made.submit(ticket)
                ticket += 1
            case "place":
                place()
            case "finish" if held:
                finish(*held[number % len(held)])
            case "cancel" if ticket and number % ticket not in done:
                cancelled += len(made)
                made.cancel(number % ticket)
                cancelled -= len(made)
            case "lose" if made.workers:
                made.remove_worker(sorted(made.workers)[number % len(made.workers)])
            case "join":
                made.add_worker(f"w{joined}", 1 + number % 3)
                joined += 1
    made.add_worker("last", 3)
    for _ in range(200):
        now += 0.1
        place()
        for t, ws in where.items():
            for w in ws:
                finish(t, w)
    assert len(made) == 0
    assert len(done) == len(set(done)) == ticket - cancelled
    assert all(made.load[name] == 0 for name in made.workers)


def test_two_checks_share_a_message_where_there_is_room_for_both() -> None:
    made = Placement()
    for name in ("a", "b"):
        made.add_worker(name, 2)
    for ticket in range(4):
        made.submit(ticket)
    assert made.queued == 4
    assert made.place(0.0) == [Placed(0, "a"), Placed(1, "a"), Placed(2, "b"), Placed(3, "b")]
    assert made.queued == 0
    narrow = Placement()
    for name in ("a", "b"):
        narrow.add_worker(name, 1)
    narrow.submit(0)
    narrow.submit(1)
    assert narrow.place(0.0) == [Placed(0, "a"), Placed(1, "b")]
