// Shows a text of any length: only the lines that can be seen are in the page.

import { h, last, visible } from "./dom.js";
import { GLIDE, SHRINK, still } from "./motion.js";

const HEIGHT = 20; // of a line, pixels, as in the style sheet
const LONGEST = 3000; // characters of a line that are shown
// Comments, constants and keywords of a line of terms, and of one of numbers, as in BTOR and CNF.
const TERMS = /(;.*|^c(?: .*)?$)|("[^"]*"|#[xb][\da-fA-F]+|(?<=[\s(])-?\d[\d.]*(?=[\s)]|$))|((?<=\()[^\s()]+|^[a-z]\w*)/g;
const NUMBERS = /(;.*)|(#[xb][\da-fA-F]+)|((?<=^-?\d+ )[a-z]\w*)/g;
const INKS = ["other", "constant", "inner"];
const MOST = 30_000_000; // pixels that browsers let an element be high
const LARGE = 1 << 21; // characters of a text in which nothing is struck out
const NEAR = 200; // lines within which one is looked for that has stayed
const BLOCK = 40; // lines removed in one place that are shown

export class TextView {
  // `pick` gets the position in the text that was clicked.
  constructor(element, pick) {
    this.element = element;
    this.sheet = h("div", { class: "sheet" });
    element.append(this.sheet);
    this.starts = [0];
    this.text = "";
    this.range = null;
    this.inks = [];
    this.change();
    this.pick = pick;
    element.addEventListener("scroll", () => this.draw(), { passive: true });
    element.addEventListener("click", (event) => this.clicked(event));
    element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(element);
  }

  // Shows a text from its top; or, as another state of the text `before`, where that was: what is
  // removed is struck out and collapses, and stays if the change is `kept` in view.
  show(text, before = null, kept = false) {
    if (before === null) this.element.scrollTop = this.element.scrollLeft = 0;
    if (text === this.text && !kept) return;
    const compared = before !== null && Math.max(before.length, text.length) < LARGE && (kept || !still());
    this.change(compared ? changed(lines(before), lines(text)) : undefined);
    if (before !== null && still()) this.sheet.animate?.([{ opacity: 0 }, { opacity: 1 }], SHRINK);
    this.text = text;
    this.inks = [];
    this.starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    if (this.starts.length > 1 && this.starts[this.starts.length - 1] === text.length) this.starts.pop();
    this.range = null;
    this.size();
    this.settled = kept || !this.gone.length ? Promise.resolve() : this.collapse();
  }

  // Notes the lines that a step removed, each before which line of the text, and those it wrote.
  change({ gone = [], come = new Set() } = {}) {
    this.gone = gone;
    this.come = come;
    this.sheet.classList.remove("melting");
  }

  size() {
    this.sheet.style.height = `${Math.min(MOST, (this.starts.length + this.gone.length) * HEIGHT)}px`;
    this.drawn = null;
    this.draw();
  }

  // Has the removed lines fade, and then the others move together; returns once nothing moves.
  async collapse() {
    const { gone } = this;
    const after = (time) => new Promise((resolve) => setTimeout(() => resolve(this.gone === gone), time));
    this.sheet.classList.add("melting");
    if (!(await after(SHRINK))) return;
    for (const line of this.sheet.children) line.style.top = `${Number(line.dataset.line) * HEIGHT}px`;
    if (!(await after(GLIDE))) return;
    this.change();
    this.size();
  }

  // Returns in which row a line is, after those that were removed before it.
  row(line) {
    return line + (this.gone.length && this.gone[0][0] <= line ? 1 + last(this.gone.length, (at) => this.gone[at][0] <= line) : 0);
  }

  // Brings the first place that differs into view.
  reveal() {
    const [come] = this.come;
    const row = Math.min(this.gone[0]?.[0] ?? Infinity, come === undefined ? Infinity : this.row(come));
    if (row < Infinity) this.scroll(row);
  }

  scroll(row) {
    const top = row * HEIGHT;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + HEIGHT > scrollTop + clientHeight) this.element.scrollTop = Math.max(0, top - clientHeight / 3);
  }

  lineOf(position) {
    return last(this.starts.length, (line) => this.starts[line] <= position);
  }

  line(number) {
    const end = number + 1 < this.starts.length ? this.starts[number + 1] - 1 : this.text.length;
    return this.text.slice(this.starts[number], end);
  }

  // Marks a range, and brings its first line into view unless `fixed`.
  select(range, fixed = false) {
    this.range = range;
    if (range && !fixed) this.scroll(this.row(this.lineOf(range[0])));
    this.drawn = null;
    this.draw();
  }

  draw() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / HEIGHT) - 5);
    const end = Math.ceil((scrollTop + clientHeight) / HEIGHT) + 5;
    const key = `${first}-${end}`;
    if (this.drawn === key) return;
    this.drawn = key;
    const { gone, come, starts } = this;
    const rows = [];
    const add = (row, number, style, sign, parts) => {
      const line = h("div", { class: `line ${style}`, "data-line": number }, h("span", { class: "no", "aria-hidden": "true" }, sign), parts);
      line.style.top = `${row * HEIGHT}px`;
      rows.push(line);
    };
    let number = last(starts.length, (line) => this.row(line) <= first);
    let at = gone.findIndex(([line]) => line >= number);
    if (at < 0) at = gone.length;
    for (let row = number + at; row < end + Math.min(gone.length, BLOCK) && (number < starts.length || at < gone.length); row++) {
      if (at < gone.length && gone[at][0] <= number) add(row, gone[at][0], "gone", "−", h("del", {}, visible(gone[at++][1].slice(0, LONGEST))));
      else add(row, number, come.has(number) ? "come" : "", `${come.has(number) ? "+ " : ""}${number + 1}`, this.parts(number++));
    }
    this.sheet.replaceChildren(...rows);
  }

  parts(number) {
    const [start, length] = [this.starts[number], this.line(number).length];
    const end = start + Math.min(length, LONGEST);
    const [from, to] = (this.range || [end, end]).map((at) => Math.max(start, Math.min(end, at)));
    const inks = this.inks.length ? this.inks : tokens(this.text.slice(start, end), start);
    return [
      this.inked(inks, start, from),
      from < to ? h("mark", {}, this.inked(inks, from, to)) : [],
      this.inked(inks, to, end),
      length > LONGEST ? h("span", { class: "no" }, `+${length - LONGEST}`) : [],
    ].flat();
  }

  // Colors the text: [start, end, kind of node] in order.
  paint(inks) {
    this.inks = inks;
    this.drawn = null;
    this.draw();
  }

  inked(inks, from, to) {
    const { text } = this;
    const found = [];
    for (let at = last(inks.length, (ink) => inks[ink][0] <= from); at < inks.length && inks[at][0] < to; at++) {
      const [start, end, kind] = inks[at];
      if (end <= from) continue;
      found.push(visible(text.slice(from, start)), h("span", { class: kind }, visible(text.slice(Math.max(from, start), Math.min(to, end)))));
      from = Math.min(to, end);
    }
    return [...found, visible(text.slice(from, to))];
  }

  clicked(event) {
    const line = event.target.closest(".line:not(.gone)");
    if (!line || String(getSelection())) return;
    const number = Number(line.dataset.line);
    const gutter = line.querySelector(".no");
    const probe = document.createRange();
    probe.selectNodeContents(gutter);
    const width = probe.getBoundingClientRect().width / Math.max(1, gutter.textContent.length);
    const column = Math.floor((event.clientX - gutter.getBoundingClientRect().right - width / 2) / width);
    const length = this.line(number).length;
    this.pick(this.starts[number] + Math.max(0, Math.min(column, Math.max(0, length - 1))));
  }

  key(event) {
    const pages = { PageDown: 1, PageUp: -1, ArrowDown: HEIGHT / this.element.clientHeight, ArrowUp: -HEIGHT / this.element.clientHeight };
    if (event.key in pages) this.element.scrollTop += pages[event.key] * this.element.clientHeight;
    else if (event.key === "Home") this.element.scrollTop = 0;
    else if (event.key === "End") this.element.scrollTop = this.sheet.offsetHeight;
    else return;
    event.preventDefault();
  }

  // Returns where `words` occur next after the marked range, or `back` before it; all around.
  find(words, back = false) {
    if (!words) return null;
    const from = this.range ? this.range[0] : back ? this.text.length : -1;
    let at = back ? (from > 0 ? this.text.lastIndexOf(words, from - 1) : -1) : this.text.indexOf(words, from + 1);
    if (at < 0) at = back ? this.text.lastIndexOf(words) : this.text.indexOf(words);
    return at < 0 ? null : [at, at + words.length];
  }

  // Counts how often `words` occur up to a position, and in all.
  place(words, position) {
    return this.count(words, position + 1);
  }

  count(words, end = this.text.length) {
    let found = 0;
    for (let at = this.text.indexOf(words); at >= 0 && at < end; at = this.text.indexOf(words, at + 1)) found++;
    return found;
  }
}

// Colors a line of a format that says nothing of its colours.
function tokens(line, start) {
  const found = [...line.matchAll(/^-?\d/.test(line) ? NUMBERS : TERMS)];
  return found.map(({ index, 0: word, ...groups }) => [start + index, start + index + word.length, INKS[[1, 2, 3].findIndex((group) => groups[group])]]);
}

const lines = (text) => text.replace(/\n$/, "").split("\n");

// Returns the lines that a step removed, [the line of `after` that follows, what it was], and the
// numbers of those that it wrote. A line that occurs nearby has stayed.
export function changed(before, after) {
  const [gone, come] = [[], new Set()];
  let [start, end, stop] = [0, before.length, after.length];
  while (start < Math.min(end, stop) && before[start] === after[start]) start++;
  while (end > start && stop > start && before[end - 1] === after[stop - 1]) [end, stop] = [end - 1, stop - 1];
  const places = new Map();
  for (let at = stop - 1; at >= start; at--) {
    if (!places.has(after[at])) places.set(after[at], []);
    places.get(after[at]).push(at);
  }
  let [next, block] = [start, 0];
  for (let at = start; at < end; at++) {
    const found = places.get(before[at]) || [];
    while (found.length && found[found.length - 1] < next) found.pop();
    const place = found[found.length - 1] ?? Infinity;
    if (place - next < NEAR) {
      for (; next < place; next++) come.add(next);
      [next, block] = [place + 1, 0];
    } else if (block++ < BLOCK) gone.push([next, before[at]]);
    else gone[gone.length - 1][1] = `… and ${block - BLOCK + 1} more lines`;
  }
  for (; next < stop; next++) come.add(next);
  return { gone, come };
}
