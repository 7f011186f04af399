/* frames -- how long the page needs for each step of what people do with it: milliseconds until it is drawn, and between frames */
"use strict";

/* Do steps one frame after the other; [the longest, the median] of the time that scripts took, and the longest gap between frames. */
async function timed(steps) {
  const page = collectorPage, took = [], frame = () => new Promise((done) => requestAnimationFrame(done));
  let gap = 0, before = await frame();
  for (const step of steps) {
    const start = performance.now();
    step();
    page.timeline.canvas.drawNow();
    for (const view of Object.values(page.views)) if (view.canvas && page.state.tab === "flame") view.canvas.drawNow();
    document.body.getBoundingClientRect();
    took.push(performance.now() - start);
    const now = await frame();
    gap = Math.max(gap, now - before);
    before = now;
  }
  took.sort((a, b) => a - b);
  return [took[took.length - 1], took[took.length >> 1], gap];
}

async function measureFrames() {
  const page = collectorPage, { state, experiment } = page, { duration } = experiment, results = {};
  const set = (parts) => () => state.set(parts), times = (count, make) => [...Array(count).keys()].map(make);
  const drag = (count) => times(count, (i) => set({ span: [duration * 0.2, duration * (0.2 + 0.75 * (i + 1) / count)] }));
  const clear = () => state.set({ span: null, threads: null, view: null, search: "", zoom: [], mode: "calls", tab: "flame" });
  const measure = async (title, steps) => { clear(); await timed([() => {}, () => {}]); results[title] = await timed(steps); };
  await measure("drag over the timeline, flame graph", [set({ tab: "flame" }), ...drag(60)]);
  await measure("drag over the timeline, functions", [set({ tab: "functions" }), ...drag(60)]);
  await measure("drag over the timeline, callers", [set({ tab: "callers" }), ...drag(60)]);
  await measure("drag over the timeline, source", [set({ tab: "source" }), ...drag(30)]);
  await measure("zoom the timeline", times(40, (i) => set({ view: [duration * 0.01 * i, duration * (1 - 0.01 * i)] })));
  await measure("scroll the timeline", times(40, (i) => () => { page.timeline.container.scrollTop = i * 60; }));
  clear();
  page.views.flame.layOut();
  const deepest = page.views.flame.boxes.reduce((one, other) => (other.depth > one.depth ? other : one)).path();
  await measure("zoom the flame graph", times(2 * deepest.length, (i) => set({ zoom: deepest.slice(0, i < deepest.length ? i : 2 * deepest.length - i) })));
  await measure("point at the flame graph", times(60, (i) => () => page.views.flame.canvas.canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: 20 + i * 20, clientY: innerHeight - 20 - i * 7, bubbles: true }))));
  clear();
  await measure("type a search, flame graph", [..."std::vector.*", ""].map((_, i, all) => set({ search: all.slice(0, i).join("") })));
  await measure("type a search, functions", [set({ tab: "functions" }), ..."c+0x1".split("").map((_, i) => set({ search: "c.0x1".slice(0, i + 1) }))]);
  await measure("scroll functions", [set({ tab: "functions" }), ...times(60, (i) => () => { page.views.functions.table.scroller.scrollTop = i * 400; page.views.functions.table.drawNow(); })]);
  await measure("sort functions", [set({ tab: "functions" }), ...["name", "inclusive", "module", "exclusive"].map((sort) => set({ sort }))]);
  for (const mode of ["inverted", "threads", "time", "calls"]) await measure(`switch to mode ${mode}`, [set({ mode }), set({ zoom: [0] })]);
  await measure("take one thread", times(20, (i) => set({ threads: new Set([i % experiment.threadCount]) })));
  await measure("switch tabs", ["functions", "callers", "source", "summary", "flame"].map((tab) => set({ tab })));
  return results;
}
