// The page: takes the news from the server, draws what they change, and does what the user asks for.

import * as api from "./api.js";
import { CurveView } from "./curve.js";
import * as dialogs from "./dialogs.js";
import { $, copy, h, note, number, visible } from "./dom.js";
import * as form from "./form.js";
import { bugs, clickedLine, consoles } from "./lower.js";
import { backBy, report, result, save } from "./result.js";
import { before, button, called, cards, colorOf, over } from "./runs.js";
import { algorithms, catchUp, facts, find, leave, link, live, mood, opened, showDocument, showRun, showStep, tabs, title, viewed, views } from "./shown.js";
import { current, drawWith, runs, schedule, shownRun, state } from "./state.js";
import { StepsView } from "./steps.js";

const { ask } = api;
const { keep } = form;
const WORKING = 1000; // milliseconds after which a request is mentioned
let curve, steps;

function theme() {
  const chosen = $("theme").value;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

async function fromAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  const run = state.runs.get(Number(named.get("run")));
  if (run?.kind === "reduce") {
    showRun(run.number);
    if (named.get("step")) {
      steps.want(() => Number(named.get("step")));
    }
  } else {
    const going = runs().filter((each) => each.kind === "reduce" && !over(each)).pop();
    if (going && !named.get("text")) {
      showRun(going.number);
      return;
    }
    const wanted = Number(named.get("text"));
    const last = state.documents.find(({ number: each }) => each === wanted) || state.documents[0];
    if (last) await showDocument(last.number);
  }
}

// Offers the reductions that earlier servers have left in the folder.
async function earlier() {
  const { runs: found } = await ask("earlier").catch(() => ({ runs: [] }));
  const show = (path) => async () => {
    const { run } = await ask("revive", { path });
    const ready = () => (state.runs.has(run) ? showRun(run) : setTimeout(ready, 50));
    ready();
  };
  $("earlier").hidden = !found.length;
  $("earlier").replaceChildren(h("h3", {}, "Earlier runs"), h("table", {}, h("tbody", {}, found.map(({ path, name, title, before: from, size }) =>
    h("tr", {}, h("td", {}, button(name, path, show(path))), h("td", {}, title), h("td", { class: "n" }, `${number(from)} → ${number(size)} bytes`))))));
}

async function closeDocument(number_) {
  await ask("close", { document: number_ }).catch(() => {});
  took({ runs: [], documents: state.documents.filter((each) => each.number !== number_) });
}

const show = (run) => (run.kind === "hunt" ? pane("bugs") : showRun(run.number));

async function openResult(run) {
  const { current: last } = await ask("history", { run: run.number });
  await opened(await ask("step", { run: run.number, step: last }));
}

// ---- news ----

function took(news) {
  let fresh = false;
  const first = !took.before;
  for (const run of news.runs) {
    const known = state.runs.get(run.number);
    if (run.status === "removed") {
      state.runs.delete(run.number);
      fresh = true;
      continue;
    }
    run.points = [...(known && run.from ? known.points.slice(0, run.from) : []), ...run.points];
    Object.assign(run, known ? { color: known.color, dash: known.dash } : colorOf(runs().filter(({ kind }) => kind === run.kind).length));
    run.heard = performance.now();
    for (const message of first ? [] : run.messages.slice(known ? known.messages.length : 0)) note(`${called(run)}: ${message}`);
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
  }
  // What was shown is gone, or another page has opened the first text.
  if (state.shown ? !(state.shown.run ? shownRun() : current()) : !first && state.documents.length) leave();
  if (fresh) tabs();
  if (shownRun() && over(shownRun())) catchUp();
  schedule();
  took.before = true;
  if (first) fromAddress();
}

// Tells that a run is over, to those too who do not see the page.
function finished(run) {
  if (run.kind === "run") {
    $("run").disabled = false;
    if (run.result?.words && run.document === state.shown?.document) form.verdict(run.result.words, run.result.interesting, run.result.line);
  } else if (run.kind === "reduce") {
    note(run.error ? `${called(run)}: failed` : `${called(run)}: ${run.status}, ${number(before(run) ?? 0)} → ${number(run.state.size ?? 0)} bytes`);
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

function everything() {
  cards(runs(), shownRun(), Boolean(state.lost), { show, result: openResult, report });
  result();
  title(shownRun());
  if (shownRun()) facts();
  const of = ({ document: each }) => !state.shown || each === state.shown.document;
  const reductions = runs().filter(({ kind }) => kind === "reduce").filter(of);
  // One command at a time: with another one, the same text is another failure.
  const like = reductions.find(({ number: each }) => each === state.shown?.run) || reductions[reductions.length - 1];
  if (!$("pane-progress").hidden) {
    curve.show(reductions.filter(({ command }) => command === like.command));
    pastSteps();
  }
  if (!$("pane-console").hidden) consoles(runs().filter(of));
  if (!$("pane-bugs").hidden) bugs(runs(), opened);
  live();
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
    pane("progress");
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
  if (event.key === "Delete") event.currentTarget.querySelector("#close")?.click();
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

function drop() {
  const area = document.querySelector(".reading");
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("drop"); });
  area.addEventListener("dragleave", () => area.classList.remove("drop"));
  area.addEventListener("drop", async (event) => {
    event.preventDefault();
    area.classList.remove("drop");
    for (const file of event.dataTransfer.files) {
      note(`Opening ${file.name}…`, 2500);
      await dialogs.addFile(file, opened).catch((error) => note(error.message));
    }
  });
}

function tick() {
  const waited = api.waiting();
  $("connection").textContent = waited > WORKING ? `working… ${(waited / 1000).toFixed(0)} s` : "";
  if (runs().some((each) => !over(each))) schedule();
}

async function begin() {
  theme();
  await api.start();
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
  views();
  drawWith(everything);
  curve = new CurveView($("curve"), {
    pick: (run, checks) => {
      if (run !== shownRun()) showRun(run.number);
      steps.want((all) => all.findLastIndex((step) => step[3] <= checks));
      schedule();
    },
    choose: (step) => steps.choose(step),
    play: () => steps.play(),
    key: (event) => steps.key(event),
  });
  steps = new StepsView($("steps"), curve, showStep, async (found, goOn) => {
    await opened(found);
    if (goOn) await start();
  });
  backBy(() => (steps.run?.number === state.shown.run && steps.table ? steps.choose(steps.last) : showRun(state.shown.run)));
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
  $("tabs").addEventListener("click", ({ target }) => target.id === "close" && (shownRun() ? leave() : closeDocument(state.shown.document)));
  $("link").addEventListener("click", () => copy(link(), "The link, with the key of this server, was"));
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
  earlier();
  setInterval(tick, 500);
  api.share(took, alive);
}

begin();
