// The cards of runs: how far each is, and the buttons that steer it.

import { ask } from "./api.js";
import { h, note, number, s, seconds, visible } from "./dom.js";

export const colorOf = (index) => `--c${(index % 8) + 1}`;
const WORDS = { running: "runs", paused: "paused", stopping: "is stopping", done: "done", stopped: "stopped", failed: "could not be done" };

export const over = (run) => ["done", "stopped", "failed"].includes(run.status);

export function card(run, shown, events) {
  const element = h("section", { class: "run", "aria-label": `${run.kind} ${run.title}`, "data-run": run.number, "data-status": run.status });
  element.classList.toggle("shown", shown);
  element.style.setProperty("--c", `var(${run.color})`);
  const parts = run.kind === "hunt" ? hunting(run) : reducing(run);
  element.append(
    h("header", {}, h("b", {}, visible(run.title)), h("span", { class: "grow" }), h("span", { class: "quiet small" }, WORDS[run.status])),
    ...parts,
    h("div", { class: "actions" }, actions(run, shown, events)),
  );
  return element;
}

function reducing(run) {
  const state = run.state;
  if (run.error) return [h("p", { class: "problem" }, visible(run.error))];
  if (!state.before) return [h("p", { class: "facts" }, "starting…")];
  const left = state.size / state.before;
  const bar = s("svg", { class: "meter", role: "img", "aria-label": `${Math.round(100 * left)} percent left` }, s("rect", { width: `${(100 * left).toFixed(2)}%`, height: "100%" }));
  const found = [
    h("div", {}, h("span", { class: "size" }, number(state.size)), ` bytes of ${number(state.before)}`),
    bar,
    h("div", { class: "facts" },
      [`${number(state.checks)} checks`, state.seconds ? `${(state.checks / state.seconds).toFixed(0)}/s` : "", `${number(state.accepted)} steps`, seconds(state.seconds)].filter(Boolean).join(" · ")),
  ];
  if (!over(run)) {
    const where = state.round < 0 ? "running the command on the input" : `${state.pass}, round ${state.round}`;
    found.push(h("div", { class: "facts" }, visible(`${where} · left: ${state.left}`)));
    if (state.since !== null && state.since !== undefined) found.push(h("div", { class: "facts" }, visible(`last success ${seconds(state.since)} ago: ${state.what}`)));
  } else if (run.result) {
    const { stopped, verified } = run.result;
    found.push(h("div", { class: "facts" }, visible(stopped ? `stopped: ${stopped}` : verified ? "checked again: it still fails" : "nothing helps any more")));
  }
  if (state.failure) found.push(h("div", { class: "facts" }, visible(`keeps: ${state.failure}`)));
  return found;
}

function hunting(run) {
  const state = run.state;
  if (run.error) return [h("p", { class: "problem" }, visible(run.error))];
  return [
    h("div", {}, h("span", { class: "size" }, number(run.bugs.length)), ` kinds of failures in ${number(state.inputs || 0)} inputs`),
    h("div", { class: "facts" }, visible([state.seconds ? seconds(state.seconds) : "", state.doing || ""].filter(Boolean).join(" · "))),
  ];
}

function actions(run, shown, events) {
  const button = (words, title, onclick) => h("button", { type: "button", title, onclick: async () => { try { await onclick(); } catch (error) { note(error.message); } } }, words);
  const steer = (request) => () => ask("control", { run: run.number, request });
  const found = [];
  if (run.kind === "reduce") found.push(button(shown ? "Shown" : "Show", "See text and graph shrink", () => events.show(run.number)));
  if (!over(run)) {
    if (run.kind === "reduce") {
      found.push(run.status === "paused" ? button("Resume", "Go on", steer("resume")) : button("Pause", "Start no more checks", steer("pause")));
      found.push(button("Skip pass", "Leave the present pass", steer("skip_pass")));
    }
    found.push(button("Stop", "End with the best so far", steer("stop")));
  } else if (run.kind === "reduce" && !run.error) {
    found.push(button("Open result", "Open it as a text", () => events.result(run)));
    found.push(button("Report", "Save a report as one HTML file", () => events.report(run, "page")));
    found.push(button("Issue text", "Save the text of a bug report", () => events.report(run, "issue")));
  }
  return found;
}
