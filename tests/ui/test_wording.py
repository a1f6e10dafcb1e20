"""Messages name options as the page does."""

from __future__ import annotations

from importlib.resources import files

from reducekit.errors import UsageError
from reducekit.ui.api import _FROM_PAGE
from reducekit.ui.catalogue import LABELS, catalogue, worded


def test_labels_are_those_of_the_page() -> None:
    page = (files("reducekit.ui") / "static" / "index.html").read_text("utf-8")
    assert set(LABELS) <= _FROM_PAGE
    for name, label in LABELS.items():
        before, found, _ = page.partition(f'id="{name}"')
        assert found, name
        if name == "command":
            assert f'<span id="command-label" class="unseen">{label}</span>' in page
        elif f"> {label}</label>" in page:
            continue  # a box to tick
        else:
            assert before.rpartition(">")[2].rpartition("<")[0].strip() == label


def test_an_error_with_notes() -> None:
    error = UsageError("`timeout`: 'x' is not a time")
    error.add_note("(`lenient` reduces such a file too; `other` does not)")
    assert worded(error) == (
        "“Seconds for a run”: 'x' is not a time\n"
        "(“reduce by lines what does not parse” reduces such a file too; `other` does not)"
    )


def test_help_names_fields_and_not_options_of_the_command_line() -> None:
    for each in catalogue()["formats"]:
        made = each["generation"] or {"help": "", "options": ()}
        helps = [made["help"], *(option["help"] for option in (*each["options"], *made["options"]))]
        assert not [words for words in helps if "--" in words]
    (smt2,) = (each for each in catalogue()["formats"] if each["name"] == "smt2")
    assert smt2["generation"]["help"].startswith("With “logic”, well-sorted scripts")
    assert "as {options} in “Program”" in str(catalogue())
