// The history of a reduction: its accepted steps, what is different between any two, going on from one.

import { ask } from "./api.js";
import { $, h, note, number, seconds, visible } from "./dom.js";

const MOST = 1500; // rows
const FRAMES = 60; // steps that are played; of more, every second one or fewer
const PAUSE = 120; // milliseconds between two steps

export class StepsView {
  // `looked` tells of a step that is chosen; `opened` of a text that was made of one, and whether
  // to go on from it.
  constructor(element, looked, opened) {
    this.element = element;
    this.looked = looked;
    this.opened = opened;
    this.run = null;
    this.known = -1;
    this.clear();
  }

  // Chooses a step once the steps of a run are known: `find` gives its number.
  want(find) {
    this.wanted = find;
    this.known = -1;
  }

  clear() {
    this.run = null;
    this.table = null;
    this.element.replaceChildren(h("p", { class: "quiet" }, "The accepted steps of a reduction appear here; each can be opened."));
  }

  async show(run) {
    const fresh = this.run !== run.number;
    if (!fresh && this.known === run.state.accepted && this.status === run.status) return;
    if (this.loading) return;
    this.loading = true;
    try {
      const { steps, current } = await ask("history", { run: run.number });
      this.known = run.state.accepted;
      this.status = run.status;
      if (fresh || !this.table) this.build(run.number);
      this.fill(steps, current);
    } catch (error) {
      if (fresh) {
        this.run = run.number;
        this.table = null;
        this.element.replaceChildren(h("p", { class: "quiet" }, visible(error.message)));
      }
    } finally {
      this.loading = false;
    }
  }

  build(number_) {
    this.run = number_;
    this.chosen = null;
    this.other = null;
    this.table = h("tbody", { onclick: (event) => this.clicked(event), onkeydown: (event) => this.key(event) });
    this.said = h("div", { class: "row" });
    this.diff = h("pre");
    this.played = h("button", { type: "button", title: "Play the steps, from this one or from the input", onclick: () => this.play() }, "▶ Play");
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Step", oninput: () => this.choose(Number(this.slider.value)) });
    this.element.replaceChildren(
      h("div", { class: "play" }, this.played, this.slider),
      h("div", { class: "steps" },
        h("div", { tabindex: "0", role: "region", "aria-label": "Steps" }, h("table", {}, h("thead", {}, h("tr", {}, ["step", "bytes", "checks", "time"].map((each) => h("th", { class: "n" }, each)), h("th", {}, "pass"), h("th", {}, "change"))), this.table)),
        h("div", { tabindex: "0", role: "region", "aria-label": "Difference" }, this.said, this.diff)),
    );
  }

  fill(steps, current) {
    this.steps = steps;
    this.slider.max = steps.length - 1;
    const rows = steps.slice(-MOST).reverse().map(([step, , size, checks, time, pass, what]) =>
      h("tr", { tabindex: step === this.chosen ? "0" : "-1", "data-step": step, "aria-selected": String(step === this.chosen) },
        [number(step), number(size), number(checks), seconds(time)].map((each) => h("td", { class: "n" }, each)),
        h("td", {}, visible(pass)), h("td", {}, visible(step === 0 ? "the input" : what))));
    this.table.replaceChildren(...rows);
    this.last = current;
    const wanted = this.wanted?.(steps);
    if (wanted >= 0 && wanted < steps.length) {
      this.choose(wanted);
      this.wanted = null;
    } else if (this.chosen === null || this.follows) this.choose(current, false);
  }

  clicked(event) {
    const row = event.target.closest("tr");
    if (!row) return;
    this.playing = null;
    const step = Number(row.dataset.step);
    if (event.shiftKey) this.compare(step);
    else this.choose(step);
  }

  key(event) {
    const move = { ArrowDown: -1, ArrowUp: 1 }[event.key];
    if (!move) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(this.steps.length - 1, this.chosen + move)));
    this.table.querySelector("[aria-selected=true]")?.focus();
  }

  // Shows a step: its text above, what it changed here. `look`: somebody has chosen it.
  choose(step, look = true) {
    this.chosen = step;
    this.follows = step === this.last;
    const looked = look ? this.looked(this.run, step, this.last) : undefined;
    this.other = null;
    this.slider.value = step;
    for (const row of this.table.children) {
      const chosen = Number(row.dataset.step) === step;
      row.setAttribute("aria-selected", String(chosen));
      row.tabIndex = chosen ? 0 : -1;
    }
    this.table.querySelector(`[data-step="${step}"]`)?.scrollIntoView({ block: "nearest" });
    this.compare(step ? this.steps[step][1] : 0);
    return looked;
  }

  // Shows one step after the other, each until nothing moves. A second call stops that.
  async play() {
    if (this.playing) {
      this.playing = null;
      return;
    }
    const mine = (this.playing = {});
    const run = this.run;
    const from = this.chosen === this.last ? 0 : this.chosen;
    const stride = Math.max(1, Math.ceil((this.last - from) / FRAMES));
    this.played.textContent = "❚❚ Pause";
    $("views").scrollIntoView({ block: "nearest" }); // on a phone it may be out of view
    for (let step = from; this.playing === mine && this.run === run; step = Math.min(step + stride, this.last)) {
      await this.choose(step);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (step === this.last) break;
    }
    if (this.playing === mine) this.playing = null;
    if (!this.playing) this.played.textContent = "▶ Play";
  }

  async compare(from) {
    this.other = from;
    const [old, fresh] = [Math.min(from, this.chosen), Math.max(from, this.chosen)];
    const open = (goOn) => async () => {
      try {
        await this.opened(await ask("step", { run: this.run, step: this.chosen }), goOn);
      } catch (error) {
        note(error.message);
      }
    };
    const input = h("input", { size: 5, inputmode: "numeric", value: String(from), "aria-label": "Compare with step", onchange: () => { const other = Number(input.value); if (other >= 0 && other < this.steps.length) this.compare(other); } });
    this.said.replaceChildren(
      h("span", {}, `step ${number(this.chosen)} against `), input,
      h("button", { type: "button", onclick: open(false) }, "Open"),
      h("button", { type: "button", onclick: open(true), title: "Reduce on from this step, with the algorithms that are chosen" }, "Go on from here"));
    if (old === fresh) {
      this.diff.replaceChildren(h("span", { class: "info" }, "the input"));
      return;
    }
    const mine = (this.asked = {});
    const failed = (error) => ({ lines: [[" ", error.message]], old: 0, new: 0 });
    const { lines, old: before, new: after } = await ask("diff", { run: this.run, old, new: fresh }).catch(failed);
    if (this.asked !== mine) return;
    const style = { "-": "minus", "+": "plus" };
    this.diff.replaceChildren(
      h("span", { class: "info" }, `${number(before)} → ${number(after)} bytes`),
      ...lines.map(([sign, text]) => h("span", { class: style[sign] || "info" }, `${sign === " " ? "" : `${sign} `}${visible(text)}`)));
  }
}
