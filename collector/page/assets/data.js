/* data -- unpacks an experiment: its tables, the tree of calls, and the cells that all figures are made of */
"use strict";

/* The document and the columns of what was packed (collector/page/packing.py). */
async function unpack(text) {
  const binary = atob(text.trim());
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < packed.length; i++) packed[i] = binary.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const columns = {};
  for (const [name, [offset, count]] of Object.entries(facts.columns)) {
    columns[name] = readPlanes(bytes, 4 + length + offset, count);
  }
  return { facts, columns };
}

/* Numbers of 32 bits, stored byte by byte. */
function readPlanes(bytes, start, count) {
  const numbers = new Int32Array(count);
  for (let plane = 0; plane < 4; plane++) {
    const from = start + plane * count;
    for (let i = 0; i < count; i++) numbers[i] |= bytes[from + i] << (8 * plane);
  }
  return numbers;
}

function addUp(differences) {
  let sum = 0;
  for (let i = 0; i < differences.length; i++) differences[i] = sum = (sum + differences[i]) | 0;
  return differences;
}

/* One experiment, or several that were added up.
 *
 * nodes: parents, lines, functions, and the nearest node above of the same function, or 0 (by node; node 0 is the root). calls: the same tree by
 * function, with recursion folded: a function that is on the path already goes on from its call there. Functions are numbered as in
 * `facts.functions`; two more stand for stacks whose callers are unknown and for branches too small to keep apart. */
class Experiment {
  constructor({ facts, columns }) {
    this.facts = facts;
    const count = facts.functions.name.length;
    this.unfinished = count;
    this.small = count + 1;
    this.functionCount = count + 2;
    this.nodeParents = columns.parents.map((way, node) => node - way);
    this.nodeLines = columns.groups.map((group) => group - 2);
    this.linePlaces = columns.places.map((place) => place - 1);
    this.cells = {
      threads: addUp(columns.threads), steps: addUp(columns.steps), nodes: columns.nodes,
      cpu: columns.cpu, system: columns.system, counts: columns.counts,
      others: Object.fromEntries(facts.others.map(([name]) => [name, columns[`other ${name}`]])),
    };
    for (const [name, , , parts] of facts.sums) this.cells.others[name] = Float64Array.from(this.cells.steps, (_, i) => parts.reduce((sum, part) => sum + this.cells.others[part][i], 0));
    addMetrics([...facts.sums, ...facts.others]);
    this.threadCount = facts.threads.tid.length;
    this.firstCell = firstCells(this.cells.threads, this.threadCount);
    this.duration = Math.max(1e-6, ...facts.recordings.map((recording) => recording.duration));
    this.buildCalls();
  }

  /* The function of a node. */
  functionOf(node) {
    const line = this.nodeLines[node];
    return line >= 0 ? this.facts.lines.function[line] : line === -1 ? this.unfinished : this.small;
  }

  buildCalls() {
    const nodes = this.nodeParents.length;
    this.nodeFunctions = Int32Array.from({ length: nodes }, (_, node) => node ? this.functionOf(node) : -1);
    this.sameAbove = nearestAlike(this.nodeParents, this.nodeFunctions, this.functionCount);
    const callOf = new Int32Array(nodes), parents = [0], functions = [-1], depths = [0], kinds = [""];
    const known = new Map();
    for (let node = 1; node < nodes; node++) {
      if (this.sameAbove[node]) { callOf[node] = callOf[this.sameAbove[node]]; continue; }
      const caller = callOf[this.nodeParents[node]], called = this.nodeFunctions[node], key = caller * this.functionCount + called;
      let call = known.get(key);
      if (call === undefined) {
        call = parents.length;
        known.set(key, call);
        parents.push(caller);
        functions.push(called);
        depths.push(depths[caller] + 1);
        kinds.push(this.nodeLines[node] >= 0 ? this.facts.lines.kind[this.nodeLines[node]] : "");
      }
      callOf[node] = call;
    }
    this.callOfNode = callOf;
    this.callParents = Int32Array.from(parents);
    this.callFunctions = Int32Array.from(functions);
    this.callDepths = Int32Array.from(depths);
    this.callKinds = kinds;
    [this.firstCallee, this.callees] = childrenOf(this.callParents);
  }

  /* What a function is called, in short or in full. */
  functionName(index, isLong) {
    if (index === this.unfinished) return "(unfinished stacks)";
    if (index === this.small) return "(small branches)";
    if (index < 0) return "(all)";
    return (isLong ? this.facts.functions.name : this.facts.functions.shortName)[index];
  }

  moduleName(index) {
    return index >= 0 && index < this.unfinished ? this.facts.modules.name[this.facts.functions.module[index]] : "";
  }

  /* Where a function is defined: `file:line`, or nothing. */
  functionPlace(index) {
    if (index < 0 || index >= this.unfinished) return "";
    const file = this.facts.functions.file[index], line = this.facts.functions.line[index];
    return file < 0 ? "" : line ? `${this.facts.files[file]}:${line}` : this.facts.files[file];
  }

  processName(index) {
    const { name, pid, image } = this.facts.processes;
    return `${this.rankName(index)}${name[index] || "process"} ${pid[index]}${image[index] ? `.${image[index]}` : ""}`;
  }

  /* Which rank of a parallel job a process is, in front of its name. */
  rankName(process) {
    const rank = this.facts.processes.rank[process];
    return rank === null ? "" : `rank ${rank} · `;
  }

  /* The nodes of a job, and how many ranks each has. */
  get nodes() {
    const { node, rank } = this.facts.processes, found = new Map();
    node.forEach((name, process) => {
      if (!found.has(name)) found.set(name, new Set());
      if (rank[process] !== null) found.get(name).add(rank[process]);
    });
    return found;
  }

  threadName(index) {
    const { name, tid, process } = this.facts.threads;
    return `${this.rankName(process[index])}${name[index] || "thread"} ${tid[index]}`;
  }

  /* A metric of each cell. */
  valuesOf(metric) {
    this.knownValues ||= new Map();
    if (!this.knownValues.has(metric)) {
      const { cells } = this, { of } = METRICS[metric];
      this.knownValues.set(metric, Float64Array.from({ length: cells.nodes.length }, (_, cell) => of(cells, cell)));
    }
    return this.knownValues.get(metric);
  }

  /* The place of each node, an address in the disassembly, or 0 where that has none; by place, how many; by node, the nearest one above of the same place, or 0. */
  get places() {
    if (!this.knownPlaces) {
      const ofNodes = this.nodeLines.map((line) => line < 0 ? 0 : this.linePlaces[line] + 1);
      const count = ofNodes.reduce((most, place) => Math.max(most, place), 0) + 1;
      this.knownPlaces = { ofNodes, count, above: nearestAlike(this.nodeParents, ofNodes, count) };
    }
    return this.knownPlaces;
  }

  /* The source file of each node, or -1; where the nodes of each file begin in the list of them, and one more. */
  get filed() {
    if (!this.knownFiles) {
      const files = Int32Array.from(this.facts.lines.file), ofNodes = this.nodeLines.map((line) => line < 0 ? -1 : files[line]);
      const first = new Int32Array(this.facts.files.length + 1), nodes = new Int32Array(ofNodes.length);
      for (const file of ofNodes) if (file >= 0) first[file + 1]++;
      for (let file = 1; file < first.length; file++) first[file] += first[file - 1];
      const next = first.slice();
      ofNodes.forEach((file, node) => { if (file >= 0) nodes[next[file]++] = node; });
      this.knownFiles = { ofNodes, first, nodes };
    }
    return this.knownFiles;
  }

  /* By node, the nearest one above it of the same line of the same file, or 0. */
  get lineAbove() {
    if (!this.knownLines) {
      const { file, line } = this.facts.lines, numbers = new Map(), most = line.reduce((one, other) => Math.max(one, other), 0) + 1;
      const places = Int32Array.from(file, (one, i) => {
        const place = one * most + line[i];
        return numbers.get(place) ?? numbers.set(place, numbers.size + 1).get(place);
      });
      this.knownLines = nearestAlike(this.nodeParents, this.nodeLines.map((group) => group < 0 ? 0 : places[group]), numbers.size + 1);
    }
    return this.knownLines;
  }

  /* Which functions a search means, by their names and modules: a 1 for each. SyntaxError if it is no regular expression. */
  matching(text) {
    if (this.matched?.text !== text) {
      const pattern = new RegExp(text, "i"), { modules, functions } = this.facts, found = new Uint8Array(this.functionCount);
      const isModule = modules.name.map((name) => pattern.test(name));
      for (let index = 0; index < this.unfinished; index++) found[index] = isModule[functions.module[index]] || pattern.test(functions.name[index]) ? 1 : 0;
      this.matched = { text, found };
    }
    return this.matched.found;
  }

  /* CPU use, and waiting where it is known, without what ran: seconds by thread and step, and where the steps of each thread begin, and one more. */
  get uses() {
    return this.knownUses ||= usesOf(this.cells, this.firstCell);
  }

  /* The step that a moment in seconds falls into. */
  stepAt(seconds) {
    return Math.floor(seconds / this.facts.step + 1e-6);
  }
}

/* Where the cells of each thread begin, and one more. */
function firstCells(threads, count) {
  const first = new Int32Array(count + 1);
  for (let i = 0; i < threads.length; i++) first[threads[i] + 1]++;
  for (let i = 0; i < count; i++) first[i + 1] += first[i];
  return first;
}

function usesOf({ steps, cpu, system, others }, firstCell) {
  const columns = { cpu, system, ...Object.fromEntries(WAITING.filter((name) => others[name]).map((name) => [name, others[name]])) };
  const first = new Int32Array(firstCell.length), uses = { first, steps: [], seconds: Object.fromEntries(Object.keys(columns).map((name) => [name, []])) };
  const filled = Object.keys(columns).map((name) => [columns[name], uses.seconds[name]]);
  for (let thread = 0; thread + 1 < firstCell.length; thread++) {
    for (let cell = firstCell[thread]; cell < firstCell[thread + 1]; cell++) {
      if (cell === firstCell[thread] || steps[cell] !== steps[cell - 1]) {
        uses.steps.push(steps[cell]);
        for (const [, seconds] of filled) seconds.push(0);
      }
      for (const [column, seconds] of filled) seconds[seconds.length - 1] += column[cell] / 1e6;
    }
    first[thread + 1] = uses.steps.length;
  }
  return uses;
}

/* By node, where its children begin in the second list. */
function childrenOf(parents) {
  const first = new Int32Array(parents.length + 1), children = new Int32Array(Math.max(0, parents.length - 1));
  for (let node = 1; node < parents.length; node++) first[parents[node] + 1]++;
  for (let node = 0; node < parents.length; node++) first[node + 1] += first[node];
  const next = first.slice();
  for (let node = 1; node < parents.length; node++) children[next[parents[node]]++] = node;
  return [first, children];
}

/* By node, the nearest one above it with the same value, or 0. */
function nearestAlike(parents, values, count) {
  const [first, children] = childrenOf(parents), next = first.slice(), nearest = new Int32Array(count), alike = new Int32Array(parents.length);
  let node = 0;
  for (;;) {
    if (next[node] < first[node + 1]) {
      node = children[next[node]++];
      alike[node] = nearest[values[node]];
      nearest[values[node]] = node;
    } else if (node) {
      nearest[values[node]] = alike[node];
      node = parents[node];
    } else {
      return alike;
    }
  }
}
