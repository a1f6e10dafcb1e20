// The result of the run that is shown, once it is over: copied, saved, reported.

import { ask } from "./api.js";
import { saveFile } from "./dialogs.js";
import { $, copy, download, h, note, number } from "./dom.js";
import { before, button, over, percent } from "./runs.js";
import { current, shownRun, state } from "./state.js";

// The band says which text is shown, and its buttons act on that one.
let back = () => {};

// Tells how to leave a step.
export const backBy = (given) => (back = given);

export function result() {
  const run = shownRun();
  const element = $("result");
  const step = state.shown?.step;
  const what = step !== undefined ? "step" : run && over(run) ? "result" : "live";
  const ready = Boolean(run) && !run.error && run.state.before !== undefined;
  const mark = ready ? `${run.number} ${run.status} ${what} ${what === "live" || `${run.state.size} ${step} ${state.size}`}` : "";
  if (mark && what === "live" && result.mark === mark) element.children[1].textContent = live(run);
  if (result.mark === mark) return;
  result.mark = mark;
  element.hidden = !ready;
  if (!ready) return;
  element.dataset.what = what;
  element.setAttribute("aria-label", { step: "Step", result: "Result", live: "Best so far" }[what]);
  const best = (words) => button("Copy", `Copy the ${words}`, async () => copy((await ask("best", { run: run.number, diagram: false })).text, `The ${words} was`), what === "result" ? "strong" : "");
  if (what === "live") {
    element.replaceChildren(h("b", { class: "story" }, "Live"), h("span", { class: "quiet" }, live(run)),
      h("div", { class: "actions" }, best("smallest file so far"), button("Save…", "Save the smallest file so far", save)));
    return;
  }
  if (step !== undefined) {
    element.replaceChildren(
      h("b", { class: "story" }, step ? `Step ${number(step)} of ${number(state.shown.last)}` : "The input"),
      h("span", { class: "quiet" }, `${number(state.size ?? 0)} bytes`),
      h("div", { class: "actions" },
        button(over(run) ? "Back to the result" : "Back to the run", "Show the smallest text", back, "strong"),
        button("Copy", "Copy the text of this step", async () => copy((await ask("look", { run: run.number, step, diagram: false })).text, `Step ${step} was`)),
        button("Save…", "Save the text of this step", save)));
    return;
  }
  const { size } = run.state;
  const command = run.result?.runs_again?.[0]?.command;
  element.replaceChildren(
    h("b", { class: "story" }, `${number(before(run))} → ${number(size)} bytes`),
    h("span", { class: "quiet" }, `${percent(size, before(run))} removed`),
    h("div", { class: "actions" }, best("reduced file"),
    button("Save…", "Save the reduced file", save),
    button("Copy issue", "Copy the text of a bug report", async () => copy((await ask("report", { run: run.number, text: "issue" })).text, "The issue text was")),
    command ? button("Copy command", command, () => copy(command, "The command was")) : "",
    button("Report", "Save a report as one HTML file", () => report(run, "page"))));
}

const live = (run) => `${number(state.size ?? 0)} of ${number(before(run))} bytes`;

export async function report(run, kind) {
  const { text: content, name } = await ask("report", { run: run.number, text: kind });
  if (kind === "issue") download(content, `${name}.issue.md`, "text/markdown");
  else download(content, `${name}.html`, "text/html");
}

export async function save() {
  const saved = (path) => note(`saved: ${path}`);
  try {
    const run = shownRun();
    if (!run) return await saveFile(state.folder, current().name, { document: current().number }, saved);
    const suffix = /\.[^./]*$/.exec(run.output || "")?.[0] || "";
    const name = `${(current()?.name || "text").replace(/\.[^.]*$/, "")}.reduced${suffix}`;
    if (run.state.before === undefined) throw new Error("this run has no result to save");
    const { step } = state.shown;
    return await saveFile(state.folder, step === undefined ? name : name.replace(".reduced", `.step-${step}`), { run: run.number, step }, saved);
  } catch (error) {
    return note(error.message);
  }
}
