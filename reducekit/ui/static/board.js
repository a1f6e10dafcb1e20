// The order of runs in a race, those of one curve joined, and the table of it.

import { h, number, s, seconds, visible } from "./dom.js";
import { over } from "./runs.js";

// Returns lines to draw, the smallest result first: {name, runs, points, end}. `runs` have the
// same steps after the same checks, and are one line.
export function lines(runs) {
  const titles = runs.map(({ title }) => title);
  const name = (run) => (titles.filter((each) => each === run.title).length > 1 ? `${run.title} #${run.number}` : run.title);
  const found = new Map();
  for (const run of runs.filter(({ points }) => points.length)) {
    const steps = over(run) ? JSON.stringify([run.document, run.points.map(([checks, , size]) => [checks, size])]) : run.number;
    if (!found.has(steps)) found.set(steps, []);
    found.get(steps).push(run);
  }
  const size = (line) => line.points[line.points.length - 1][2];
  return [...found.values()]
    .map((same) => ({ name: same.map(name).join(", "), runs: same, points: same[0].points, end: [same[0].state.checks ?? 0, same[0].state.seconds ?? 0] }))
    .sort((a, b) => size(a) - size(b) || a.end[0] - b.end[0]);
}

export function drawn(line, element) {
  const [{ color, dash }] = line.runs;
  element.style.stroke = `var(${color})`;
  element.style.strokeDasharray = dash;
  return element;
}

// Returns the ranks; `show` is called with the number of a run.
export function board(found, show) {
  const row = (line, index) => {
    const { points, end, runs } = line;
    const named = runs.map((run, at) => [at ? ", " : "", h("button", { type: "button", class: "plain", title: "See its text and graph", onclick: () => show(run.number) }, visible(line.name.split(", ")[at]))]);
    const cells = [points[points.length - 1][2], end[0]].map((each) => h("td", { class: "n" }, number(each)));
    return h("tr", { class: index || found.length < 2 ? "" : "first" },
      h("td", { class: "n" }, found.length < 2 ? "" : `${index + 1}.`),
      h("th", { scope: "row" }, s("svg", { width: 18, height: 12, "aria-hidden": "true" }, drawn(line, s("path", { d: "M0 6h18", "stroke-width": 3 }))), named),
      cells, h("td", { class: "n" }, over(runs[0]) ? seconds(end[1]) : runs[0].status));
  };
  if (!found.length) return "";
  return h("table", { class: "board" },
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "algorithm"), ["bytes", "checks", "time"].map((each) => h("th", { scope: "col", class: "n" }, each)))),
    h("tbody", {}, found.map(row)));
}

// Writes names at the ends of lines, below one another where they would overlap.
export function labels(found, bottom) {
  const rows = [];
  return [...found].sort((a, b) => a.at[1] - b.at[1]).map(({ at: [x, y], name }) => {
    const width = name.length * LETTER;
    let down = y + 4;
    for (const other of rows) {
      if (x < other.right && other.left < x + width && Math.abs(down - other.down) < ROW) down = other.down + ROW;
    }
    down = Math.min(down, bottom);
    rows.push({ left: x, right: x + width, down });
    return s("text", { x: x + 8, y: down, class: "name" }, name);
  });
}

const ROW = 13; // pixels
export const LETTER = 6.4; // of a name
