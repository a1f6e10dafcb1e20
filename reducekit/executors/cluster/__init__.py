"""Checks on other machines, by Dask: nothing here is imported unless a cluster is asked for.

From the session to the command, and where each part stands:

    executor.py     takes checks, places them on workers (`placement.py`), and loses none
    members.py      which workers may get work: each is asked what it has (`admission.py`)
    base_text.py    what candidates are described by, so that only edits travel (`protocol.py`)
    routes.py       how orders get to a worker and reports back: straight, or through the scheduler
    connection.py   a thread that talks to the Dask scheduler, and knows which workers there are
    remote.py       what the Dask workers run: it passes orders and reports on
    checking.py     a process for each worker, with the executor of local checks
    spec.py         where the cluster is, and how one is started

Dask finds, starts and connects the workers. Checks are no Dask tasks: one of those costs
the three sides together 3.7 ms of processor time, a message to a worker and back 0.2 ms
(`benchmarks/dask_cost.py`).
"""
