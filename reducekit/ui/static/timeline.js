// A trace: its calls along a line of time, colored by what they are for, above the state chart.

import { h, last, number, visible } from "./dom.js";
import { Picture } from "./picture.js";

const COLORS = { root: "--root", inner: "--inner", leaf: "--leaf", constant: "--constant", other: "--other" };

export class Timeline {
  constructor(element, pick) {
    this.pick = pick;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Call", oninput: () => this.select(Number(this.slider.value)) });
    this.said = h("div", { class: "small" });
    this.chart = h("div", { class: "chart" });
    this.element = h("div", { class: "timeline", hidden: true }, this.chart, h("div", { class: "track" }, this.said, this.canvas, this.slider));
    element.append(this.element);
    this.picture = new Picture(this.chart, { pick: () => {}, hover: (key) => this.hover(key), open: () => {}, step: () => false, placed: () => this.light() });
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.select(Math.floor(((event.clientX - box.left) / box.width) * this.data.labels.length));
    });
    new ResizeObserver(() => this.data && this.draw()).observe(this.canvas);
  }

  show(data) {
    const same = this.data && JSON.stringify(this.data.chart) === JSON.stringify(data.chart);
    this.data = data;
    this.element.hidden = false;
    this.slider.max = Math.max(0, data.labels.length - 1);
    if (!same) {
      const { states, transitions } = data.chart;
      this.picture.show(
        states.map((label, key) => ({ key: String(key), label, style: "inner" })),
        transitions.map(([from, to, label]) => ({ from: String(from), to: String(to), said: label })),
        { direction: "LR", arrows: true },
      );
    }
    this.select(Math.min(Number(this.slider.value), data.labels.length - 1), false);
  }

  hide() {
    this.element.hidden = true;
  }

  hover(key) {
    const state = Number(key);
    const count = this.data.states.filter((each) => each.includes(state)).length;
    return `${this.data.chart.states[state]}: after ${number(count)} of ${number(this.data.labels.length)} calls`;
  }

  select(call, tell = true) {
    const { labels, details, states, starts, ends, chart } = this.data;
    if (!labels.length) return;
    call = Math.max(0, Math.min(labels.length - 1, call));
    this.slider.value = call;
    this.call = call;
    const now = states[call] || [];
    this.said.textContent = visible(
      `call ${number(call + 1)} of ${number(labels.length)}: ${labels[call]} → ${now.map((each) => chart.states[each]).join(" or ") || "no state"}${details[call] ? ` (${details[call]})` : ""}`,
    );
    this.lit = now;
    this.light();
    this.draw();
    if (tell) this.pick([starts[call], ends[call]]);
  }

  light() {
    for (const [key, { box }] of this.picture.nodes) box.classList.toggle("now", (this.lit || []).includes(Number(key)));
  }

  selectAt(position) {
    const { starts, ends } = this.data;
    if (!starts.length) return null;
    const low = last(starts.length, (call) => starts[call] <= position);
    this.select(low, false);
    return [starts[low], ends[low]];
  }

  draw() {
    const { canvas, data } = this;
    const scale = devicePixelRatio || 1;
    const { width, height } = canvas.getBoundingClientRect();
    if (!width) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name);
    const count = data.labels.length;
    const step = width / count;
    const rows = data.chart.states.length;
    data.kinds.forEach((kind, call) => {
      context.fillStyle = color(COLORS[kind]);
      const tall = { root: 22, inner: 22, leaf: 10, other: 6, constant: 6 }[kind];
      context.fillRect(call * step, 24 - tall, Math.max(0.6, step - (step > 3 ? 1 : 0)), tall);
    });
    context.fillStyle = color("--accent");
    data.states.forEach((states, call) => {
      for (const state of states) context.fillRect(call * step, 28 + (state * 26) / rows, Math.max(0.6, step), Math.max(1, 26 / rows - 0.5));
    });
    context.fillStyle = color("--ink");
    context.fillRect(this.call * step + step / 2 - 0.75, 0, 1.5, height);
  }
}
