// Shared by all tabs of a browser: keeps one stream of news open, and passes it on to each.

import { follow, use } from "./api.js";

const ports = new Set();
const runs = new Map();
let listed; // the open texts
let alive;

const tell = (message) => ports.forEach((port) => port.postMessage(message));

function take(news) {
  for (const run of news.runs) {
    const points = [...(run.from ? runs.get(run.number).points.slice(0, run.from) : []), ...run.points];
    runs.set(run.number, { ...run, points, from: 0, at: Date.now() });
  }
  if (news.documents) listed = { documents: news.documents, last: news.last };
  tell(news);
}

function state(now) {
  alive = now;
  tell({ alive });
}

// A tab that comes later gets all that is known.
function known(port) {
  if (alive !== undefined) port.postMessage({ alive });
  const late = (run) => ({ ...run, age: run.age + (Date.now() - run.at) / 1000 });
  if (listed) port.postMessage({ runs: [...runs.values()].map(late), ...listed });
}

onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data: token }) => {
    if (token === null) return ports.delete(port);
    if (!ports.size && alive === undefined) {
      use(token);
      follow(take, state);
    }
    ports.add(port);
    return known(port);
  };
};
