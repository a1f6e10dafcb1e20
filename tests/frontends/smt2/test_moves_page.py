"""The page of moves says what the code has."""

from docs.smt2_moves import PAGE, page


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
