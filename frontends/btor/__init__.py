"""BTOR and BTOR2: one model of the graph for all dialects.

`reader.read` makes a `dag.Dag` of a text and `write` prints it; `operators` and `rules` are
the tables both go by. `builder` makes a Dag from nothing, `convert` (with `functions` and
`lowering`) one of another dialect, `smtlib` a script; `evaluate` says what nodes are worth.
"""
