"""What to install for the options that need more packages: words that work in every install.

An extra, as in `pip install 'NAME[faults]'`, needs an index that has the project.
"""

import re
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXTS = [
    path
    for folder in ("reducekit", "frontends", "strategies", "docs", "examples", "README.md")
    for each in [CHECKOUT / folder]
    for path in ([each] if each.is_file() else sorted(each.rglob("*")))
    if path.suffix in (".py", ".md")
]


def test_no_text_asks_an_index_for_reducekit() -> None:
    assert len(TEXTS) > 300
    named = re.compile(r"reducekit\[|pip install (-\S+ )*reducekit\b")
    assert [path for path in TEXTS if named.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("extra", ["cluster", "faults", "tui", "zstd"])
def test_the_words_name_all_packages_of_an_extra(extra: str) -> None:
    packages = {re.split("[=<>]", each)[0] for each in PROJECT["optional-dependencies"][extra]}
    asked = [
        set(found.split())
        for path in TEXTS
        if path.suffix == ".py"
        for found in re.findall(r"pip install ((?:[a-z]+ ?)+)", path.read_text(encoding="utf-8"))
    ]
    assert any(packages == each for each in asked)
