/* sums -- what a selection of time and threads adds up to: by call, function, source line, caller and callee */
"use strict";

const METRICS = {
  cpu: { title: "CPU time", of: (cells, i) => cells.cpu[i] / 1e6, format: formatTime, isToldBySamples: true },
  user: { title: "user time", of: (cells, i) => (cells.cpu[i] - cells.system[i]) / 1e6, format: formatTime },
  system: { title: "system time", of: (cells, i) => cells.system[i] / 1e6, format: formatTime },
  samples: { title: "samples", of: (cells, i) => cells.counts[i], format: formatCount },
};

/* The parts of wall time that are spent waiting. */
const WAITING = ["blocked", "runnable"];

/* Makes metrics of what an experiment has beside CPU time: [name, title, unit]. */
function addMetrics(others) {
  const waiting = WAITING.filter((one) => others.some(([name]) => name === one));
  if (waiting.length) {
    const of = (cells, i) => waiting.reduce((sum, name) => sum + (cells.others[name]?.[i] || 0), cells.cpu[i]) / 1e6;
    METRICS.wall ||= { title: "wall time", of, format: formatTime };
  }
  for (const [name, title, unit] of others) {
    const scale = unit === "s" ? 1e6 : 1;
    METRICS[name] ||= { title, of: (cells, i) => (cells.others[name]?.[i] || 0) / scale, format: unit === "s" ? formatTime : (value) => formatUnits(value, unit) };
  }
}

/* What is less is a rest of additions: figures are whole microseconds, and numbers of samples. */
const LEAST = 1e-7;

/* Where the cells of a span of time (seconds, or null) of some threads (a Set, or null) are: [thread, the first, one past the last]. */
function cellRanges(experiment, { span, threads }) {
  const { firstCell, cells: { steps } } = experiment, ranges = [];
  const from = span ? experiment.stepAt(span[0]) : 0, to = span ? Math.max(from + 1, experiment.stepAt(span[1])) : Infinity;
  for (let thread = 0; thread < experiment.threadCount; thread++) {
    if (threads && !threads.has(thread)) continue;
    const first = span ? firstFrom(steps, from, firstCell[thread], firstCell[thread + 1]) : firstCell[thread];
    const last = span ? firstFrom(steps, to, first, firstCell[thread + 1]) : firstCell[thread + 1];
    if (first < last) ranges.push([thread, first, last]);
  }
  return ranges;
}

/* The first place between two of a rising list at which there is no less than this. */
function firstFrom(rising, least, low, high) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Sums {
  constructor(experiment, selection, metric) {
    this.experiment = experiment;
    this.selection = { span: selection.span, threads: selection.threads };
    this.metric = METRICS[metric];
    const nodes = experiment.nodeParents.length, { cells } = experiment, values = experiment.valuesOf(metric);
    const own = this.own = new Float64Array(nodes), ownCounts = this.ownCounts = new Float64Array(nodes);
    let total = 0, count = 0;
    for (const [, first, last] of cellRanges(experiment, selection)) {
      for (let cell = first; cell < last; cell++) {
        own[cells.nodes[cell]] += values[cell];
        ownCounts[cells.nodes[cell]] += cells.counts[cell];
        total += values[cell];
        count += cells.counts[cell];
      }
    }
    this.total = total;
    this.count = count;
  }

  /* Exclusive and inclusive values and numbers of samples, by call. */
  get calls() {
    if (!this.knownCalls) {
      const { callParents, callOfNode } = this.experiment;
      const exclusive = new Float64Array(callParents.length), counts = new Float64Array(callParents.length);
      for (let node = 0; node < this.own.length; node++) {
        exclusive[callOfNode[node]] += this.own[node];
        counts[callOfNode[node]] += this.ownCounts[node];
      }
      this.knownCalls = {
        exclusive, counts, inclusive: withCallees(exclusive, callParents), inclusiveCounts: withCallees(counts, callParents),
      };
    }
    return this.knownCalls;
  }

  /* By node, with all that lies below it. */
  get inclusiveNodes() {
    return this.knownNodes ||= withCallees(this.own, this.experiment.nodeParents);
  }

  /* Exclusive and inclusive values by function, and numbers of samples of the exclusive ones; of a recursion the outermost call counts. */
  get functions() {
    if (!this.knownFunctions) {
      const { nodeFunctions, sameAbove, functionCount } = this.experiment, whole = this.inclusiveNodes;
      const sums = { exclusive: new Float64Array(functionCount), inclusive: new Float64Array(functionCount), counts: new Float64Array(functionCount) };
      for (let node = 1; node < nodeFunctions.length; node++) {
        const index = nodeFunctions[node];
        sums.exclusive[index] += this.own[node];
        sums.counts[index] += this.ownCounts[node];
        if (!sameAbove[node]) sums.inclusive[index] += whole[node];
      }
      this.knownFunctions = sums;
    }
    return this.knownFunctions;
  }

  /* How far off a value of so many samples may be; null where they do not tell. */
  error(value, count) {
    return this.metric.isToldBySamples ? samplingError(value, count) : null;
  }

  /* The same selection by another metric. */
  by(metric) {
    this.others ||= {};
    return this.others[metric] ||= new Sums(this.experiment, this.selection, metric);
  }

  /* Exclusive and inclusive values by place, an address in the disassembly. */
  get places() {
    if (!this.knownPlaces) {
      const { ofNodes, count, above } = this.experiment.places, whole = this.inclusiveNodes;
      const exclusive = new Float64Array(count), inclusive = new Float64Array(count);
      for (let node = 1; node < ofNodes.length; node++) {
        const place = ofNodes[node];
        if (!place) continue;
        exclusive[place] += this.own[node];
        if (!above[node]) inclusive[place] += whole[node];
      }
      this.knownPlaces = { exclusive: exclusive.subarray(1), inclusive: inclusive.subarray(1) };
    }
    return this.knownPlaces;
  }

  /* Callers and callees of a function, as rows {function, value}, the greatest first; a caller of -1 is the start of the stack.
   * In recursion the caller is that of the outermost call, the callee that of the innermost. */
  neighbours(index) {
    const { nodeFunctions, nodeParents, sameAbove } = this.experiment, whole = this.inclusiveNodes;
    const callers = new Map(), callees = new Map();
    const add = (map, key, value) => map.set(key, (map.get(key) || 0) + value);
    for (let node = 1; node < nodeFunctions.length; node++) {
      if (!whole[node]) continue;
      if (nodeFunctions[nodeParents[node]] === index) add(callees, nodeFunctions[node], whole[node]);
      if (nodeFunctions[node] !== index) continue;
      if (!sameAbove[node]) { add(callers, nodeFunctions[nodeParents[node]], whole[node]); continue; }
      let below = node;
      while (nodeParents[below] !== sameAbove[node]) below = nodeParents[below];
      add(callees, nodeFunctions[below], -whole[node]);
    }
    const sorted = (map) => [...map].map(([key, value]) => ({ function: key, value })).filter(({ value }) => value > LEAST).sort((a, b) => b.value - a.value);
    return { callers: sorted(callers), callees: sorted(callees) };
  }

  /* Exclusive and inclusive values by line of a source file; Maps from line to [exclusive, inclusive, samples]. */
  linesOf(file) {
    const { nodeLines, lineAbove, filed: { first, nodes }, facts: { lines } } = this.experiment, whole = this.inclusiveNodes, rows = new Map();
    for (let i = first[file]; i < first[file + 1]; i++) {
      const node = nodes[i];
      if (!whole[node]) continue;
      const line = lines.line[nodeLines[node]], row = rows.get(line) || rows.set(line, [0, 0, 0]).get(line);
      row[0] += this.own[node];
      row[2] += this.ownCounts[node];
      if (!lineAbove[node]) row[1] += whole[node];
    }
    return rows;
  }
}

/* A value of each node, with those of all nodes below it; a caller stands before its callees. */
function withCallees(own, parents) {
  const sums = own.slice();
  for (let node = sums.length - 1; node > 0; node--) sums[parents[node]] += sums[node];
  return sums;
}
