// The dialogs: open, save, generate, bug search, keys.

import { ask } from "./api.js";
import { $, h, number, visible } from "./dom.js";

const dialog = () => $("dialog");

function open(title, ...parts) {
  const element = dialog();
  element.replaceChildren(h("h2", { id: "dialog-title" }, title), ...parts);
  if (!element.open) element.showModal();
  return element;
}

const close = () => dialog().close();
const button = (words, onclick, more = {}) => h("button", { type: "button", onclick, ...more }, words);

function guarded(action, problem) {
  return async (event) => {
    event.preventDefault();
    const control = event.submitter || event.currentTarget;
    problem.textContent = "";
    control.disabled = true;
    try {
      await action();
    } catch (error) {
      problem.textContent = visible(error.message);
    } finally {
      control.disabled = false;
    }
  };
}

const problemLine = () => h("p", { class: "problem", role: "alert" });

async function listing(path, take, container) {
  const found = await ask("list", { path });
  const items = [];
  if (found.roots.length > 1 && !found.up) {
    for (const root of found.roots) if (root !== found.path) items.push(item("▸", root, () => listing(root, take, container)));
  }
  if (found.up) items.push(item("↑", "the folder above", () => listing(found.up, take, container)));
  for (const { name, path: inner, size } of found.entries) {
    items.push(
      size === null
        ? item("▸", name, () => listing(inner, take, container))
        : item("", name, () => take(inner), `${number(size)} bytes`),
    );
  }
  container.path = found.path;
  container.replaceChildren(
    h("p", { class: "quiet small" }, visible(found.path)),
    h("ul", { class: "files" }, items.length ? items : h("li", { class: "quiet" }, "nothing here")),
  );
}

function item(icon, name, onclick, size = "") {
  return h("li", {}, h("button", { type: "button", onclick }, h("span", { "aria-hidden": "true" }, icon), h("span", {}, visible(name)), h("span", { class: "grow" }), h("span", { class: "quiet" }, size)));
}

export async function openFile(folder, opened) {
  const problem = problemLine();
  const state = h("p", { class: "quiet", role: "status" });
  const files = h("div");
  const wait = async (name, action) => {
    problem.textContent = "";
    state.textContent = `Opening ${visible(name)}…`; // 30 MB take a second
    try {
      await action();
      close();
    } catch (error) {
      problem.textContent = visible(error.message);
    } finally {
      state.textContent = "";
    }
  };
  const take = (path) => wait(path.split("/").pop(), async () => opened(await ask("open", { path })));
  const add = async () => { for (const file of upload.files) await wait(file.name, () => addFile(file, opened)); };
  const upload = h("input", { type: "file", hidden: true, onchange: add });
  open("Open", files, problem, state,
    h("div", { class: "end" }, upload, button("From elsewhere…", () => upload.click(), { title: "A file outside of the opened folders: its text is copied" }), button("Cancel", close)));
  await listing(folder, take, files).catch((error) => (problem.textContent = visible(error.message)));
}

export async function addFile(file, opened) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 32768) binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
  opened(await ask("add", { name: file.name, data: btoa(binary) }));
}

// Saves `what`, an open text or the best text of a run.
export async function saveFile(folder, suggested, what, saved) {
  const problem = problemLine();
  const name = h("input", { value: suggested, "aria-label": "Name", spellcheck: "false" });
  const files = h("div");
  let replace = false;
  const form = h("form", {},
    files,
    h("label", {}, "Name", name),
    problem,
    h("div", { class: "end" }, button("Cancel", close), h("button", { class: "strong", type: "submit" }, "Save")));
  form.addEventListener("submit", guarded(async () => {
    const path = `${files.path}/${name.value}`;
    try {
      saved((await ask("save", { ...what, path, replace })).path);
      close();
    } catch (error) {
      replace = error.message.endsWith("exists already");
      throw replace ? new Error(`${error.message}. Save again to replace it.`) : error;
    }
  }, problem));
  name.addEventListener("input", () => (replace = false));
  open("Save as", form);
  await listing(folder, (path) => (name.value = path.split("/").pop()), files).catch((error) => (problem.textContent = visible(error.message)));
}

// One field for an option as a format declares it; `name` says which one it is.
export function field(option, value) {
  const { name, kind, help, choices, label, least, most } = option;
  const known = value ?? option.default;
  let input;
  if (kind === "flag") {
    input = h("input", { type: "checkbox", "data-option": name, checked: Boolean(known) });
    return h("label", { class: "tick", title: help }, input, ` ${label}`);
  }
  if (kind === "choice") {
    const none = option.default === null ? [h("option", { value: "" }, "auto")] : [];
    input = h("select", { "data-option": name }, none, choices.map((each) => h("option", { selected: each === known }, each)));
  } else {
    const text = Array.isArray(known) ? known.join(" ") : (known ?? "");
    const numeric = kind === "whole" || kind === "decimal";
    input = h("input", { "data-option": name, value: String(text), inputmode: numeric ? "decimal" : null, placeholder: numeric ? `${least ?? "…"} to ${most ?? "…"}` : option.metavar, spellcheck: "false" });
  }
  return h("label", { title: help }, label, input);
}

// Reads the fields of options; what is as by default is left out.
export function values(options, container) {
  const found = {};
  for (const { name, kind, label, default: usual } of options) {
    const input = container.querySelector(`[data-option="${name}"]`);
    if (!input) continue;
    let value;
    if (kind === "flag") value = input.checked;
    else if (kind === "texts") value = input.value.split(/\s+/).filter(Boolean);
    else if (input.value.trim() === "") value = null;
    else if (kind === "whole" || kind === "decimal") {
      value = Number(input.value);
      if (!Number.isFinite(value) || (kind === "whole" && !Number.isInteger(value))) throw new Error(`${label}: ${input.value} is no ${kind === "whole" ? "whole " : ""}number`);
    } else value = input.value;
    if (kind === "flag" ? value !== Boolean(usual) : kind === "texts" ? value.length : value !== null && value !== usual) found[name] = value;
  }
  return found;
}

function generatorFields(formats, settings) {
  const able = formats.filter(({ generation }) => generation);
  const chosen = h("select", { "data-name": "format" }, able.map(({ name, title }) => h("option", { value: name, selected: name === (settings.generate_format || "btor") }, `${name}: ${title}`)));
  const seed = h("input", { "data-name": "seed", inputmode: "numeric", value: String(settings.generate_seed ?? 0) });
  const fields = h("div", { class: "fields" });
  const help = h("p", { class: "quiet small" });
  // What the field does that has the focus, or that the mouse is over.
  const hint = h("p", { class: "quiet small hint" });
  const tell = ({ target }) => { hint.textContent = target.closest("label")?.title || "\u00a0"; };
  for (const event of ["focusin", "mouseover"]) fields.addEventListener(event, tell);
  const presets = h("div", { class: "presets", role: "group", "aria-label": "Presets" });
  const format = () => able.find(({ name }) => name === chosen.value);
  const fill = (given) => {
    const { generation, name } = format();
    const kept = given || settings[`generate_${name}`] || {};
    hint.textContent = "\u00a0";
    const flags = generation.options.filter(({ kind }) => kind === "flag");
    const others = generation.options.filter(({ kind }) => kind !== "flag");
    fields.replaceChildren(...[...others, ...flags].map((option) => field(option, kept[option.name])));
  };
  const choose = () => {
    const { generation } = format();
    help.textContent = generation.help;
    const known = Object.entries({ "as usual": {}, ...generation.presets });
    presets.replaceChildren("Presets", ...known.map(([words, values]) => button(words, () => fill(values))));
    fill();
  };
  chosen.addEventListener("change", choose);
  choose();
  return { chosen, seed, settings: [presets, fields, hint], fields, help, format };
}

export function generate(formats, settings, keep, opened) {
  const problem = problemLine();
  const { chosen, seed, settings: shown, fields, help, format } = generatorFields(formats, settings);
  const next = h("input", { type: "checkbox", checked: settings.generate_next !== false });
  const form = h("form", {},
    h("div", { class: "fields" }, h("label", { class: "long" }, "Format", chosen), h("label", {}, "Seed", seed)),
    help, shown, problem,
    h("div", { class: "end" }, h("label", { class: "tick" }, next, "another seed each time"), h("span", { class: "grow" }), button("Cancel", close), h("button", { type: "submit", class: "strong" }, "Generate")));
  form.addEventListener("submit", guarded(async () => {
    const { name, generation } = format();
    const given = values(generation.options, fields);
    const number = Number(seed.value);
    if (!Number.isInteger(number)) throw new Error("the seed is a whole number");
    const found = await ask("generate", { format: name, seed: number, values: given });
    keep({ generate_format: name, [`generate_${name}`]: given, generate_seed: next.checked ? number + 1 : number, generate_next: next.checked });
    opened(found);
    close();
  }, problem));
  open("A random input", form);
}

export function hunt(formats, settings, keep, command, started) {
  const problem = problemLine();
  const { chosen, seed, settings: shown, fields, help, format } = generatorFields(formats, settings);
  const programs = h("textarea", { rows: 3, spellcheck: "false", placeholder: "boolector {}\none program a line; answers that differ are bugs, too" }, settings.hunt_programs ?? command ?? "");
  const reference = h("input", { value: settings.hunt_reference ?? "", spellcheck: "false", placeholder: "none" });
  const count = h("input", { inputmode: "numeric", value: String(settings.hunt_count ?? ""), placeholder: "until stopped" });
  const reduce = h("input", { type: "checkbox", checked: settings.hunt_reduce !== false });
  const form = h("form", {},
    h("p", { class: "quiet small" }, "Random inputs, one seed after the other, until a program fails. Each kind of failure is kept once and made smaller."),
    h("label", {}, "Programs", programs),
    h("div", { class: "fields" }, h("label", {}, "Right where others differ", reference), h("label", {}, "Inputs", count), h("label", {}, "First seed", seed), h("label", { class: "long" }, "Format", chosen)),
    h("label", { class: "tick" }, reduce, "reduce what is found"),
    h("details", {}, h("summary", {}, "Settings of the generator"), help, shown), problem,
    h("div", { class: "end" }, button("Cancel", close), h("button", { type: "submit", class: "strong" }, "Search")));
  form.addEventListener("submit", guarded(async () => {
    const { name, generation } = format();
    const given = values(generation.options, fields);
    const found = await ask("hunt", {
      format: name,
      programs: programs.value.split("\n").map((line) => line.trim()).filter(Boolean),
      reference: reference.value.trim() || null,
      seed: Number(seed.value) || 0,
      count: count.value.trim() ? Number(count.value) : null,
      reduce: reduce.checked,
      values: given,
    });
    keep({ hunt_programs: programs.value, hunt_reference: reference.value, hunt_count: count.value, hunt_reduce: reduce.checked, generate_format: name, [`generate_${name}`]: given });
    started(found.run);
    close();
  }, problem));
  open("Bug search", form);
}

export function keys() {
  const rows = [
    ["O", "open a file"], ["S", "save the text that is shown"], ["G", "make a random input"], ["B", "bug search"],
    ["R", "run the command once"], ["Ctrl Enter", "reduce"], ["1 2 3", "text, both, graph"], ["/", "find"],
    ["Arrow keys", "in the graph: to operand, user, neighbour"], ["+ − 0", "in the graph: larger, smaller, fit"],
    ["Enter", "in the graph: what is around the node"], ["Delete", "on a tab: close it"], ["?", "these keys"],
  ];
  open("Keys", h("dl", {}, rows.map(([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)])), h("div", { class: "end" }, button("Close", close, { class: "strong" })));
}
