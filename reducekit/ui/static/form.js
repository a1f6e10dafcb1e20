// What fails, and how it is to be reduced: the command bar, and the options that are kept.

import { ask } from "./api.js";
import * as dialogs from "./dialogs.js";
import { $, h, note, visible } from "./dom.js";

const FIELDS = ["kind", "command", "reference", "match_out", "match_err", "exit_code", "slower_than", "cost", "at_least", "times", "unstable", "jobs", "timeout", "memory", "max_time", "max_checks", "until"];
const TICKS = ["stdin", "quick", "lenient"];
const NUMBERS = { jobs: 1, exit_code: 1, max_checks: 1, until: 1, timeout: 0, memory: 1, max_time: 0, slower_than: 0, at_least: 0, times: 0, unstable: 1 };
const ONLY_FOR = { exit_code: "pattern", slower_than: "slow", at_least: "cost", times: "regressed", unstable: "unstable" };
const VARIANTS = 8; // as the help proposes
const EXAMPLES = { test: "./interesting.sh {}", unstable: "z3 smt.random_seed={seed} rlimit=1000000 {}", cost: "z3 -st {}", regressed: "./solver-new -st {}" };
const COMMANDS = 20; // that are remembered

export const settings = {};

let keeping;
export function keep(values) {
  Object.assign(settings, values);
  clearTimeout(keeping);
  keeping = setTimeout(() => ask("keep", { values: settings }).catch((error) => note(error.message)), 400);
}

export function restore(values, programs) {
  Object.assign(settings, values);
  for (const id of FIELDS) if (settings[id] !== undefined) $(id).value = settings[id];
  for (const id of TICKS) $(id).checked = Boolean(settings[id]);
  restore.programs = programs;
  suggest();
  kind();
}

function suggest() {
  const known = [...new Set([...(settings.commands || []), ...restore.programs.map((name) => `${name} {}`)])];
  $("programs").replaceChildren(...known.map((value) => h("option", { value })));
}

export function used(command) {
  if (!command) return;
  keep({ commands: [command, ...(settings.commands || []).filter((each) => each !== command)].slice(0, COMMANDS) });
  suggest();
}

export function kind() {
  const chosen = $("kind").value;
  $("command-label").textContent = chosen === "test" ? "Test" : "Program";
  $("command").placeholder = `${EXAMPLES[chosen] || "./solver --option {}"}     ({} is the file)`;
  for (const each of document.querySelectorAll("[data-kind]")) each.hidden = !each.dataset.kind.split(" ").includes(chosen);
}

export function remember() {
  const values = {};
  for (const id of FIELDS) values[id] = $(id).value;
  for (const id of TICKS) values[id] = $(id).checked;
  keep(values);
}

export function strategies(names, usual) {
  const kept = settings.strategies || [usual];
  $("strategies").replaceChildren(
    ...[usual, ...names.filter((each) => each !== usual)].map((name) =>
      h("label", { class: "strategy" }, h("input", { type: "checkbox", name: "strategy", value: name, checked: kept.includes(name), onchange: chosen }),
        h("span", {}, name === usual ? `${name} (automatic)` : name, h("small")))));
  chosen();
}

let same = {};
// Greys the algorithms that search the present text as another one does.
export function alike(found) {
  same = found;
  for (const box of document.querySelectorAll("[name=strategy]")) {
    const other = same[box.value];
    box.disabled = Boolean(other);
    box.labels[0].querySelector("small").textContent = other ? ` here as ${other}` : "";
    box.labels[0].title = other ? `It has no other way to search this text than ${other}` : "";
  }
  chosen();
}

export function chosen() {
  const boxes = [...document.querySelectorAll("[name=strategy]")];
  const checked = boxes.filter((each) => each.checked).map(({ value }) => value);
  const names = [...new Set(checked.map((name) => same[name] || name))];
  $("start").textContent = names.length > 1 ? `Race ${names.length} algorithms` : "Reduce";
  $("algorithm-name").textContent = names.length === 1 && names[0] === boxes[0].value ? "automatic" : names.join(", ") || "none chosen";
  keep({ strategies: checked });
  return names;
}

export function options() {
  const found = {};
  const mode = $("kind").value;
  const command = $("command").value.trim();
  if (command) found[mode === "test" ? "oracle" : "command"] = command;
  if (mode === "pattern") for (const id of ["match_out", "match_err"]) if ($(id).value) found[id] = [$(id).value];
  if (["disagree", "regressed"].includes(mode) && $("reference").value.trim()) found.reference = $("reference").value.trim();
  if (mode === "cost" && $("cost").value.trim()) found.cost = $("cost").value.trim();
  if (mode === "regressed") found.regression = true;
  if (mode === "unstable") found.unstable = VARIANTS;
  for (const id of Object.keys(NUMBERS)) {
    const words = $(id).value.trim();
    if (!words || (ONLY_FOR[id] && ONLY_FOR[id] !== mode)) continue;
    const value = Number(words);
    if (!Number.isFinite(value) || (NUMBERS[id] && !Number.isInteger(value))) throw new Error(`${$(id).labels[0].firstChild.textContent.trim()}: ${words} is no ${NUMBERS[id] ? "whole " : ""}number`);
    found[id] = id === "memory" ? value * 1000000 : value;
  }
  if (mode === "cost" && !found.cost) throw new Error("Which counter of the program? Type its name first, such as conflicts");
  if (mode === "cost" && found.at_least === undefined) throw new Error("From which number on is it high?");
  if (["disagree", "regressed"].includes(mode) && !found.reference) throw new Error("Which other program? Type its command first");
  if (mode === "slow" && found.slower_than === undefined) throw new Error("From how many seconds on is it slow?");
  if ($("stdin").checked) found.stdin = true;
  if ($("lenient").checked) found.lenient = true;
  if ($("quick").checked) found.effort = "quick";
  return found;
}

export function formatOptions(format) {
  if (formatOptions.of === format?.name) return;
  formatOptions.of = format?.name;
  $("format-options").replaceChildren(...(format ? format.options.map((option) => dialogs.field(option)) : []));
}

// Says what one run showed, and what Reduce would keep of it.
export function verdict(words, interesting, line) {
  const element = $("verdict");
  element.hidden = !words;
  if (!words) return;
  element.dataset.interesting = interesting;
  const only = (each) => h("button", { type: "button", title: "Keep that the program prints this line, however it ends", onclick: () => keepLine(each) }, "Keep only this line");
  element.replaceChildren(h("b", {}, interesting ? "✓ " : "✗ "), visible(words), " ", interesting && line ? only(line) : "");
}

// Keeps that the program prints a line: numbers in it may change.
export function keepLine({ text, stream }) {
  const pattern = text.trim().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\d+/g, "\\d+");
  $("kind").value = "pattern";
  $("match_out").value = stream === "output" ? pattern : "";
  $("match_err").value = stream === "errors" ? pattern : "";
  kind();
  remember();
  verdict(`Reduce will keep: the program prints ${text.trim()}`, true);
}
