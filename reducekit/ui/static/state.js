// What the page knows: the open texts, the runs, and which of them is shown.

export const state = { documents: [], runs: new Map(), shown: null, formats: [], folder: "", lost: null, changing: false };

export const current = () => state.documents.find(({ number: each }) => each === state.shown?.document);
export const shownRun = () => state.runs.get(state.shown?.run);
export const runs = () => [...state.runs.values()];

let redraw = () => {};
let waiting = false;

export function drawWith(given) {
  redraw = given;
}

// Has the page redrawn soon, once for all calls until then.
export function schedule() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    redraw();
  }, 100);
}
