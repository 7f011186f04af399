/* flame -- the flame graph: calls as boxes as wide as their time, callers above callees or the other way round
 *
 * A mode lays out boxes {depth, x, width (parts of the whole), function, kind, value, count, own, call}, and only those that can be seen. */
"use strict";

const ROW = 18;
const MODES = {
  calls: "callers first",
  inverted: "callees first",
  threads: "by thread",
  time: "in order of time",
};

class FlameGraph {
  constructor(page, container) {
    this.page = page;
    container.append(this.makeBar(page));
    this.area = make("div", { className: "flame", tabIndex: 0, role: "application", ariaLabel: "Flame graph. Arrow keys move, Enter zooms, Escape resets." });
    container.append(this.area);
    this.spoken = make("div", { className: "spoken", ariaLive: "polite" });
    container.append(this.spoken);
    this.canvas = new ScrolledCanvas(this.area, (...where) => this.paint(...where));
    this.boxes = [];
    this.rows = [];
    this.cursor = null;
    this.listen();
  }

  /* What stands above the graph: search, order, colour. */
  makeBar(page) {
    this.search = make("input", {
      type: "search", placeholder: "search functions (regular expression)", ariaLabel: "Search functions", spellcheck: false,
      oninput: () => page.state.set({ search: this.search.value }),
    });
    this.matches = make("span", { className: "matches", role: "status" });
    this.modes = make("select", { ariaLabel: "Order", onchange: () => page.state.set({ mode: this.modes.value, zoom: [] }) },
      ...Object.entries(MODES).map(([value, title]) => make("option", { value }, title)));
    this.colour = make("select", { ariaLabel: "Colour", onchange: () => page.state.set({ colour: this.colour.value }) },
      make("option", { value: "module" }, "colour by module"), make("option", { value: "kind" }, "colour by kind of code"));
    this.legend = make("span", { className: "legend" });
    const reset = make("button", { type: "button", onclick: () => page.state.set({ zoom: [] }) }, "Reset zoom");
    this.reset = reset;
    this.links = make("span", { className: "links" });
    return make("div", { className: "bar" }, this.search, this.matches, this.modes, this.colour, reset, this.links, this.legend);
  }

  listen() {
    const { canvas } = this.canvas;
    canvas.addEventListener("mousemove", (event) => this.point(event));
    canvas.addEventListener("mouseleave", () => { hideTooltip(); this.hover = null; this.canvas.draw(); });
    canvas.addEventListener("click", (event) => {
      const box = this.boxAt(event);
      if (!box) return;
      this.cursor = box;
      this.choose(box);
    });
    canvas.addEventListener("dblclick", (event) => {
      const box = this.boxAt(event);
      if (box && box.function >= 0) this.open(box);
    });
    this.area.addEventListener("keydown", (event) => this.key(event));
  }

  /* Zoom to a box, whose function is then the one that other views show. */
  choose(box) {
    this.page.state.set({ zoom: box.path(), function: Math.max(-1, box.function) });
  }

  zoomOut() {
    this.page.state.set({ zoom: this.page.state.zoom.slice(0, -1) });
  }

  open(box) {
    this.page.showFunction(box.function);
  }

  title(box, isLong) {
    return box.title || this.page.experiment.functionName(box.function, isLong);
  }

  fill(box) {
    return this.page.colours.fill(box.function, box.kind, this.page.state.colour, box.function + 1);
  }

  update(changed) {
    const { state } = this.page;
    if (document.activeElement !== this.search) this.search.value = state.search;
    this.modes.value = Object.hasOwn(MODES, state.mode) ? state.mode : "calls";
    this.colour.value = state.colour;
    showLinks(this.page, this.links);
    if (!changed || ["span", "threads", "metric", "mode", "zoom", "colour", "search"].some((name) => changed.has(name))) this.layOut();
  }

  layOut() {
    const { state, sums, experiment, colours } = this.page;
    this.legend.replaceChildren(...colours.legend(state.colour).map(([title, fill]) => {
      const sample = make("i", {});
      sample.style.background = fill;
      return make("span", {}, sample, title);
    }));
    const layOut = { calls: layOutCalls, inverted: layOutInverted, threads: layOutThreads, time: layOutTime }[this.modes.value];
    this.reset.hidden = !state.zoom.length;
    this.find(sums, experiment);
    this.setBoxes(layOut(this.page, Math.max(200, this.canvas.width), state.zoom));
  }

  setBoxes(boxes) {
    this.boxes = boxes;
    this.rows = [];
    for (const box of boxes) (this.rows[box.depth] ||= []).push(box);
    this.canvas.setHeight(this.rows.length * ROW + 4);
    const { key, depth } = this.cursor || {};
    this.cursor = key && (this.rows[depth] || []).find((box) => box.key === key) || null;
    this.canvas.draw();
  }

  /* Which functions the search means, and how much time they have together; a call below another match counts once. */
  find(sums, experiment) {
    this.found = null;
    this.matches.textContent = "";
    this.search.classList.remove("wrong");
    const text = this.page.state.search;
    if (!text) return;
    try {
      this.found = experiment.matching(text);
    } catch {
      this.search.classList.add("wrong");
      this.matches.textContent = "not a regular expression";
      return;
    }
    const names = this.found.reduce((sum, one) => sum + one, 0);
    const { nodeParents, nodeFunctions } = experiment, isBelow = new Uint8Array(nodeParents.length);
    let total = 0;
    for (let node = 1; node < nodeParents.length; node++) {
      if (isBelow[nodeParents[node]]) isBelow[node] = 1;
      else if (this.found[nodeFunctions[node]]) { isBelow[node] = 1; total += sums.inclusiveNodes[node]; }
    }
    this.matches.textContent = `${formatPercent(total, sums.total)} in ${formatCount(names)} ${names === 1 ? "function" : "functions"}`;
  }

  paint(context, width, height, top) {
    const { colours } = this.page;
    context.font = FONT;
    context.textBaseline = "middle";
    const first = Math.max(0, Math.floor(top / ROW)), last = Math.min(this.rows.length - 1, Math.ceil((top + height) / ROW));
    for (let depth = first; depth <= last; depth++) {
      for (const box of this.rows[depth] || []) {
        const x = box.x * width, wide = Math.max(0.6, box.width * width - 0.6), y = depth * ROW - top;
        const isFound = this.found && this.found[box.function];
        context.globalAlpha = box.isAbove ? 0.55 : this.found && !isFound ? 0.35 : 1;
        context.fillStyle = isFound && !this.keepsColour ? colours.match : this.fill(box);
        context.fillRect(x, y, wide, ROW - 1);
        context.globalAlpha = 1;
        if (box === this.hover || box === this.cursor) {
          context.strokeStyle = colours.text;
          context.lineWidth = box === this.cursor ? 2 : 1;
          context.strokeRect(x + 0.5, y + 0.5, Math.max(1, wide - 1), ROW - 2);
        }
        if (wide > 20) {
          context.fillStyle = isFound && !this.keepsColour ? "#222" : colours.text;
          const text = fitted(context, this.title(box), wide - 6);
          if (text) context.fillText(text, x + 3, y + ROW / 2);
        }
      }
    }
    if (this.boxes.length === 0) {
      context.fillStyle = colours.muted;
      context.fillText("Nothing here: no sample is in this selection.", 12, 24);
    }
  }

  boxAt(event) {
    const [x, y] = this.canvas.place(event), at = x / this.canvas.width;
    return (this.rows[Math.floor(y / ROW)] || []).find((box) => at >= box.x && at < box.x + Math.max(box.width, 1 / this.canvas.width)) || null;
  }

  point(event) {
    const box = this.boxAt(event);
    if (box !== this.hover) {
      this.hover = box;
      this.canvas.draw();
    }
    if (!box) { hideTooltip(); return; }
    showTooltip(event, this.title(box, true), this.describe(box), "click: zoom · double-click: callers, callees and source");
  }

  describe(box) {
    const { experiment, sums } = this.page, { format } = sums.metric;
    const error = sums.error(box.value, box.count);
    const rows = [
      ["inclusive", `${format(box.value)}${error === null ? "" : ` ± ${format(error)}`}  (${formatPercent(box.value, sums.total)})`],
    ];
    if (box.own !== undefined) rows.push(["exclusive", `${format(box.own)}  (${formatPercent(box.own, sums.total)})`]);
    rows.push(["samples", formatCount(box.count)]);
    const module = experiment.moduleName(box.function), place = experiment.functionPlace(box.function);
    if (module) rows.push(["module", module]);
    if (place) rows.push(["defined at", place]);
    if (KIND_TITLES[box.kind] && box.kind !== "native") rows.push(["kind", KIND_TITLES[box.kind]]);
    return rows;
  }

  /* Arrow keys go from box to box. */
  key(event) {
    const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in steps) {
      event.preventDefault();
      const [down, right] = steps[event.key];
      this.cursor = this.cursor ? this.neighbour(this.cursor, down, right) : this.boxes[0];
      if (!this.cursor) return;
      const y = this.cursor.depth * ROW;
      if (y < this.area.scrollTop) this.area.scrollTop = y;
      if (y + ROW > this.area.scrollTop + this.area.clientHeight) this.area.scrollTop = y + ROW - this.area.clientHeight;
      this.spoken.textContent = [this.title(this.cursor), ...this.describe(this.cursor).map((row) => row.join(" "))].join(", ");
      this.canvas.draw();
    } else if (event.key === "Enter" && this.cursor) {
      this.choose(this.cursor);
    } else if (event.key === "Escape" || event.key === "Backspace") {
      event.stopPropagation();
      this.zoomOut();
    } else if (event.key === "s" && this.cursor && this.cursor.function >= 0) {
      this.open(this.cursor);
    }
  }

  neighbour(box, down, right) {
    const row = this.rows[box.depth + down];
    if (!row) return box;
    if (right) return row[row.indexOf(box) + right] || box;
    const middle = box.x + (down < 0 ? box.width / 2 : 0);
    return row.find((other) => middle >= other.x - 1e-9 && middle < other.x + other.width) || (down > 0 ? box : row[0]);
  }
}
