// Talks to the server. The token comes with the start address, behind "#", and stays in this tab.

import { workerUrl } from "./dom.js";

const SILENT = 15_000; // milliseconds without a sign of life after which the connection is lost
let token = "";
const pending = new Set(); // when each request that has no answer began

// Takes the token out of the address. What else is behind "#" says what is shown. A tab without
// one asks the others: they are of the same server, as a channel is of one origin.
export async function start() {
  const [, given, rest = ""] = /^(?:token=)?([^=&]+)(?:&(.*))?$/.exec(location.hash.slice(1)) || [];
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", `${location.pathname}${rest ? `#${rest}` : ""}`);
  }
  const channel = new BroadcastChannel("reducekit");
  token = sessionStorage.getItem("token") || (await asked(channel));
  if (token) sessionStorage.setItem("token", token);
  channel.onmessage = ({ data }) => data === "key?" && token && channel.postMessage({ token });
}

const asked = (channel) => new Promise((resolve) => {
  channel.onmessage = ({ data }) => data.token && resolve(data.token);
  channel.postMessage("key?");
  setTimeout(() => resolve(""), 300);
});

// Returns what follows "#" in a link that needs no other tab.
export const withKey = (rest) => [`token=${token}`, rest].filter(Boolean).join("&");

export const use = (given) => (token = given);

function request(name, body, signal) {
  return fetch(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Reducekit-Token": token },
    body: JSON.stringify(body),
    signal,
  });
}

export async function ask(name, body = {}) {
  const began = { at: performance.now() };
  pending.add(began);
  try {
    let response;
    try {
      response = await request(name, body);
    } catch {
      throw new Error("reducekit ui has ended, or cannot be reached");
    }
    const found = await response.json();
    if (!response.ok) throw Object.assign(new Error(found.error), { status: response.status });
    return found;
  } finally {
    pending.delete(began);
  }
}

// Milliseconds that the oldest request has been waiting for its answer.
export const waiting = () => Math.max(0, ...[...pending].map(({ at }) => performance.now() - at));

// Calls `take` with each line of news, and `state` with whether there is a connection.
export async function follow(take, state) {
  for (;;) {
    const abort = new AbortController();
    let timer = setTimeout(() => abort.abort(), SILENT);
    try {
      const response = await request("stream", {}, abort.signal);
      if (!response.ok) throw new Error("refused");
      state(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENT);
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line) take(JSON.parse(line));
      }
    } catch {
      // tried again below
    }
    clearTimeout(timer);
    state(false);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

// Follows the news through one connection for all tabs: browsers open six to a server, no more.
export function share(take, state) {
  if (!window.SharedWorker) return follow(take, state);
  const worker = new SharedWorker(workerUrl("stream.js"), { type: "module", name: token });
  worker.port.onmessage = ({ data }) => ("alive" in data ? state(data.alive) : take(data));
  worker.port.postMessage(token);
  addEventListener("pagehide", () => worker.port.postMessage(null));
  return undefined;
}
