"""The ratchet: no room of the product grows unnoticed. `python -m tests.test_sizes` resets it.

Code grows by features, each with a good reason, and never shrinks by itself. So a room may have as
many lines as `sizes.tsv` says and no more, and the table changes in the commit that needs it. If
the sum gets larger, that commit says in a line `Replaces: ...` what it makes needless, or why
nothing can go.
"""

import subprocess
from collections import Counter
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("sizes.tsv")
PRODUCT = ("reducekit", "frontends", "strategies")
CODE = {".py", ".c", ".cpp", ".js", ".css", ".toml"}
NOT_OURS = ("dagre.js",)
_SLACK = 20
"""Lines that a room may be below its entry, so that not every commit has to change the table."""


def sizes(checkout: Path = CHECKOUT) -> dict[str, int]:
    """Return the lines of each room: a folder of the product, or the files beside such folders."""
    found: Counter[str] = Counter()
    for top in PRODUCT:
        for path in sorted((checkout / top).rglob("*")):  # follows no links
            if path.suffix in CODE and path.is_file() and path.name not in NOT_OURS:
                within = path.relative_to(checkout).parts
                room = "/".join(within[:2]) if len(within) > 2 else within[0]
                found[room] += path.read_bytes().count(b"\n")
    return dict(sorted(found.items()))


def read(table: str) -> dict[str, int]:
    rows = (line.split("\t") for line in table.splitlines()[1:])
    return {room: int(lines) for room, lines in rows}


def written(found: dict[str, int]) -> str:
    return "room\tlines\n" + "".join(f"{room}\t{lines}\n" for room, lines in found.items())


def grown(found: dict[str, int], allowed: dict[str, int]) -> list[str]:
    """Return what is wrong, in sentences."""
    return [
        f"{room}: {lines:,} lines, {allowed.get(room, 0):,} in {TABLE.name}: shorten it, or run "
        "`python -m tests.test_sizes` and say in the commit what was replaced"
        for room, lines in found.items()
        if lines > allowed.get(room, 0)
    ]


def loose(found: dict[str, int], allowed: dict[str, int]) -> list[str]:
    """Return the rooms that have shrunk by more than the slack, or are gone."""
    return [
        f"{room}: {found.get(room, 0):,} lines, {lines:,} in {TABLE.name}: run `python -m "
        "tests.test_sizes`, so that it stays so"
        for room, lines in allowed.items()
        if lines - found.get(room, 0) > _SLACK
    ]


def unexplained(checkout: Path = CHECKOUT) -> list[str]:
    """Return the commits that raise the sum without a word on what they replace."""

    def git(*words: str) -> str:
        run = subprocess.run(["git", "-C", checkout, *words], capture_output=True, text=True)
        return run.stdout if run.returncode == 0 else ""

    found = []
    commits = git("log", "--format=%H", "--", f"tests/{TABLE.name}").split()
    for commit in commits:
        before, after = (
            git("show", f"{each}:tests/{TABLE.name}") for each in (f"{commit}~", commit)
        )
        if not before or not after:
            continue
        more = sum(read(after).values()) - sum(read(before).values())
        if more > 0 and "\nReplaces: " not in (message := git("log", "-1", "--format=%B", commit)):
            found.append(f"{commit[:7]} adds {more} lines: {message.splitlines()[0]}")
    return found


def test_no_room_is_larger_than_its_entry() -> None:
    assert grown(sizes(), read(TABLE.read_text())) == []


def test_what_has_shrunk_stays_so() -> None:
    assert loose(sizes(), read(TABLE.read_text())) == []


def test_commits_that_raise_the_sum_say_what_they_replace() -> None:
    assert unexplained() == []


def test_a_line_too_many_is_found() -> None:
    found = sizes()
    assert len(found) > 20
    room = next(iter(found))
    assert [each.partition(":")[0] for each in grown({**found, room: 10**6}, found)] == [room]
    assert [each.partition(":")[0] for each in grown({**found, "new": 1}, found)] == ["new"]
    assert [each.partition(":")[0] for each in loose({**found, room: 0}, found)] == [room]


def test_a_commit_that_says_nothing_is_found(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", tmp_path, *who, *words], check=True, capture_output=True)

    git("init")
    table = tmp_path / "tests" / TABLE.name
    table.parent.mkdir()
    for lines, message in (
        (10, "Begin"),
        (12, "Grow"),
        (11, "Shrink"),
        (14, "Grow\n\nReplaces: x"),
    ):
        table.write_text(written({"room": lines}))
        git("add", ".")
        git("commit", "-m", message)
    (found,) = unexplained(tmp_path)
    assert found.endswith("adds 2 lines: Grow")


if __name__ == "__main__":
    TABLE.write_text(written(sizes()))
    print(f"{sum(sizes().values()):,} lines in {len(sizes())} rooms")
