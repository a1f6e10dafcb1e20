"""The report of a reduction as one HTML file (no script, no network access, a few 100 KB), and its
curve as SVG.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import PurePath
from typing import Literal

from reducekit import linechart, svg
from reducekit.journal import Step
from reducekit.linechart import STYLE, Axis, Scale
from reducekit.reports.account import LEFT, Account, Ending, Line, changes, ending
from reducekit.reports.film import Film
from reducekit.reports.issue import program, without_folders
from reducekit.session.progress import PassTotal, Point, stop_in_words
from reducekit.text import excerpt, printable_lines, without_middle

Over = Literal["checks", "seconds"]

_OVER: tuple[Over, ...] = ("checks", "seconds")
_SCALES: tuple[Scale, ...] = ("linear", "logarithmic")

WIDTH, HEIGHT = 460, 270
"""Size of the whole chart in pixels."""
_LEAST_SECONDS = 0.1
_ROWS = 800
"""Maximum number of steps listed; of more, those in the middle that removed least are left out."""
_DIFFS = 90_000
"""Maximum number of characters for all diffs; the steps that removed most come first."""
_TEXT = 24_000
"""Maximum number of bytes shown of the result."""
_BEFORE_LINES, _AFTER_LINES, _COLUMNS = 60, 400, 400
_OUTPUT_LINES = 40
_ATTACHED = 1 << 20
"""Maximum number of characters of the input that is attached, packed."""
_LEFT = 200
"""Maximum number of assertions listed of the remaining ones."""
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{main}
</main>
</body>
</html>
"""


def picture(curve: Sequence[Point], title: str) -> str:
    """Return an SVG file: by checks and by time, linear and logarithmic, in light and dark."""
    gap = 28
    width, height = 2 * WIDTH, 2 * (HEIGHT + gap)
    parts = [svg.style(STYLE), svg.rect(0, 0, width, height, class_="paper")]
    for row, scale in enumerate(_SCALES):
        for column, over in enumerate(_OVER):
            drawn = [svg.text(64, -8, caption(over, scale)), *_drawn(curve, over, scale)]
            top = row * (HEIGHT + gap) + gap
            parts.append(svg.group(drawn, column * WIDTH, top, class_="chart"))
    return svg.picture(width, height, parts, title=title)


def chart(curve: Sequence[Point], over: Over, scale: Scale) -> str:
    """Return one chart as an element of a page; `STYLE` gives it its colors."""
    what = f"{caption(over, scale)}: from {curve[0].size:,} to {curve[-1].size:,} bytes"
    return svg.element(
        "svg", *_drawn(curve, over, scale), class_="chart", viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img", aria_label=what,
    )  # fmt: skip


def caption(over: Over, scale: Scale) -> str:
    """Return the title of a chart."""
    return f"bytes by {'checks' if over == 'checks' else 'time'}, {scale}"


def _drawn(curve: Sequence[Point], over: Over, scale: Scale) -> list[str]:
    points = [
        (float(each.checks if over == "checks" else each.seconds), float(each.size))
        for each in curve
    ]
    least = 1.0 if over == "checks" else _LEAST_SECONDS
    largest = max(size for _, size in points)
    smallest = max(1.0, min(size for _, size in points))
    bottom = 10.0 ** math.floor(math.log10(smallest)) if scale == "logarithmic" else 0.0
    across = Axis(over, scale, least, max(points[-1][0], 2 * least))
    upward = Axis("bytes", scale, bottom, max(largest, 2 * bottom, 1))
    return [*linechart.chart([linechart.Line(points)], across, upward, width=WIDTH, height=HEIGHT)]


def page(account: Account, film: Film | None = None, version: str | None = None) -> str:
    """Return the report as HTML, with a film of its steps and the program's version if known.

    All text of files, commands and programs is escaped. The file's content security policy forbids
    scripts, pictures, fonts and external links.
    """
    last = ending(account.found)
    css = files("reducekit.reports").joinpath("page.css").read_text(encoding="utf-8")
    style = f"{css}\n{STYLE}\n{film.rules if film else ''}"
    title = _story(account)
    parts = chain(
        _opening(account, last),
        _result(account),
        () if film is None else (_MELT.format(film.figure(_story(account))),),
        _failure(account, last),
        _left(last),
        _curves(account),
        _before(account, last),
        _steps(account),
        _passes(account.passes),
        _facts(account, last, version),
    )
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    main = "\n".join(parts)
    return _PAGE.format(digest=digest, title=_said(title), style=style, main=main)


_MELT = "<h2>How it got there</h2><figure>{}</figure>"


def _story(account: Account) -> str:
    """Return what happened in a line: sizes, program, failure."""
    sizes = f"{account.size_before:,} → {len(account.after):,} bytes"
    named = PurePath(program(account) or "").name
    failure = without_middle(account.failure, 80)
    return f"{sizes}: {', '.join(each for each in (named, failure) if each)}"


def _opening(account: Account, last: Ending) -> Iterator[str]:
    before, after = account.size_before, len(account.after)
    yield f"<h1>{_said(_story(account))}</h1>"
    how = "The search finished." if account.ended else "The search was stopped."
    if last.stopped:
        said = stop_in_words(last.stopped)
        how = f"{said[0].upper()}{said[1:]}."
    again = {
        True: " The result was checked again and shows the failure.",
        False: " The result did not show the failure when it was checked again.",
        None: "",
    }[last.verified]
    yield f'<p class="quiet">{_said(f"{account.name}. {how}{again}")}</p>'
    yield '<ul class="numbers">'
    removed = f"{100 * (1 - after / before):.1f} %" if before else "0 %"
    for value, name in (
        (f"{before:,}", "bytes before"),
        (f"{after:,}", "bytes after"),
        (removed, "removed"),
        (f"{account.checks:,}", "checks"),
        (f"{len(account.steps) - 1:,}", "accepted steps"),
        (_time(account.seconds), "of search"),
    ):
        yield f"<li><b>{value}</b>{name}</li>"
    yield "</ul>"


def _curves(account: Account) -> Iterator[str]:
    def figure(over: Over, scale: Scale) -> str:
        drawn = chart(account.curve, over, scale)
        return f"<figure>{drawn}<figcaption>{caption(over, scale)}</figcaption></figure>"

    yield "<h2>Size</h2>"
    yield figure("checks", "logarithmic")
    yield "<details><summary>By time, and linear</summary>"
    yield '<div class="charts">'
    yield figure("seconds", "logarithmic")
    yield figure("checks", "linear")
    yield figure("seconds", "linear")
    yield "</div></details>"


def _passes(passes: Sequence[PassTotal]) -> Iterator[str]:
    if not passes:
        return
    yield "<h2>Passes</h2>"
    helped = [each for each in passes if each.accepted]
    if helped:
        yield from _pass_table(helped)
    others = [each for each in passes if not each.accepted]
    if others:
        count = f"{len(others):,} pass{'es' if len(others) > 1 else ''}"
        yield f"<details><summary>{count} that removed nothing</summary>"
        yield from _pass_table(others)
        yield "</details>"


def _pass_table(passes: Sequence[PassTotal]) -> Iterator[str]:
    numbers = ("checks", "time", "accepted", "bytes removed", "bytes per check")
    yield f"{_wide('Passes')}<table><tr><th>pass</th>{_cells(numbers, 'th')}<th>share</th></tr>"
    most = max(1, *(each.removed for each in passes))
    for each in passes:
        wide = max(0, round(120 * each.removed / most))
        cells = _cells(
            (
                _count(each.checks),
                "" if each.seconds is None else _time(each.seconds),
                f"{each.accepted:,}",
                f"{each.removed:,}",
                f"{each.removed / each.checks:,.1f}" if each.checks else "",
            )
        )
        yield (
            f"<tr><td>{_said(each.name)}</td>{cells}"
            f'<td><svg width="120" height="12" aria-hidden="true">'
            f'<rect class="bar" y="2" width="{wide}" height="8"/></svg></td></tr>'
        )
    yield "</table></div>"


def _output(text: str | bytes) -> list[str]:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    return excerpt(text, _OUTPUT_LINES, _COLUMNS)


def _failure(account: Account, last: Ending) -> Iterator[str]:
    head = account.head
    yield "<h2>The failure, and how to reproduce it</h2>"
    yield f"<p>{_said(account.failure)}</p>"
    if last.places is not None:
        before, after = last.places
        yield f"<p>{_said(f'The input crashes in {before}, the result in {after}.')}</p>"
    for run in last.last_runs:
        output = [*_output(run.stdout), *_output(run.stderr)]
        end = [f"({run.ended})"] if run.ended else []
        yield _pre([without_folders(f"$ {run.command}"), *output, *end])
    if not last.last_runs:
        name = account.name
        yield _pre([f"$ {each.replace('FILE', name)}" for each in head.commands])
        golden = account.found.golden
        if golden is not None and golden.runs:
            yield '<p class="quiet">Output on the input:</p>'
            for outcome in golden.runs[0]:
                lines = [*_output(outcome.stdout), *_output(outcome.stderr)]
                yield _pre([*lines, f"({outcome.describe()})"])
    if last.other_failures:
        yield "<p>Other failures found:</p><ul>"
        for failure, count, size in last.other_failures[:20]:
            yield f"<li>{count:,} × {_said(without_middle(failure, 300))} ({size:,} bytes)</li>"
        yield "</ul>"


def _result(account: Account) -> Iterator[str]:
    """Yield the reduced file: what most readers came for."""
    size = len(account.after)
    shown = excerpt(account.after[:_TEXT], _AFTER_LINES, _COLUMNS)
    if size > _TEXT:
        shown.append(f"[{size - _TEXT:,} more bytes]")
    yield f"<h2>The reduced file, {size:,} bytes</h2>"
    yield _pre(shown)


def _left(last: Ending) -> Iterator[str]:
    """Yield which assertions are left, and how often a good and a bad run instantiated each."""
    if not last.left:
        return
    yield "<h2>Remaining parts of the input</h2>"
    heads = _cells(("line before", "line now", "instances, good run", "bad run"), "th")
    yield f"{_wide('Remaining parts of the input')}<table><tr><th>name</th>{heads}</tr>"
    for each in last.left[:_LEFT]:
        numbers = _cells(_count(each[key]) for key in LEFT[1:])
        yield f"<tr><td>{_said(str(each['name']))}</td>{numbers}</tr>"
    yield "</table></div>"
    if len(last.left) > _LEFT:
        yield f'<p class="quiet">and {len(last.left) - _LEFT:,} more</p>'


def _before(account: Account, last: Ending) -> Iterator[str]:
    yield f"<h2>The file before, {len(account.before):,} bytes</h2>"
    yield _pre(excerpt(account.before, _BEFORE_LINES, _COLUMNS))
    packed = base64.b64encode(gzip.compress(account.before, mtime=0)).decode()
    if len(packed) <= _ATTACHED:
        name = f"{PurePath(last.input or 'input').name}.gz"
        link = f'<a download="{_said(name)}" href="data:application/gzip;base64,{packed}">'
        yield f"<p>{link}{_said(name)}</a>, the whole file</p>"
    rows = [
        (name, count, last.after[name]) for name, count in last.before.items() if name in last.after
    ]
    if len(rows) > 1:
        heads = _cells(("before", "after"), "th")
        yield f"{_wide('What is counted')}<table><tr><th>counted</th>{heads}</tr>"
        for name, old, new in rows:
            yield f"<tr><td>{_said(name)}</td>{_cells((f'{old:,}', f'{new:,}'))}</tr>"
        yield "</table></div>"


def _steps(account: Account) -> Iterator[str]:
    steps = account.steps[1:]
    if not steps:
        return
    yield "<h2>Steps</h2>"
    gains = {each.number: account.steps[each.base].size - each.size for each in steps}
    listed = steps
    if len(steps) > _ROWS:
        best = sorted(steps, key=lambda step: -gains[step.number])[:_ROWS]
        listed = sorted(best, key=lambda step: step.number)
    shown = _shown(account, listed, gains)
    if len(listed) < len(steps):
        yield (
            f'<p class="quiet">{len(listed):,} of {len(steps):,} steps, those that removed most; '
            "<code>reducekit history</code> lists all.</p>"
        )
    yield f'{_wide("Steps")}<table class="steps"><tr><th>step</th><th>bytes</th><th>removed</th>'
    yield "<th>checks</th><th>time</th><th>pass</th><th>change</th></tr>"
    backs = {back.given_up: back.step for back in account.found.returns}
    for step in listed:
        what = _said(without_middle(step.what or "", 120))
        if step.number in backs:
            what += f" (reverted later: back to step {backs[step.number]:,})"
        lines = shown.get(step.number)
        if lines is not None:
            what = f"<details><summary>{what or 'change'}</summary>{_diff(lines)}</details>"
        yield (
            f"<tr><td>{step.number:,}<td>{step.size:,}<td>{gains[step.number]:,}<td>{step.checks:,}"
            f"<td>{_time(step.seconds)}<td>{_said(step.pass_name)}<td>{what}</tr>"
        )
    yield "</table></div>"


def _shown(
    account: Account, listed: Sequence[Step], gains: dict[int, int]
) -> dict[int, Sequence[Line]]:
    """Return as many diffs as fit, preferring the steps that removed most, in a single walk.

    Texts are restored in order, each from its predecessor: restoring a single text takes all the
    steps that lead to it.
    """
    wanted = {
        step.number
        for step in sorted(listed, key=lambda step: -gains[step.number])[: _DIFFS // 120]
    }
    room = _DIFFS
    found: dict[int, Sequence[Line]] = {}
    for number, old, new in account.found.walk():
        if room <= 0:
            break
        if number not in wanted:
            continue
        lines = changes(old, new)
        room -= sum(len(line.text) + 12 for line in lines) + 60
        if room > 0:
            found[number] = lines
    return found


def _diff(lines: Sequence[Line]) -> str:
    tags = {"-": "del", "+": "ins"}
    parts = []
    for line in lines:
        tag = tags.get(line.sign, "span")
        sign = f"{line.sign} " if line.sign != " " else ""
        parts.append(f"<{tag}>{escape(sign + line.text)}</{tag}>")
    return f"<pre tabindex=0>{''.join(parts)}</pre>"


def _facts(account: Account, last: Ending, version: str | None) -> Iterator[str]:
    head = account.head
    yield "<h2>How it was run</h2>"
    facts = [
        ("input", f"{PurePath(last.input or 'the input').name}, sha256 {head.input_digest}…"),
        ("output", PurePath(last.output or account.name).name),
        *(("command", without_folders(each)) for each in head.commands),
        (PurePath(program(account) or "program").name, (version or "").partition("\n")[0]),
        ("kept", head.criterion),
        ("strategy", f"{head.strategy}, format {head.frontend}"),
        ("runs of commands", "" if last.runs is None else f"{last.runs:,}"),
        ("total time", "" if last.seconds is None else _time(last.seconds)),
        *head.given,
        ("reducekit", head.version),
        *last.versions.items(),
    ]
    yield "<dl>"
    for name, value in facts:
        if value:
            yield f"<dt>{_said(name)}</dt><dd><code>{_said(value)}</code></dd>"
    yield "</dl>"


def _said(text: str) -> str:
    return escape(printable_lines(text))


def _pre(lines: Sequence[str]) -> str:
    return f"<pre tabindex=0>{escape(printable_lines(chr(10).join(lines)))}</pre>"


def _cells(values: Iterable[str], tag: str = "td") -> str:
    return "".join(f'<{tag} class="number">{each}</{tag}>' for each in values)


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _wide(name: str) -> str:
    """Return the start of a part that keys can scroll where it is wider than the window."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">'


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"
