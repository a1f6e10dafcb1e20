"""A Hypothesis state machine over sessions: whatever is done between two runs, the result is true.

A step runs a session (to its end, stopped, or killed at a check or at a change of a file), or does
what users do between runs: edit the test or the input, change options, damage or restore files.
"""

import contextlib
import io
import re
import shutil
import tempfile
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from reducekit.cli.group import invoke
from reducekit.cli.process import Interrupts, ProcessContext
from reducekit.errors import ReducekitError, UsageError
from reducekit.events import Event, Notice, RolledBack
from reducekit.executors.executor import Executor
from reducekit.journal import journal_path, load
from reducekit.oracle.criterion import Oracle
from reducekit.session import Options, Session
from tests.state_machine.dying import Ending, die, in_child
from tests.state_machine.expectations import TALLY, expect
from tests.state_machine.inputs import FORMATS, Format
from tests.state_machine.programs import InThisProcess, Program

STRATEGIES = ("adaptive", "ddmin", "hdd", "halving", "probdd")


@dataclass(frozen=True)
class Setting:
    """Options of a session that may change between runs."""

    jobs: int = 1
    width: int | None = None
    strategy: str = "adaptive"
    effort: str = "normal"
    without: tuple[str, ...] = ()
    patience: int = 2000
    latest_first: bool = True
    """Whether of several checks the latest ends first: the result must not depend on it."""


@dataclass(frozen=True)
class Config:
    """All on which a result may depend."""

    format: str
    text: bytes
    program: Program
    predicate: bool
    setting: Setting


@dataclass
class Ran:
    """What came of a run that was not killed."""

    text: bytes | None = None
    """None: it was refused."""
    bytes_before: int = 0
    bytes_after: int = 0
    stopped: str | None = None
    early: bool = False
    verified: bool | None = None
    error: str | None = None
    """Why it was refused."""
    unexpected: str | None = None
    """An error that is no answer to a user."""
    rolled_back: int = 0
    notices: list[str] = field(default_factory=list)


def run(
    config: Config,
    source: Path | bytes,
    output: Path | None,
    *,
    script: Path,
    ending: Ending = Ending(),  # noqa: B008 - it cannot change
    unlucky: int = 0,
    **options: Any,
) -> Ran | None:
    """Run a session; return what came of it, None if it was killed.

    With `unlucky` the failure does not show in every so many runs.
    """
    ran, checks = Ran(), 0
    setting, program = config.setting, config.program

    def at_check() -> bool:
        nonlocal checks
        if checks == ending.at and ending.how == "kill at check":
            die()
        if checks == ending.at and ending.how == "stop":
            session.stop("enough")
        checks += 1
        return unlucky > 0 and checks % unlucky == 0

    def interesting(text: bytes) -> bool:
        return not at_check() and program.fails(text)

    def opener(oracle: Oracle, jobs: int) -> Executor:
        return InThisProcess(oracle, jobs, at_check, latest_first=setting.latest_first)

    def listen(event: Event) -> None:
        if isinstance(event, RolledBack):
            ran.rolled_back += 1
        if isinstance(event, Notice):
            ran.notices.append(event.text)

    failure: dict[str, Any] = {"interesting": interesting}
    if not config.predicate:
        failure = {program.kind: [str(script)], "opener": opener}
    session = Session(
        Options(
            input=source,
            output=output,
            format=config.format,
            jobs=setting.jobs,
            width=setting.width,
            strategy=setting.strategy,
            effort=setting.effort,  # type: ignore[arg-type]
            without=setting.without,
            patience=setting.patience,
            max_checks=ending.at if ending.how == "max_checks" else None,
            **failure,
            **options,
        ),
        listen,
    )

    def work() -> Ran:
        try:
            report = session.run()
        except ReducekitError as error:
            ran.error = f"{type(error).__name__}: {error}"
        except Exception:
            ran.unexpected = traceback.format_exc()
        else:
            ran.text = report.text
            ran.bytes_before, ran.bytes_after = report.before["bytes"], report.after["bytes"]
            ran.stopped, ran.early = report.stopped, report.early
            ran.verified = report.verified
        return ran

    return in_child(work, ending) if ending.how.startswith("kill") else work()


_FRESH: dict[Config, Ran] = {}


def fresh(config: Config) -> Ran:
    """Return what a run of that kind comes to in an empty folder."""
    config = replace(config, setting=replace(config.setting, latest_first=True))
    if config not in _FRESH:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            script = folder / "test"
            config.program.write(script)
            suffix = FORMATS[config.format].suffix
            ran = run(config, config.text, folder / f"out{suffix}", script=script)
            assert ran is not None
            _FRESH[config] = ran
    return _FRESH[config]


ENDINGS = st.one_of(
    st.just(Ending()),
    st.just(Ending()),
    st.just(Ending()),
    st.builds(Ending, st.sampled_from(["stop", "max_checks"]), st.integers(0, 30)),
    st.builds(Ending, st.just("kill at check"), st.integers(0, 30)),
    st.builds(Ending, st.just("kill at write"), st.integers(0, 60)),
)
SETTINGS = st.builds(
    Setting,
    jobs=st.integers(1, 3),
    width=st.sampled_from([None, None, 1, 3]),
    strategy=st.sampled_from(["adaptive", *STRATEGIES]),
    effort=st.sampled_from(["normal", "normal", "quick", "thorough"]),
    without=st.sampled_from([(), ("tokens",), ("layout",)]),
    patience=st.sampled_from([2000, 2000, 2000, 5]),
    latest_first=st.booleans(),
)
EDITS = st.sampled_from(["loosen", "tighten", "move"])
DAMAGES = ("delete", "empty", "cut", "flip", "append", "overwrite")


class SessionMachine(RuleBasedStateMachine):
    """One input, one test and one output, through all that happens to them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.chain: list[Config] = []
        """What has run since the journal began."""
        self.doubtful = True
        """Since then the failure did not show in every run."""
        self.unlucky = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the state ----

    @initialize(
        name=st.sampled_from(["text", "text", *FORMATS]),
        kind=st.sampled_from(["oracle", "oracle", "command", "predicate"]),
        in_place=st.sampled_from([False, False, False, True]),
        words=st.sets(st.integers(0, 6), min_size=1, max_size=3),
    )
    def begin(self, name: str, kind: str, in_place: bool, words: set[int]) -> None:
        self.format: Format = FORMATS[name]
        self.predicate = kind == "predicate"
        self.kind = "command" if kind == "command" else "oracle"
        self.in_place = in_place
        self.setting = Setting()
        self.script = self.folder / "test"
        self.input = self.folder / f"in{self.format.suffix}"
        self.output = self.input if in_place else self.folder / f"in.reduced{self.format.suffix}"
        self.input.write_bytes(self.format.inputs[0])
        self._program(words)

    def _program(self, words: set[int], number: int = 11) -> None:
        self.words = words
        chosen = tuple(self.format.words[each % len(self.format.words)] for each in sorted(words))
        self.program = Program(tuple(dict.fromkeys(chosen)), self.kind, number)  # type: ignore[arg-type]
        self.program.write(self.script)

    @property
    def original(self) -> Path:
        """Where the input is, if it has been reduced in place."""
        return self.input.with_name(self.input.name + ".orig")

    @property
    def journal(self) -> Path:
        return journal_path(self.output)

    def files(self) -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in self.folder.iterdir()}

    # ---- what happens between two runs ----

    @rule(how=EDITS, word=st.integers(0, 6))
    def edit_test(self, how: str, word: int) -> None:
        TALLY.steps += 1
        words = {*self.words}
        if how != "tighten" and len(words) > 1:
            words.remove(sorted(words)[word % len(words)])
        if how != "loosen":
            words.add(word)
        self._program(words, self.program.number)

    @precondition(lambda self: self.kind == "command")
    @rule(number=st.sampled_from([6, 11]))
    def fail_otherwise(self, number: int) -> None:
        TALLY.steps += 1
        self._program(self.words, number)

    @rule(number=st.integers(0, 2))
    def edit_input(self, number: int) -> None:
        """Write another input; in place it is an edit of the output."""
        TALLY.steps += 1
        text = self.format.inputs[number % len(self.format.inputs)]
        self.input.write_bytes(text)

    @rule(setting=SETTINGS)
    def change_options(self, setting: Setting) -> None:
        TALLY.steps += 1
        self.setting = setting

    @rule(every=st.sampled_from([0, 0, 3, 5, 7]))
    def become_flaky(self, every: int) -> None:
        """From now on the failure does not show in every so many runs; 0: it always does."""
        TALLY.steps += 1
        self.unlucky = every

    @rule(
        which=st.sampled_from(["output", "journal"]),
        how=st.sampled_from(DAMAGES),
        where=st.floats(0, 1, exclude_max=True),
    )
    def damage(self, which: str, how: str, where: float) -> None:
        TALLY.steps += 1
        path = self.output if which == "output" else self.journal
        if not path.exists():
            return
        text = path.read_bytes()
        at = int(where * len(text))
        if how == "delete":
            path.unlink()
            return
        damaged = {
            "empty": b"",
            "cut": text[:at],
            "flip": text[:at] + bytes(byte ^ 1 for byte in text[at : at + 1]) + text[at + 1 :],
            "append": text + b"\0junk\n",
            "overwrite": b"neither here nor there\n",
        }[how]
        path.write_bytes(damaged)

    @precondition(lambda self: self.journal.exists())
    @rule(step=st.integers(0, 40), over_output=st.booleans())
    def restore(self, step: int, over_output: bool) -> None:
        """Write an earlier step by `reducekit history`, over the output or elsewhere."""
        TALLY.steps += 1
        with contextlib.suppress(UsageError):
            found = load(self.journal)
            if not found.steps:
                return
            number = step % len(found.steps)
            to = self.output if over_output else self.folder / "restored"
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = invoke(
                    ["history", str(self.journal), "--restore", str(number), "-o", str(to)],
                    ProcessContext(Interrupts(), output_open=True),
                )
            expect("a step is restored", code == 0, said.getvalue())
            expect("a restored step is whole", to.read_bytes() == found.text(number))

    # ---- runs ----

    @rule(ending=ENDINGS)
    def run(self, ending: Ending) -> None:
        self._run(ending)

    @rule(ending=ENDINGS)
    def run_once_more(self, ending: Ending) -> None:
        """Run twice as often as all else happens."""
        self._run(ending)

    @rule(how=EDITS, word=st.integers(0, 6))
    def run_after_an_edit(self, how: str, word: int) -> None:
        """Edit the test and run the same command: what users do most."""
        self._run(Ending())
        self.edit_test(how=how, word=word)
        self._run(Ending())

    @rule(ending=ENDINGS, restart=st.booleans())
    def resume_or_restart(self, ending: Ending, restart: bool) -> None:
        self._run(ending, restart=restart, resume=not restart)

    def _run(self, ending: Ending, **options: bool) -> None:
        TALLY.steps += 1
        before = self.files()
        config = Config(self.format.name, b"", self.program, self.predicate, self.setting)
        ran = run(
            config,
            self.input,
            None if self.in_place else self.output,
            script=self.script,
            ending=ending,
            unlucky=self.unlucky,
            in_place=self.in_place,
            **options,
        )
        after = self.files()
        text = after.get(self.original.name, after.get(self.input.name, b""))
        # A refused run leaves the journal as it was, and so does one killed before it writes.
        journals = (each.get(self.journal.name) for each in (before, after))
        if len(set(journals)) > 1 if ran is None else ran.text is not None:
            self._remember(replace(config, text=text), before, **options)
        self.doubtful = self.doubtful or self.unlucky > 0
        if ran is None:
            self._check_killed(text, before, after)
        elif ran.text is None:
            self._check_refused(ran, before, after)
        else:
            self._check_ended(ran, before, after, text)

    def _remember(
        self,
        config: Config,
        before: dict[str, bytes],
        *,
        restart: bool = False,
        resume: bool = False,
    ) -> None:
        """Note what has run since the journal began; another test may have gone on from it."""
        other = self.chain and _begun_with(self.chain[-1]) != _begun_with(config)
        other = other or (self.predicate and not resume)
        if restart or other or self.journal.name not in before:
            self.chain, self.doubtful = [], False
        self.chain.append(config)
        # Who resumes with a function vouches for it: its verdicts are those of the one before.
        vouched = self.predicate and len({each.program for each in self.chain}) > 1
        self.doubtful = self.doubtful or vouched

    def _check_killed(self, text: bytes, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        now, was = after.get(self.output.name), before.get(self.output.name)
        if now is None or now == was:
            return
        expect("a killed run leaves a file that fails", self.program.fails(now), now)
        self._check_not_above(now, text)
        self._check_nothing_lost(before, after)

    def _check_refused(self, ran: Ran, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        expect("errors are answers", ran.unexpected is None, ran.unexpected)
        there, left = _without_own(before), _without_own(after)
        expect("a refused run changes no file", left == there, (ran.error, there, left))
        self._check_nothing_lost(before, after)

    def _check_ended(
        self, ran: Ran, before: dict[str, bytes], after: dict[str, bytes], text: bytes
    ) -> None:
        held = after.get(self.output.name)
        assert ran.text is not None
        expect("there is an output", held is not None, sorted(after))
        assert held is not None
        expect("the report has the size of the file", ran.bytes_after == len(held), (ran, held))
        expect("the report has the text of the file", ran.text == held, (ran, held))
        expect("the report has the size of the input", ran.bytes_before == len(text), ran)
        expect("the file fails under the test as it is now", self.program.fails(held), held)
        self._check_not_above(held, text)
        self._check_nothing_lost(before, after)
        self._check_names(after)
        if self.journal.exists() and not self.doubtful:
            found = load(self.journal)
            best = found.text(found.current)
            expect("the journal has the text of the file", best == held, (best, held))
        if self.doubtful:
            return
        expect("a steady test is not called flaky", not ran.rolled_back, ran.notices)
        expect("a steady result is verified", ran.verified is not False, ran)
        if ran.early:
            return
        config = self.chain[-1]
        if config.setting.width is None:
            width = load(self.journal).head.settings["width"]  # type: ignore[union-attr]
            config = replace(config, setting=replace(config.setting, width=int(width)))
        wanted = fresh(config)
        assert wanted.text is not None, wanted
        if len({_deciding(each) for each in self.chain}) == 1:
            expect("the same inputs give the same bytes", held == wanted.text, (wanted.text, held))
            return
        if self.format.name != "text":  # from another start another minimum may be found
            return
        if config.setting.patience < Setting.patience:  # passes end before they find all
            return
        expect(
            "a run to the end leaves no more than one in an empty folder",
            len(held) <= len(wanted.text) or not self.format.below(wanted.text, held),
            (wanted.text, held),
        )

    def _check_not_above(self, held: bytes, text: bytes) -> None:
        expect("the file is never above the input", not self.format.below(text, held), held)

    def _check_names(self, after: dict[str, bytes]) -> None:
        """See that nothing is left that reducekit does not speak of."""
        stem, suffix = re.escape(self.output.stem), re.escape(self.output.suffix)
        ours = re.compile(rf"{stem}(\.[0-9]+)?{suffix}(\.journal)?")
        users = {self.input.name, self.original.name, self.script.name, "restored"}
        left = [each for each in after if each not in users and not ours.fullmatch(each)]
        expect("nothing else is left", not left, left)

    def _check_nothing_lost(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        lost = _texts(before) - _texts(after)
        expect("no text is lost", not lost, lost)


def _begun_with(config: Config) -> tuple[object, ...]:
    """Return that in which no run may differ that goes on from another."""
    return config.text, config.setting.strategy, config.setting.without


def _deciding(config: Config) -> Config:
    """Return the same without that on which no result depends."""
    return replace(config, setting=replace(config.setting, jobs=1, width=None, latest_first=True))


def _without_own(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files that are no journal and no rest of a killed run."""
    return {
        name: content
        for name, content in files.items()
        if not name.endswith((".journal", ".reducekit.tmp"))
    }


def _texts(files: dict[str, bytes]) -> set[bytes]:
    """Return all texts that a user can have back: those of files, and the steps of journals.

    A file that a kill cut off while it was written may hold any part of a step.
    """
    found = set(_without_own(files).values())
    for name, content in files.items():
        if name.endswith(".journal"):
            found |= _steps(content)
    return found - {b""}


def _steps(content: bytes) -> set[bytes]:
    """Return the steps of a journal; none before the first verdict, when nothing was reduced."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        with contextlib.suppress(UsageError):
            journal = load(Path(file.name))
            if journal.verdicts:
                return {journal.text(step.number) for step in journal.steps}
    return set()
