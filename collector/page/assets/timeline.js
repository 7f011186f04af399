/* timeline -- CPU use of all, of each process and each thread over time, waiting of threads, metrics as lines, labels and pauses; drag to select a span */
"use strict";

const AXIS = 34;
const NO_PHASE = "(no phase)";
const GUTTER = 210;

class Timeline {
  constructor(page, container) {
    this.page = page;
    this.container = container;
    this.canvas = new ScrolledCanvas(container, (...where) => this.paint(...where));
    this.lanes = lanesOf(page.experiment);
    this.shapes = new Map();
    this.drag = null;
    let top = AXIS;
    for (const lane of this.lanes) {
      lane.top = top;
      top += lane.height;
    }
    this.canvas.setHeight(top + 4);
    container.style.height = `${Math.min(Math.max(120, top + 6), Math.round(innerHeight * 0.3))}px`;
    this.listen();
  }

  get view() {
    return this.page.state.view || [0, this.page.experiment.duration];
  }

  timeAt(x) {
    const [start, end] = this.view, width = this.canvas.width - GUTTER;
    return Math.min(end, Math.max(start, start + (x - GUTTER) / width * (end - start)));
  }

  xAt(time) {
    const [start, end] = this.view;
    return GUTTER + (time - start) / (end - start) * (this.canvas.width - GUTTER);
  }

  listen() {
    const { canvas } = this.canvas, { state } = this.page;
    canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = this.canvas.place(event);
      if (x < GUTTER) { this.choose(this.laneAt(y), event); return; }
      canvas.setPointerCapture(event.pointerId);
      this.drag = { from: this.timeAt(x), x };
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.canvas.place(event);
      if (this.drag && Math.abs(x - this.drag.x) > 3) {
        const ends = [this.drag.from, this.timeAt(x)].sort((a, b) => a - b);
        if (ends[1] > ends[0]) this.page.selectSoon(ends);
      }
      this.point(event, x, y);
    });
    canvas.addEventListener("pointerup", (event) => {
      const [x] = this.canvas.place(event);
      if (this.drag && Math.abs(x - this.drag.x) <= 3) state.set({ span: null });
      this.drag = null;
    });
    canvas.addEventListener("pointerleave", () => { this.pointer = null; hideTooltip(); this.canvas.draw(); });
    canvas.addEventListener("dblclick", () => { if (state.span) state.set({ view: state.span }); });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomBy(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(this.canvas.place(event)[0]));
    }, { passive: false });
    this.container.addEventListener("keydown", (event) => this.key(event));
  }

  /* Make what is seen so many times longer, around a moment. */
  zoomBy(factor, moment) {
    const [start, end] = this.view, { duration } = this.page.experiment;
    const length = Math.min(duration, Math.max(this.page.experiment.facts.step * 4, (end - start) * factor));
    const from = Math.min(duration - length, Math.max(0, moment - (moment - start) / (end - start) * length));
    this.page.state.set({ view: length >= duration ? null : [from, from + length] });
  }

  key(event) {
    const { state } = this.page, [start, end] = this.view, step = (end - start) / 40;
    const span = state.span || [start, start + 4 * step];
    const moves = { ArrowRight: [1, 1], ArrowLeft: [-1, -1] };
    if (event.key in moves) {
      event.preventDefault();
      const by = moves[event.key][0] * step;
      const moved = event.shiftKey ? [span[0], span[1] + by] : [span[0] + by, span[1] + by];
      const { duration } = this.page.experiment;
      if (moved[0] >= 0 && moved[1] <= duration + 1e-9 && moved[1] - moved[0] > step / 2) state.set({ span: moved });
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.goTo(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && this.cursor) {
      this.choose(this.cursor, event);
    } else if (event.key === "+" || event.key === "-") {
      this.zoomBy(event.key === "+" ? 0.7 : 1.4, (span[0] + span[1]) / 2);
    }
  }

  /* The lane above or below that of the keyboard; what it is, is said. */
  goTo(step) {
    const at = this.lanes.indexOf(this.cursor) + step;
    this.cursor = this.lanes[Math.max(0, Math.min(this.lanes.length - 1, at))];
    const { top, height } = this.cursor, { container } = this;
    if (top - AXIS < container.scrollTop) container.scrollTop = top - AXIS;
    if (top + height > container.scrollTop + container.clientHeight) container.scrollTop = top + height - container.clientHeight;
    document.getElementById("spoken").textContent = [this.cursor.title, ...this.cursor.describe(null).map((row) => row.join(" "))].join(", ");
    this.canvas.draw();
  }

  laneAt(y) {
    return this.lanes.find((lane) => y >= lane.top && y < lane.top + lane.height) || null;
  }

  /* A click on a name takes its threads, with Ctrl or Shift besides those that are taken. */
  choose(lane, event) {
    if (!lane || !lane.threads) return;
    const { state } = this.page, threads = new Set(lane.threads);
    if (lane.kind === "all") { state.set({ threads: null }); return; }
    const isAdding = event.ctrlKey || event.metaKey || event.shiftKey;
    const chosen = new Set(isAdding ? state.threads || [] : []);
    const isThere = state.threads && [...threads].every((thread) => state.threads.has(thread)) && (isAdding || state.threads.size === threads.size);
    for (const thread of threads) if (isThere) chosen.delete(thread); else chosen.add(thread);
    state.set({ threads: chosen.size ? chosen : null });
  }

  point(event, x, y) {
    this.pointer = x >= GUTTER ? x : null;
    const lane = this.laneAt(y);
    this.canvas.canvas.style.cursor = x < GUTTER ? "pointer" : "col-resize";
    this.canvas.draw();
    if (!lane || this.drag) { hideTooltip(); return; }
    const rows = x >= GUTTER ? [["at", formatTime(this.timeAt(x))]] : [];
    const label = x >= GUTTER && this.page.experiment.facts.moments.time.findIndex((time) => Math.abs(this.xAt(time) - x) < 4);
    if (typeof label === "number" && label >= 0) rows.push(["label", this.page.experiment.facts.moments.label[label]]);
    showTooltip(event, lane.title, [...rows, ...lane.describe(x >= GUTTER ? this.timeAt(x) : null)], lane.threads && x < GUTTER ? "click: only this · Ctrl-click: this as well" : "");
  }

  paint(context, width, height, top) {
    const { colours, experiment, state } = this.page;
    context.font = FONT;
    context.textBaseline = "middle";
    for (const lane of this.lanes) {
      if (lane.top + lane.height < top + AXIS || lane.top > top + height) continue;
      this.paintLane(context, lane, lane.top - top, width);
    }
    this.paintPauses(context, top, height);
    this.paintMoments(context, width, height);
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, width, AXIS);
    this.paintAxis(context, width);
    this.paintLabels(context, width);
    if (state.span) {
      const [from, to] = state.span.map((time) => this.xAt(time));
      context.fillStyle = colours.select;
      context.fillRect(Math.max(GUTTER, from), 0, Math.max(1, Math.min(width, to) - Math.max(GUTTER, from)), height);
      context.fillStyle = colours.accent;
      for (const x of [from, to]) if (x >= GUTTER && x <= width) context.fillRect(Math.round(x) - 1, 0, 1, height);
    }
    if (this.pointer !== null && this.pointer !== undefined) {
      context.fillStyle = colours.muted;
      context.fillRect(Math.round(this.pointer), 0, 1, height);
    }
    if (!experiment.cells.threads.length) {
      context.fillStyle = colours.muted;
      context.fillText("no samples", GUTTER + 8, AXIS + 14);
    }
  }

  paintLane(context, lane, y, width) {
    const { colours, state } = this.page, isTaken = !lane.threads || !state.threads || lane.threads.some((thread) => state.threads.has(thread));
    context.globalAlpha = isTaken ? 1 : 0.3;
    context.fillStyle = colours.line;
    context.fillRect(0, Math.round(y + lane.height) - 1, width, 1);
    context.fillStyle = lane.kind === "thread" || lane.kind === "metric" ? colours.muted : colours.text;
    const indent = 8 + 12 * (lane.depth || 0);
    const middle = lane.kind === "all" ? y + 14 : y + lane.height / 2;
    context.fillText(fitted(context, lane.title, GUTTER - indent - 62), indent, middle);
    context.textAlign = "right";
    context.fillStyle = colours.muted;
    context.fillText(lane.figure, GUTTER - 8, middle);
    context.textAlign = "left";
    if (lane === this.cursor && document.activeElement === this.container) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2;
      context.strokeRect(2, y + 1, GUTTER - 4, lane.height - 3);
    }
    lane.paint(this, context, y, width);
    context.globalAlpha = 1;
  }

  /* CPU use of threads, by pixel: CPU and system time as parts of one processor, waiting as part of a thread's time, and the greatest CPU use. */
  shape(lane, width) {
    const [start, end] = this.view, columns = Math.max(1, Math.floor(width - GUTTER));
    const key = `${start} ${end} ${columns}`;
    const known = this.shapes.get(lane);
    if (known && known.key === key) return known;
    const { experiment } = this.page, { uses, facts } = experiment, perColumn = (end - start) / columns;
    const names = Object.keys(uses.seconds).filter((name) => isWaitShown(lane) || !WAITING.includes(name)), inSteps = names.map((name) => uses.seconds[name]);
    const sums = names.map(() => new Float64Array(columns)), own = names.map(() => new Float64Array(columns));
    const lengthOf = (use) => inSteps.reduce((sum, seconds, i) => names[i] === "system" ? sum : sum + seconds[use], 0);
    for (const thread of lane.threads) {
      if (uses.first[thread] === uses.first[thread + 1]) continue;
      for (const one of own) one.fill(0);
      const from = firstFrom(uses.steps, experiment.stepAt(start), uses.first[thread], uses.first[thread + 1]);
      for (let use = from; use < uses.first[thread + 1]; use++) {
        const until = (uses.steps[use] + 1) * facts.step, length = Math.max(facts.step, lengthOf(use));
        if (until - length <= end) spread(until, length, inSteps, use, start, perColumn, own);
      }
      sums.forEach((sum, which) => { // a thread has one processor; samples that come late may look like more
        for (let i = 0; i < columns; i++) sum[i] += Math.min(1, own[which][i] / perColumn);
      });
    }
    const values = Object.fromEntries(names.map((name, i) => [name, sums[i]]));
    const shape = { key, values, most: Math.max(...values.cpu) };
    this.shapes.set(lane, shape);
    return shape;
  }

  paintUse(context, lane, y, width) {
    const { values: { cpu, system, runnable, blocked }, most } = this.shape(lane, width), { colours } = this.page;
    const room = lane.height - 5, full = Math.max(1, Math.min(lane.threads.length, this.page.processors, Math.ceil(most - 0.05)));
    const ready = runnable ? added(cpu, runnable) : cpu;
    const layers = [[blocked && added(ready, blocked), colours.blocked], [runnable && ready, colours.runnable], [cpu, colours.area], [system, colours.system]];
    for (const [values, fill] of layers.filter(([one]) => one)) {
      context.fillStyle = fill;
      context.beginPath();
      context.moveTo(GUTTER, y + lane.height - 1);
      for (let i = 0; i < values.length; i++) {
        const level = y + lane.height - 1 - room * Math.min(1, values[i] / full);
        context.lineTo(GUTTER + i, level);
        context.lineTo(GUTTER + i + 1, level);
      }
      context.lineTo(GUTTER + values.length, y + lane.height - 1);
      context.fill();
    }
    if (lane.kind !== "all" || full < 2) return;
    context.fillStyle = colours.line;
    for (let level = 1; level < full; level++) context.fillRect(GUTTER, Math.round(y + lane.height - 1 - room * level / full), width, 1);
    context.fillStyle = colours.muted;
    context.fillText(`height: ${full} processors`, 8, y + lane.height - 9);
  }

  paintMetric(context, metric, y, height) {
    const { colours } = this.page, known = metric.greatest.filter((value) => value !== null);
    if (!known.length) return;
    const most = Math.max(...known, 1e-12), least = Math.min(0, ...metric.least.filter((value) => value !== null));
    const level = (value) => y + height - 4 - (height - 9) * (value - least) / (most - least || 1);
    const place = (i) => Math.max(GUTTER, this.xAt(metric.times[i]));
    const [low, high] = [metric.least, metric.greatest];
    context.fillStyle = colours.select;
    for (let i = 1; i < metric.times.length; i++) {
      if (low[i] === null || metric.parts < 2) continue;
      context.fillRect(place(i - 1), level(high[i]), place(i) - place(i - 1), Math.max(1, level(low[i]) - level(high[i])));
    }
    context.strokeStyle = /^#[0-9a-f]{3,8}$/i.test(metric.colour) ? metric.colour : colours.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    let isDown = false;
    metric.mean.forEach((value, i) => {
      if (value === null) { isDown = false; return; }
      if (isDown) context.lineTo(place(i), level(value)); else context.moveTo(place(i), level(value));
      isDown = true;
    });
    context.stroke();
  }

  paintAxis(context, width) {
    const { colours } = this.page, [start, end] = this.view;
    const step = niceStep((end - start) * 90 / Math.max(90, width - GUTTER));
    context.fillStyle = colours.muted;
    for (let time = Math.ceil(start / step) * step; time <= end + 1e-9; time += step) {
      const x = this.xAt(time);
      context.fillRect(Math.round(x), 3, 1, 13);
      if (x < width - 40) context.fillText(formatMoment(time, step), x + 3, 9);
    }
    this.paintKey(context);
  }

  /* What the colours of processes and threads mean. */
  paintKey(context) {
    const { colours, experiment } = this.page, { runnable, blocked } = experiment.uses.seconds;
    const isWaiting = runnable || blocked, entries = [["user", colours.area], ["system", colours.system], ...(runnable ? [["ready", colours.runnable]] : []), ...(blocked ? [["blocked", colours.blocked]] : [])];
    let x = 8;
    context.font = FONT.replace(/\d+px/, "11px");
    if (!isWaiting) x = this.write(context, "CPU use:", x) + 6;
    for (const [name, fill] of entries) {
      context.fillStyle = fill;
      context.fillRect(x, 5, 8, 8);
      context.fillStyle = colours.muted;
      x = this.write(context, name, x + 11) + 6;
    }
    context.font = FONT;
  }

  /* Write a word on the axis; where it ends. */
  write(context, text, x) {
    context.fillText(text, x, 9);
    return x + context.measureText(text).width;
  }

  paintMoments(context, width, height) {
    const { colours, experiment } = this.page;
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.6;
    for (const time of experiment.facts.moments.time) {
      const x = Math.round(this.xAt(time));
      if (x >= GUTTER && x <= width) context.fillRect(x, AXIS, 1, height);
    }
    context.globalAlpha = 1;
  }

  /* A label stands over the time up to the next one, as far as there is room. */
  paintLabels(context, width) {
    const { colours, experiment } = this.page, { time, label } = experiment.facts.moments;
    const order = [...time.keys()].sort((a, b) => time[a] - time[b]);
    order.forEach((i, place) => {
      const next = order.slice(place + 1).find((other) => label[other] !== NO_PHASE && time[other] > time[i]);
      const from = Math.max(GUTTER, this.xAt(time[i])), to = Math.min(width, next === undefined ? width : this.xAt(time[next]));
      if (label[i] === NO_PHASE || to - from < 3) return;
      context.fillStyle = colours.select;
      context.fillRect(from, AXIS - 15, to - from - 2, 14);
      context.fillStyle = colours.accent;
      context.fillText(fitted(context, label[i], to - from - 8), from + 4, AXIS - 8);
    });
  }

  paintPauses(context, top, height) {
    const { colours, experiment } = this.page, { process, start, end } = experiment.facts.pauses;
    context.fillStyle = colours.pause;
    process.forEach((owner, i) => {
      const from = Math.max(GUTTER, this.xAt(start[i] ?? 0)), to = this.xAt(end[i] ?? experiment.duration);
      if (to <= GUTTER) return;
      for (const lane of this.lanes) {
        if (!lane.images || !lane.images.includes(owner) || lane.top + lane.height < top || lane.top > top + height) continue;
        context.fillRect(from, lane.top - top, Math.max(1, to - from), lane.height - 1);
      }
    });
  }
}

/* Waiting is shown of one thread: that of several is no part of anything. */
function isWaitShown(lane) {
  return lane.threads.length === 1;
}

function added(left, right) {
  return left.map((value, i) => value + right[i]);
}

/* Adds what passed in a step, and the time before that, up to `end`, to the columns of pixels that it covers. */
function spread(end, length, seconds, use, start, perColumn, sums) {
  let from = (end - length - start) / perColumn, to = (end - start) / perColumn;
  const count = sums[0].length;
  if (to <= 0 || from >= count) return;
  const share = 1 / (to - from);
  from = Math.max(0, from);
  to = Math.min(count, to);
  for (let column = Math.floor(from); column < to; column++) {
    const part = (Math.min(to, column + 1) - Math.max(from, column)) * share;
    for (let which = 0; which < sums.length; which++) sums[which][column] += seconds[which][use] * part;
  }
}

/* A tick of the axis, with as many digits as its neighbours differ by. */
function formatMoment(time, step) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step * 1.0001)));
  return digits > 3 ? `${(time * 1e3).toFixed(Math.max(0, digits - 3))} ms` : `${time.toFixed(digits)} s`;
}

function niceStep(least) {
  const base = 10 ** Math.floor(Math.log10(least));
  return base * [1, 2, 5, 10].find((factor) => factor * base >= least);
}
