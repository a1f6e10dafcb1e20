"""Reducers that change their file run on a copy, and what they leave is the output."""

from pathlib import Path

import pytest

from benchmarks.peers import installed, reduce_in_place

LINE_BY_LINE = """#!/bin/sh
# As the reducers do: the test and the file are the last two words.
for word; do test=$file file=$word; done
for line in $(cat "$file"); do
  mkdir trial && grep -vx "$line" "$file" > "trial/$file"
  (cd trial && "$test" GIVEN) && cp "trial/$file" "$file"
  rm -r trial
done
exit 1
"""


@pytest.mark.parametrize(("name", "given"), [("cvise", ""), ("shrinkray", "in.smt2")])
def test_a_reducer_runs_on_a_copy(
    name: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / name
    program.write_text(LINE_BY_LINE.replace("GIVEN", given))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert f"{name}=" in "".join(installed())
    source, oracle = tmp_path / "in.smt2", tmp_path / "oracle"
    source.write_text("one\ntwo\nthree\n")
    oracle.write_text("#!/bin/sh\nexec grep -q two $1\n")
    oracle.chmod(0o755)
    reduce_in_place(name, source, tmp_path / "out.smt2", oracle)
    assert (tmp_path / "out.smt2").read_text() == "two\n"
    assert source.read_text() == "one\ntwo\nthree\n"


def test_none_is_installed_where_path_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert installed() == []
