"""Checks on other machines, by Dask: nothing here is imported unless a cluster is asked for.

From the session to the command:

    executor.py     assigns checks to workers, and retries lost ones
    admission.py    which workers can run the checks: each is asked what it lacks
    connection.py   a thread with a Dask client: tracks the workers, starts a checker on each
    checking.py     that checker: a Dask actor that relays orders and reports, and the process
                    that runs the checks
    spec.py         where the cluster is, and how one is started

A check is a call of an actor, not a Dask task: that takes a fifth of the processor time
(`dask_cost` in `benchmarks/results/archive`), and a superseded check can be cancelled.
"""
