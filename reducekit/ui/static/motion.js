// Moves a picture from one layout to the next: what is gone shrinks first, then the others glide.

const SHRINK = 200; // milliseconds
const GLIDE = 350;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const ease = (part) => 1 - (1 - part) ** 3;
export const between = (from, to, part) => from + (to - from) * part;
const share = (now, begin, time) => Math.max(0, Math.min(1, (now - begin) / time));

// `nodes` are {box, x, y, from}: where one comes from, or null if it is new. `lines` are paths with
// `points` and the nodes at both `ends`. `gone` are {box, x, y} of a picture before. `views` are
// the two transforms of the layer, and `draw` makes the path of points. `tiles` is called with the
// part of the way and the part that the gone ones still have. Returns a function that ends it at once.
export function glide({ layer, nodes, lines, gone, views: [old, view], draw, tiles = () => {} }, done) {
  const begin = performance.now();
  const wait = gone.length ? SHRINK : 0;
  let ended = false;

  function place(part) {
    for (const { box, x, y, from } of nodes) {
      const [left, top] = from ? [between(from[0], x, part), between(from[1], y, part)] : [x, y];
      box.setAttribute("transform", `translate(${left.toFixed(1)} ${top.toFixed(1)})`);
      if (!from) box.setAttribute("opacity", part);
    }
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
