// Talks to the server. The token comes with the start address, behind "#", and stays in this tab.

let token = "";

export function start() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  token = given || sessionStorage.getItem("token") || "";
}

function request(name, body, signal) {
  return fetch(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Reducekit-Token": token },
    body: JSON.stringify(body),
    signal,
  });
}

export async function ask(name, body = {}) {
  let response;
  try {
    response = await request(name, body);
  } catch {
    throw new Error("reducekit ui has ended, or cannot be reached");
  }
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
}

// Calls `take` with each line of news, and `state` with whether there is a connection.
export async function follow(take, state) {
  for (;;) {
    try {
      const response = await request("stream", {});
      if (!response.ok) throw new Error("refused");
      state(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line) take(JSON.parse(line));
      }
    } catch {
      // tried again below
    }
    state(false);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
