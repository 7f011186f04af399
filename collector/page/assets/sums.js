/* sums -- what a selection of time and threads adds up to: by call, function, source line, caller and callee */
"use strict";

const METRICS = {
  cpu: { title: "CPU time", of: (cells, i) => cells.cpu[i] / 1e6, format: formatTime },
  user: { title: "user time", of: (cells, i) => (cells.cpu[i] - cells.system[i]) / 1e6, format: formatTime },
  system: { title: "system time", of: (cells, i) => cells.system[i] / 1e6, format: formatTime },
  samples: { title: "samples", of: (cells, i) => cells.counts[i], format: formatCount },
};

/* Calls `visit` with the number of each cell in a span of time (seconds, or null) of some threads (a Set, or null). */
function forEachCell(experiment, { span, threads }, visit) {
  const { steps } = experiment.cells;
  const from = span ? experiment.stepAt(span[0]) : 0, to = span ? Math.max(from + 1, experiment.stepAt(span[1])) : Infinity;
  for (let thread = 0; thread < experiment.threadCount; thread++) {
    if (threads && !threads.has(thread)) continue;
    const last = experiment.firstCell[thread + 1];
    for (let cell = experiment.firstCell[thread]; cell < last; cell++) {
      if (steps[cell] >= from && steps[cell] < to) visit(cell);
    }
  }
}

class Sums {
  constructor(experiment, selection, metric) {
    this.experiment = experiment;
    this.metric = METRICS[metric];
    const nodes = experiment.nodeParents.length;
    this.own = new Float64Array(nodes);
    this.ownCounts = new Float64Array(nodes);
    this.total = this.count = 0;
    const { cells } = experiment;
    forEachCell(experiment, selection, (cell) => {
      const value = this.metric.of(cells, cell), node = cells.nodes[cell];
      this.own[node] += value;
      this.ownCounts[node] += cells.counts[cell];
      this.total += value;
      this.count += cells.counts[cell];
    });
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

  /* The same by function: each is on a path once, as recursion is folded. */
  get functions() {
    if (!this.knownFunctions) {
      const { callFunctions, functionCount } = this.experiment, calls = this.calls;
      const sums = {};
      for (const name of ["exclusive", "counts", "inclusive", "inclusiveCounts"]) {
        sums[name] = new Float64Array(functionCount);
        for (let call = 1; call < callFunctions.length; call++) sums[name][callFunctions[call]] += calls[name][call];
      }
      this.knownFunctions = sums;
    }
    return this.knownFunctions;
  }

  /* Callers and callees of a function, as rows {function, value, count}, the greatest first; a caller of -1 is the start of the stack. */
  neighbours(index) {
    const { callFunctions, callParents } = this.experiment, { inclusive, inclusiveCounts } = this.calls;
    const callers = new Map(), callees = new Map();
    const add = (map, key, call) => {
      const row = map.get(key) || { function: key, value: 0, count: 0 };
      row.value += inclusive[call];
      row.count += inclusiveCounts[call];
      map.set(key, row);
    };
    for (let call = 1; call < callFunctions.length; call++) {
      if (!inclusive[call]) continue;
      if (callFunctions[call] === index) add(callers, callFunctions[callParents[call]], call);
      if (callFunctions[callParents[call]] === index) add(callees, callFunctions[call], call);
    }
    const sorted = (map) => [...map.values()].sort((a, b) => b.value - a.value);
    return { callers: sorted(callers), callees: sorted(callees) };
  }

  /* Exclusive and inclusive values by line of a source file; Maps from line to [exclusive, inclusive, samples]. */
  linesOf(file) {
    const { nodeParents, nodeLines, facts } = this.experiment, { lines } = facts;
    const isHere = (node) => nodeLines[node] >= 0 && lines.file[nodeLines[node]] === file;
    this.inclusiveNodes = this.inclusiveNodes || withCallees(this.own, nodeParents);
    const rows = new Map();
    for (let node = 1; node < nodeParents.length; node++) {
      if (!isHere(node) || !this.inclusiveNodes[node]) continue;
      const line = lines.line[nodeLines[node]];
      const row = rows.get(line) || rows.set(line, [0, 0, 0]).get(line);
      row[0] += this.own[node];
      row[2] += this.ownCounts[node];
      let above = nodeParents[node];
      while (above > 0 && !(isHere(above) && lines.line[nodeLines[above]] === line)) above = nodeParents[above];
      if (above === 0) row[1] += this.inclusiveNodes[node];
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
