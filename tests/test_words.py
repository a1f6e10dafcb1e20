"""Sentences that read as translated, and were replaced, do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
READ = (
    "*.md",
    "docs/*.md",
    "examples/*.md",
    "benchmarks/*.md",
    "reducekit/**/*.py",
    "reducekit/ui/static/*.js",
    "reducekit/ui/static/*.html",
    "frontends/**/*.py",
    "frontends/**/*.toml",
    "strategies/*.py",
)
"""Everything that people read."""

# fmt: off
REPLACED = (
    "Insist on going on from an earlier run: one of the same input and command is gone on",
    "Begin anew; what is there is kept",
    "Lay the result out for people, if it still fails so",
    "Take verdicts as they come",
    "Candidates tried at once; default: the jobs. The result depends only on this number",
    "1 where times count, and for scripts: they may write files of one name",
    "When no worker of the cluster is left, make N checks at a time here",
    "Only say whether INPUT keeps the rules of its format",
    "Take no failure line from the output",
    "Keep that CMD and this one disagree about sat and unsat",
    "Keep that a run takes S seconds or more; with --reference, and the other does not",
    "For a failure that does not show every time: it has to in K of N runs",
    "steps that do not make it smaller at once",
    "This program must accept the candidate: end with 0 and print no error",
    "Tell in a page what a reduction did",
    "Show what a file is made of, or draw it",
    "What is no such script is tried only where",
    "any of these, but not in every run",
    "Of a short API trace it tries other traces of its length, and what is near them",
    "starts again from the first one in another order, the same way each time, until that no",
    "--no-journal does without",
    "what is likely to follow runs already",
    "What is said here of smt2 holds for all formats",
    "are refused with what was run and what came out",
    "A container that outlives its client is not ours to end",
    "no shell takes part unless you ask for it",
    "Whom you trust",
    "the number of workers that come first is chance",
    "Adaptive clusters take workers away that run none of Dask's tasks, and checks are none",
    "A check that is overtaken is ended where it runs",
    "reducekit brings no protocol of its own for that",
    "A model of your own spares most of these runs",
    "makes these captures and the pictures above anew",
    "Traces are a line of time over the chart of the API's states",
    "Parts of a search that hinder each other, as where needs are not known, are noticed",
    "What was drawn in vain is not drawn again until a fifth more is gone",
    "X goes with Y",
    "A and B exclude each other: give one",
    "is no progress of a hunt; restart begins anew",
    "Nothing was changed: go on as it began, or begin anew without it",
    "laid out for people the result does not fail: it stays as it is",
    "the text to reduce is not interesting itself",
    "library and fault are for the feedback that no_feedback turns off",
    "a request is an object",
    "there is no 'x' among the strategies",
    "it was without a word from us for too long",
    "n leaves the present pass, as if it had nothing left to try",
    "Its slips are mended",
    "The pass over X",
    "makes an input on which a solver fails as small as it can be, while the failure stays",
    "hunts for failures with them and sorts what it finds by failure",
    "The best file so far is always in in.reduced.smt2 (-o names another), whole and",
    "The same command again goes on from there; nothing that an earlier run has left is ever",
    "any of these, on a valid file / must accept the file, too",
    "refused with what was run and what came out",
    "only what is well sorted is tried. Where the failure is a parse or sort error, and with",
    "The runs of commands in all include those on the input (two), on an empty file and on",
    "What stands after $ comes from the last run, on the file that is there now",
    "goes on from the smallest script by random steps",
    "Successes found together are merged, and what is likely to follow runs already",
    "which is the number of jobs unless you say otherwise",
    "A result of another input, command or algorithm is kept under a numbered name",
    "or why there is none (error and exit_code)",
    "the command does not read the file as a script",
    "; with --reference, and the other does not",
    "Insist on going on from an earlier run: one of the same input and command is gone on",
    "by steps that do not make it smaller at once",
    "A program under test; several have to agree on sat and unsat",
    "until one fails, or two disagree (and it goes on)",
    "A node carries those that go with it: all paths from the roots to them pass it",
    "what has no parent in the end is merged to one root",
    "An option that has another name here is answered",
    "did not show the failure in any of 5 more runs: the command does not always end the same way",
    "the input does not show what is looked for (exit status -11)",
    "8 broke the rules of the format",
    "the program complains of the file itself: if it should read it, look at its options and",
    "there is no 'hybrid' among the strategies",
    "SMT-LIB has nothing like init: only files without it are converted",
    "over all commands for a search from the back: the asserts come last",
)
# fmt: on


def plain(text: str) -> str:
    """Return a text with one blank between words, without quotes between the lines of a string."""
    joined = re.sub(r'"\s*\n\s*f?"', "", text).replace("`", "")
    return " ".join(joined.split()).lower()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    found = {path for pattern in READ for path in CHECKOUT.glob(pattern) if path.is_file()}
    assert len(found) > 300
    return {str(path.relative_to(CHECKOUT)): plain(path.read_text("utf-8")) for path in found}


@pytest.mark.parametrize("sentence", REPLACED)
def test_a_replaced_sentence_is_gone(texts: dict[str, str], sentence: str) -> None:
    assert [name for name, text in texts.items() if plain(sentence) in text] == []


def test_a_sentence_over_several_lines_of_code_is_found() -> None:
    assert plain('help="Begin anew; "\n    "what is there is kept"') == plain(
        'help="Begin anew; what is there is kept"'
    )
