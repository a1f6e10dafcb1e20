"""The documentation as a site: `make docs` writes it to build/docs, and fails on a broken link."""

from typing import Any

project = "reducekit"
author = "The reducekit developers"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
html_theme = "furo"

# The source folder is the checkout, so that README, docs and tables can link to each other as they
# do for a reader of the repository.
include_patterns = [
    *(f"{folder}*.md" for folder in ("", "docs/", "docs/*/", "examples/")),
    *("benchmarks/*.md", "benchmarks/**/*.md"),
]
root_doc = "docs/index"
exclude_patterns = ["build", "**/.*"]

smartquotes = False  # `--cmd` stays as it is, so that one can copy it
highlight_language = "console"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3  # links to headings, as code hosts make them
autodoc_typehints = "description"

# Tables are reached by links from the text; quotes in the output of a command are no shell syntax.
suppress_warnings = ["toc.not_included", "misc.highlighting_failure"]


def setup(app: Any) -> None:
    """Take help texts as they are: an asterisk in one, as in `hdd*`, is no markup."""

    def escape(_app: Any, _context: Any, lines: list[str]) -> None:
        lines[:] = [line.replace("*", r"\*") for line in lines]

    for part in ("description", "options", "epilog"):
        app.connect(f"sphinx-click-process-{part}", escape)
