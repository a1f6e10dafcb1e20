// A treemap: each part is as large as its weight, within the part that it belongs to.

const LEAST = 20; // square pixels; a part that is smaller is one tile with all that is in it
const MOST = 8000; // tiles of a part
const GAPS = 3; // levels that are set apart
const [LETTER, HIGH, CUT] = [7.4, 15, 8]; // pixels of a label; letters of one that is cut

// Returns nodes to draw that fill a pane: a tile for each part, and one for what a part weighs
// itself. `children` are the parts within each, and `roots` those that are within none.
export function tiles({ labels, kinds }, { roots, children, weights }, { width, height }) {
  const found = [];
  const stack = [[-1, roots, [0, 0, width || 600, height || 400], 0]];
  while (stack.length) {
    const [own, inside, [x, y, w, t], depth] = stack.pop();
    const parts = inside.map((node) => [weights[node], node]);
    const rest = own < 0 ? 0 : weights[own] - parts.reduce((sum, [weight]) => sum + weight, 0);
    if (rest > 0) parts.push([rest, own]);
    parts.sort(([a], [b]) => b - a).splice(MOST);
    const gap = depth && depth <= GAPS && Math.min(w, t) > 24 ? 1 : 0;
    const boxes = squarify(parts.map(([weight]) => weight), [x + gap, y + gap, w - 2 * gap, t - 2 * gap]);
    parts.forEach(([, node], index) => {
      const box = boxes[index];
      const [room, words] = [Math.floor((box[2] - 6) / LETTER), labels[node]];
      if (node !== own && children[node].length && box[2] * box[3] >= LEAST) stack.push([node, children[node], box, depth + 1]);
      else found.push({ key: String(node), label: box[3] > HIGH && room >= Math.min(words.length, CUT) ? words.slice(0, room) : "", style: kinds[node], box });
    });
  }
  return found;
}

// Cuts a rectangle into one for each weight, largest first, each near to a square (Bruls, Huizing
// and van Wijk, Squarified treemaps, 2000).
function squarify(weights, [x, y, w, t]) {
  const found = [];
  let total = weights.reduce((sum, weight) => sum + weight, 0);
  for (let at = 0; at < weights.length;) {
    const side = Math.min(w, t);
    const scale = (w * t) / total;
    let [end, sum, worst] = [at, 0, Infinity];
    for (; end < weights.length; end++) {
      const area = (sum + weights[end]) * scale;
      const ratio = Math.max((side * side * weights[at] * scale) / (area * area), (area * area) / (side * side * weights[end] * scale));
      if (ratio > worst) break;
      worst = ratio;
      sum += weights[end];
    }
    const thick = side && (sum * scale) / side;
    for (let along = 0; at < end; at++) {
      const length = (weights[at] / sum) * side;
      found.push(w >= t ? [x, y + along, thick, length] : [x + along, y, length, thick]);
      along += length;
    }
    if (w >= t) [x, w] = [x + thick, Math.max(0, w - thick)];
    else [y, t] = [y + thick, Math.max(0, t - thick)];
    total -= sum;
  }
  return found;
}

// Returns the tree of a graph in which each node is within the first one that uses it, and weighs
// as many nodes as are within it.
export function cones(roots, operands, count) {
  const weights = new Array(count).fill(1);
  const children = weights.map(() => []);
  const order = [...roots];
  const seen = new Set(roots);
  for (let at = 0; at < order.length; at++) {
    for (const each of operands(order[at])) {
      if (seen.has(each)) continue;
      seen.add(each);
      children[order[at]].push(each);
      order.push(each);
    }
  }
  for (const node of order.reverse()) for (const each of children[node]) weights[node] += weights[each];
  return { roots: [...roots, ...weights.flatMap((_, node) => (seen.has(node) ? [] : [node]))], children, weights };
}
