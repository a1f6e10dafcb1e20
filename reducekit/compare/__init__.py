"""Compares algorithms and reducers: how far each gets on your files, and in how many checks.

`runs` holds the data: one run of one algorithm on one file, with its size over the checks.
`statistics` computes means, ratios and rankings from runs; `tables` and `curves` print and draw
them. `cases` finds and opens the files, `sessions` runs the algorithms on them, and `reducers` runs
any other reducer.
"""
