"""The key of a change in its local context."""

from reducekit.document import Patched
from reducekit.frontends.smt2.language.parser import parse
from reducekit.reduction.skips import LocalContext


def test_changes_of_more_than_so_many_nodes_have_no_key() -> None:
    document = parse(b"".join(b"(assert x%d)\n" % each for each in range(100)))
    context, base = LocalContext(document), Patched(document)
    tops = list(document.children(0))
    most = LocalContext.NODES
    assert context.key(base, dict.fromkeys(tops[:most], ())) is not None
    assert context.key(base, dict.fromkeys(tops[: most + 1], ())) is None


def test_the_same_change_beside_others_has_the_same_key() -> None:
    document = parse(b"(assert (and a b))(assert (or a b))(check-sat)")
    first, second, _ = document.children(0)
    inner = list(document.children(first))[1]
    before = Patched(document)
    after = before.with_({second: ()})
    context = LocalContext(document)
    assert context.key(before, {inner: (b"a",)}) == context.key(after, {inner: (b"a",)})
    assert context.key(before, {inner: (b"b",)}) != context.key(before, {inner: (b"a",)})
