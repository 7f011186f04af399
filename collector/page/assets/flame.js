/* flame -- the flame graph: calls as boxes as wide as their time, callers above callees or the other way round
 *
 * A mode lays out boxes {depth, x, width (parts of the whole), function, kind, value, count, own, call}, and only those that can be seen. */
"use strict";

const ROW = 18;
const LEAST_THREAD = 6; // pixels: of narrower threads the calls are not shown
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
    const error = samplingError(box.value, box.count);
    const rows = [
      ["inclusive", `${format(box.value)}${error === null || sums.metric === METRICS.samples ? "" : ` ± ${format(error)}`}  (${formatPercent(box.value, sums.total)})`],
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

/* A tree that is laid out from the root on. `children(node)` are nodes {function, kind, value, count, own, call}, the greatest first. */
function layOutTree(root, children, width, zoom) {
  const boxes = [], least = 0.4 / width;
  let parent = null, top = root;
  const chain = [root];
  for (const step of zoom) {
    const next = children(top, 1).find((child) => (child.id ?? child.function) === step);
    if (!next) break;
    chain.push(top = next);
  }
  chain.forEach((node, depth) => {
    parent = new Box(node, depth, 0, 1, parent);
    parent.isAbove = depth + 1 < chain.length;
    boxes.push(parent);
  });
  const waiting = [parent];
  while (waiting.length) {
    const box = waiting.pop();
    let x = box.x;
    for (const child of children(box.node, box.width)) {
      const wide = top.value > 0 ? child.value / top.value : 0;
      if (wide < least) break;
      const inner = new Box(child, box.depth + 1, x, wide, box);
      boxes.push(inner);
      waiting.push(inner);
      x += wide;
    }
  }
  return boxes;
}

class Box {
  constructor(node, depth, x, width, parent) {
    this.node = node;
    this.depth = depth;
    this.x = x;
    this.width = width;
    this.parent = parent;
    this.function = node.function;
    this.kind = node.kind;
    this.title = node.title;
    this.value = node.value;
    this.count = node.count;
    this.own = node.own;
  }

  get key() {
    return `${this.parent ? this.parent.key : ""}.${this.node.id ?? this.function}`;
  }

  /* The way from the root, as what `zoom` is in the state. */
  path() {
    const steps = [];
    for (let box = this; box.parent; box = box.parent) steps.push(box.node.id ?? box.function);
    return steps.reverse();
  }
}

const byValue = (one, other) => other.value - one.value;

/* The tree of calls, and that of their callers, as a root and what gives the children of a node; null without samples. */
function calledTree({ experiment, sums }) {
  if (!sums.total) return null;
  const root = { function: -1, title: "(all)", call: 0, value: sums.total, count: sums.count, kind: "" };
  return { root, children: (node) => node.children ||= calleesOf(experiment, sums.calls, node.call) };
}

/* A node of callers is where paths that ended alike stand now: each is a call, and what of its exclusive time came this way. */
function invertedTree({ experiment, sums }) {
  if (!sums.total) return null;
  const { callFunctions, callParents, callKinds } = experiment, { exclusive, counts } = sums.calls;
  const grouped = (paths) => { // pairs of a leaf and where its path stands
    const nodes = new Map();
    for (let i = 0; i < paths.length; i += 2) {
      const leaf = paths[i], call = paths[i + 1];
      if (call === 0) continue;
      const called = callFunctions[call];
      let node = nodes.get(called);
      if (!node) nodes.set(called, node = { function: called, kind: callKinds[call], value: 0, count: 0, paths: [] });
      node.value += exclusive[leaf];
      node.count += counts[leaf];
      node.paths.push(leaf, callParents[call]);
    }
    return [...nodes.values()].sort(byValue);
  };
  const leaves = [];
  for (let call = 1; call < exclusive.length; call++) if (exclusive[call] > 0) leaves.push(call, call);
  const root = { function: -1, title: "(all)", value: sums.total, count: sums.count, kind: "", paths: leaves };
  return { root, children: (node) => node.children ||= grouped(node.paths) };
}

function layOutCalls(page, width, zoom) {
  const tree = calledTree(page);
  return tree ? layOutTree(tree.root, tree.children, width, zoom) : [];
}

function layOutInverted(page, width, zoom) {
  const tree = invertedTree(page);
  return tree ? layOutTree(tree.root, tree.children, width, zoom) : [];
}

function calleesOf(experiment, calls, call) {
  const { firstCallee, callees, callFunctions, callKinds } = experiment, nodes = [];
  for (let i = firstCallee[call]; i < firstCallee[call + 1]; i++) {
    const called = callees[i];
    if (calls.inclusive[called] > 0) {
      nodes.push({
        function: callFunctions[called], kind: callKinds[called], call: called, value: calls.inclusive[called],
        count: calls.inclusiveCounts[called], own: calls.exclusive[called],
      });
    }
  }
  return nodes.sort(byValue);
}

/* Each thread with a tree of its own, which is made where it can be seen: there may be thousands. */
function layOutThreads({ experiment, state }, width, zoom) {
  const values = experiment.valuesOf(state.metric), { counts } = experiment.cells;
  const root = { function: -1, title: "(all threads)", value: 0, count: 0, kind: "" };
  const threads = cellRanges(experiment, state).map((range) => {
    const [thread, first, last] = range, process = experiment.facts.threads.process[thread];
    const node = { function: -1, id: thread, title: `${experiment.threadName(thread)} · ${experiment.processName(process)}`, value: 0, count: 0, kind: "", range };
    for (let cell = first; cell < last; cell++) { node.value += values[cell]; node.count += counts[cell]; }
    root.value += node.value;
    root.count += node.count;
    return node;
  }).filter((node) => node.value > 0).sort(byValue);
  const isLarge = ({ range: [, first, last] }) => 4 * (last - first) > experiment.callParents.length;
  const callsOfMany = (node) => {
    node.calls ||= new Sums(experiment, { span: state.span, threads: new Set([node.id]) }, state.metric).calls;
    return calleesOf(experiment, node.calls, node.call || 0).map((child) => ({ ...child, calls: node.calls }));
  };
  const children = (node, share) => {
    if (node === root) return threads;
    if (node.range && share * width < LEAST_THREAD) return [];
    return node.children ||= node.calls || isLarge(node) ? callsOfMany(node) : callsOf(experiment, node.range, values);
  };
  return root.value ? layOutTree(root, children, width, zoom) : [];
}

/* The tree of calls of a range of cells, as nodes of layOutTree: the outermost calls. */
function callsOf(experiment, [, first, last], values) {
  const { callOfNode, callParents, callFunctions, callKinds, cells } = experiment, nodes = new Map([[0, { children: [] }]]), order = [];
  const nodeOf = (call) => {
    let node = nodes.get(call);
    if (!node) {
      nodes.set(call, node = { function: callFunctions[call], kind: callKinds[call], call, value: 0, count: 0, own: 0, children: [] });
      node.caller = nodeOf(callParents[call]);
      node.caller.children.push(node);
      order.push(node);
    }
    return node;
  };
  for (let cell = first; cell < last; cell++) {
    const node = nodeOf(callOfNode[cells.nodes[cell]]);
    node.own += values[cell];
    node.value += values[cell];
    node.count += cells.counts[cell];
  }
  for (const node of order.reverse()) { // a caller was made before its callees
    node.caller.value += node.value;
    node.caller.count += node.count;
    node.children = node.children.filter(({ value }) => value > 0).sort(byValue);
  }
  return nodes.get(0).children.filter(({ value }) => value > 0).sort(byValue);
}

/* One thread from left to right as its time went by; what is the same in neighbouring moments is one box. Where there are more cells than can be told
 * apart, each moment shows the path that has most of it. */
function layOutTime({ experiment, state }, width, zoom) {
  const { cells, callOfNode, callParents, callFunctions, callKinds } = experiment, values = experiment.valuesOf(state.metric);
  const range = busiestThread(experiment, state);
  if (!range) return [];
  const [thread, first, last] = range, [start, end] = state.span || [0, experiment.duration], span = end - start, { step } = experiment.facts;
  const title = `${experiment.threadName(thread)} · ${experiment.processName(experiment.facts.threads.process[thread])} · ${formatTime(start)} to ${formatTime(end)}`;
  const root = new Box({ function: -1, title, value: 0, count: 0, kind: "" }, 0, 0, 1, null);
  const boxes = [root], period = experiment.facts.processes.period[experiment.facts.threads.process[thread]];
  const gap = Math.max(2 / width, 3 * Math.max(step, period) / span); // so long nothing is sampled of a thread that runs
  const stepsAMoment = Math.max(1, Math.ceil(2 * span / step / width)); // two pixels
  let open = [];
  for (let cell = first; cell < last;) {
    const moment = Math.floor(cells.steps[cell] / stepsAMoment);
    let heaviest = cell, value = 0, count = 0, cpu = 0, next = cell;
    for (; next < last && Math.floor(cells.steps[next] / stepsAMoment) === moment; next++) {
      value += values[next];
      count += cells.counts[next];
      cpu += cells.cpu[next] / 1e6;
      if (cells.cpu[next] > cells.cpu[heaviest]) heaviest = next;
    }
    const to = Math.min(1, ((cells.steps[next - 1] + 1) * step - start) / span);
    const from = Math.max(0, Math.min((cells.steps[cell] * step - start) / span, to - Math.max(step, cpu) / span));
    const path = [];
    for (let call = callOfNode[cells.nodes[heaviest]]; call > 0; call = callParents[call]) path.push(call);
    path.reverse();
    let depth = 0;
    while (depth < path.length && depth < open.length && open[depth].node.call === path[depth] && from - open[depth].x - open[depth].width < gap) depth++;
    open = open.slice(0, depth);
    for (; depth < path.length; depth++) {
      const call = path[depth];
      const box = new Box({ function: callFunctions[call], kind: callKinds[call], call, value: 0, count: 0 }, depth + 1, from, 0, open[depth - 1] || root);
      box.path = () => zoom;
      open.push(box);
      boxes.push(box);
    }
    for (const box of [root, ...open]) {
      box.value += value;
      box.count += count;
      if (box !== root) box.width = Math.max(box.width, to - box.x);
    }
    cell = next;
  }
  return boxes.filter((box) => box.width * width >= 0.3);
}

/* The cells of the thread with most CPU time, as `cellRanges` has them; null if there are none. */
function busiestThread(experiment, state) {
  let best = null, most = 0;
  for (const range of cellRanges(experiment, state)) {
    let sum = 0;
    for (let cell = range[1]; cell < range[2]; cell++) sum += experiment.cells.cpu[cell];
    if (sum > most) [best, most] = [range, sum];
  }
  return best;
}
