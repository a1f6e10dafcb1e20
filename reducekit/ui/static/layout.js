// Lays a graph out, in a thread of its own so that the page never waits.

import { Graph, layout } from "./dagre.js";

onmessage = ({ data }) => {
  const graph = new Graph({ multigraph: true });
  const big = data.nodes.length > 250;
  graph.setGraph({
    rankdir: data.direction,
    nodesep: 14,
    edgesep: 8,
    ranksep: 34,
    marginx: 12,
    marginy: 12,
    ranker: big ? "longest-path" : "network-simplex",
  });
  graph.setDefaultEdgeLabel(() => ({}));
  data.nodes.forEach(({ width, height }, number) => graph.setNode(String(number), { width, height }));
  data.edges.forEach(({ from, to, label }, number) => {
    const size = label ? { width: 6.2 * label.length, height: 14, labelpos: "c" } : {};
    graph.setEdge(String(from), String(to), size, String(number));
  });
  layout(graph);
  const { width, height } = graph.graph();
  postMessage({
    job: data.job,
    width,
    height,
    places: data.nodes.map((_, number) => {
      const { x, y } = graph.node(String(number));
      return [x, y];
    }),
    ways: data.edges.map(({ from, to }, number) => {
      const edge = graph.edge({ v: String(from), w: String(to), name: String(number) });
      return { points: edge.points.map(({ x, y }) => [x, y]), label: edge.x === undefined ? null : [edge.x, edge.y] };
    }),
  });
};
