"""`reducekit show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from reducekit.cli.files import naming, refuse_blank, write_file
from reducekit.cli.group import Surroundings
from reducekit.errors import UsageError
from reducekit.frontends.btor.dag import Dag
from reducekit.frontends.btor.drawing import Graph, dot, graph_of, graphml, svg
from reducekit.frontends.btor.operators import Dialect
from reducekit.frontends.btor.reader import read
from reducekit.output import read_input

_WRITERS: Mapping[str, Callable[[Graph], bytes]] = {".dot": dot, ".graphml": graphml, ".svg": svg}
_FIRST = 10


@click.command("show")
@click.argument("input", type=click.Path(path_type=Path), metavar="INPUT")
@click.option(
    "--from",
    "source",
    type=click.Choice([each.value for each in Dialect]),
    help="Dialect of INPUT, if not to be detected.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the graph to FILE: .svg is a picture, .dot for Graphviz, .graphml for other tools.",
)
@click.pass_obj
def command(
    surroundings: Surroundings,
    input: Path,  # noqa: A002
    source: str | None,
    output: Path | None,
) -> int:
    """Say what the BTOR or BTOR2 file INPUT is made of, and which of its nodes carry most.

    A node carries those that go with it: all paths from the roots to them pass it. The same is
    in the files as `alone`, with the layer of each node and its immediate dominator.
    """
    if output is not None and output.suffix not in _WRITERS:
        raise UsageError(f"what is {output} to be? It may end in {', '.join(_WRITERS)}")
    with surroundings.interrupts.allowed():
        text = read_input(input)
        with naming(input):
            refuse_blank(text)
            dag = read(text, Dialect(source) if source else None)
        graph = graph_of(dag)
        if output is None:
            print("\n".join(_said(dag, graph)))
            return 0
        drawn = _WRITERS[output.suffix](graph)
    write_file(output, drawn)
    return 0


def _said(dag: Dag, graph: Graph) -> Iterator[str]:
    """Yield the lines of the summary."""
    operators = Counter(op for _, op in graph.nodes(data="op"))
    complements = sum(of for *_, of in graph.edges(data="complement"))
    shared = sum(users > 1 for _, users in graph.in_degree())
    layers = 1 + max((layer for _, layer in graph.nodes(data="layer")), default=-1)
    yield f"{dag.dialect.value}: {len(graph):,} nodes in {layers:,} layers"
    yield f"{graph.number_of_edges():,} edges, {complements:,} of them complements"
    yield f"{shared:,} nodes with several edges to them"
    unneeded = sum(not alone for _, alone in graph.nodes(data="alone"))
    if unneeded:
        yield f"{unneeded:,} nodes that no root needs"
    yield "operators: " + ", ".join(
        f"{name} {count:,}"
        for name, count in sorted(operators.items(), key=lambda it: (-it[1], it))
    )
    carrying = sorted(
        (-of["alone"], node, of["label"]) for node, of in graph.nodes(data=True) if of["alone"] > 1
    )
    if carrying:
        yield "nodes that others go with:"
        for alone, node, label in carrying[:_FIRST]:
            yield f"  {node} {label}: {-alone - 1:,}"
