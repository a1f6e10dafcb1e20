// The outline of a text: its parts within each other, each with its share of the whole, and a map.

import { h, last, number, visible } from "./dom.js";
import { pairs } from "./matching.js";
import { Picture } from "./picture.js";
import { tiles } from "./treemap.js";

const OPEN = 24; // the largest parts are in view

export class Outline {
  // `pick` gets the range in the text of the part that was clicked.
  constructor(element, pick) {
    this.pick = pick;
    this.element = h("div", { class: "outline-tree", hidden: true });
    this.top = h("div", { class: "treemap" });
    this.map = new Picture(this.top, { pick: (key) => this.reveal(Number(key)), hover: (key) => `${this.data.labels[key]}\n${this.data.details[key]}`, open: () => {}, step: () => false });
    element.append(this.element);
  }

  show(data) {
    const { labels, details, starts, ends, edges } = (this.data = data);
    const share = (node) => (ends[node] - starts[node]) / Math.max(1, ends[0] - starts[0]);
    const [largest, ...others] = [...labels.keys()].slice(1).sort((a, b) => share(b) - share(a));
    const large = new Set([largest, ...others.slice(0, OPEN)]);
    this.rows = [];
    // A part comes before those within it: they are made first.
    for (let node = labels.length - 1; node > 0; node--) {
      const bar = h("i");
      bar.style.width = `${(100 * share(node)) / share(largest)}%`;
      const percent = `${(100 * share(node)).toFixed(1)} %`;
      const words = [h("code", {}, visible(labels[node])), h("span", { class: "bar" }, bar), h("span", { class: "share" }, percent)];
      const row = { title: details[node], onclick: () => this.select(node) };
      this.rows[node] = edges[node].length
        ? h("details", { open: edges[node].some((each) => large.has(each)) }, h("summary", row, words), edges[node].map((each) => this.rows[each]))
        : h("button", { type: "button", ...row }, words);
    }
    this.element.replaceChildren(h("p", { class: "quiet small" }, `${number(labels.length - 1)} parts and their shares of the text`), ...edges[0].map((each) => this.rows[each]));
    this.element.prepend(this.top);
    this.element.hidden = false;
    this.top.hidden = labels.length < 3;
    const tree = { roots: edges[0], children: edges, weights: starts.map((start, node) => ends[node] - start) };
    const kept = (drawn) => new Map(pairs(drawn, data).map((pair) => pair.map(String)));
    this.map.show(this.top.hidden ? [] : tiles(data, tree, this.map.room()), [], { source: data, kept });
  }

  hide() {
    this.element.hidden = true;
  }

  settled() {
    return this.map.settled();
  }

  select(node) {
    this.map.mark(String(node), false);
    this.element.querySelector(".selected")?.classList.remove("selected");
    this.rows[node].classList.add("selected");
    this.pick([this.data.starts[node], this.data.ends[node]]);
  }

  // Selects the innermost part at a position of the text; returns its range.
  selectAt(position) {
    const { starts, ends } = this.data;
    let node = last(starts.length, (each) => starts[each] <= position);
    while (node && ends[node] <= position) node--;
    if (!node) return [position, position + 1];
    return this.reveal(node);
  }

  reveal(node) {
    const { starts, ends } = this.data;
    const row = this.rows[node];
    for (let up = row.parentElement; up !== this.element; up = up.parentElement) up.open = true;
    this.select(node);
    this.element.scrollTop = row.offsetTop - this.element.clientHeight / 3;
    return [starts[node], ends[node]];
  }
}
