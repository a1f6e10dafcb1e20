// The graph of a text: all of it where that is small, otherwise a neighbourhood, and at first a map
// of the nodes where they are many. What lies below a neighbourhood is collapsed into cones that say
// how many nodes they hold.

import { h, last, number } from "./dom.js";
import { matched, pairs } from "./matching.js";
import { Picture } from "./picture.js";
import { legend } from "./shapes.js";
import { cones, tiles } from "./treemap.js";

const WHOLE = 100; // nodes that are drawn at once
const LARGE = 500; // nodes above which there is a map of all
const NEAR = 40; // nodes of a neighbourhood
const COUNTED = 100_000;
const LETTERS = 22; // of a label

export class GraphView {
  // `pick` gets the range in the text of the node that was clicked; `lineOf` gives the line
  // of a position.
  constructor(element, pick, lineOf) {
    this.pick = pick;
    this.lineOf = lineOf;
    this.hint = h("div", { class: "hint" });
    this.picture = new Picture(element, {
      pick: (key) => this.clicked(key),
      hover: (key) => this.said(key),
      open: (key) => this.opened(key),
      step: (direction) => this.step(direction),
    });
    element.append(this.hint);
    this.data = null;
  }

  show(data, fit = true) {
    const before = this.data;
    this.data = data;
    const size = data.labels.length;
    this.users = Array.from({ length: size }, () => []);
    data.edges.forEach((edges, user) => {
      for (const edge of edges) this.users[edge < 0 ? ~edge : edge].push(user);
    });
    this.byStart = data.starts.map((_, node) => node).sort((a, b) => data.starts[a] - data.starts[b]);
    this.shown = null;
    const kept = before && this.selected !== undefined ? matched(before, data)[this.selected] : -1;
    this.selected = kept < 0 ? undefined : kept;
    this.around(undefined, fit);
  }

  hide(words = "") {
    this.data = null;
    this.selected = undefined;
    this.picture.show([], []);
    this.hint.replaceChildren(h("span", { class: "quiet" }, words));
  }

  operands(node) {
    return this.data.edges[node].map((edge) => (edge < 0 ? ~edge : edge));
  }

  roots() {
    const found = this.data.kinds.flatMap((kind, node) => (kind === "root" ? [node] : []));
    if (found.length) return found;
    return this.users.flatMap((users, node) => (users.length ? [] : [node]));
  }

  // Shows what is near a node: nodes by their distance, operands before users. Without one, all.
  around(center, fit = true) {
    const size = this.data.labels.length;
    if (size > LARGE && center === undefined) return this.whole();
    if (size <= WHOLE) this.shown = new Set(this.data.labels.keys());
    else {
      const from = center === undefined ? this.roots().slice(0, 12) : [center];
      this.shown = new Set(from);
      this.grow(from, NEAR, center !== undefined);
    }
    return this.draw(fit);
  }

  whole() {
    this.shown = new Set();
    const tree = cones(this.roots(), (node) => this.operands(node), this.data.labels.length);
    this.present(tiles(this.data, tree, this.picture.room()), [], true);
  }

  grow(from, most, up = false) {
    const queue = [...from];
    for (let at = 0; at < queue.length && this.shown.size < most; at++) {
      const near = this.operands(queue[at]);
      if (up) near.push(...this.users[queue[at]]);
      for (const each of near) {
        if (this.shown.size >= most) break;
        if (!this.shown.has(each)) {
          this.shown.add(each);
          queue.push(each);
        }
      }
    }
  }

  // Counts the nodes below the given ones that are not shown.
  below(nodes) {
    const seen = new Set(nodes);
    const stack = [...nodes];
    while (stack.length && seen.size < COUNTED) {
      for (const each of this.operands(stack.pop())) {
        if (!seen.has(each) && !this.shown.has(each)) {
          seen.add(each);
          stack.push(each);
        }
      }
    }
    return seen.size;
  }

  draw(fit) {
    const { labels, details, kinds, edges } = this.data;
    const nodes = [];
    const lines = [];
    for (const node of this.shown) {
      const label = labels[node];
      nodes.push({
        key: String(node),
        label: label.length > LETTERS ? `${label.slice(0, LETTERS - 1)}…` : label,
        style: kinds[node],
        said: `${label}${details[node] ? `, ${details[node]}` : ""}`,
      });
      const hidden = [];
      for (const edge of edges[node]) {
        const to = edge < 0 ? ~edge : edge;
        if (this.shown.has(to)) lines.push({ from: String(node), to: String(to), complement: edge < 0 });
        else if (!hidden.includes(to)) hidden.push(to);
      }
      if (hidden.length) {
        nodes.push({ key: `below ${node}`, label: `▾ ${number(this.below(hidden))}`, style: "cone", said: "hidden nodes below; Enter shows them" });
        lines.push({ from: String(node), to: `below ${node}` });
      }
      const above = this.users[node].filter((user) => !this.shown.has(user)).length;
      if (above) {
        nodes.push({ key: `above ${node}`, label: `▴ ${number(above)}`, style: "cone", said: "hidden users; Enter shows them" });
        lines.push({ from: `above ${node}`, to: String(node) });
      }
    }
    this.present(nodes, lines, fit);
  }

  present(nodes, lines, fit) {
    this.picture.mark(this.selected === undefined ? undefined : String(this.selected), false);
    const { data } = this;
    const kept = (drawn) => new Map(["", "below ", "above "].flatMap((word) => pairs(drawn, data).map(([from, to]) => [`${word}${from}`, `${word}${to}`])));
    this.picture.show(nodes, lines, { fit, center: String(this.roots()[0] ?? 0), source: data, kept });
    this.kinds = new Set(nodes.map(({ style }) => style));
    this.complemented = lines.some(({ complement }) => complement);
    this.tell();
  }

  tell() {
    const size = this.data.labels.length;
    const all = !this.shown.size;
    const part = this.shown.size < size && !all;
    const button = (words, title, action) => h("button", { type: "button", title, onclick: action }, words);
    const parts = [
      h("span", { class: "quiet" }, part ? `${number(this.shown.size)} of ${number(size)} nodes` : `${number(size)} nodes${all ? ", a tile each" : ""}`),
      part ? button(size > LARGE ? "All nodes" : "From the roots", "Begin again", () => this.around(undefined)) : null,
      part && this.selected !== undefined
        ? button("Around the selection", "Show what is near the selected node (Enter)", () => this.around(this.selected))
        : null,
      button("Fit", "Show all that is drawn (0)", () => this.picture.fit()),
      legend(this.kinds, this.complemented),
    ];
    this.hint.replaceChildren(...parts.filter(Boolean));
  }

  clicked(key) {
    const [word, of] = key.split(" ");
    if (of !== undefined) return this.opened(key);
    this.select(Number(word));
    const { starts, ends } = this.data;
    this.pick([starts[this.selected], ends[this.selected]]);
  }

  opened(key) {
    this.selected = Number(key.split(" ").pop());
    if (this.shown.size < this.data.labels.length) this.around(this.selected);
  }

  select(node) {
    this.selected = node;
    if (!this.shown.has(node)) this.around(node);
    else this.picture.mark(String(node));
    this.tell();
  }

  // Selects the innermost node at a position of the text; returns its range.
  selectAt(position) {
    if (!this.data || !this.data.labels.length) return null;
    const { starts, ends } = this.data;
    const low = last(this.byStart.length, (each) => starts[this.byStart[each]] <= position);
    for (let at = low; at >= 0 && at > low - 5000; at--) {
      const node = this.byStart[at];
      if (starts[node] <= position && position < ends[node]) {
        this.select(node);
        return [starts[node], ends[node]];
      }
    }
    return null;
  }

  // Returns once the graph is drawn and nothing moves.
  settled() {
    return this.picture.settled();
  }

  step(direction) {
    if (!this.data) return false;
    const node = this.selected;
    if (node === undefined) {
      this.clicked(String(this.roots()[0] ?? 0));
      return true;
    }
    let next;
    if (direction === "Down") [next] = this.operands(node);
    else if (direction === "Up") [next] = this.users[node];
    else {
      const [user] = this.users[node];
      const row = user === undefined ? this.roots() : this.operands(user);
      next = row[row.indexOf(node) + (direction === "Right" ? 1 : -1)];
    }
    if (next !== undefined) this.clicked(String(next));
    return true;
  }

  said(key) {
    const [word, of] = key.split(" ");
    if (of !== undefined) return word === "below" ? "nodes below that are not shown: click to see them" : "users that are not shown: click to see them";
    const node = Number(word);
    const { labels, details, starts } = this.data;
    const operands = this.operands(node).map((each) => labels[each].split(" ").slice(0, 2).join(" "));
    return [
      labels[node],
      details[node],
      `line ${number(1 + this.lineOf(starts[node]))}`,
      operands.length ? `operands: ${operands.slice(0, 6).join(", ")}${operands.length > 6 ? ", …" : ""}` : "",
      `users: ${number(this.users[node].length)}`,
    ].filter(Boolean).join("\n");
  }
}
