"""Checks on other machines, by Dask: nothing here is imported unless a cluster is asked for.

From the session to the command:

    executor.py     takes checks, places them on workers, and loses none
    admission.py    which workers may get checks: each is asked what it has
    base_text.py    what candidates are described by, so that only edits travel
    connection.py   a thread with a Dask client: which workers there are, and a checker on each
    checker.py      that checker: a Dask actor, which passes orders and reports on
    checking.py     the process of each checker, with the executor of local checks
    spec.py         where the cluster is, and how one is started

A check is a call of an actor, not a Dask task: that costs all sides together a fifth of it
(`benchmarks/dask_cost.py`), and a check that is superseded can be ended.
"""
