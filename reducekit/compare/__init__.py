"""Compares algorithms and reducers: how far each gets on your files, and in how many checks.

`runs` has the data and the statistics, `tables` prints and draws them. `sessions` runs algorithms
on files, and `reducers` any other reducer.
"""
