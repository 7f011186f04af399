/* layouts -- the boxes of a flame graph in each of its modes: parts of the whole, of which only those are made that can be seen */
"use strict";

const LEAST_THREAD = 6; // pixels: of narrower threads the calls are not shown

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
