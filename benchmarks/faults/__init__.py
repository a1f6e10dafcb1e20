"""A field of faults: failing solvers by the hundred, each with a trace that shows it.

    python -m benchmarks.faults make        # looks for faults, goes on where it stopped
    python -m benchmarks.faults reduce      # reduces the traces of one third
    python -m benchmarks.faults compare     # does so by a command line: ours, or another's
    python -m benchmarks.faults passes      # says what each pass cost and dropped
    python -m benchmarks.faults table       # writes the table

A fault is one random machine instruction of a solver's library, overwritten in memory
(`reducekit.frontends.trace.player.faults`). Traces are made at random and played against
the faulty library until one fails. `field.tsv` holds no trace, only what makes it again:
the engine, the place of the instruction, and the seed of the trace.
"""
