/* canvas -- a drawing that stays in sight while what it shows is scrolled: only what can be seen is drawn, at the screen's resolution */
"use strict";

class ScrolledCanvas {
  /* `paint(context, width, height, top)` draws what lies from `top` on. */
  constructor(container, paint) {
    this.container = container;
    this.paint = paint;
    this.canvas = make("canvas", {});
    this.space = make("div", { className: "space" }, this.canvas);
    container.append(this.space);
    container.classList.add("scrolled");
    this.contentHeight = 0;
    this.isAsked = false;
    container.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => { this.known = null; this.draw(); }).observe(container);
  }

  setHeight(height) {
    this.contentHeight = height;
    this.space.style.height = `${height}px`;
  }

  /* Asked once for each size: the answer waits for the layout of the whole page. */
  get size() {
    if (!this.known?.width || !this.known.height) this.known = { width: this.container.clientWidth, height: this.container.clientHeight };
    return this.known;
  }

  get width() {
    return this.size.width;
  }

  /* Have it drawn before the next frame is shown. */
  draw() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { width, height } = this.size, ratio = this.ratio || window.devicePixelRatio || 1;
    if (!width || !height) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.paint(context, width, height, this.container.scrollTop);
  }

  /* For paper: as high as what is shown, but no higher than that, and drawn at once; 0 takes it back. */
  unroll(most) {
    const { style } = this.container;
    if (most) this.heightBefore ??= style.height;
    style.height = most ? `${Math.min(most, this.contentHeight + 4)}px` : this.heightBefore;
    style.flex = most ? "none" : "";
    if (!most) this.heightBefore = null;
    this.ratio = most ? 2 : 0;
    this.known = null;
    this.drawNow();
    return Math.max(0, this.contentHeight - most);
  }

  /* Where an event is in what is drawn. */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top + this.container.scrollTop];
  }
}

const FONT = "12px system-ui, sans-serif";
const widths = new Map();

/* As much of a text as fits, with the end left out. */
function fitted(context, text, width) {
  const average = 6.2;
  if (width < 14) return "";
  let shown = text.length * average > width * 1.6 ? text.slice(0, Math.ceil(width / 4)) : text;
  if (measured(context, shown) <= width && shown.length === text.length) return text;
  while (shown.length > 1 && measured(context, `${shown}…`) > width) shown = shown.slice(0, -Math.max(1, Math.floor((measured(context, shown) - width) / 12)));
  return shown.length > 1 ? `${shown}…` : "";
}

function measured(context, text) {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(text, width);
  }
  return width;
}

/* A box that follows the pointer, made of rows of [name, value]. */
function showTooltip(event, title, rows, note) {
  const tooltip = document.getElementById("tooltip");
  const table = make("table", {}, ...rows.map(([name, value]) => make("tr", {}, make("th", {}, name), make("td", {}, value))));
  tooltip.replaceChildren(make("b", {}, title), table, ...(note ? [make("div", { className: "note" }, note)] : []));
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  const x = event.clientX + 14 + box.width > innerWidth ? Math.max(4, event.clientX - box.width - 10) : event.clientX + 14;
  const y = event.clientY + 16 + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 16;
  tooltip.style.left = `${x}px`;
  tooltip.style.top = `${y}px`;
}

function hideTooltip() {
  document.getElementById("tooltip").hidden = true;
}
