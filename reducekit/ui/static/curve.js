// The line of time: bytes by checks or by time of all runs, with the steps of the one that is shown
// as dots, and a slider as its axis.

import { drawn, labels, LETTER, lines } from "./lines.js";
import { count, h, number, s, seconds, visible } from "./dom.js";

const [LEFT, TOP, RIGHT, BELOW] = [58, 8, 12, 22];
const [THUMB, APART] = [8, 5]; // pixels: half of the slider's handle; the least between two dots
const NAME = 26; // letters of a name at the end of a line

export class CurveView {
  // `pick` is called with a run and the checks of the step that is clicked; `choose` with the number
  // of a step of the run that is shown, `play` to play them, and `key` with each key on the slider.
  constructor(element, { pick, choose, play, key }) {
    this.choose = choose;
    this.axis = "checks";
    this.scale = "log";
    this.svg = s("svg", { class: "curve", role: "img", "aria-label": "Bytes that are left" });
    const choice = (name, options) =>
      h("div", { class: "choice", role: "radiogroup", "aria-label": name },
        options.map(([value, words]) =>
          h("label", {}, h("input", { type: "radio", name: `curve-${name}`, value, checked: this[name] === value, onchange: () => { this[name] = value; this.draw(); } }), h("span", {}, words))));
    this.tip = h("div", { class: "tip", hidden: true });
    this.mark = s("circle", { r: 5, class: "mark" });
    this.svg.addEventListener("pointermove", (event) => this.hover(event));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.svg.addEventListener("click", (event) => {
      const near = this.nearest(event);
      if (near) pick(near.run, near.point[0]);
    });
    this.played = h("button", { type: "button", class: "play", onclick: play });
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, step: "any", "aria-label": "Step", oninput: () => this.slid(), onkeydown: key });
    this.axes = h("div", { class: "axis" }, this.played, this.slider);
    element.append(h("div", { class: "choices" }, choice("axis", [["checks", "checks"], ["time", "time"]]), choice("scale", [["linear", "lin"], ["log", "log"]])), this.svg, this.tip, this.axes);
    this.runs = [];
    this.steps = [];
    this.playing(false);
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  show(runs) {
    this.runs = runs;
    this.draw();
  }

  // Shows the steps of a run, and which one is chosen.
  at(run, steps, chosen) {
    Object.assign(this, { run, steps, chosen });
    this.draw();
  }

  playing(now) {
    this.played.textContent = now ? "❚❚" : "▶";
    this.played.title = now ? "Pause" : "Play the steps, from this one or from the input";
    this.played.setAttribute("aria-label", now ? "Pause" : "Play");
  }

  slid() {
    const value = Number(this.slider.value);
    this.choose(Math.max(0, this.steps.findLastIndex((step) => step[3 + this.by] <= value + 1e-9)));
  }

  draw() {
    const { width, height } = this.svg.getBoundingClientRect();
    const found = lines(this.runs);
    this.lines = found;
    this.axes.hidden = !this.steps.length;
    if (!width || !found.length) {
      this.svg.replaceChildren(s("text", { x: LEFT, y: 30 }, "The curve of a reduction appears here."));
      this.axes.hidden = true;
      return;
    }
    const at = this.axis === "checks" ? 0 : 1;
    const ends = found.map(({ end }) => end[at]);
    const log = this.scale === "log";
    const least = at === 0 ? 1 : 0.1;
    const most = Math.max(2 * least, ...ends, ...found.map(({ points }) => points[points.length - 1][at]));
    const largest = Math.max(...found.map(({ points }) => points.reduce((high, point) => Math.max(high, point[2]), 1)));
    const smallest = Math.max(1, Math.min(...found.map(({ points }) => points[points.length - 1][2])));
    const bottom = 10 ** Math.floor(Math.log10(smallest));
    // One line needs no name; of several, the right ones have room.
    const names = found.length > 1 ? found.map(({ name }) => visible(name.length > NAME ? `${name.slice(0, NAME - 1)}…` : name)) : [];
    const right = names.length ? Math.min(width / 3, RIGHT + LETTER * Math.max(...names.map(({ length }) => length))) : RIGHT;
    const [w, t] = [width - LEFT - right, height - TOP - BELOW];
    const x = (value) => LEFT + (value / most) * w;
    const y = (value) => TOP + t - (log ? (Math.log10(Math.max(value, bottom) / bottom) / Math.log10(Math.max(largest / bottom, 10))) * t : (value / largest) * t);
    Object.assign(this, { x, y, by: at });
    const parts = [];
    for (const mark of marks(log, bottom, largest, Math.max(2, t / 34))) {
      parts.push(s("path", { class: "rule", d: `M${LEFT} ${y(mark)}h${w}` }), s("text", { x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end" }, short(mark)));
    }
    for (const mark of marks(false, least, most, Math.max(2, w / 80)).filter((each) => at || Number.isInteger(each))) {
      parts.push(s("path", { class: "rule", d: `M${x(mark)} ${TOP}v${t}` }), s("text", { x: x(mark), y: height - 6, "text-anchor": "middle" }, short(mark) + (at ? " s" : "")));
    }
    const named = [];
    found.forEach((each, index) => {
      let path = "";
      let last = null;
      for (const point of each.points) {
        const [px, py] = [x(point[at]), y(point[2])];
        if (last && px - last[0] < 0.5 && Math.abs(py - last[1]) < 0.5) continue;
        path += last ? `H${px.toFixed(1)}V${py.toFixed(1)}` : `M${px.toFixed(1)} ${py.toFixed(1)}`;
        last = [px, py];
      }
      const end = Math.max(last[0], x(ends[index]));
      const dot = s("circle", { cx: end, cy: last[1], r: 3.5 });
      dot.style.fill = `var(${each.runs[0].color})`;
      parts.push(drawn(each, s("path", { class: "series", d: `${path}H${end.toFixed(1)}` })), dot);
      if (names.length) named.push({ at: [end, last[1]], name: names[index] });
    });
    parts.push(...this.dots(x, y, at, TOP + t), ...labels(named, TOP + t));
    this.svg.replaceChildren(...parts, this.mark);
    Object.assign(this.slider.style, { marginLeft: `${LEFT - THUMB}px`, width: `${w + 2 * THUMB}px` });
    const step = this.steps[this.chosen];
    if (!step) return;
    this.slider.max = most;
    this.slider.value = step[3 + at];
    this.slider.setAttribute("aria-valuetext", `step ${number(this.chosen)} of ${number(this.steps.length - 1)}, ${count(step[2], "byte")}`);
  }

  // The steps as dots, as far as they have room, and a line from the chosen one to the slider.
  dots(x, y, at, bottom) {
    const found = [];
    let last = -APART;
    this.steps.forEach((step, index) => {
      const [left, top] = [x(step[3 + at]), y(step[2])];
      const chosen = index === this.chosen;
      if (chosen) found.push(s("path", { class: "cursor", d: `M${left} ${top}V${bottom}` }));
      if (!chosen && left - last < APART) return;
      last = left;
      found.push(s("circle", { class: chosen ? "dot chosen" : "dot", cx: left, cy: top, r: chosen ? 5 : 2.5 }));
    });
    for (const each of found) each.style.setProperty("--c", `var(${this.run.color})`);
    return found;
  }

  // Returns the line that is nearest to the pointer, and its last step before that.
  nearest(event) {
    if (!this.x) return null;
    const box = this.svg.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let near = null;
    for (const { name, points, runs } of this.lines) {
      const point = points.findLast((each) => this.x(each[this.by]) <= px + 2) || points[0];
      const far = Math.abs(this.y(point[2]) - py);
      if (!near || far < near.far) near = { run: runs[0], name, point, far };
    }
    return near;
  }

  hover(event) {
    const near = event && this.nearest(event);
    this.tip.hidden = !near;
    this.mark.style.visibility = near ? "visible" : "hidden";
    if (!near) return;
    const { run, name, point } = near;
    this.tip.textContent = `${visible(name)}: ${count(point[2], "byte")} after ${count(point[0], "check")}, ${seconds(point[1])}`;
    const [px, py] = [this.x(point[this.by]), this.y(point[2])];
    this.mark.setAttribute("cx", px);
    this.mark.setAttribute("cy", py);
    this.mark.style.fill = `var(${run.color})`;
    const width = this.svg.getBoundingClientRect().width;
    this.tip.style.left = `${Math.max(0, Math.min(px + 12, width - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${Math.max(0, py - 36)}px`;
  }
}

function marks(log, least, most, wanted) {
  if (!log) {
    const rough = most / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => index * step);
  }
  const found = [];
  const powers = Math.log10(most / least);
  for (let power = 10 ** Math.floor(Math.log10(least) + 1e-9); power <= most * 1.0001; power *= 10) {
    for (const factor of powers <= 2 ? [1, 2, 5] : [1]) {
      if (factor * power >= least * 0.999 && factor * power <= most) found.push(factor * power);
    }
  }
  return found;
}

function short(value) {
  if (value >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (value >= 1e3) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3));
}
