// The console and the bugs that were found.

import { ask } from "./api.js";
import { $, h, number, seconds, visible } from "./dom.js";
import { keepLine } from "./form.js";
import { button, over, silence } from "./runs.js";

const RUNS = 20; // that the console shows
const LINES = 400; // of each stream

function stream(name, text, style) {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const shown = lines.slice(0, LINES).map((line) => h("span", { class: `${style} printed`, "data-stream": name }, visible(line) || " "));
  if (lines.length > LINES) shown.push(h("span", { class: "info" }, `[${number(lines.length - LINES)} more lines]`));
  return shown;
}

function box(run) {
  const { console: parts } = run;
  const info = (words) => h("span", { class: "info" }, visible(words));
  const lines = parts.flatMap(({ command, output, errors, ended, seconds: time }) =>
    [info(`$ ${command}`), h("span", { class: "info ended" }, visible(`(${ended}, ${time} s)`)), ...stream("output", output, "plain"), ...stream("errors", errors, "minus")]);
  if (!parts.length) lines.push(info(`$ ${run.title}`));
  if (run.error && !parts.length) lines.push(h("span", { class: "minus" }, visible(run.error)));
  else if (over(run) && !parts.length) lines.push(info("(stopped)"));
  return h("pre", {}, lines);
}

const boxes = new Map();

export function consoles(runs) {
  const chosen = runs.filter(({ kind }) => kind === "run").reverse().slice(0, RUNS);
  const found = chosen.flatMap((run) => {
    const mark = JSON.stringify([run.status, run.console.length]);
    let known = boxes.get(run.number);
    if (known?.mark !== mark) {
      const parts = [box(run)];
      if (!over(run)) parts.unshift(h("p", {}, h("b", { class: "going" }), " ", button("Stop", "End this run", () => ask("control", { run: run.number, request: "stop" }))));
      boxes.set(run.number, (known = { mark, parts }));
    }
    const going = known.parts[0].querySelector(".going");
    if (going) going.textContent = `running for ${seconds(silence(run))}`;
    return known.parts;
  });
  const pane = $("pane-console");
  const children = found.length ? found : [h("p", { class: "quiet" }, "Run it once: what the command prints appears here. A click on a line of it keeps that line.")];
  if (found.length && children.length === pane.children.length && children.every((each, index) => each === pane.children[index])) return;
  pane.replaceChildren(...children);
}

export function clickedLine(event) {
  const line = event.target.closest(".printed");
  if (line && !String(getSelection()) && line.textContent.trim()) keepLine({ text: line.textContent, stream: line.dataset.stream });
}

export function bugs(runs, opened) {
  const hunts = runs.filter(({ kind }) => kind === "hunt").reverse();
  const pane = $("pane-bugs");
  const mark = JSON.stringify(hunts.map((run) => [run.number, run.bugs]));
  if (mark === bugs.mark) return;
  bugs.mark = mark;
  if (!hunts.length) {
    pane.replaceChildren(h("p", { class: "quiet" }, "Failures found on random inputs appear here, each kind once."));
    return;
  }
  const open = (path) => async () => opened(await ask("open", { path }));
  // Some generators have words for their inputs.
  const named = hunts.some((run) => run.bugs.some(({ which }) => which));
  const rows = hunts.flatMap((run) => run.bugs.map((bug) =>
    h("tr", {},
      h("td", {}, visible(bug.title)), h("td", { class: "n" }, number(bug.count)), named ? h("td", {}, visible(bug.which || "")) : null, h("td", { class: "n" }, number(bug.size)),
      h("td", { class: "n" }, bug.reduced === null ? visible(bug.doing || "") : number(bug.reduced)),
      h("td", {}, button("Open", "Open the input that failed", open(bug.path)), " ", bug.reduced_path ? button("Open reduced", "Open the reduced input", open(bug.reduced_path)) : null))));
  pane.replaceChildren(
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "failure"), h("th", { class: "n" }, "count"), named ? h("th", {}, "first") : null, h("th", { class: "n" }, "bytes"), h("th", { class: "n" }, "reduced"), h("th", {}, "files"))), h("tbody", {}, rows)),
    rows.length ? "" : h("p", { class: "quiet" }, "no failure so far"));
}
