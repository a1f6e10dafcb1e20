"""Failing SMT-LIB cases by the hundred: released solvers, one of whose instructions is a trap.

`python -m benchmarks.smt2_faults FOLDER --seed 5 --count 80`

Each case is a folder with an `input.smt2`, a random script, and an `oracle`, which accepts a file
on which a solver reaches the instruction. Instructions are taken that at most three of all scripts
reach: what everything reaches takes a handful of checks, and tells a reducer from another by
nothing. The folder is one for `benchmarks.smt2_tables` and `reducekit compare`. `cases.tsv`
says of each case what it is, and `--again cases.tsv` makes the same ones with the same packages. A
seed alone does not: scripts on which a solver takes too long are left out.

Needs a C compiler (`cc`), and z3 and cvc5 as Debian packages them.
"""
