"""What may be altered: an Edit replaces one node, a Change is a group of edits that go together."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Template: TypeAlias = tuple[bytes | int, ...]
"""What stands in place of a node: literal bytes, and kept nodes of the node's own subtree.

Removal is `()`, a constant `(b"false",)`, hoisting the child 7 `(7,)`, negating
the node 3 `(b"(not ", 3, b")")`.
"""


class Edit(NamedTuple):
    """One node replaced by a template. Edits of nodes kept by the template apply within it."""

    node: int
    template: Template


class Change(NamedTuple):
    """Edits that are applied together or not at all.

    What the edits need in order to leave a valid text (a declaration needs its users gone, a push
    its pop) is part of the change: the frontend closes it, so no search can take it apart.
    """

    edits: tuple[Edit, ...]
    what: str = ""  # a few words for logs, such as `hoist` or `drop commands`
    local: bytes = b""
    """Identifies what is changed, where, and into what, if the search knows better than the text.

    A change that failed is not tried again under the same key but where everything is.
    """
    probe: bool = False
    """Whether the verdict is wanted even if the text is no smaller.

    The best text stays then as it is, whatever the verdict. So what follows a success has to
    bring along all that it builds on.
    """
