"""Measures layers and dominators of a BTOR graph: with our arrays, and with networkx.

    python -m benchmarks.btor_graph_cost

A reduction computes both after each accepted step. CPU seconds, the least of three runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from reducekit.frontends.btor.generate.generator import Parameters, generate
from reducekit.frontends.btor.model.dag import Dag, line_of
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView, view_of
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.line_graph import line_graph


def by_arrays(view: BtorView) -> None:
    """Ask as the passes do: depths, and what each edge's dominator takes along."""
    graph = line_graph(view)
    _ = graph.depth, graph.saved


def by_networkx(dag: Dag) -> None:
    """Ask networkx for the same, without names and labels."""
    import networkx as nx

    edges = [(line, line_of(each)) for line in range(len(dag)) for each in dag.arguments(line)]
    graph = nx.DiGraph(edges)
    graph.add_edges_from((-1, root) for root in dag.roots)
    for _ in nx.topological_generations(graph):
        pass
    above = nx.immediate_dominators(graph, -1)
    tree = nx.DiGraph((up, node) for node, up in above.items() if node != up and up is not None)
    sizes: dict[int, int] = {}
    for node in nx.dfs_postorder_nodes(tree, -1):
        sizes[node] = 1 + sum(sizes[below] for below in tree[node])


def least(run: Callable[[], None]) -> float:
    """Return the CPU seconds of the quickest of three runs."""
    found = []
    for _ in range(3):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    print("| nodes | arrays, s | networkx, s |\n|--:|--:|--:|")
    for nodes in (2_000, 20_000, 100_000):
        dag = generate(Parameters(seed=1, nodes=nodes, arrays=3, writes=5))
        view = view_of(read(canonical(dag)))
        ours, theirs = least(lambda v=view: by_arrays(v)), least(lambda d=view.dag: by_networkx(d))  # type: ignore[misc]
        print(f"| {nodes:,} | {ours:.3f} | {theirs:.3f} |")


if __name__ == "__main__":
    main()
