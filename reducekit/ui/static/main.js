// The page: what is open, what runs, and what is shown of it.

import * as api from "./api.js";
import { CurveView } from "./curve.js";
import * as dialogs from "./dialogs.js";
import { $, h, note, number, visible } from "./dom.js";
import { GraphView } from "./graph.js";
import { card, colorOf, over } from "./runs.js";
import { StepsView } from "./steps.js";
import { TextView } from "./text.js";
import { Timeline } from "./timeline.js";

const { ask } = api;
const state = { documents: [], runs: new Map(), shown: null, formats: [], settings: {}, folder: "" };
const FIELDS = ["kind", "command", "reference", "match_out", "match_err", "exit_code", "slower_than", "jobs", "timeout", "memory", "max_time", "max_checks", "until"];
const TICKS = ["stdin", "quick", "lenient"];
const NUMBERS = { jobs: 1, exit_code: 1, max_checks: 1, until: 1, timeout: 0, memory: 1, max_time: 0, slower_than: 0 };
let text, graph, timeline, curve, steps;

// ---- theme, settings ----

function theme() {
  const chosen = $("theme").value;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

let keeping;
function keep(values) {
  Object.assign(state.settings, values);
  clearTimeout(keeping);
  keeping = setTimeout(() => ask("keep", { values: state.settings }).catch((error) => note(error.message)), 400);
}

function restore() {
  for (const id of FIELDS) if (state.settings[id] !== undefined) $(id).value = state.settings[id];
  for (const id of TICKS) $(id).checked = Boolean(state.settings[id]);
  $("theme").value = state.settings.theme || "";
  theme();
  kind();
}

function kind() {
  const chosen = $("kind").value;
  $("command-label").textContent = chosen === "test" ? "Test" : "Program";
  $("command").placeholder = chosen === "test" ? "./interesting.sh {}" : "./solver --option {}";
  for (const each of document.querySelectorAll("[data-kind]")) each.hidden = each.dataset.kind !== chosen;
}

// ---- what is shown ----

const current = () => state.documents.find(({ number: each }) => each === state.shown?.document);
const shownRun = () => state.runs.get(state.shown?.run);

function tabs() {
  const tab = (label, title, selected, show) =>
    h("button", { type: "button", role: "tab", title, "aria-selected": String(selected), tabindex: selected ? "0" : "-1", onclick: show }, visible(label));
  const run = shownRun();
  const found = state.documents.map((each) =>
    tab(each.name, each.path || "not saved", !run && each.number === state.shown?.document, () => showDocument(each.number)));
  if (run) found.push(tab(`${run.title}${over(run) ? "" : " (live)"}`, run.output || "", true, () => {}));
  $("tabs").replaceChildren(...found);
  $("empty").hidden = found.length > 0;
  $("tools").hidden = $("views").hidden = !found.length;
  $("start").disabled = !found.length;
  $("save").disabled = !current();
}

async function showDocument(number_) {
  state.shown = { document: number_ };
  tabs();
  formatOptions();
  try {
    const { text: content, size } = await ask("text", { document: number_ });
    if (state.shown.document !== number_ || state.shown.run) return;
    text.show(content);
    facts(size);
    await draw(() => ask("diagram", { document: number_ }), () => state.shown.document === number_ && !state.shown.run);
  } catch (error) {
    note(error.message);
  }
  cards();
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
    if (still()) nothing(error.message);
  }
}

function show(data, fit) {
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

function nothing(words) {
  timeline.hide();
  graph.clear(visible(words));
  state.diagram = null;
}

function facts(size) {
  state.size = size ?? state.size;
  const run = shownRun();
  const document_ = current();
  const format = document_?.format ? document_.format : "no format known";
  const lines = text.starts.length;
  $("facts").textContent = `${run ? run.title : format} · ${number(state.size ?? 0)} bytes · ${number(lines)} lines`;
}

function picked(range) {
  text.select(range);
}

function clicked(position) {
  if (!state.diagram) return text.select([position, position + 1], true);
  const range = state.diagram.shape === "timeline" ? timeline.selectAt(position) : graph.selectAt(position);
  text.select(range, true);
}

const view = () => document.querySelector("[name=view]:checked").value;

function viewed() {
  $("views").dataset.view = view();
  keep({ view: view() });
  state.undrawn?.();
}

function opened(found) {
  state.documents.push(found);
  return showDocument(found.number);
}

async function closeDocument(number_) {
  await ask("close", { document: number_ }).catch(() => {});
  state.documents = state.documents.filter((each) => each.number !== number_);
  const last = state.documents[state.documents.length - 1];
  if (last) return showDocument(last.number);
  state.shown = null;
  text.show("");
  nothing("");
  tabs();
  return undefined;
}

// ---- a run that is shown live ----

let loading = false;
let wait = 0;

function showRun(number_) {
  const run = state.runs.get(number_);
  state.shown = { document: run.document, run: number_, size: null };
  tabs();
  cards();
  live();
}

async function live() {
  const run = shownRun();
  const shown = state.shown;
  if (!run || loading || run.state.size === undefined || shown.size === run.state.size) return;
  loading = true;
  const first = shown.size === null;
  const size = run.state.size;
  const begin = performance.now();
  try {
    const drawn = view() !== "text";
    const found = await ask("best", { run: run.number, diagram: drawn });
    if (state.shown === shown) {
      shown.size = size;
      text.show(found.text);
      facts(found.size);
      if (found.diagram) show(found.diagram, true);
      else if (drawn) nothing(found.no_diagram || "");
      else state.undrawn = () => { shown.size = null; live(); };
    }
  } catch (error) {
    if (first) note(error.message);
  }
  // A text that takes long to read is read seldom: a twentieth of the time goes there at most.
  wait = Math.max(300, 20 * (performance.now() - begin));
  if (over(run)) wait = 0;
  setTimeout(() => { loading = false; live(); }, wait);
}

// ---- runs ----

function took(news) {
  let fresh = false;
  for (const run of news.runs) {
    const known = state.runs.get(run.number);
    run.points = [...(known && run.from ? known.points.slice(0, run.from) : []), ...run.points];
    run.color = known ? known.color : colorOf([...state.runs.values()].filter(({ kind: each }) => each === run.kind).length);
    for (const message of run.messages.slice(known ? known.messages.length : 0)) note(`${run.title}: ${message}`);
    if (run.kind === "run" && known && !over(known) && over(run)) $("run").disabled = false;
    state.runs.set(run.number, run);
    fresh = fresh || !known;
  }
  if (fresh) tabs();
  schedule();
}

let drawing = false;
function schedule() {
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    cards();
    const reductions = [...state.runs.values()].filter(({ kind: each }) => each === "reduce");
    if (!$("pane-curve").hidden) curve.show(reductions.filter(({ document: each }) => !state.shown || each === state.shown.document));
    if (!$("pane-steps").hidden) history();
    if (!$("pane-console").hidden) consoles();
    if (!$("pane-bugs").hidden) bugs();
    live();
  }, 100);
}

function cards() {
  // The latest start comes first; those that race stay in the order in which they were chosen.
  const folder = ({ output, number: own }) => (output ? output.slice(0, output.lastIndexOf("/")) : String(own));
  const groups = new Map();
  for (const each of state.runs.values()) {
    if (each.kind === "reduce" || each.kind === "hunt") groups.set(folder(each), [...(groups.get(folder(each)) || []), each]);
  }
  const runs = [...groups.values()].reverse().flat();
  $("runs-title").hidden = !runs.length;
  const focused = document.activeElement?.closest(".run");
  const label = focused && document.activeElement.textContent;
  const mark = JSON.stringify(runs.map((run) => [run.number, run.status, run.state, run.bugs.length, run.result, run.error, state.shown?.run === run.number]));
  if (mark === cards.mark) return;
  cards.mark = mark;
  $("runs").replaceChildren(...runs.map((run) => card(run, state.shown?.run === run.number, { show: showRun, result, report })));
  if (focused) {
    const again = document.querySelector(`[data-run="${focused.dataset.run}"]`);
    [...(again?.querySelectorAll("button") || [])].find((each) => each.textContent === label)?.focus();
  }
}

function history() {
  const run = shownRun() || [...state.runs.values()].reverse().find((each) => each.kind === "reduce" && each.state.before);
  if (run) steps.show(run);
}

async function result(run) {
  const { current: last } = await ask("history", { run: run.number });
  await opened(await ask("step", { run: run.number, step: last }));
}

async function report(run, form) {
  const { text: content, name } = await ask("report", { run: run.number, text: form });
  const [suffix, type] = form === "issue" ? [".issue.md", "text/markdown"] : [".html", "text/html"];
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name + suffix });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  note(`${name}${suffix} was saved to your downloads`);
}

function consoles() {
  const runs = [...state.runs.values()].filter(({ kind: each }) => each === "run").reverse().slice(0, 20);
  const again = runs.map((run) => [
    h("pre", {},
      ...(run.console.length ? [] : [h("span", { class: "info" }, `$ ${visible(run.title)}`), run.error ? h("span", { class: "minus" }, visible(run.error)) : h("span", { class: "info" }, over(run) ? "(stopped)" : "runs…")]),
      ...run.console.flatMap(({ command, output, errors, ended, seconds }) => [
        h("span", { class: "info" }, `$ ${visible(command)}`), visible(output), h("span", { class: "minus" }, visible(errors)),
        h("span", { class: "info" }, visible(`(${ended}, ${seconds} s)`)),
      ])),
    over(run) ? null : h("button", { type: "button", onclick: () => ask("control", { run: run.number, request: "stop" }) }, "Stop"),
  ]);
  $("pane-console").replaceChildren(...(again.length ? again.flat().filter(Boolean) : [h("p", { class: "quiet" }, "What the command prints appears here: Run it once.")]));
}

function bugs() {
  const hunts = [...state.runs.values()].filter(({ kind: each }) => each === "hunt").reverse();
  if (!hunts.length) {
    $("pane-bugs").replaceChildren(h("p", { class: "quiet" }, "Failures found on random inputs appear here, each kind once."));
    return;
  }
  const rows = hunts.flatMap((run) => run.bugs.map((bug) =>
    h("tr", {},
      h("td", {}, visible(bug.title)), h("td", { class: "n" }, number(bug.count)), h("td", {}, visible(bug.which || "")), h("td", { class: "n" }, number(bug.size)),
      h("td", { class: "n" }, bug.reduced === null ? visible(bug.doing || "") : number(bug.reduced)),
      h("td", {}, h("button", { type: "button", onclick: async () => { try { await opened(await ask("open", { path: bug.path })); } catch (error) { note(error.message); } } }, "Open"),
        bug.reduced_path ? h("button", { type: "button", onclick: async () => { try { await opened(await ask("open", { path: bug.reduced_path })); } catch (error) { note(error.message); } } }, "Open reduced") : null))));
  $("pane-bugs").replaceChildren(
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "failure"), h("th", { class: "n" }, "met"), h("th", {}, "first"), h("th", { class: "n" }, "bytes"), h("th", { class: "n" }, "reduced"), h("th", {}, h("span", {}, "files")))), h("tbody", {}, rows)),
    rows.length ? "" : h("p", { class: "quiet" }, "no failure so far"));
}

// ---- the form ----

function strategies(names, usual) {
  const kept = state.settings.strategies || [usual];
  $("strategies").replaceChildren(
    ...[usual, ...names.filter((each) => each !== usual)].map((name) =>
      h("label", { class: "strategy" }, h("input", { type: "checkbox", name: "strategy", value: name, checked: kept.includes(name), onchange: chosen }), name)));
  chosen();
}

function chosen() {
  const names = [...document.querySelectorAll("[name=strategy]:checked")].map(({ value }) => value);
  $("start").textContent = names.length > 1 ? `3. Race ${names.length} algorithms` : "3. Reduce";
  keep({ strategies: names });
  return names;
}

function formatOptions() {
  const format = state.formats.find(({ name }) => name === current()?.format);
  $("format-options").replaceChildren(...(format ? format.options.map((option) => dialogs.field(option)) : []));
}

function options() {
  const found = {};
  const mode = $("kind").value;
  const command = $("command").value.trim();
  if (command) found[mode === "test" ? "oracle" : "command"] = command;
  if (mode === "pattern") for (const id of ["match_out", "match_err"]) if ($(id).value) found[id] = [$(id).value];
  if (mode === "disagree" && $("reference").value.trim()) found.reference = $("reference").value.trim();
  const numbers = Object.keys(NUMBERS).filter((id) => ({ exit_code: "pattern", slower_than: "slow" })[id] === undefined || ({ exit_code: "pattern", slower_than: "slow" })[id] === mode);
  for (const id of numbers) {
    const words = $(id).value.trim();
    if (!words) continue;
    const value = Number(words);
    if (!Number.isFinite(value) || (NUMBERS[id] && !Number.isInteger(value))) throw new Error(`${$(id).labels[0].firstChild.textContent.trim()}: ${words} is no ${NUMBERS[id] ? "whole " : ""}number`);
    found[id] = id === "memory" ? value * 1000000 : value;
  }
  if (mode === "disagree" && !found.reference) throw new Error("Which other program? Type its command first");
  if (mode === "slow" && found.slower_than === undefined) throw new Error("From how many seconds on is it slow?");
  if ($("stdin").checked) found.stdin = true;
  if ($("lenient").checked) found.lenient = true;
  if ($("quick").checked) found.effort = "quick";
  return found;
}

function remember() {
  const values = {};
  for (const id of FIELDS) values[id] = $(id).value;
  for (const id of TICKS) values[id] = $(id).checked;
  keep(values);
}

async function start(event) {
  event?.preventDefault();
  $("problem").textContent = "";
  try {
    const found = options();
    const document_ = current();
    if (!document_) return;
    if (!found.command && !found.oracle && document_.format !== "trace") {
      $("command").focus();
      throw new Error("Which program fails? Type its command, such as: boolector {}");
    }
    const format = state.formats.find(({ name }) => name === document_.format);
    const { runs } = await ask("reduce", {
      document: document_.number,
      strategies: chosen(),
      options: found,
      format_options: format ? dialogs.values(format.options, $("format-options")) : {},
    });
    pane("curve");
    const wanted = runs[0];
    const ready = () => (state.runs.has(wanted) ? showRun(wanted) : setTimeout(ready, 50));
    ready();
  } catch (error) {
    $("problem").textContent = visible(error.message);
  }
}

async function run() {
  $("problem").textContent = "";
  try {
    const document_ = current();
    if (!document_) throw new Error("Open a file first");
    await ask("run", { document: document_.number, options: options() });
    pane("console");
    $("run").disabled = true;
  } catch (error) {
    $("problem").textContent = visible(error.message);
  }
}

// ---- panes, keys, beginning ----

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

async function begin() {
  theme();
  api.start();
  text = new TextView($("text"), clicked);
  graph = new GraphView($("graph"), picked, (position) => text.lineOf(position));
  timeline = new Timeline($("graph"), picked);
  curve = new CurveView($("pane-curve"));
  steps = new StepsView($("pane-steps"), async (found, goOn) => {
    await opened(found);
    if (goOn) await start();
  });
  consoles();
  bugs();
  let hello;
  try {
    hello = await ask("hello");
  } catch (error) {
    $("problem").textContent = visible(error.message);
    $("connection").textContent = "not connected";
    return;
  }
  Object.assign(state, { formats: hello.formats, settings: hello.settings, folder: hello.folders[0], documents: hello.documents });
  $("settings-path").textContent = hello.settings_path;
  restore();
  strategies(hello.strategies, hello.default_strategy);
  if (state.settings.view) document.querySelector(`[name=view][value=${CSS.escape(state.settings.view)}]`)?.click();
  $("form").addEventListener("submit", start);
  $("form").addEventListener("change", () => { kind(); remember(); });
  $("run").addEventListener("click", run);
  for (const id of ["open", "empty-open"]) $(id).addEventListener("click", () => dialogs.openFile(state.folder, opened));
  for (const id of ["generate", "empty-generate"]) $(id).addEventListener("click", () => dialogs.generate(state.formats, state.settings, keep, opened));
  $("hunt").addEventListener("click", () => dialogs.hunt(state.formats, state.settings, keep, $("command").value, () => pane("bugs")));
  $("save").addEventListener("click", save);
  $("close").addEventListener("click", () => (shownRun() ? showDocument(shownRun().document) : closeDocument(state.shown.document)));
  $("help").addEventListener("click", dialogs.keys);
  $("theme").addEventListener("change", () => { theme(); keep({ theme: $("theme").value }); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  $("find").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const range = text.find($("find").value);
    if (!range) return note(`${$("find").value} is not in the text`);
    text.select(range);
    if (state.diagram?.shape === "graph") graph.selectAt(range[0]);
    text.select(range);
  });
  for (const each of document.querySelectorAll("[name=view]")) each.addEventListener("change", viewed);
  for (const tab of document.querySelectorAll("#lower-tabs [role=tab]")) tab.addEventListener("click", () => pane(tab.id.slice(4)));
  for (const list of [$("lower-tabs"), $("tabs")]) list.addEventListener("keydown", walkTabs);
  document.addEventListener("keydown", keys);
  drop();
  for (const id of ["open", "generate", "hunt", "empty-open", "empty-generate", "run"]) $(id).disabled = false;
  viewed();
  tabs();
  if (state.documents.length) await showDocument(state.documents[0].number);
  api.follow(took, (alive) => ($("connection").textContent = alive ? "" : "not connected"));
}

async function save() {
  const run = shownRun();
  if (run) {
    const { current: last } = await ask("history", { run: run.number });
    const found = await ask("step", { run: run.number, step: last });
    return dialogs.saveFile(state.folder, found, (path) => note(`saved: ${path}`));
  }
  return dialogs.saveFile(state.folder, current(), (path) => note(`saved: ${path}`));
}

function drop() {
  const area = document.querySelector(".reading");
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("drop"); });
  area.addEventListener("dragleave", () => area.classList.remove("drop"));
  area.addEventListener("drop", async (event) => {
    event.preventDefault();
    area.classList.remove("drop");
    for (const file of event.dataTransfer.files) {
      try {
        await dialogs.addFile(file, opened);
      } catch (error) {
        note(error.message);
      }
    }
  });
}

begin();
