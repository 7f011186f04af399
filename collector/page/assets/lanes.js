/* lanes -- the rows of the timeline: the whole, processes as a tree with their threads, metrics; of many small ones one for all */
"use strict";

const LANES = { all: 46, process: 26, thread: 20, metric: 34 };

/* All lanes: the whole, processes as a tree with their threads, metrics. */
function lanesOf(experiment) {
  const { facts } = experiment, lanes = [], everybody = [...Array(experiment.threadCount).keys()];
  const times = new Float64Array(experiment.threadCount);
  experiment.cells.threads.forEach((thread, cell) => { times[thread] += experiment.cells.cpu[cell] / 1e6; });
  const sum = (threads) => threads.reduce((total, thread) => total + times[thread], 0);
  const add = (lane) => {
    const added = { ...lane, height: LANES[lane.kind], figure: formatTime(sum(lane.threads)) };
    added.paint = (timeline, context, y, width) => timeline.paintUse(context, added, y, width);
    lanes.push(added);
  };
  const processes = processesOf(experiment, sum), isAlone = processes.length === 1;
  add({ kind: "all", images: isAlone ? processes[0].images : undefined, title: facts.recordings.length > 1 ? `all ${facts.recordings.length} experiments` : "all", threads: everybody, describe: () => [["CPU time", formatTime(sum(everybody))]] });
  const least = isMany(processes.length) ? 0.002 * sum(everybody) : 0;
  const isShown = new Set();
  for (const one of processes) if (one.cpu >= least) for (let above = one; above && !isShown.has(above); above = above.parent) isShown.add(above);
  for (const one of processes.filter((process) => isShown.has(process))) {
    if (!isAlone) add({ kind: "process", images: one.images, title: one.title, threads: one.threads, depth: one.depth, describe: () => describeProcess(experiment, one) });
    if (one.threads.length > 1 && !(one.images.length > 1)) addThreads(experiment, one, isAlone ? 0 : one.depth + 1, times, sum, add);
  }
  const hidden = processes.filter((process) => !isShown.has(process));
  if (hidden.length) {
    const threads = hidden.flatMap((one) => one.threads);
    add({
      kind: "process", title: `${formatCount(hidden.length)} more processes`, threads, depth: 0,
      describe: () => [["CPU time", formatTime(sum(threads))], ["each below", formatTime(least)], ...hidden.slice(0, 8).map((one) => ["", one.title])],
    });
  }
  for (const metric of facts.metrics) {
    const known = metric.mean.filter((value) => value !== null);
    const at = (time) => metric.times.findIndex((end) => end >= time);
    lanes.push({
      kind: "metric", title: metric.title, height: LANES.metric, figure: known.length ? formatUnits(Math.max(...metric.greatest.filter((value) => value !== null)), metric.units) : "–",
      paint: (timeline, context, y) => timeline.paintMetric(context, metric, y, LANES.metric),
      describe: (time) => (time === null || at(time) < 0 ? [["", metric.description]] : [
        ["mean", formatUnits(metric.mean[at(time)], metric.units)],
        ...(metric.parts > 1 ? [["least", formatUnits(metric.least[at(time)], metric.units)], ["greatest", formatUnits(metric.greatest[at(time)], metric.units)]] : []),
      ]),
    });
  }
  return lanes;
}

function isMany(count) {
  return count > 40;
}

/* A lane a thread; of many, those with little time share one. */
function addThreads(experiment, { threads, images }, depth, times, sum, add) {
  const least = isMany(threads.length) ? 0.002 * sum(threads) : 0;
  const shown = threads.filter((thread) => times[thread] >= least), hidden = threads.filter((thread) => times[thread] < least);
  for (const thread of shown) {
    const accounted = experiment.facts.threads.accounted[thread], title = experiment.threadName(thread);
    add({
      kind: "thread", images, title: depth ? title.slice(experiment.rankName(images[0]).length) : title, threads: [thread], depth,
      describe: () => [...describeRank(experiment, images[0]), ["CPU time", formatTime(times[thread])], ...(accounted === null ? [] : [["by the kernel", formatTime(accounted)]]), ...waitsOf(experiment, thread)],
    });
  }
  if (hidden.length) {
    add({ kind: "thread", images, title: `${formatCount(hidden.length)} more threads`, threads: hidden, depth, describe: () => [["CPU time", formatTime(sum(hidden))], ["each below", formatTime(least)]] });
  }
}

/* Processes in the order of the tree of forks: their images (one behind each exec), threads, depth; named as the image with most time. */
function processesOf(experiment, sum) {
  const { processes, threads } = experiment.facts, found = [], byImage = new Map(), threadsOf = new Map();
  threads.process.forEach((process, thread) => { (threadsOf.get(process) || threadsOf.set(process, []).get(process)).push(thread); });
  for (const [image, depth] of processOrder(processes)) {
    let one = processes.isNextImage[image] ? byImage.get(processes.parent[image]) : undefined;
    if (!one) {
      const parent = byImage.get(processes.parent[image]);
      found.push(one = { images: [], threads: [], parent, depth: parent ? parent.depth + 1 : depth, most: -1 });
    }
    const own = threadsOf.get(image) || [];
    byImage.set(image, one);
    one.images.push(image);
    one.threads.push(...own.sort((a, b) => threads.start[a] - threads.start[b]));
    if (sum(own) > one.most) [one.most, one.title] = [sum(own), `${experiment.rankName(image)}${processes.name[image] || "process"} ${processes.pid[image]}`];
  }
  for (const one of found) one.cpu = sum(one.threads);
  return found;
}

/* How long a thread waited, where that was recorded. */
function waitsOf({ uses: { first, seconds } }, thread) {
  return WAITING.filter((name) => seconds[name]).map((name) => [name, formatTime(seconds[name].slice(first[thread], first[thread + 1]).reduce((sum, value) => sum + value, 0))]);
}

/* The rank of a process and, of several, its node. */
function describeRank({ facts: { processes: { rank, node } }, nodes }, process) {
  const rows = rank[process] === null ? [] : [["rank", String(rank[process])]];
  return nodes.size > 1 ? [...rows, ["node", node[process]]] : rows;
}

function describeProcess(experiment, { images, threads }) {
  const { arguments: words, start, end, ending, clock } = experiment.facts.processes, last = images[images.length - 1];
  return [
    ...describeRank(experiment, images[0]),
    ...images.slice(0, 6).map((image, i) => [i ? "then" : "command", words[image]]),
    ["ran", `${formatTime(start[images[0]])} to ${end[last] === null ? "?" : formatTime(end[last])}`], ["threads", formatCount(threads.length)],
    ...(ending[last] ? [["ended", ending[last]]] : []), ...(clock[last] ? [["clock", clock[last]]] : []),
  ];
}

/* Processes with their depth in the tree of forks, ranks in their order; the images of one process stand together. */
function processOrder(processes) {
  const children = new Map(), order = [];
  processes.parent.forEach((parent, process) => children.set(parent, [...(children.get(parent) || []), process]));
  const first = (children.get(-1) || []).sort((one, other) => (processes.rank[one] ?? -1) - (processes.rank[other] ?? -1));
  const waiting = first.map((process) => [process, 0]).reverse();
  while (waiting.length) {
    const [process, depth] = waiting.pop();
    order.push([process, depth]);
    const below = (children.get(process) || []).map((child) => [child, processes.isNextImage[child] ? depth : depth + 1]);
    waiting.push(...below.reverse());
  }
  return order;
}
