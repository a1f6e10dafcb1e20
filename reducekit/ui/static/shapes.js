// What a node looks like by its kind, in the graph and in its legend: no kind has a colour only.

import { h, s, visible } from "./dom.js";

export const HEIGHT = 24;
const HALF = HEIGHT / 2;
const CUT = 7; // of the corners of a constant

const WORDS = { root: "root", inner: "operator", leaf: "variable", constant: "constant", other: "other", cone: "hidden, click to see" };

// Returns the outline of a node around (0, 0), as wide as its label needs.
export function outline(style, width) {
  const half = width / 2;
  if (style.includes("constant")) {
    const d = `M${-half} 0L${CUT - half} ${-HALF}H${half - CUT}L${half} 0L${half - CUT} ${HALF}H${CUT - half}Z`;
    return s("path", { class: "outline", d });
  }
  return s("rect", { class: "outline", x: -half, y: -HALF, width, height: HEIGHT, rx: style.includes("leaf") ? HALF : 4 });
}

function sample(...parts) {
  return s("svg", { width: 24, height: 13, viewBox: "-24 -13 48 26", "aria-hidden": "true" }, ...parts);
}

// Returns what the kinds that occur, and dashed edges, mean.
export function legend(kinds, complemented) {
  const entry = (words, ...parts) => h("li", {}, sample(...parts), visible(words));
  const found = Object.keys(WORDS).filter((kind) => kinds.has(kind));
  return h("ul", { class: "kinds", "aria-label": "Legend" },
    found.map((kind) => entry(WORDS[kind], s("g", { class: `kind ${kind}` }, outline(kind, 44)))),
    complemented ? entry("complemented", s("path", { class: "dash", d: "M-24 0H24" })) : null);
}
