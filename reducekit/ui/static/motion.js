// Moves a picture from one layout to the next: what is gone shrinks first, then the others glide.

import { HEIGHT } from "./shapes.js";

export const SHRINK = 200; // milliseconds
export const GLIDE = 350;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const ease = (part) => 1 - (1 - part) ** 3;
export const between = (from, to, part) => from + (to - from) * part;
const share = (now, begin, time) => Math.max(0, Math.min(1, (now - begin) / time));

// Says whether two nodes overlap at some time of their ways.
function meet(a, b) {
  let [begin, end] = [0, 1];
  for (const [old, now, size] of [[a.from[0] - b.from[0], a.x - b.x, (a.w + b.w) / 2], [a.from[1] - b.from[1], a.y - b.y, HEIGHT]]) {
    if (old === now && Math.abs(old) >= size) return false;
    if (old === now) continue;
    const times = [(-size - old) / (now - old), (size - old) / (now - old)];
    begin = Math.max(begin, Math.min(...times));
    end = Math.min(end, Math.max(...times));
  }
  return begin < end;
}

// Has the fewest nodes appear at their places, as new ones do, so that no others meet on their ways.
function apart(nodes) {
  const met = new Map(nodes.filter(({ from }) => from).map((node) => [node, new Set()]));
  for (const node of met.keys()) {
    for (const other of met.keys()) if (other !== node && meet(node, other)) met.get(node).add(other);
  }
  for (;;) {
    const [node, others] = [...met].reduce((a, b) => (b[1].size > a[1].size ? b : a), [null, new Set()]);
    if (!node) return;
    for (const other of others) met.get(other).delete(node);
    met.delete(node);
    node.from = null;
  }
}

// `nodes` are {box, x, y, w, from}: the width, and where one comes from, or null if it is new. `lines` are paths with
// `points` and the nodes at both `ends`. `gone` are {box, x, y} of a picture before. `views` are
// the two transforms of the layer, and `draw` makes the path of points. `tiles` is called with the
// part of the way and the part that the gone ones still have. Returns a function that ends it at once.
export function glide({ layer, nodes, lines, gone, views: [old, view], draw, tiles = () => {} }, done) {
  const begin = performance.now();
  const wait = gone.length ? SHRINK : 0;
  let ended = false;
  apart(nodes);
  const moving = nodes.filter(({ from }) => from);
  const free = (node) => !moving.some(({ at, w }) => Math.abs(at[0] - node.x) < (w + node.w) / 2 && Math.abs(at[1] - node.y) < HEIGHT);

  function place(part) {
    for (const node of moving) {
      node.at = [between(node.from[0], node.x, part), between(node.from[1], node.y, part)];
      node.box.setAttribute("transform", `translate(${node.at[0].toFixed(1)} ${node.at[1].toFixed(1)})`);
    }
    for (const node of nodes) if (!node.from) node.box.setAttribute("opacity", free(node) ? part : 0);
    for (const line of lines) {
      const [start, end] = line.ends;
      const last = line.points.length - 1;
      // A line keeps hold of its nodes: its ends are as far from their places as these are.
      const off = ({ x, y, from }) => (from ? [(from[0] - x) * (1 - part), (from[1] - y) * (1 - part)] : [0, 0]);
      const [a, b] = [off(start), off(end)];
      line.path.setAttribute("d", draw(line.points.map(([x, y], at) => [x + between(a[0], b[0], at / last), y + between(a[1], b[1], at / last)])));
      if (!start.from || !end.from) line.path.setAttribute("opacity", part);
    }
    const at = { x: between(old.x, view.x, part), y: between(old.y, view.y, part), k: between(old.k, view.k, part) };
    layer.setAttribute("transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)}) scale(${at.k.toFixed(4)})`);
  }

  function finish() {
    if (ended) return;
    ended = true;
    place(1);
    tiles(1, 0);
    for (const { box } of nodes) box.removeAttribute("opacity");
    for (const { path } of lines) path.removeAttribute("opacity");
    done();
  }

  function frame() {
    if (ended) return;
    const now = performance.now();
    const left = 1 - share(now, begin, SHRINK);
    for (const { box, x, y } of gone.filter((each) => each.box)) {
      box.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${(0.6 + 0.4 * left).toFixed(3)})`);
      box.setAttribute("opacity", left.toFixed(3));
    }
    const part = share(now, begin + wait, GLIDE);
    if (part === 1) finish();
    else {
      place(ease(part));
      tiles(ease(part), left);
      requestAnimationFrame(frame);
    }
  }

  frame();
  setTimeout(finish, wait + GLIDE + 500); // a tab in the background draws no frames
  return finish;
}
