import base64
import gzip
import hashlib
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reducekit.reports.account import account
from reducekit.reports.page import page, picture
from tests.reports.journals import write

SCRIPT = "<script>alert('x')</script>"
LINES = [b"(assert (= x%d (+ x%d %d)))\n" % (n, n + 1, n) for n in range(4000)]


class Elements(HTMLParser):
    """Collects tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "path", "circle", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "circle", "rect"):
            while self.open[-1] == "td" != tag:
                self.open.pop()  # its end tag may be left out
            assert self.open.pop() == tag


def elements(html: str) -> Elements:
    found = Elements()
    found.feed(html)
    assert found.open == []
    return found


def test_it_tells_what_became_smaller_by_what_and_how_to_see_it_again(tmp_path: Path) -> None:
    path = tmp_path / "in.reduced.smt2.journal"
    ending: dict[str, object] = {
        "input": "in.smt2",
        "output": "in.reduced.smt2",
        "failure": "signal SIGSEGV",
        "stopped": None,
        "verified": True,
        "runs": 19,
        "seconds": 4.5,
        "before": {"bytes": 29, "commands": 2},
        "after": {"bytes": 12, "commands": 1},
        "last_runs": [
            {"command": "z3 in.reduced.smt2", "ended": "signal SIGSEGV", "stdout": "",
             "stderr": "Segmentation fault"}
        ],
        "other_failures": [{"failure": "exit status 7", "count": 3, "bytes": 20}],
        "versions": {"system": "Linux"},
    }  # fmt: skip
    texts = [b"(assert true)\n(check-sat)\n(exit)", b"(check-sat)\n"]
    html = page(account(write(path, texts, ending=ending), path))
    for said in (
        "<h1>32 → 12 bytes: ", "signal SIGSEGV</h1>", "in.reduced.smt2. The search finished.",
        "shows the failure",
        "<b>32</b>bytes before", "<b>12</b>bytes after", "<b>62.5 %</b>removed", "<b>4</b>checks",
        "$ z3 in.reduced.smt2\nSegmentation fault\n(signal SIGSEGV)",
        "<del>- (assert true)</del>", "3 × exit status 7", "<dt>reducekit</dt>", "1.2.3", "Linux",
        "<td>commands</td>",
    ):  # fmt: skip
        assert said in html, said
    order = ["<h1>", "The reduced file, 12 bytes", "how to reproduce it", "Size", "The file before"]
    assert sorted(order, key=html.index) == order
    assert elements(html).tags.count("figure") == 4


def test_a_killed_run_is_told_too(tmp_path: Path) -> None:
    path = tmp_path / "in.reduced.smt2.journal"
    write(path, [b"(check-sat)(exit)", b"(exit)"], passes=False)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 3)
    from reducekit.journal import load

    html = page(account(load(path), path))
    assert "The search was stopped." in html
    assert "<b>17</b>bytes before" in html


@pytest.mark.parametrize(
    "where", ["text", "name", "command", "pass", "what", "stderr", "criterion"]
)
def test_nothing_from_outside_becomes_markup(where: str, tmp_path: Path) -> None:
    evil = f"\"'>{SCRIPT}<img src=x onerror=alert(1)>\u202e\x07"
    path = tmp_path / "x.journal"
    texts = [evil.encode(), b"(exit)"] if where == "text" else [b"(check-sat)", b"(exit)"]
    file = "evil&<b>.journal" if where == "name" else "x.journal"
    told = account(
        write(
            path,
            texts,
            command=evil if where == "command" else "z3 FILE",
            name=evil if where == "pass" else "commands",
            what=evil if where == "what" else "drop",
            stderr=evil.encode() if where == "stderr" else b"",
            criterion=evil if where == "criterion" else "",
        ),
        path.with_name(file),
    )
    html = page(told)
    assert SCRIPT not in html
    found = elements(html)
    assert not {"script", "img", "b>", "iframe", "link", "object"} & set(found.tags) - {"b"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert not {"\u202e", "\x07"} & set(html)
    assert elements(picture(told.curve, told.name)).tags.count("script") == 0


def test_the_policy_allows_our_style_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    html = page(account(write(path, [b"(check-sat)", b"(exit)"]), path))
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(elements(html).attributes)
    assert f"default-src 'none';\n style-src 'sha256-{digest}'; base-uri 'none';" in html
    assert "http" not in (policy["content"] or "")
    # The one link is the input, in the page itself.
    links = re.findall(r"(?:src|href|url)\s*[=(]\S{0,30}", html)
    assert links == ['href="data:application/gzip;base64,']
    packed = re.findall(r"base64,([\w+/=]+)", html)
    assert gzip.decompress(base64.b64decode(packed[0])) == b"(check-sat)"


def test_two_thousand_steps_on_a_large_file_stay_below_300_kilobytes(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    random.seed(1)
    lines = list(LINES)
    texts = [b"".join(lines)]
    for _ in range(2000):
        del lines[random.randrange(len(lines))]
        texts.append(b"".join(lines))
    told = account(write(path, texts), path)
    assert len(page(told).encode()) <= 300_000
    assert len(picture(told.curve, "x")) <= 60_000


def test_few_points_and_none_make_a_curve(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    told = account(write(path, [b"(check-sat)"], passes=False), path)
    svg = picture(told.curve, "x & y")
    assert svg.count('class="line c0"') == 4
    assert "NaN" not in svg
    assert "x &amp; y" in svg
    assert "Steps" not in page(told)
