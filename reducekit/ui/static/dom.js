// Makes elements. Texts become text nodes only, so nothing that is shown can be markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) value && element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const $ = (id) => document.getElementById(id);
export const number = (value) => Number(value).toLocaleString("en-US");
export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

// Returns the last number below `count` for which something holds that holds from 0 on; else 0.
export function last(count, holds) {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Control characters and those that turn the direction of writing are spelled out.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
export const visible = (text) =>
  text.replace(HIDDEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function seconds(value) {
  if (value < 100) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest} h` : `${minutes}:${rest} min`;
}

const policy = globalThis.trustedTypes
  ? trustedTypes.createPolicy("workers", { createScriptURL: (url) => (["layout.js", "stream.js"].includes(url) ? url : "") })
  : { createScriptURL: (url) => url };
export const workerUrl = (name) => policy.createScriptURL(name);

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text); // only on this machine and by https
  } catch {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    ($("dialog").open ? $("dialog") : document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  note(`${what} copied`, 2500);
}

export function download(text, name, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  note(`${name} was saved to your downloads`);
}

// Says something for a while, one thing at a time: it covers what is below.
export function note(text, time = 6000) {
  const element = h("div", {}, visible(text));
  $("notes").replaceChildren(element);
  setTimeout(() => element.remove(), time);
}
