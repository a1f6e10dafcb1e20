// The runs: how far each is, and the buttons that control it.

import { ask } from "./api.js";
import { $, count, h, note, number, s, seconds, visible } from "./dom.js";

const BEAT = 1000; // milliseconds that a running run is marked, and not
const SLOW = 3; // seconds without news after which a running check is named
const WORDS = { running: "Running", paused: "Paused", stopping: "Stopping", done: "Done", stopped: "Stopped", failed: "Failed", lost: "Lost" };

const DASHES = ["", "7 3", "2 3"]; // as in charts of reports
export const colorOf = (index) => ({ color: `--c${(index % 10) + 1}`, dash: DASHES[Math.floor(index / 10) % 3] });
export const over = (run) => ["done", "stopped", "failed"].includes(run.status);

// Seconds since the run was heard of, by the browser's clock.
export const silence = (run) => run.age + (performance.now() - run.heard) / 1000;
const clock = (run) => (run.state.seconds || 0) + (run.status === "running" ? silence(run) : 0);
// Bytes of what a run began with, if need be in another run.
export const before = (run) => run.origin || run.state.before;
export const percent = (size, before) => {
  const removed = 100 * (1 - size / Math.max(1, before));
  return `${removed > 99 && removed < 100 ? Math.min(99.99, removed).toFixed(2) : removed.toFixed(0)} %`;
};

// Says which run: of a reduction the file and the algorithm.
export const called = (run) => (run.name ? `${run.name} · ${run.title}` : run.title);
// The algorithm of a run among others: a second run of it has a number.
export const titled = (run, all) => (all.filter(({ title }) => title === run.title).length > 1 ? `${run.title} #${run.number}` : run.title);

export class Card {
  // `events` tells of a click on it and on what can be had of a result.
  constructor(run, events) {
    this.events = events;
    this.dot = h("i", { class: "dot" });
    this.title = h("button", { type: "button", class: "plain name", title: "See its text and graph", onclick: () => events.show(run) });
    this.pill = h("span", { class: "pill" });
    this.body = h("div");
    this.figure = h("div", { class: "figure" });
    this.actions = h("div", { class: "actions" });
    this.passes = h("tbody", { onchange: (event) => this.switched(event.target) });
    this.output = h("pre");
    this.rest = h("tbody");
    this.left = h("details", { class: "left" }, h("summary", {}, "Remaining parts of the input"),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "assertion"), h("th", { class: "n" }, "line"), h("th", { class: "n", title: "Instances in a good run" }, "good"), h("th", { class: "n", title: "Instances in a bad run" }, "bad"))), this.rest));
    this.more = h("div", {}, this.left,
      h("details", { class: "passes" }, h("summary", {}, "Passes"),
        h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "pass"), h("th", { class: "n" }, "checks"), h("th", { class: "n" }, "accepted"))), this.passes)),
      h("details", { class: "output" }, h("summary", {}, "Last output of the program"), this.output));
    this.element = h("section", { class: "run", "data-run": run.number, onclick: (event) => this.clicked(event) });
    this.off = new Set();
  }

  clicked(event) {
    if (!this.shown && !this.title.disabled && !event.target.closest("button") && !String(getSelection())) this.events.show(this.run);
  }

  async switched(box) {
    if (box.checked) this.off.delete(box.value);
    else this.off.add(box.value);
    await ask("passes", { run: this.run.number, off: [...this.off] }).catch((error) => note(error.message));
  }

  draw(run, title, { shown, lost, best }) {
    this.run = run;
    const status = lost && !over(run) ? "lost" : run.status;
    const { element } = this;
    element.dataset.status = status;
    element.setAttribute("aria-label", `${run.kind} ${run.number}: ${called(run)}`);
    // An animation would have the browser draw 60 times a second, at the cost of the checks.
    element.classList.toggle("beat", Math.floor(performance.now() / BEAT) % 2 === 1);
    element.classList.toggle("best", best);
    element.style.setProperty("--c", `var(${run.color})`);
    this.title.textContent = visible(title);
    this.title.disabled = lost;
    this.pill.textContent = WORDS[status];
    const focused = document.activeElement;
    if (shown !== this.shown) {
      this.shown = shown;
      element.classList.toggle("shown", shown);
      element.replaceChildren(...(shown
        ? [h("header", {}, this.dot, this.title, h("span", { class: "grow" }), this.pill), this.body, this.actions, this.more]
        : [this.dot, h("div", { class: "who" }, this.title, this.body), this.figure, this.actions]));
    }
    this.body.replaceChildren(...(run.error ? [h("p", { class: "problem" }, visible(run.error))] : (shown ? reducing : brief)(run, lost, status)));
    const size = run.kind === "hunt" ? run.bugs.length : run.state.size;
    this.figure.replaceChildren(...(shown || size === undefined ? [] : [run.kind === "hunt" ? "" : spark(run), h("span", { class: "size" }, number(size))]));
    // Buttons stay the same elements while they do the same, so that no click is lost.
    const mark = JSON.stringify([status, shown, lost, Boolean(run.error)]);
    const label = this.actions.contains(focused) && focused.title;
    if (mark !== this.mark) {
      this.actions.replaceChildren(...(lost ? [] : actions(run, shown, this.events)));
      this.mark = mark;
    }
    if (focused === this.title) this.title.focus();
    else if (label) [...this.actions.children].find((each) => each.title === label)?.focus();
    this.more.hidden = !shown || !run.state.passes;
    if (!this.more.hidden) this.tables(run);
  }

  tables(run) {
    const mark = JSON.stringify([run.state.passes, over(run)]);
    if (mark !== this.counted) {
      this.counted = mark;
      const focused = this.passes.contains(document.activeElement) && document.activeElement.value;
      this.passes.replaceChildren(...Object.entries(run.state.passes).map(([name, [checks, accepted]]) =>
        h("tr", {}, h("td", {}, h("label", { class: "tick" }, h("input", { type: "checkbox", value: name, checked: !this.off.has(name), disabled: over(run) }), visible(name))),
          h("td", { class: "n" }, number(checks)), h("td", { class: "n" }, number(accepted)))));
      if (focused) [...this.passes.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
    }
    const left = run.result?.left || [];
    this.left.hidden = !left.length;
    const figure = (value) => h("td", { class: "n" }, value === null ? "" : number(value));
    if (this.rest.children.length !== left.length) this.rest.replaceChildren(...left.map(({ name, line, good, bad }) => h("tr", {}, h("td", {}, visible(name || "no name")), figure(line), figure(good), figure(bad))));
    const output = visible(run.state.output || "nothing so far");
    if (this.output.textContent !== output) this.output.textContent = output;
  }
}

// Bytes by checks, so far: each halving counts alike, as on a linear scale most of a run is at 0 %.
// It begins at the upper end and is now at the lower one.
function spark(run) {
  const { points } = run;
  const last = points[points.length - 1] || [0, 0, run.state.size];
  const [checks, least] = [Math.max(1, run.state.checks, last[0]), Math.log(Math.max(1, run.state.size))];
  const all = Math.max(1e-9, Math.log(Math.max(1, before(run))) - least);
  const at = ([x, , size]) => [(100 * x) / checks, 22 - (20 * (Math.log(Math.max(1, size)) - least)) / all];
  let path = "M0 2";
  for (const point of points) {
    const [x, y] = at(point).map((each) => each.toFixed(1));
    path += `H${x}V${y}`;
  }
  const words = `${percent(run.state.size, before(run))} removed, after ${count(run.state.checks, "check")}`;
  return s("svg", { class: "meter", role: "img", "aria-label": words, viewBox: "0 0 100 24", preserveAspectRatio: "none" },
    s("path", { class: "under", d: `${path}H100V24H0Z` }), s("path", { class: "over", d: `${path}H100` }));
}

const facts = (words, more = "") => h("div", { class: `facts ${more}` }, visible(words));
const joined = (...words) => facts(words.filter(Boolean).join(" · "));

// What a row says of a run.
function brief(run, lost, status) {
  const time = clock(run);
  const { state } = run;
  const word = status === "done" ? "" : WORDS[status];
  if (run.kind === "hunt") return [joined(word, count(state.inputs || 0, "input"), time ? `${((state.inputs || 0) / time).toFixed(1)}/s` : "", state.doing)];
  return [state.before ? joined(word, count(state.checks, "check"), seconds(time)) : facts(lost ? "was starting" : "starting…")];
}

function reducing(run, lost) {
  const state = run.state;
  if (!state.before) return [facts(lost ? "was starting" : `starting… ${seconds(silence(run))}`)];
  const time = clock(run);
  const found = [
    h("div", { class: "figures" }, h("span", { class: "size" }, number(state.size)), h("span", {}, ` bytes of ${number(before(run))} · `, h("b", {}, percent(state.size, before(run))), " removed")),
    spark(run),
    joined(count(state.checks, "check"), time ? `${(state.checks / time).toFixed(0)}/s` : "", count(state.accepted, "step"), seconds(time)),
  ];
  if (!over(run) && !lost) {
    const where = state.round < 0 ? "running the command on the input" : `${state.pass}, round ${state.round}`;
    found.push(facts(`${where} · left: ${state.left}`));
    const silent = silence(run);
    if (run.status === "running" && silent >= SLOW) found.push(facts(`a check has been running for ${silent.toFixed(0)} s`, "slow"));
    else if (state.since !== null && state.since !== undefined) found.push(facts(`last success ${seconds(state.since + (run.status === "running" ? silent : 0))} ago: ${state.what}`));
  } else if (run.result) {
    const { stopped, verified } = run.result;
    const again = verified ? "Checked again: it still fails" : "";
    found.push(facts(stopped && stopped !== "stopped" ? `Stopped: ${stopped}` : stopped ? again : `Minimal: no pass helps any more${again ? `. ${again}` : ""}`));
  }
  return found;
}

export function button(words, title, onclick, style = "") {
  return h("button", { type: "button", title, class: style, onclick: async () => { try { await onclick(); } catch (error) { note(error.message); } } }, words);
}

// The buttons of a run: words where it is shown, signs in a row.
function actions(run, shown, events) {
  const made = (words, sign, title, act) => {
    const found = button(shown ? words : sign, title, act);
    if (!shown) found.setAttribute("aria-label", title);
    return found;
  };
  const control = (request) => () => ask("control", { run: run.number, request });
  const reduces = run.kind === "reduce";
  if (!over(run)) {
    const paused = run.status === "paused";
    return [
      reduces && (paused ? made("Resume", "▶", "Resume", control("resume")) : made("Pause", "❚❚", "Pause: start no more checks", control("pause"))),
      reduces && shown && made("Skip pass", "", "Leave the current pass", control("skip_pass")),
      made("Stop", "■", "Stop with the best so far", control("stop")),
    ].filter(Boolean);
  }
  return [
    ...(shown && !run.error ? [
      made("Open result", "", "Open it as a text", () => events.result(run)),
      made("Report", "", "Save a report as one HTML file", () => events.report(run, "page")),
      made("Issue text", "", "Save the text of a bug report", () => events.report(run, "issue")),
    ] : []),
    made("Remove", "×", "Remove it from the page; its files stay", control("remove")),
  ];
}

const known = new Map(); // the cards, and the heads of what is reduced

// Lists the runs below the text and the failure that they share: the latest start comes first, and
// those that race stay in the order in which they were chosen. `shown` is a panel, others are rows.
export function cards(all, shown, lost, events) {
  const starts = new Map();
  const put = (groups, key, run) => groups.set(key, [...(groups.get(key) || []), run]);
  for (const run of all) if (["reduce", "hunt"].includes(run.kind)) put(starts, run.output ? run.output.slice(0, run.output.lastIndexOf("/")) : String(run.number), run);
  const groups = new Map();
  for (const run of [...starts.values()].reverse().flat()) put(groups, run.kind === "hunt" ? "hunts" : JSON.stringify([run.document, run.name, run.command]), run);
  const elements = [...groups].flatMap(([key, group]) => {
    const [{ kind, name, command }] = group;
    const failure = group.map(({ state }) => state.failure).find(Boolean);
    if (!known.has(key)) known.set(key, h("header", { class: "group" }, h("b"), h("span", { class: "quiet small" })));
    const head = known.get(key);
    head.firstChild.textContent = visible(kind === "hunt" ? "Bug search" : name || "text");
    head.lastChild.textContent = visible(failure ? `keeps: ${failure}` : kind === "hunt" ? "" : command);
    const least = Math.min(...group.map(({ state }) => state.size ?? Infinity));
    return [head, ...group.map((run) => {
      if (!known.has(run.number)) known.set(run.number, new Card(run, events));
      const card = known.get(run.number);
      card.draw(run, titled(run, group), { shown: run === shown, lost, best: kind !== "hunt" && group.length > 1 && run.state.size === least });
      return card.element;
    })];
  });
  const before = [...$("runs").children];
  if (elements.length !== before.length || elements.some((each, index) => each !== before[index])) $("runs").replaceChildren(...elements);
}
