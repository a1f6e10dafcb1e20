// The lines of runs in a chart: those of one curve joined, named at their ends.

import { s } from "./dom.js";
import { over, titled } from "./runs.js";

// Returns lines to draw, the smallest result first: {name, runs, points, end}. `runs` have the
// same steps after the same checks, and are one line.
export function lines(runs) {
  const found = new Map();
  for (const run of runs.filter(({ points }) => points.length)) {
    const steps = over(run) ? JSON.stringify([run.document, run.points.map(([checks, , size]) => [checks, size])]) : run.number;
    if (!found.has(steps)) found.set(steps, []);
    found.get(steps).push(run);
  }
  const size = (line) => line.points[line.points.length - 1][2];
  return [...found.values()]
    .map((same) => ({ name: same.map((run) => titled(run, runs)).join(", "), runs: same, points: same[0].points, end: [same[0].state.checks ?? 0, same[0].state.seconds ?? 0] }))
    .sort((a, b) => size(a) - size(b) || a.end[0] - b.end[0]);
}

export function drawn(line, element) {
  const [{ color, dash }] = line.runs;
  element.style.stroke = `var(${color})`;
  element.style.strokeDasharray = dash;
  return element;
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
export const LETTER = 7; // of a name
