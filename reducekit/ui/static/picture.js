// Draws nodes and edges that were laid out: SVG that can be moved, zoomed and walked by keys.

import { h, s, visible, workerUrl } from "./dom.js";
import { between, glide, still } from "./motion.js";
import { HEIGHT, outline } from "./shapes.js";

const LETTER = 7.3; // pixels, of the font of labels
const READABLE = 0.5; // scale from which on labels can be read

export class Picture {
  // `pick(key, event)`, `enter(key)` and `open(key)` are called on a click, a hover and a double
  // click.
  constructor(element, { pick, hover, open, step, placed = () => {} }) {
    this.element = element;
    this.layer = s("g");
    this.svg = s(
      "svg",
      { tabindex: "0", role: "application", "aria-label": "Graph: arrow keys walk along edges" },
      s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
        s("path", { d: "M0 0L8 4L0 8Z", fill: "currentColor", "fill-opacity": ".6" }))),
      this.layer,
    );
    this.tip = h("div", { class: "tip", hidden: true });
    element.append(this.svg, this.tip);
    this.events = { pick, hover, open, step, placed };
    this.view = { x: 0, y: 0, k: 1 };
    this.job = 0;
    this.nodes = new Map();
    this.worker = new Worker(workerUrl("layout.js"), { type: "module" });
    this.worker.onmessage = ({ data }) => this.placed(data);
    this.worker.onerror = (event) => event.preventDefault();
    this.busy = false;
    this.moved = false; // whether somebody has moved or zoomed what is drawn
    this.moving();
    new ResizeObserver(() => !this.moved && this.size && this.begin()).observe(this.svg);
  }

  // Shows nodes {key, label, style} and edges {from, to, complement, label} by keys; or nodes with
  // the `box` of each, {left, top, width, height}, which are tiles.
  // `kept` maps the keys of the picture that was drawn before, of `source`, to those of this one:
  // such nodes glide to their new places, and the others shrink away.
  show(nodes, edges, { direction = "TB", fit = true, arrows = false, center = null, source = null, kept = () => new Map() } = {}) {
    const wanted = { nodes, edges, direction, fit, arrows, center, source, kept };
    if (!nodes.length) {
      this.finish?.();
      this.job++;
      this.next = null;
      this.nodes = new Map();
      this.lines = [];
      this.size = null;
      this.layer.replaceChildren();
      this.source = null;
      delete this.element.dataset.nodes;
      this.rest();
      return;
    }
    if (this.busy) {
      this.next = wanted; // the latest counts
      return;
    }
    this.busy = true;
    this.element.toggleAttribute("data-busy", true);
    this.element.toggleAttribute("data-drawing", !this.nodes.size);
    this.wanted = wanted;
    if (nodes[0].box) {
      this.job++;
      this.tiled();
      return;
    }
    const place = new Map(nodes.map(({ key }, number) => [key, number]));
    this.worker.postMessage({
      job: ++this.job,
      direction,
      nodes: nodes.map(({ label }) => ({ width: wide(label), height: HEIGHT })),
      edges: edges.map(({ from, to, label }) => ({ from: place.get(from), to: place.get(to), label })),
    });
  }

  placed({ job, width, height, places, ways }) {
    this.busy = false;
    if (job !== this.job) return this.again();
    const { nodes, edges, fit, arrows } = this.wanted;
    this.element.removeAttribute("data-drawing");
    this.size = [width, height];
    const before = { nodes: this.nodes, lines: this.lines || [], view: { ...this.view } };
    const lines = edges.map((edge, number) => {
      const { points, label } = ways[number];
      const path = s("path", {
        class: `edge${edge.complement ? " complement" : ""}`,
        d: curve(points),
        "marker-end": arrows ? "url(#arrow)" : null,
      });
      path.ends = [edge.from, edge.to];
      path.points = points;
      if (edge.said) path.append(s("title", {}, visible(edge.said)));
      return edge.label && label
        ? s("g", {}, path, s("text", { class: "edge-label", x: label[0], y: label[1] }, visible(edge.label)))
        : path;
    });
    this.nodes = new Map();
    const boxes = nodes.map(({ key, label, style, said }, number) => {
      const [x, y] = places[number];
      const width = wide(label);
      const box = s(
        "g",
        { class: `node ${style}`, transform: `translate(${x} ${y})`, role: "img", "aria-label": said || label, "data-key": key },
        outline(style, width),
        s("text", {}, visible(label)),
      );
      this.nodes.set(key, { box, x, y, w: width });
      return box;
    });
    this.layer.replaceChildren(...lines, ...boxes);
    this.lines = [...this.layer.querySelectorAll(".edge")];
    if (fit) this.begin();
    else this.move();
    this.mark(this.marked, false);
    this.element.dataset.nodes = nodes.length;
    this.events.placed();
    this.glide(before);
    return this.again();
  }

  // Draws tiles: one path for all of a kind, as thousands of elements would move too slowly.
  tiled() {
    const { nodes, source, kept } = this.wanted;
    const { width, height } = this.room();
    const before = this.nodes;
    const next = this.source && source ? kept(this.source) : new Map();
    this.nodes = new Map(nodes.map(({ key, style, box: place }) => [key, { style, place, x: place[0], y: place[1] }]));
    for (const [old, key] of next) if (this.nodes.has(key)) this.nodes.get(key).from = before.get(old)?.place;
    const gone = [...before].flatMap(([key, { place }]) => (place && !next.has(key) ? [{ place }] : []));
    const paths = new Map([...new Set(["gone", ...nodes.map(({ style }) => style), "selected"])].map((style) => [style, s("path", { class: `tiles ${style}` })]));
    const labels = s("g", { class: "labels" }, nodes.map(({ label, box: [x, y, , t] }) => (label ? s("text", { x: x + 4, y: y + t / 2 }, visible(label)) : null)));
    Object.assign(this, { source, paths, lines: [], size: [width, height], busy: true });
    this.layer.replaceChildren(...paths.values(), labels);
    this.element.removeAttribute("data-drawing");
    this.element.dataset.nodes = nodes.length;
    this.begin();
    this.mark(this.marked, false);
    const tiles = (part, left) => {
      const ways = Object.fromEntries([...paths.keys()].map((style) => [style, ""]));
      for (const { style, place, from } of this.nodes.values()) if (from || part) ways[style] += square(from ? place.map((to, side) => between(from[side], to, part)) : place);
      for (const { place: [x, y, w, t] } of left ? gone : []) ways.gone += square([x + (w * (1 - left)) / 5, y + (t * (1 - left)) / 5, w * (0.6 + 0.4 * left), t * (0.6 + 0.4 * left)]);
      for (const [style, path] of paths) if (style !== "selected") path.setAttribute("d", ways[style]);
      labels.setAttribute("opacity", part === 1 ? 1 : 0);
    };
    const end = () => {
      this.finish = null;
      this.busy = false;
      this.again();
    };
    const moves = !still() && [...this.nodes.values()].some(({ from }) => from);
    if (!moves) tiles(1, 0);
    this.finish = moves ? glide({ layer: this.layer, nodes: [], lines: [], gone, views: [this.view, this.view], draw: curve, tiles }, end) : null;
    if (!moves) end();
  }

  // Returns the tile at which an event is.
  tile({ clientX, clientY }) {
    const { left, top } = this.svg.getBoundingClientRect();
    const [x, y] = [(clientX - left - this.view.x) / this.view.k, (clientY - top - this.view.y) / this.view.k];
    return [...this.nodes].find(([, { place }]) => place && place[0] <= x && x < place[0] + place[2] && place[1] <= y && y < place[1] + place[3])?.[0] ?? null;
  }

  // Leads from the picture before to this one, unless it shows something else.
  glide(before) {
    const { source, kept } = this.wanted;
    const next = this.source && source ? kept(this.source) : null;
    this.source = source;
    if (!next) return;
    if (still()) {
      this.layer.animate?.([{ opacity: 0 }, { opacity: 1 }], 200);
      return;
    }
    for (const node of this.nodes.values()) node.from = null;
    for (const [old, key] of next) {
      const [was, now] = [before.nodes.get(old), this.nodes.get(key)];
      if (was && now) now.from = [was.x, was.y];
    }
    const gone = [...before.nodes].flatMap(([key, node]) => (next.has(key) || !node.box ? [] : [node]));
    const cut = before.lines.filter(({ ends }) => ends.some((key) => !next.has(key)));
    const { x, y, k } = before.view;
    const ghosts = s("g", { class: "ghosts", "aria-hidden": "true", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${k.toFixed(4)})` }, cut, gone.map(({ box }) => box));
    if (gone.length) this.svg.insertBefore(ghosts, this.layer); // the rest stays readable
    const lines = this.lines.map((path) => ({ path, points: path.points, ends: path.ends.map((key) => this.nodes.get(key)) }));
    this.busy = true;
    const end = glide({ layer: this.layer, nodes: [...this.nodes.values()], lines, gone, views: [before.view, this.view], draw: curve }, () => {
      this.finish = null;
      this.busy = false;
      ghosts.remove();
      this.again();
    });
    if (this.busy) this.finish = end;
  }

  // Returns once what was asked for is drawn and nothing moves.
  settled() {
    return this.busy || this.next ? new Promise((resolve) => (this.waiting ??= []).push(resolve)) : Promise.resolve();
  }

  rest() {
    this.element.removeAttribute("data-busy");
    const waiting = this.waiting || [];
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  // Shows what was asked for meanwhile.
  again() {
    if (this.busy) return;
    if (!this.next) {
      this.rest();
      return;
    }
    const { nodes, edges, ...rest } = this.next;
    this.next = null;
    this.show(nodes, edges, rest);
  }

  mark(key, reveal = true) {
    for (const { box } of this.nodes.values()) box?.classList.remove("selected");
    for (const line of this.lines || []) {
      line.classList.toggle("near", key !== undefined && key !== null && line.ends.includes(key));
    }
    this.marked = key;
    const found = this.nodes.get(key);
    this.paths?.get("selected").setAttribute("d", found?.place ? square(found.place) : "");
    if (!found) return false;
    found.box?.classList.add("selected");
    if (reveal) this.reveal(found);
    return true;
  }

  reveal({ x, y }) {
    const { width, height } = this.svg.getBoundingClientRect();
    const [left, top] = [x * this.view.k + this.view.x, y * this.view.k + this.view.y];
    if (left < 40 || top < 24 || left > width - 40 || top > height - 40) {
      this.center(x, y, this.view.k);
    }
  }

  // Brings a place of the picture into the middle of the pane.
  center(x, y, k) {
    this.finish?.();
    const { width, height } = this.svg.getBoundingClientRect();
    this.moved = true;
    this.view = { k, x: width / 2 - x * k, y: height / 2 - y * k };
    this.move();
  }

  room() {
    return this.svg.getBoundingClientRect();
  }

  // Shows all that is drawn.
  fit() {
    this.finish?.();
    this.moved = false;
    const { width, height } = this.room();
    if (!width || !height || !this.size) return;
    const [w, t] = this.size;
    const k = Math.min(1.4, width / w, height / t);
    this.view = { k, x: (width - w * k) / 2, y: Math.max(0, (height - t * k) / 2) };
    this.move();
  }

  // Shows all, or, where that would be too small to read, what is around the middle node.
  begin() {
    this.fit();
    const middle = this.nodes.get(this.marked) || this.nodes.get(this.wanted.center);
    if (this.view.k >= READABLE || !middle) return;
    const { width, height } = this.room();
    const k = 0.8;
    this.view = { k, x: width / 2 - middle.x * k, y: height / 2 - middle.y * k };
    // No room is left empty above the first row and below the last one.
    const room = height - this.size[1] * k;
    this.view.y = room > 0 ? room / 2 : Math.max(Math.min(this.view.y, 8), room - 8);
    this.move();
  }

  zoom(factor, x, y) {
    this.finish?.();
    this.moved = true;
    const { width, height } = this.svg.getBoundingClientRect();
    const [px, py] = [x ?? width / 2, y ?? height / 2];
    const k = Math.max(0.01, Math.min(4, this.view.k * factor));
    const share = k / this.view.k;
    this.view = { k, x: px - (px - this.view.x) * share, y: py - (py - this.view.y) * share };
    this.move();
  }

  move() {
    const { x, y, k } = this.view;
    this.layer.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${k.toFixed(4)})`);
  }

  moving() {
    const { svg } = this;
    let from = null;
    const key = (event) => {
      const box = event.target.closest(".node");
      return box ? box.dataset.key : this.tile(event);
    };
    svg.addEventListener("pointerdown", (event) => {
      this.finish?.();
      from = { x: event.clientX, y: event.clientY, view: { ...this.view }, far: false };
    });
    svg.addEventListener("pointermove", (event) => {
      if (from && event.buttons) {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        if (!from.far && Math.abs(dx) + Math.abs(dy) > 4) {
          from.far = true;
          this.moved = true;
          svg.setPointerCapture(event.pointerId);
        }
        if (from.far) {
          this.view = { ...from.view, x: from.view.x + dx, y: from.view.y + dy };
          this.move();
        }
      }
      this.hovered(key(event), event);
    });
    svg.addEventListener("pointerup", () => setTimeout(() => (from = null)));
    svg.addEventListener("pointerleave", () => (this.tip.hidden = true));
    svg.addEventListener("click", (event) => {
      const found = key(event);
      if (found !== null && !(from && from.far)) this.events.pick(found, event);
    });
    svg.addEventListener("dblclick", (event) => {
      const found = key(event);
      if (found !== null) this.events.open(found);
    });
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    svg.addEventListener("keydown", (event) => {
      const factor = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
      if (factor) this.zoom(factor);
      else if (event.key === "0") this.fit();
      else if (event.key === "Enter" && this.marked !== undefined) this.events.open(this.marked);
      else if (!event.key.startsWith("Arrow") || !this.events.step(event.key.slice(5))) return;
      event.preventDefault();
    });
  }

  hovered(key, event) {
    const words = key === null ? "" : this.events.hover(key);
    this.tip.hidden = !words;
    if (!words) return;
    if (this.tip.textContent !== words) this.tip.textContent = words;
    const box = this.element.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - 200);
    const below = event.clientY - box.top + 16;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${below + 70 > box.height ? below - 90 : below}px`;
  }
}

const square = ([x, y, w, t]) => `M${x.toFixed(1)} ${y.toFixed(1)}h${Math.max(0.5, w - 1).toFixed(1)}v${Math.max(0.5, t - 1).toFixed(1)}h${-Math.max(0.5, w - 1).toFixed(1)}z`;
const wide = (label) => Math.max(28, label.length * LETTER + 14);

function curve(points) {
  const [first, ...rest] = points;
  let path = `M${first[0].toFixed(1)} ${first[1].toFixed(1)}`;
  if (rest.length === 1) return `${path}L${rest[0][0].toFixed(1)} ${rest[0][1].toFixed(1)}`;
  for (let i = 0; i < rest.length - 1; i++) {
    const [x, y] = rest[i];
    const [nx, ny] = i === rest.length - 2 ? rest[i + 1] : [(x + rest[i + 1][0]) / 2, (y + rest[i + 1][1]) / 2];
    path += `Q${x.toFixed(1)} ${y.toFixed(1)} ${nx.toFixed(1)} ${ny.toFixed(1)}`;
  }
  return path;
}
