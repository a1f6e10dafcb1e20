"""The bisection itself: runs versions on the input, and finds the first bad one and its options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from reducekit import registry
from reducekit.bisect import search
from reducekit.bisect.options import BisectOptions
from reducekit.bisect.versions import UnavailableError
from reducekit.errors import NotInterestingError, UsageError
from reducekit.executors.executor import Finished
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.signature import signature
from reducekit.run import Guard, Limits, NoSignals
from reducekit.session.failure import Failure, KnownFailure
from reducekit.session.options import Options
from reducekit.session.place.inputs import format_of
from reducekit.session.runs.golden import GoldenRunError, establish
from reducekit.session.runs.run import Executors, Golden, limits_for, local_opener, run_once
from reducekit.session.runs.slippage import captured
from reducekit.session.session import Session

_SECONDS = 60.0  # time limit of a run on a version if none is given: versions may differ in speed


class Bisection:
    """Finds the two versions between which an input began to fail, and the options that matter.

    `listen` is called for each version as it is tested. Versions are numbered 0 to n - 1 from the
    good end, whichever end is the newer one.
    """

    def __init__(
        self,
        options: BisectOptions,
        listen: Callable[[search.Tested], None] = lambda tested: None,
        *,
        guard: Guard | None = None,
    ) -> None:
        self._options = options
        self._listen = listen
        self._guard = guard or NoSignals()
        self._template = options.template()
        self._source = options.source()
        self._text = options.input
        self._format = options.format or ""
        if options.reduce is not None:
            self._format = self._format or format_of(Path(options.name), options.input)
            registry.frontend_class(self._format)
        first, last = self._source.ends(options.good, options.bad)
        step = 1 if first < last else -1
        self._versions = [self._source.versions[each] for each in range(first, last + step, step)]
        name = Path(options.name).name
        self._opener = local_opener(Path(name).suffix, self._guard, name=name)
        self._executors = Executors(self._opener, options.repeat, self._guard)
        self._reducing_runs = 0
        self._report = search.Report(
            input=options.name,
            fixed=step < 0,
            total=len(self._versions),
            options=self._template.options,
        )
        self._skipped: set[int] = set()
        self._programs: dict[int, Path] = {}

    def run(self) -> search.Report:
        """Find both.

        Raises NotInterestingError unless one end fails and the other does not, UsageError for
        options or versions that cannot be used, KeyboardInterrupt before anything is known.
        """
        report = self._report
        with ExitStack() as stack:
            stack.callback(self._source.close)
            stack.enter_context(self._executors)
            try:
                with self._guard.allowed():
                    self._search()
            except KeyboardInterrupt:
                if not report.tested:
                    raise
                report.interrupted = True
            report.runs = self._executors.runs + self._reducing_runs
            report.fetched = self._source.fetched
        return report

    def _search(self) -> None:
        report = self._report
        bad, golden = self._bad_end()
        good, judge = self._good_end(bad, golden)
        report.failure = golden.criterion.describe()
        while True:
            report.good, report.bad = self._versions[good].name, self._versions[bad].name
            middle = search.next_version(good, bad, self._skipped)
            if middle is None:
                break
            verdict = self._test(middle, judge, golden)
            good = middle if verdict == "good" else good
            bad = middle if verdict == "bad" else bad
        report.exact = True
        report.between = tuple(each.name for each in self._versions[good + 1 : bad])
        report.commands = tuple(self._shell_line(number) for number in (bad, good))
        if self._options.scan:
            known = {each.number for each in report.tested}
            for number in range(len(self._versions)):
                if number not in known:
                    self._test(number, judge, golden)
        self._choose_options(good, bad, golden)
        if self._options.reduce is not None:
            self._reduce(good, bad, judge, golden, self._options.reduce)
        report.commands = tuple(self._shell_line(number) for number in (bad, good))

    def _bad_end(self) -> tuple[int, Golden]:
        named = self._options.bad
        for number, program in self._ends(range(len(self._versions) - 1, 0, -1), named):
            try:
                golden = self._establish(number, program)
            except GoldenRunError as error:
                if error.problem in ("passes", "not shown"):
                    error.add_note(self._other_end_too(number))
                raise
            words = search.ended(golden.outcomes)
            if not search.cannot_start(golden.outcomes):
                self._record(number, "bad", words)
                return number, golden
            self._refuse(number, words, named)
        raise NotInterestingError(f"no version can be tested ({self._last_reason})")

    def _good_end(self, bad: int, golden: Golden) -> tuple[int, search.Judge]:
        named = self._options.good
        for number, program in self._ends(range(bad), named):
            _, asked = self._filled(number, program).commands_and_criterion()
            finished = self._run(number, program, golden)
            judge, words = search.Judge(asked), search.ended(finished.outcomes)
            if finished.interesting:
                self._record(number, "bad", words)
                both = f"{self._versions[number].name} and {self._versions[bad].name} both fail"
                which = (
                    "a version that does not"
                    if named is None
                    else ("another version that does not fail")
                )
                more = "; the oldest one does" if named is None else ""
                raise NotInterestingError(f"{both}: name {which}, with `good` VERSION{more}")
            if not judge.cannot_run(finished.outcomes):
                self._record(number, "good", words)
                return number, replace(judge, accepted=signature(finished.outcomes[0]))
            self._refuse(number, words, named)
        raise NotInterestingError(
            f"only {self._versions[bad].name} can be tested ({self._last_reason})"
        )

    def _ends(self, inwards: Sequence[int], named: str | None) -> Iterator[tuple[int, Path]]:
        """Yield the candidates for an end: only the named version, or all in order."""
        for number in inwards if named is None else inwards[:1]:
            program = self._program(number, must=named)
            if program is not None:
                yield number, program

    def _other_end_too(self, bad: int) -> str:
        """Return what to type if the bad end does not fail; tests whether the other end does."""
        newer, older = self._versions[bad].name, self._versions[0].name
        program = self._program(0)
        with suppress(GoldenRunError, UsageError):
            if program is not None:
                self._establish(0, program)
                return (
                    f"{older} fails, {newer} does not: to find the version that changed this, give "
                    f"`bad` {older} `good` {newer}"
                )
        return f"neither {newer} nor {older} fails: name a version that does, with `bad` VERSION"

    def _test(self, number: int, judge: search.Judge, golden: Golden) -> search.Verdict:
        program = self._program(number)
        if program is None:
            return "skipped"
        try:
            finished = self._run(number, program, golden)
        except UsageError as error:  # such as a program for another machine
            return self._record(number, "skipped", str(error))
        found = judge.of(finished.outcomes, shown=finished.interesting)
        return self._record(number, found, search.ended(finished.outcomes))

    def _choose_options(self, good: int, bad: int, golden: Golden) -> None:
        """Find the options that the first bad version needs and the last good one passes with.

        The good version rarely fails with fewer options, so it is asked about the result first, and
        about every candidate only if it does.
        """
        count = len(self._template.options)
        if self._options.keep_options or not count:
            return
        limits = limits_for(golden.criterion, self._options.failure.limits(), golden.seconds)
        known: dict[tuple[int, frozenset[int]], bool] = {}

        def fails(number: int, kept: frozenset[int], within: Limits | None) -> bool:
            if (number, kept) not in known:
                program = self._source.program(self._versions[number])
                finished = self._run(number, program, golden, kept, within)
                known[number, kept] = finished.interesting
            return known[number, kept]

        pairs = self._template.pairs()
        kept = search.smallest(count, lambda each: fails(bad, each, limits), pairs)
        if len(kept) < count and fails(good, kept, None):
            kept = search.smallest(
                count, lambda each: fails(bad, each, limits) and not fails(good, each, None), pairs
            )
        self._report.kept = tuple(sorted(kept))

    def _reduce(
        self, good: int, bad: int, judge: search.Judge, golden: Golden, output: Path
    ) -> None:
        """Reduce the input, then the options, then their numbers, while the two versions differ."""

        def differs(text: bytes) -> bool:
            kept = self._report.kept
            if not self._run(bad, self._programs[bad], golden, kept, text=text).interesting:
                return False
            finished = self._run(good, self._programs[good], golden, kept, text=text)
            return judge.of(finished.outcomes, shown=finished.interesting) == "good"

        commands = [self._commands(number) for number in (bad, good)]
        limits = self._limits(golden.criterion.wall)
        options = Options(
            input=self._text,
            name=self._options.name,
            known=KnownFailure(
                (*commands[0], *commands[1]),
                search.Differs(golden.criterion, judge, len(commands[0])),
            ),
            format=self._format,
            output=output,
            opener=self._opener,
            repeat=self._options.repeat,
            timeout=limits.wall,
            cpu=limits.cpu,
            memory=limits.memory,
            max_output=limits.output,
        )
        found = Session(options, guard=self._guard).run()
        self._reducing_runs = found.runs
        if found.interrupted:
            raise KeyboardInterrupt
        self._report.reduced = (len(self._text), len(found.text), str(output))
        self._text = found.text
        if self._options.keep_options:
            return
        self._choose_options(good, bad, golden)
        for option in self._report.kept or ():
            self._lower(option, differs)
        self._report.options = self._template.options

    def _lower(self, option: int, differs: Callable[[bytes], bool]) -> None:
        number, template = self._template.number_in(option), self._template
        if number is None:
            return

        def shows(value: int) -> bool:
            self._template = template.with_number(option, value)
            return differs(self._text)

        try:
            number = search.lowest(number, shows)
        finally:
            self._template = template.with_number(option, number)

    def _filled(self, number: int, program: Path, kept: Collection[int] | None = None) -> Failure:
        return self._template.filled(self._versions[number].name, program, kept)

    def _establish(self, number: int, program: Path) -> Golden:
        commands, asked = self._filled(number, program).commands_and_criterion()
        return establish(
            commands,
            asked,
            self._options.input,
            self._limits(asked.wall),
            self._executors.open,
            path=self._options.name,
            repeat=self._options.repeat,
        )

    def _run(
        self,
        number: int,
        program: Path,
        golden: Golden,
        kept: Collection[int] | None = None,
        limits: Limits | None = None,
        *,
        text: bytes | None = None,
    ) -> Finished:
        commands, _ = self._filled(number, program, kept).commands_and_criterion()
        oracle = Oracle(commands, captured(golden.criterion))
        with self._executors.open_repeating(oracle) as executor:
            chosen = limits or self._limits(golden.criterion.wall)
            return run_once(executor, self._text if text is None else text, chosen)

    def _record(self, number: int, verdict: search.Verdict, words: str) -> search.Verdict:
        version = self._versions[number]
        tested = search.Tested(version.name, verdict, words, number, version.title)
        self._report.tested.append(tested)
        if verdict == "skipped":
            self._skipped.add(number)
        self._listen(tested)
        return verdict

    def _refuse(self, number: int, words: str, named: str | None) -> None:
        """Record that a version at an end gives no verdict. Raises UsageError if it was named."""
        if named is not None:
            name = self._versions[number].name
            raise UsageError(f"{name} cannot run the input ({words}): name another version")
        self._record(number, "skipped", words)

    def _program(self, number: int, *, must: str | None = None) -> Path | None:
        """Return the program of a version; None, on record, if there is none.

        Raises UsageError if the user named the version (`must`).
        """
        version = self._versions[number]
        try:
            self._programs[number] = self._source.program(version)
        except UnavailableError as error:
            if must is not None:
                raise UsageError(f"{version.name} cannot be tested: {error}") from None
            self._record(number, "skipped", str(error))
            return None
        return self._programs[number]

    @property
    def _last_reason(self) -> str:
        last = self._report.tested[-1]
        return f"{last.version}: {last.ended}"

    def _limits(self, wall: float | None) -> Limits:
        given = self._options.failure.limits()
        chosen = next(each for each in (wall, given.wall, _SECONDS) if each is not None)
        return given._replace(wall=chosen)

    def _shell_line(self, number: int) -> str:
        reduced = self._report.reduced
        name = self._options.name if reduced is None else reduced[2]
        return self._commands(number)[0].shell_line(name)

    def _commands(self, number: int) -> tuple[Command, ...]:
        filled = self._filled(number, self._programs[number], self._report.kept)
        return filled.commands_and_criterion()[0]
