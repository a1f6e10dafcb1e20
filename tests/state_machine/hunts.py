"""A Hypothesis state machine over hunts: killed at any moment, a hunt comes to the same bugs."""

import shutil
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from reducekit.errors import ReducekitError
from reducekit.executors.executor import Executor
from reducekit.hunt import Hunt, HuntOptions
from reducekit.oracle.criterion import Oracle
from tests.state_machine.dying import Ending, die, in_child
from tests.state_machine.expectations import TALLY, expect
from tests.state_machine.inputs import FORMATS
from tests.state_machine.programs import InThisProcess, Program

NUMBERS = {11: "signal-sigsegv", 6: "signal-sigabrt"}
"""The signals by which programs die, and how the names of bugs begin."""
INPUTS = 5


@dataclass(frozen=True)
class Hunting:
    """All on which the bugs of a hunt depend."""

    format: str
    generated: bool
    programs: tuple[Program, ...]
    jobs: int


@dataclass
class Found:
    """A bug as a hunt told of it."""

    name: str
    count: int
    known_before: bool
    reduced_size: int | None
    not_reduced: str


@dataclass
class Hunted:
    """What came of a hunt that was not killed."""

    bugs: list[Found] = field(default_factory=list)
    inputs: int = 0
    stopped: str | None = None
    error: str | None = None
    unexpected: str | None = None


def hunt(
    what: Hunting,
    place: Path,
    folder: Path,
    ending: Ending = Ending(),  # noqa: B008 - it cannot change
    *,
    restart: bool = False,
) -> Hunted | None:
    """Hunt by the programs in a place; return what it came to, None if it was killed."""
    checks, hunted = 0, Hunted()

    def at_check() -> bool:
        nonlocal checks
        if checks == ending.at and ending.how == "kill at check":
            die()
        if checks == ending.at and ending.how == "stop":
            made.stop("enough")
        checks += 1
        return False

    def opener(oracle: Oracle, jobs: int) -> Executor:
        return InThisProcess(oracle, jobs, at_check, latest_first=False)

    generated = what.generated
    made = Hunt(
        HuntOptions(
            format=what.format,
            folder=folder,
            programs=[[str(place / f"program{each.number}")] for each in what.programs],
            seeds=None if generated else place / "seeds",
            count=INPUTS if generated else None,
            format_options={"nodes": 3} if generated else {},
            jobs=what.jobs,
            opener=opener,
            restart=restart,
        )
    )

    def work() -> Hunted:
        try:
            stats = made.run()
        except ReducekitError as error:
            hunted.error = f"{type(error).__name__}: {error}"
        except Exception:
            hunted.unexpected = traceback.format_exc()
        else:
            hunted.inputs, hunted.stopped = stats.inputs, stats.stopped
            hunted.bugs = [
                Found(bug.path.name, bug.count, bug.known_before, bug.reduced_size, bug.not_reduced)
                for bug in stats.bugs.values()
            ]
        return hunted

    return in_child(work, ending) if ending.how.startswith("kill") else work()


def bugs_in(folder: Path) -> dict[str, bytes]:
    """Return the inputs of a hunt's folder that show bugs, as they were found and reduced."""
    return {
        each.name: each.read_bytes()
        for each in folder.glob("signal-*")
        if not each.name.endswith((".journal", ".how.txt")) and not _is_note(each)
    }


def _is_note(path: Path) -> bool:
    """Say whether a file tells how to make another one, which has the suffix of its format."""
    return path.suffix == ".txt" and any(
        path.with_suffix(each.suffix).exists() for each in FORMATS.values() if each.name != "text"
    )


def prepare(what: Hunting, place: Path) -> None:
    """Write the programs of a hunt, and the files that it tests."""
    for program in what.programs:
        program.write(place / f"program{program.number}")
    seeds = place / "seeds"
    seeds.mkdir(exist_ok=True)
    each = FORMATS[what.format]
    for number, text in enumerate(
        (*each.inputs, *(text[: len(text) // 2] for text in each.inputs))
    ):
        (seeds / f"{number}{each.suffix}").write_bytes(text)


class HuntMachine(RuleBasedStateMachine):
    """One folder of bugs, through all that happens to its hunt."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="machine-"))
        self.folder = self.place / "found"
        self.touched = False
        """Whether a program or a file of the folder was changed by others."""

    def teardown(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)

    @initialize(
        name=st.sampled_from(["text", "text", *FORMATS]),
        generated=st.booleans(),
        words=st.lists(st.integers(0, 6), min_size=2, max_size=2),
        jobs=st.integers(1, 2),
    )
    def begin(self, name: str, generated: bool, words: list[int], jobs: int) -> None:
        known = FORMATS[name].words
        programs = (
            Program((known[word % len(known)],), "command", number)
            for word, number in zip(words, NUMBERS, strict=True)
        )
        self.what = Hunting(name, generated and name == "btor", tuple(programs), jobs)
        prepare(self.what, self.place)
        with tempfile.TemporaryDirectory() as other:
            self.wanted = hunt(self.what, self.place, Path(other) / "found")
            self.wanted_bugs = bugs_in(Path(other) / "found")

    @rule(word=st.integers(0, 6), which=st.integers(0, 1))
    def edit_program(self, word: int, which: int) -> None:
        TALLY.steps += 1
        known = FORMATS[self.what.format].words
        old = self.what.programs[which]
        new = Program((known[word % len(known)],), "command", old.number)
        new.write(self.place / f"program{new.number}")
        programs = tuple(new if each == old else each for each in self.what.programs)
        self.what = Hunting(self.what.format, self.what.generated, programs, self.what.jobs)
        self.touched = True

    @rule(which=st.integers(0, 20), how=st.sampled_from(["delete", "empty", "cut", "overwrite"]))
    def damage(self, which: int, how: str) -> None:
        TALLY.steps += 1
        if not self.folder.exists() or not (there := sorted(self.folder.iterdir())):
            return
        path = there[which % len(there)]
        text = path.read_bytes()
        if how == "delete":
            path.unlink()
        else:
            half = text[: len(text) // 2]
            path.write_bytes({"empty": b"", "cut": half, "overwrite": b"neither\n"}[how])
        self.touched = True

    @rule(
        ending=st.one_of(
            st.just(Ending()),
            st.builds(Ending, st.just("stop"), st.integers(0, 80)),
            st.builds(Ending, st.just("kill at check"), st.integers(0, 80)),
            st.builds(Ending, st.just("kill at write"), st.integers(0, 80)),
        )
    )
    def hunt(self, ending: Ending) -> None:
        self._hunt(ending)

    @rule(at=st.integers(0, 120), write=st.booleans())
    def kill_and_go_on(self, at: int, write: bool) -> None:
        self._hunt(Ending("kill at write" if write else "kill at check", at))
        self._hunt(Ending())

    @rule()
    def restart(self) -> None:
        self._hunt(Ending(), restart=True)

    def _hunt(self, ending: Ending, *, restart: bool = False) -> None:
        TALLY.steps += 1
        hunted = hunt(self.what, self.place, self.folder, ending, restart=restart)
        if hunted is None:
            return
        expect("errors are answers", hunted.unexpected is None, hunted.unexpected)
        if hunted.error is not None:
            return
        there = bugs_in(self.folder)
        format_ = FORMATS[self.what.format]
        for bug in hunted.bugs:
            if bug.known_before or bug.reduced_size is None:
                continue
            program = next(
                each for each in self.what.programs if bug.name.startswith(NUMBERS[each.number])
            )
            text = there.get(bug.name)
            path = Path(bug.name)
            reduced = there.get(f"{path.stem}.reduced{path.suffix}")
            expect("a bug has its files", text is not None and reduced is not None, (bug, there))
            assert text is not None
            assert reduced is not None
            expect("a hunt reports the size of the file", len(reduced) == bug.reduced_size, bug)
            if not self.touched:
                expect("an input shows its bug", program.fails(text), text)
                expect("a reduced input shows its bug", program.fails(reduced), reduced)
                expect("it is never larger", not format_.below(text, reduced), reduced)
        if hunted.stopped is not None or self.touched:
            return
        expect(
            "a hunt comes to the same bugs", there == self.wanted_bugs, (self.wanted_bugs, there)
        )
        left = [each.name for each in self.folder.iterdir() if each.name.endswith(".tmp")]
        expect("a hunt leaves nothing else", not left, left)
