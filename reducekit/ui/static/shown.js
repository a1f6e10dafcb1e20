// What is shown: a text or a run among the tabs, as text and graph, live or at a step.

import { ask, withKey } from "./api.js";
import { $, h, note, number, visible } from "./dom.js";
import * as form from "./form.js";
import { GraphView } from "./graph.js";
import { Outline } from "./outline.js";
import { result } from "./result.js";
import { called, over } from "./runs.js";
import { current, runs, schedule, shownRun, state } from "./state.js";
import { TextView } from "./text.js";
import { Timeline } from "./timeline.js";

const LAG = 1500; // milliseconds that the text of a run may be behind
let text, graph, timeline, outline;

export function views() {
  text = new TextView($("text"), clicked);
  graph = new GraphView($("graph"), (range) => text.select(range), (position) => text.lineOf(position));
  timeline = new Timeline($("graph"), (range) => text.select(range));
  outline = new Outline($("graph"), (range) => text.select(range));
}

// ---- the tabs, and what else names it ----

// What is shown is in the address, so that a reload leads back to it.
export function address() {
  const { run, document: text_, step } = state.shown || {};
  const parts = run ? [`run=${run}`, step === undefined ? "" : `step=${step}`] : text_ ? [`text=${text_}`] : [];
  history.replaceState(null, "", `${location.pathname}${parts.length ? `#${parts.filter(Boolean).join("&")}` : ""}`);
}

// Returns an address that leads here from any browser that reaches the server.
export const link = () => `${location.origin}${location.pathname}#${withKey(location.hash.slice(1))}`;

export function tabs() {
  const tab = (label, title, selected, show) =>
    h("button", { type: "button", role: "tab", title, "aria-selected": String(selected), "aria-keyshortcuts": selected && "Delete", tabindex: selected ? "0" : "-1", onclick: selected ? null : show }, visible(label),
      selected ? h("span", { id: "close", "aria-hidden": "true", title: "Close this tab (Delete)" }) : null);
  const run = shownRun();
  const found = state.documents.map((each) =>
    tab(each.name, each.path || "not saved", !run && each.number === state.shown?.document, () => showDocument(each.number)));
  const now = state.lost ? " (lost)" : state.shown?.step === undefined ? " (live)" : "";
  if (run) found.push(tab(`${called(run)}${over(run) ? "" : now}`, run.output || "", true));
  const focused = $("tabs").contains(document.activeElement);
  $("tabs").replaceChildren(...found);
  const selected = $("tabs").querySelector("[aria-selected=true]");
  if (focused) selected?.focus();
  // Not by scrollIntoView, which would scroll the page as well.
  if (selected) $("tabs").scrollLeft = selected.offsetLeft + selected.offsetWidth - $("tabs").clientWidth;
  const any = found.length > 0;
  $("empty").hidden = any;
  $("tools").hidden = $("views").hidden = !any;
  $("start").disabled = !current();
  $("save").disabled = !current() && !run;
  mood();
}

// Setting up, or running: then the form is one line.
export function mood() {
  const run = shownRun();
  const running = Boolean(run) && !state.changing;
  $("folded").hidden = !running;
  if (running) $("folded-command").textContent = visible(`${run.command || "the format's own check"}  ·  ${called(run)}`);
  const any = runs().some(({ kind }) => kind === "reduce" || kind === "hunt");
  $("form").hidden = running || !(state.documents.length || any);
  document.querySelector(".side").hidden = !any;
  document.querySelector(".lower").hidden = !runs().some(({ kind }) => kind !== "generate");
  $("page").dataset.mood = running ? "running" : "setup";
  title(run);
}

export function title(run) {
  const sign = { running: "▸", paused: "⏸", stopping: "▸", done: "✓", stopped: "■", failed: "✗" };
  const size = run?.state.size === undefined ? "" : `${number(run.state.size)} B `;
  const words = state.lost ? "✗ connection lost" : run ? `${size}${sign[run.status]} ${called(run)}` : current()?.name;
  document.title = words ? `${visible(words)} – reducekit` : "reducekit";
  const icon = state.lost ? "lost" : run ? (over(run) ? "done" : "running") : "";
  $("icon").href = icon ? `icon-${icon}.svg` : "icon.svg";
}

// ---- an open text ----

export async function showDocument(number_) {
  const shown = (state.shown = { document: number_ });
  state.changing = false;
  tabs();
  address();
  result();
  form.verdict("");
  form.formatOptions(state.formats.find(({ name }) => name === current()?.format));
  algorithms();
  try {
    const { text: content, size } = await ask("text", { document: number_ });
    if (state.shown !== shown) return;
    text.show(content);
    facts(size);
    nothing(`drawing ${number(size)} bytes…`);
    draw(() => ask("diagram", { document: number_ }), () => state.shown === shown); // the text can be read meanwhile
  } catch (error) {
    note(error.message);
  }
  schedule();
}

// Says which algorithms are others on this text, once somebody looks at them.
export async function algorithms() {
  const shown = current();
  form.alike({});
  if (!shown || !$("algorithm").open) return;
  const found = await ask("alike", { document: shown.number }).catch(() => ({}));
  if (current() === shown) form.alike(found);
}

async function draw(load, still, fit = true) {
  try {
    const data = await load();
    if (still()) show(data, fit);
  } catch (error) {
    if (still()) nothing(error.message, true);
  }
}

const drawing = ({ shape }) => ({ graph, timeline, outline })[shape];

function show(data, fit) {
  $("views").classList.remove("undrawn");
  for (const view of [graph, timeline, outline]) if (view !== drawing(data)) view.hide();
  drawing(data).show(data, fit);
  text.paint(data.inks);
  state.diagram = data;
  facts();
}

// Says why there is no graph; where there will be `none`, the text has its place.
function nothing(words, none = false) {
  for (const view of [timeline, outline]) view.hide();
  graph.hide(visible(words));
  state.diagram = null;
  $("views").classList.toggle("undrawn", none);
}

export function facts(size) {
  state.size = size ?? state.size;
  const run = shownRun();
  const lines = text.starts.length;
  const behind = run && !state.lost && state.shown.size !== run.state.size ? " · updating…" : "";
  $("facts").textContent = `${run ? called(run) : current()?.format || ""} · ${number(state.size ?? 0)} bytes · ${number(lines)} lines${behind}`;
}

function clicked(position) {
  if (!state.diagram) return text.select([position, position + 1], true);
  return text.select(drawing(state.diagram).selectAt(position), true);
}

export function find(event) {
  if (event.key !== "Enter") return;
  const words = $("find").value;
  const range = text.find(words, event.shiftKey);
  $("found").textContent = range ? `${number(text.place(words, range[0]))} of ${number(text.count(words))}` : words ? "not found" : "";
  if (!range) return;
  if (["graph", "outline"].includes(state.diagram?.shape)) drawing(state.diagram).selectAt(range[0]);
  text.select(range);
}

const view = () => document.querySelector("[name=view]:checked").value;

export function viewed() {
  $("views").dataset.view = view();
  form.keep({ view: view() });
}

export function opened(found) {
  if (!state.documents.some(({ number: each }) => each === found.number)) state.documents.push(found);
  return showDocument(found.number);
}

// Shows the text of a run that is closed, or else the last one, if there is any.
export function leave() {
  const next = current() || state.documents[state.documents.length - 1];
  state.shown = null;
  if (next) return showDocument(next.number);
  text.show("");
  nothing("");
  address();
  return tabs();
}

// ---- a run that is shown live ----

let loading = false;
let due = 0; // when the text may be read again
let timer;

export function showRun(number_) {
  const run = state.runs.get(number_);
  state.shown = { document: run.document, run: number_, size: null };
  state.changing = false;
  tabs();
  address();
  result();
  schedule();
  catchUp();
}

export async function live() {
  const run = shownRun();
  const shown = state.shown;
  if (!run || loading || run.state.size === undefined || shown.size === run.state.size || shown.step !== undefined) return;
  if (performance.now() < due && !over(run)) return;
  loading = true;
  const { size } = run.state;
  const begin = performance.now();
  try {
    const found = await ask("best", { run: run.number, diagram: true });
    if (state.shown === shown && shown.step === undefined) {
      const first = shown.size === null;
      shown.size = size;
      text.show(found.text, first ? null : text.text);
      if (found.diagram) show(found.diagram, true);
      else nothing(found.no_diagram || "", true);
      facts(found.size);
    }
  } catch (error) {
    if (shown.size === null) note(error.message);
    shown.size = size;
  }
  loading = false;
  // A text that takes long to read is read less often, but never later than LAG; the end at once.
  const late = state.shown !== shown || over(state.runs.get(run.number));
  const wait = late ? 0 : Math.min(LAG, Math.max(300, 4 * (performance.now() - begin)));
  due = performance.now() + wait;
  clearTimeout(timer);
  timer = setTimeout(live, wait + 1);
}

const settled = () => Promise.all([text.settled, graph.settled(), outline.settled()]);

// Shows the text of a step with what it changed: that stays, unless the steps are `played`.
export async function showStep(run, step, last, played = false) {
  if (state.shown?.run !== run) showRun(run);
  const shown = state.shown;
  if (step === last && shown.step === undefined) return;
  shown.step = step === last ? undefined : step;
  shown.last = last;
  address();
  tabs();
  result();
  if (shown.step === undefined) {
    shown.size = null;
    await catchUp();
    await settled();
    return;
  }
  try {
    const found = await ask("look", { run, step, diagram: true });
    if (state.shown !== shown || shown.step !== step) return;
    text.show(found.text, found.before ?? found.text, !played);
    if (found.diagram) show(found.diagram, true);
    else nothing(found.no_diagram || "", true);
    text.reveal();
    shown.size = state.runs.get(run).state.size;
    facts(found.size);
    result();
    await settled();
  } catch (error) {
    note(error.message);
  }
}

// Shows the text of a run at once.
export function catchUp() {
  due = 0;
  return live();
}
