// Matches the nodes of two graphs: each step renumbers the nodes and lays them out again.

// Returns the pairs of nodes that are the same in two graphs.
export const pairs = (before, after) =>
  before === after ? after.labels.map((_, node) => [node, node]) : matched(before, after).flatMap((to, node) => (to < 0 ? [] : [[node, to]]));

// Returns for each node of `before` that node of `after`, or -1 if a step has removed it.
//
// First those of one label and operands, then those of one label, then those that have other
// numbers only; among equal ones by their order in the text.
export function matched(before, after) {
  const found = new Array(before.labels.length).fill(-1);
  const taken = new Set();
  const named = (data, node) => `${data.labels[node]}\n${data.details[node]}`;
  const signatures = [
    (data, node) => [named(data, node), ...data.edges[node].map((edge) => (edge < 0 ? `~${data.labels[~edge]}` : data.labels[edge]))].join("\n"),
    named,
    (data, node) => named(data, node).replace(/\d+/g, "0"),
  ];
  for (const signature of signatures) {
    const free = new Map();
    after.labels.forEach((_, node) => {
      if (taken.has(node)) return;
      const sign = signature(after, node);
      if (!free.has(sign)) free.set(sign, []);
      free.get(sign).push(node);
    });
    for (const queue of free.values()) queue.reverse();
    found.forEach((known, node) => {
      const next = known < 0 ? free.get(signature(before, node))?.pop() : undefined;
      if (next === undefined) return;
      found[node] = next;
      taken.add(next);
    });
  }
  return found;
}
