// A small map of a picture that is larger than its pane: what is in view, and a way to anywhere.

import { s } from "./dom.js";

const [WIDTH, HEIGHT] = [150, 96]; // at most
const ROOT = 40; // half of a node in the middle of the pane, which a map must not hide

export class Minimap {
  // `go` is called with the place of the picture that is to be in the middle.
  constructor(go) {
    this.dots = s("path");
    this.frame = s("rect", { class: "frame" });
    this.svg = s("svg", { class: "minimap", "aria-hidden": "true" }, this.dots, this.frame);
    this.svg.style.display = "none";
    const moved = (event) => {
      const box = this.svg.getBoundingClientRect();
      go((event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale);
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      moved(event);
    });
    this.svg.addEventListener("pointermove", (event) => event.buttons && moved(event));
  }

  // Shows where the nodes of a picture are.
  draw([width, height], places) {
    this.scale = Math.min(WIDTH / width, HEIGHT / height);
    this.size = [width, height];
    this.svg.setAttribute("width", width * this.scale);
    this.svg.setAttribute("height", height * this.scale);
    const at = (value) => (value * this.scale).toFixed(1);
    this.dots.setAttribute("d", places.map(([x, y]) => `M${at(x)} ${at(y)}h.01`).join(""));
  }

  hide() {
    this.svg.style.display = "none";
    this.size = null;
  }

  // Frames what is in view; there is no map of what is in view completely, or in too small a pane.
  framed({ x, y, k }, width, height) {
    if (!this.size || !width) return;
    const [left, top] = [Math.max(0, -x / k), Math.max(0, -y / k)];
    const [right, bottom] = [Math.min(this.size[0], (width - x) / k), Math.min(this.size[1], (height - y) / k)];
    const all = right - left > this.size[0] - 24 && bottom - top > this.size[1] - 24; // but for margins
    const small = width < 2 * (this.size[0] * this.scale + ROOT) || height < 2 * this.size[1] * this.scale;
    this.svg.style.display = all || small ? "none" : "";
    const frame = { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
    for (const [name, value] of Object.entries(frame)) this.frame.setAttribute(name, value * this.scale);
  }
}
