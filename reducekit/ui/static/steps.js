// The accepted steps of a reduction: what is different between any two, going on from one, playing all.

import { ask } from "./api.js";
import { $, count, h, note, number, seconds, visible } from "./dom.js";
import { over } from "./runs.js";

const MOST = 1500; // rows
const FRAMES = 60; // steps that are played; of more, every second one or fewer
const PAUSE = 120; // milliseconds between two steps
const LAG = 1000; // milliseconds between two looks at the steps of a run that goes on
const COMPARED = 1 << 18; // bytes of a text that is compared while its run goes on

export class StepsView {
  // `looked` tells of a step that is chosen; `opened` of a text that was made of one, and whether
  // to go on from it. `curve` shows where the steps are.
  constructor(element, curve, looked, opened) {
    Object.assign(this, { element, curve, looked, opened });
    this.clear();
  }

  // Chooses a step once the steps of a run are known: `find` gives its number.
  want(find) {
    this.wanted = find;
    this.known = -1;
  }

  clear() {
    this.run = null;
    this.known = -1;
    this.due = 0;
    this.table = null;
    this.curve.at(null, [], null);
    this.element.replaceChildren(h("p", { class: "quiet" }, "The accepted steps of a reduction appear here; each can be opened."));
  }

  async show(run) {
    const fresh = this.run?.number !== run.number;
    if (!fresh && this.known === run.state.accepted && this.status === run.status) return;
    if (this.loading || (!fresh && !this.wanted && !over(run) && performance.now() < this.due)) return;
    this.loading = true;
    try {
      const { steps, current } = await ask("history", { run: run.number });
      this.known = run.state.accepted;
      this.status = run.status;
      if (fresh || !this.table) this.build(run);
      this.fill(steps, current);
    } catch (error) {
      if (fresh) {
        this.clear();
        this.run = run;
        this.element.replaceChildren(h("p", { class: "quiet" }, visible(error.message)));
      }
    } finally {
      this.loading = false;
      this.due = performance.now() + LAG;
    }
  }

  build(run) {
    this.run = run;
    this.chosen = null;
    this.table = h("tbody", { onclick: (event) => this.clicked(event), onkeydown: (event) => this.key(event) });
    this.said = h("div", { class: "row" });
    this.diff = h("pre");
    this.element.replaceChildren(
      h("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Steps" }, h("table", {}, h("thead", {}, h("tr", {}, ["step", "bytes"].map((each) => h("th", { class: "n" }, each)), h("th", {}, "pass · change"))), this.table)),
      h("div", {}, this.said, h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": "Difference" }, this.diff)));
  }

  fill(steps, current) {
    this.steps = steps;
    const rows = steps.slice(-MOST).reverse().map(([step, , size, checks, time, pass, what]) =>
      h("tr", { tabindex: step === this.chosen ? "0" : "-1", "data-step": step, "aria-selected": String(step === this.chosen), title: `${count(checks, "check")}, ${seconds(time)}` },
        [number(step), number(size)].map((each) => h("td", { class: "n" }, each)),
        h("td", {}, visible(step ? [pass, what].filter(Boolean).join(" · ") : "the input"))));
    const focused = this.table.contains(document.activeElement);
    this.table.replaceChildren(...rows);
    this.last = current;
    const wanted = this.wanted?.(steps);
    if (wanted >= 0 && wanted < steps.length) {
      this.choose(wanted);
      this.wanted = null;
    } else if (this.chosen === null || this.follows) this.choose(current, false);
    else this.curve.at(this.run, steps, this.chosen);
    if (focused) this.table.querySelector("[aria-selected=true]")?.focus();
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
    const end = this.steps.length - 1;
    const move = { ArrowDown: -1, ArrowUp: 1, ArrowLeft: -1, ArrowRight: 1, Home: -end, End: end }[event.key];
    if (!move) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(end, this.chosen + move)));
    if (this.table.contains(event.target)) this.table.querySelector("[aria-selected=true]")?.focus();
  }

  // Shows a step: its text above, what it changed here. `look`: somebody has chosen it.
  choose(step, look = true) {
    this.chosen = step;
    this.follows = step === this.last;
    const looked = look ? this.looked(this.run.number, step, this.last, Boolean(this.playing)) : undefined;
    this.curve.at(this.run, this.steps, step);
    for (const row of this.table.children) {
      const chosen = Number(row.dataset.step) === step;
      row.setAttribute("aria-selected", String(chosen));
      row.tabIndex = chosen ? 0 : -1;
    }
    // Not by scrollIntoView, which would scroll the page as well.
    const [row, box] = [this.table.querySelector(`[data-step="${step}"]`), this.table.closest(".list")];
    const head = this.table.previousSibling.offsetHeight;
    if (row) box.scrollTop = Math.max(row.offsetTop + row.offsetHeight - box.clientHeight, Math.min(box.scrollTop, row.offsetTop - head));
    if (look || over(this.run) || this.steps[step][2] < COMPARED) this.compare(step ? this.steps[step][1] : 0);
    return looked;
  }

  // Shows one step after the other, each until nothing moves. A second call stops that.
  async play() {
    if (this.playing || !this.table) {
      this.playing = null;
      return;
    }
    const mine = (this.playing = {});
    const run = this.run;
    const from = this.chosen === this.last ? 0 : this.chosen;
    const stride = Math.max(1, Math.ceil((this.last - from) / FRAMES));
    this.curve.playing(true);
    $("views").scrollIntoView({ block: "nearest" }); // on a phone it may be out of view
    for (let step = from; this.playing === mine && this.run === run; step = Math.min(step + stride, this.last)) {
      await this.choose(step);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (step === this.last) break;
    }
    if (this.playing === mine) this.playing = null;
    if (!this.playing) this.curve.playing(false);
  }

  async compare(from) {
    const [old, fresh] = [Math.min(from, this.chosen), Math.max(from, this.chosen)];
    const open = (goOn) => async () => {
      try {
        await this.opened(await ask("step", { run: this.run.number, step: this.chosen }), goOn);
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
    const { lines, old: before, new: after } = await ask("diff", { run: this.run.number, old, new: fresh }).catch(failed);
    if (this.asked !== mine) return;
    const style = { "-": "minus", "+": "plus" };
    this.diff.replaceChildren(
      h("span", { class: "info" }, `${number(before)} → ${number(after)} bytes`),
      ...lines.map(([sign, text]) => h("span", { class: style[sign] || "info" }, `${sign === " " ? "" : `${sign} `}${visible(text)}`)));
  }
}
