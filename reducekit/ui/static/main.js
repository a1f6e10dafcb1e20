// The page: what is open, what runs, and what is shown of it.

import * as api from "./api.js";
import { CurveView } from "./curve.js";
import * as dialogs from "./dialogs.js";
import { $, copy, download, h, note, number, visible } from "./dom.js";
import * as form from "./form.js";
import { GraphView } from "./graph.js";
import { bugs, clickedLine, consoles } from "./lower.js";
import { before, button, Card, colorOf, over, percent } from "./runs.js";
import { StepsView } from "./steps.js";
import { TextView } from "./text.js";
import { Timeline } from "./timeline.js";

const { ask } = api;
const { keep } = form;
const LAG = 1500; // milliseconds that the text of a run may be behind
const WORKING = 1000; // milliseconds after which a request is mentioned
const state = { documents: [], runs: new Map(), shown: null, formats: [], folder: "", lost: null, changing: false };
let text, graph, timeline, curve, steps;

// ---- what is shown ----

const current = () => state.documents.find(({ number: each }) => each === state.shown?.document);
const shownRun = () => state.runs.get(state.shown?.run);
const runs = () => [...state.runs.values()];

function theme() {
  const chosen = $("theme").value;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

// What is shown is in the address, so that a reload and a link lead back to it.
function address() {
  const { run, document: text_, step } = state.shown || {};
  const parts = run ? [`run=${run}`, step === undefined ? "" : `step=${step}`] : text_ ? [`text=${text_}`] : [];
  history.replaceState(null, "", `${location.pathname}${parts.length ? `#${parts.filter(Boolean).join("&")}` : ""}`);
}

async function fromAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  const run = state.runs.get(Number(named.get("run")));
  if (run?.kind === "reduce") {
    showRun(run.number);
    if (named.get("step")) {
      pane("steps");
      steps.want(() => Number(named.get("step")));
    }
  } else {
    const wanted = Number(named.get("text"));
    const last = state.documents.find(({ number: each }) => each === wanted) || state.documents[0];
    if (last) await showDocument(last.number);
  }
}

function tabs() {
  const tab = (label, title, selected, show) =>
    h("button", { type: "button", role: "tab", title, "aria-selected": String(selected), tabindex: selected ? "0" : "-1", onclick: show }, visible(label));
  const run = shownRun();
  const found = state.documents.map((each) =>
    tab(each.name, each.path || "not saved", !run && each.number === state.shown?.document, () => showDocument(each.number)));
  const now = state.lost ? " (lost)" : " (live)";
  if (run) found.push(tab(`${run.title}${over(run) ? "" : now}`, run.output || "", true, () => {}));
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
function mood() {
  const run = shownRun();
  const running = Boolean(run) && !state.changing;
  $("folded").hidden = !running;
  if (running) $("folded-command").textContent = visible(`${run.command || "the format's own check"}  ·  ${run.title}`);
  const any = runs().some(({ kind }) => kind === "reduce" || kind === "hunt");
  $("form").hidden = running || !(state.documents.length || any);
  document.querySelector(".side").hidden = !any;
  document.querySelector(".lower").hidden = !runs().some(({ kind }) => kind !== "generate");
  $("page").dataset.mood = running ? "running" : "setup";
  title(run);
}

function title(run) {
  const sign = { running: "▸", paused: "⏸", stopping: "▸", done: "✓", stopped: "■", failed: "✗" };
  const size = run?.state.size === undefined ? "" : `${number(run.state.size)} B `;
  const words = state.lost ? "✗ connection lost" : run ? `${size}${sign[run.status]} ${run.title}` : current()?.name;
  document.title = words ? `${visible(words)} – reducekit` : "reducekit";
  const icon = state.lost ? "lost" : run ? (over(run) ? "done" : "running") : "";
  $("icon").href = icon ? `icon-${icon}.svg` : "icon.svg";
}

async function showDocument(number_) {
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
    await draw(() => ask("diagram", { document: number_ }), () => state.shown === shown);
  } catch (error) {
    note(error.message);
  }
  schedule();
}

// Says which algorithms are others on this text, once somebody looks at them.
async function algorithms() {
  const shown = current();
  form.alike({});
  if (!shown || !$("algorithm").open) return;
  const found = await ask("alike", { document: shown.number }).catch(() => ({}));
  if (current() === shown) form.alike(found);
}

async function draw(load, still, fit = true) {
  if (view() === "text") {
    state.undrawn = () => draw(load, still);
    return;
  }
  state.undrawn = null;
  try {
    const data = await load();
    if (still()) show(data, fit);
  } catch (error) {
    if (still()) nothing(error.message, true);
  }
}

function show(data, fit) {
  $("views").classList.remove("undrawn");
  if (data.shape === "timeline") {
    graph.clear("");
    timeline.show(data);
  } else {
    timeline.hide();
    graph.show(data, fit);
  }
  state.diagram = data;
  facts();
}

// Says why there is no graph; where there will be `none`, the text has its place.
function nothing(words, none = false) {
  timeline.hide();
  graph.clear(visible(words));
  state.diagram = null;
  $("views").classList.toggle("undrawn", none);
}

function facts(size) {
  state.size = size ?? state.size;
  const run = shownRun();
  const lines = text.starts.length;
  const behind = run && !state.lost && state.shown.size !== run.state.size ? " · updating…" : "";
  $("facts").textContent = `${run ? run.title : current()?.format || "no format known"} · ${number(state.size ?? 0)} bytes · ${number(lines)} lines${behind}`;
}

function clicked(position) {
  if (!state.diagram) return text.select([position, position + 1], true);
  const range = state.diagram.shape === "timeline" ? timeline.selectAt(position) : graph.selectAt(position);
  return text.select(range, true);
}

const view = () => document.querySelector("[name=view]:checked").value;

function viewed() {
  $("views").dataset.view = view();
  keep({ view: view() });
  state.undrawn?.();
}

function opened(found) {
  if (!state.documents.some(({ number: each }) => each === found.number)) state.documents.push(found);
  return showDocument(found.number);
}

async function closeDocument(number_) {
  await ask("close", { document: number_ }).catch(() => {});
  took({ runs: [], documents: state.documents.filter((each) => each.number !== number_) });
}

// ---- a run that is shown live ----

let loading = false;
let timer;

function showRun(number_) {
  const run = state.runs.get(number_);
  state.shown = { document: run.document, run: number_, size: null };
  state.changing = false;
  tabs();
  address();
  result();
  schedule();
  clearTimeout(timer);
  live();
}

async function live() {
  const run = shownRun();
  const shown = state.shown;
  if (!run || loading || run.state.size === undefined || shown.size === run.state.size || shown.step !== undefined) return;
  loading = true;
  const { size } = run.state;
  const begin = performance.now();
  try {
    const drawn = view() !== "text";
    const found = await ask("best", { run: run.number, diagram: drawn });
    if (state.shown === shown && shown.step === undefined) {
      const first = shown.size === null;
      shown.size = size;
      text.show(found.text, !first);
      if (found.diagram) show(found.diagram, true);
      else if (drawn) nothing(found.no_diagram || "", true);
      else state.undrawn = () => { shown.size = null; live(); };
      facts(found.size);
    }
  } catch (error) {
    if (shown.size === null) note(error.message);
    shown.size = size;
  }
  loading = false;
  // A text that takes long to read is read less often, but never later than LAG; the end at once.
  clearTimeout(timer);
  const now = state.runs.get(run.number);
  timer = setTimeout(live, over(now) ? 0 : Math.min(LAG, Math.max(300, 4 * (performance.now() - begin))));
}

// Shows the text of a step above its difference to the one before.
async function showStep(run, step, last) {
  if (state.shown?.run !== run) showRun(run);
  const shown = state.shown;
  if (step === last && shown.step === undefined) return;
  shown.step = step === last ? undefined : step;
  address();
  if (shown.step === undefined) {
    shown.size = null;
    live();
    return;
  }
  try {
    const found = await ask("look", { run, step, diagram: view() !== "text" });
    if (state.shown !== shown || shown.step !== step) return;
    text.show(found.text, true);
    if (found.diagram) show(found.diagram, true);
    else nothing(found.no_diagram || "", true);
    shown.size = state.runs.get(run).state.size;
    facts(found.size);
  } catch (error) {
    note(error.message);
  }
}

// ---- the result ----

function result() {
  const run = shownRun();
  const element = $("result");
  const ready = Boolean(run) && over(run) && !run.error && run.state.before !== undefined;
  const mark = ready ? `${run.number} ${run.status} ${run.state.size}` : "";
  if (result.mark === mark) return;
  result.mark = mark;
  element.hidden = !ready;
  if (!ready) return;
  const { size } = run.state;
  const command = run.result?.runs_again?.[0]?.command;
  element.replaceChildren(
    h("b", { class: "story" }, `${number(before(run))} → ${number(size)} bytes`),
    h("span", { class: "quiet" }, visible(`${percent(size, before(run))} removed${run.state.failure ? ` · ${run.state.failure}` : ""}`)),
    h("div", { class: "actions" }, button("Copy", "Copy the reduced file", async () => copy((await ask("best", { run: run.number, diagram: false })).text, "The reduced file was"), "strong"),
    button("Save…", "Save the reduced file", save),
    button("Copy issue", "Copy the text of a bug report", async () => copy((await ask("report", { run: run.number, text: "issue" })).text, "The issue text was")),
    command ? button("Copy command", command, () => copy(command, "The command was")) : "",
    button("Report", "Save a report as one HTML file", () => report(run, "page"))));
}

async function openResult(run) {
  const { current: last } = await ask("history", { run: run.number });
  await opened(await ask("step", { run: run.number, step: last }));
}

async function report(run, kind) {
  const { text: content, name } = await ask("report", { run: run.number, text: kind });
  if (kind === "issue") download(content, `${name}.issue.md`, "text/markdown");
  else download(content, `${name}.html`, "text/html");
}

async function save() {
  const saved = (path) => note(`saved: ${path}`);
  try {
    const run = shownRun();
    if (!run) return await dialogs.saveFile(state.folder, current().name, { document: current().number }, saved);
    const suffix = /\.[^./]*$/.exec(run.output || "")?.[0] || "";
    const name = `${(current()?.name || "text").replace(/\.[^.]*$/, "")}.reduced${suffix}`;
    if (run.state.before === undefined) throw new Error("this run has no result to save");
    return await dialogs.saveFile(state.folder, name, { run: run.number }, saved);
  } catch (error) {
    return note(error.message);
  }
}

// ---- news ----

function took(news) {
  let fresh = false;
  const first = !took.before;
  for (const run of news.runs) {
    const known = state.runs.get(run.number);
    run.points = [...(known && run.from ? known.points.slice(0, run.from) : []), ...run.points];
    Object.assign(run, known ? { color: known.color, dash: known.dash } : colorOf(runs().filter(({ kind }) => kind === run.kind).length));
    run.heard = performance.now();
    for (const message of first ? [] : run.messages.slice(known ? known.messages.length : 0)) note(`${run.title}: ${message}`);
    const ended = over(run) && !(known ? over(known) : first);
    state.runs.set(run.number, run);
    if (ended) finished(run);
    fresh = fresh || !known || known.status !== run.status;
  }
  if (news.documents) {
    // A text may be opened while a list without it is under way; numbers only grow.
    const newer = state.documents.filter((each) => each.number > news.last && !news.documents.some((other) => other.number === each.number));
    state.documents = [...news.documents, ...newer];
    fresh = true;
    if (state.shown && !current() && !shownRun()) {
      state.shown = null;
      const last = state.documents[state.documents.length - 1];
      if (last) showDocument(last.number);
      else {
        text.show("");
        nothing("");
        address();
      }
    }
  }
  if (fresh) tabs();
  if (shownRun() && over(shownRun())) {
    clearTimeout(timer);
    live();
  }
  schedule();
  if (first) {
    took.before = true;
    fromAddress();
  }
}

// Tells that a run is over, to those too who do not see the page.
function finished(run) {
  if (run.kind === "run") {
    $("run").disabled = false;
    if (run.result?.words && run.document === state.shown?.document) form.verdict(run.result.words, run.result.interesting, run.result.line);
  } else if (run.kind === "reduce") {
    note(run.error ? `${run.title}: failed` : `${run.title}: ${run.status}, ${number(run.state.size ?? 0)} bytes`);
  } else if (run.kind === "hunt") note(`Bug search ${run.status}: ${run.bugs.length} found`);
}

function alive(connected) {
  if (connected) state.lost = null;
  else state.lost = state.lost || new Date();
  $("lost").hidden = connected;
  if (!connected) $("lost").textContent = `Connection lost. What you see was known at ${state.lost.toLocaleTimeString("en-GB")}. If the server has ended, start reducekit ui again.`;
  document.body.classList.toggle("disconnected", !connected);
  schedule();
  tabs();
}

let drawing = false;
function schedule() {
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    cards();
    result();
    title(shownRun());
    if (shownRun()) facts();
    const of = ({ document: each }) => !state.shown || each === state.shown.document;
    const reductions = runs().filter(({ kind }) => kind === "reduce").filter(of);
    // One command at a time: with another one, the same text is another failure.
    const like = reductions.find(({ number: each }) => each === state.shown?.run) || reductions[reductions.length - 1];
    if (!$("pane-curve").hidden) curve.show(reductions.filter(({ command }) => command === like.command));
    if (!$("pane-steps").hidden) pastSteps();
    if (!$("pane-console").hidden) consoles(runs().filter(of));
    if (!$("pane-bugs").hidden) bugs(runs(), opened);
    live();
  }, 100);
}

const known = new Map();
function cards() {
  // The latest start comes first; those that race stay in the order in which they were chosen.
  const folder = ({ output, number: own }) => (output ? output.slice(0, output.lastIndexOf("/")) : String(own));
  const groups = new Map();
  for (const each of runs()) {
    if (each.kind === "reduce" || each.kind === "hunt") groups.set(folder(each), [...(groups.get(folder(each)) || []), each]);
  }
  const elements = [...groups.values()].reverse().flat().map((run) => {
    if (!known.has(run.number)) known.set(run.number, new Card(run, { show: showRun, result: openResult, report }));
    const card = known.get(run.number);
    card.draw(run, state.shown?.run === run.number, Boolean(state.lost));
    return card.element;
  });
  const before = [...$("runs").children];
  if (elements.length !== before.length || elements.some((each, index) => each !== before[index])) $("runs").replaceChildren(...elements);
}

function pastSteps() {
  const run = shownRun() || runs().reverse().find((each) => each.kind === "reduce" && each.state.before && each.document === state.shown?.document);
  if (run) steps.show(run);
  else steps.clear();
}

// ---- actions ----

async function start(event) {
  event?.preventDefault();
  $("problem").textContent = "";
  try {
    const found = form.options();
    const document_ = current();
    if (!document_) return;
    if (!found.command && !found.oracle && document_.format !== "trace") {
      $("form").hidden = false;
      $("command").focus();
      throw new Error("Which program fails? Type its command, such as: boolector {}");
    }
    form.used(found.command || found.oracle);
    const format = state.formats.find(({ name }) => name === document_.format);
    const { runs: started } = await ask("reduce", {
      document: document_.number,
      strategies: form.chosen(),
      options: found,
      format_options: format ? dialogs.values(format.options, $("format-options")) : {},
    });
    pane("curve");
    const ready = () => {
      if (!state.runs.has(started[0])) return setTimeout(ready, 50);
      document.querySelector(".side").scrollTop = 0; // where the latest start is
      return showRun(started[0]);
    };
    ready();
  } catch (error) {
    state.changing = true;
    mood();
    $("problem").textContent = visible(error.message);
  }
}

async function run() {
  $("problem").textContent = "";
  form.verdict("");
  try {
    const document_ = current();
    if (!document_) throw new Error("Open a file first");
    const found = form.options();
    await ask("run", { document: document_.number, options: found });
    form.used(found.command || found.oracle);
    pane("console");
    $("run").disabled = true;
  } catch (error) {
    $("problem").textContent = visible(error.message);
  }
}

async function example() {
  try {
    const { document: document_, test } = await ask("example");
    $("kind").value = "test";
    $("command").value = test;
    form.kind();
    form.remember();
    await opened(document_);
    await start();
  } catch (error) {
    note(error.message);
  }
}

function pane(name) {
  for (const tab of document.querySelectorAll("#lower-tabs [role=tab]")) {
    const selected = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !selected;
  }
  schedule();
}

function walkTabs(event) {
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const all = [...event.currentTarget.querySelectorAll("[role=tab]")];
  const at = all.indexOf(document.activeElement);
  if (!move || at < 0) return;
  const next = all[(at + move + all.length) % all.length];
  next.focus();
  next.click();
}

function keys(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return start(event);
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog").open) return undefined;
  if (event.target.matches("input, select, textarea")) return undefined;
  const act = {
    o: () => $("open").click(), s: () => $("save").click(), g: () => $("generate").click(), b: () => $("hunt").click(),
    r: run, "?": dialogs.keys, "/": () => $("find").focus(),
    1: () => document.querySelector("[name=view][value=text]").click(),
    2: () => document.querySelector("[name=view][value=both]").click(),
    3: () => document.querySelector("[name=view][value=graph]").click(),
  }[event.key];
  if (!act) return undefined;
  event.preventDefault();
  return act();
}

function find(event) {
  if (event.key !== "Enter") return;
  const words = $("find").value;
  const range = text.find(words, event.shiftKey);
  $("found").textContent = range ? `${number(text.place(words, range[0]))} of ${number(text.count(words))}` : words ? "not found" : "";
  if (!range) return;
  if (state.diagram?.shape === "graph") graph.selectAt(range[0]);
  text.select(range);
}

function drop() {
  const area = document.querySelector(".reading");
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("drop"); });
  area.addEventListener("dragleave", () => area.classList.remove("drop"));
  area.addEventListener("drop", async (event) => {
    event.preventDefault();
    area.classList.remove("drop");
    for (const file of event.dataTransfer.files) await dialogs.addFile(file, opened).catch((error) => note(error.message));
  });
}

function tick() {
  const waited = api.waiting();
  $("connection").textContent = waited > WORKING ? `working… ${(waited / 1000).toFixed(0)} s` : "";
  if (runs().some((each) => !over(each))) schedule();
}

async function begin() {
  theme();
  api.start();
  let hello;
  try {
    hello = await ask("hello");
  } catch (error) {
    $("connecting").hidden = true;
    $("locked").hidden = false;
    $("locked-why").textContent = visible(error.message);
    return;
  }
  $("waiting").hidden = true;
  $("page").hidden = false;
  text = new TextView($("text"), clicked);
  graph = new GraphView($("graph"), (range) => text.select(range), (position) => text.lineOf(position));
  timeline = new Timeline($("graph"), (range) => text.select(range));
  curve = new CurveView($("pane-curve"), (run, checks) => {
    showRun(run.number);
    steps.want((all) => all.findLastIndex((step) => step[3] <= checks));
    pane("steps");
  }, showRun);
  steps = new StepsView($("pane-steps"), showStep, async (found, goOn) => {
    await opened(found);
    if (goOn) await start();
  });
  Object.assign(state, { formats: hello.formats, folder: hello.folders[0], documents: hello.documents });
  $("settings-path").textContent = hello.settings_path;
  form.restore(hello.settings, hello.programs);
  const { settings } = form;
  $("theme").value = settings.theme || "";
  theme();
  form.strategies(hello.strategies, hello.default_strategy);
  if (settings.view) document.querySelector(`[name=view][value=${CSS.escape(settings.view)}]`)?.click();
  $("form").addEventListener("submit", start);
  $("form").addEventListener("change", () => { form.kind(); form.remember(); });
  $("algorithm").addEventListener("toggle", algorithms);
  $("change").addEventListener("click", () => { state.changing = true; mood(); $("command").focus(); });
  $("run").addEventListener("click", run);
  for (const id of ["open", "empty-open"]) $(id).addEventListener("click", () => dialogs.openFile(state.folder, opened));
  for (const id of ["generate", "empty-generate"]) $(id).addEventListener("click", () => dialogs.generate(state.formats, settings, keep, opened));
  for (const id of ["hunt", "empty-hunt"]) $(id).addEventListener("click", () => dialogs.hunt(state.formats, settings, keep, $("command").value, () => pane("bugs")));
  $("empty-example").addEventListener("click", example);
  $("save").addEventListener("click", save);
  $("close").addEventListener("click", () => (shownRun() && current() ? showDocument(shownRun().document) : closeDocument(state.shown.document)));
  $("help").addEventListener("click", dialogs.keys);
  $("theme").addEventListener("change", () => { theme(); keep({ theme: $("theme").value }); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  $("find").addEventListener("keydown", find);
  $("pane-console").addEventListener("click", clickedLine);
  for (const each of document.querySelectorAll("[name=view]")) each.addEventListener("change", viewed);
  for (const tab of document.querySelectorAll("#lower-tabs [role=tab]")) tab.addEventListener("click", () => pane(tab.id.slice(4)));
  for (const list of [$("lower-tabs"), $("tabs")]) list.addEventListener("keydown", walkTabs);
  document.addEventListener("keydown", keys);
  drop();
  for (const id of ["open", "generate", "hunt", "empty-open", "empty-example", "empty-hunt", "empty-generate", "run"]) $(id).disabled = false;
  consoles([]);
  bugs([]);
  viewed();
  tabs();
  setInterval(tick, 500);
  api.share(took, alive);
}

begin();
