"""Mirrors the tree of the project; `acceptance/` runs real solvers."""
