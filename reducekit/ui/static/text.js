// Shows a text of any length: only the lines that can be seen are in the page.

import { h, last, visible } from "./dom.js";

const HEIGHT = 20; // of a line, pixels, as in the style sheet
const LONGEST = 3000; // characters of a line that are shown
// Comments, constants and keywords of a line of terms, and of one of numbers, as in BTOR and CNF.
const TERMS = /(;.*|^c(?: .*)?$)|("[^"]*"|#[xb][\da-fA-F]+|(?<=[\s(])-?\d[\d.]*(?=[\s)]|$))|((?<=\()[^\s()]+|^[a-z]\w*)/g;
const NUMBERS = /(;.*)|(#[xb][\da-fA-F]+)|((?<=^-?\d+ )[a-z]\w*)/g;
const INKS = ["other", "constant", "inner"];
const MOST = 30_000_000; // pixels that browsers let an element be high

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
    this.pick = pick;
    element.addEventListener("scroll", () => this.draw(), { passive: true });
    element.addEventListener("click", (event) => this.clicked(event));
    element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(element);
  }

  // Shows a text from its top, or, if it is `another` state of the one before, where that was.
  show(text, another = false) {
    if (!another) this.element.scrollTop = this.element.scrollLeft = 0;
    if (text === this.text) return;
    this.text = text;
    this.inks = [];
    this.starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    if (this.starts.length > 1 && this.starts[this.starts.length - 1] === text.length) this.starts.pop();
    this.sheet.style.height = `${Math.min(MOST, this.starts.length * HEIGHT)}px`;
    this.range = null;
    this.drawn = null;
    this.draw();
  }

  lineOf(position) {
    return last(this.starts.length, (line) => this.starts[line] <= position);
  }

  line(number) {
    const end = number + 1 < this.starts.length ? this.starts[number + 1] - 1 : this.text.length;
    return this.text.slice(this.starts[number], end);
  }

  // Marks a range, and brings its first line into view unless `still`.
  select(range, still = false) {
    this.range = range;
    if (range && !still) {
      const first = this.lineOf(range[0]);
      const top = first * HEIGHT;
      const { scrollTop, clientHeight } = this.element;
      if (top < scrollTop || top + HEIGHT > scrollTop + clientHeight) {
        this.element.scrollTop = Math.max(0, top - clientHeight / 3);
      }
    }
    this.drawn = null;
    this.draw();
  }

  draw() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / HEIGHT) - 5);
    const last = Math.min(this.starts.length, Math.ceil((scrollTop + clientHeight) / HEIGHT) + 5);
    const key = `${first}-${last}`;
    if (this.drawn === key) return;
    this.drawn = key;
    const lines = [];
    for (let number = first; number < last; number++) {
      const line = h("div", { class: "line" });
      line.style.top = `${number * HEIGHT}px`;
      line.append(h("span", { class: "no", "aria-hidden": "true" }, String(number + 1)), ...this.parts(number));
      lines.push(line);
    }
    this.sheet.replaceChildren(...lines);
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
    const line = event.target.closest(".line");
    if (!line || String(getSelection())) return;
    const number = Math.round(parseFloat(line.style.top) / HEIGHT);
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
