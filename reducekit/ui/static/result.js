// The result of the run that is shown, once it is over: copied, saved, reported.

import { ask } from "./api.js";
import { saveFile } from "./dialogs.js";
import { $, copy, download, h, note, number, visible } from "./dom.js";
import { before, button, over, percent } from "./runs.js";
import { current, shownRun, state } from "./state.js";

export function result() {
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
    return await saveFile(state.folder, name, { run: run.number }, saved);
  } catch (error) {
    return note(error.message);
  }
}
