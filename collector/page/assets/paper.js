/* paper -- the page as it is printed: light, as wide as paper, and as long as what it shows instead of a screen; what would be too long is left out, and said */
"use strict";

const PAPER = { timeline: 420, flame: 2600, rows: 400, around: 6 }; // pixels, rows, and lines of code around those with time

class Paper {
  constructor(page) {
    this.page = page;
    window.addEventListener("beforeprint", () => this.take(true));
    window.addEventListener("afterprint", () => this.take(false));
  }

  take(isPaper) {
    const { dataset, classList } = document.documentElement, { timeline, views, panels, state, colours } = this.page;
    if (isPaper) this.theme = dataset.theme;
    if (isPaper || this.theme) dataset.theme = isPaper ? "light" : this.theme;
    else delete dataset.theme;
    classList.toggle("paper", isPaper);
    colours.read();
    for (const note of document.querySelectorAll(".of-paper")) note.remove();
    const lanes = timeline.lanes.filter(({ top, height }) => top + height <= PAPER.timeline);
    timeline.canvas.unroll(isPaper ? lanes.at(-1).top + lanes.at(-1).height : 0);
    if (isPaper) this.say(timeline.container, timeline.lanes.length - lanes.length, "more rows of the timeline");
    const tab = views[state.tab] ? state.tab : DEFAULTS.tab, view = views[tab], panel = panels[tab];
    if (view?.table) this.say(panel, view.table.unroll(isPaper ? PAPER.rows : 0) * isPaper, "more rows");
    if (view?.canvas) {
      view.update(null);
      this.say(panel, Math.ceil(view.canvas.unroll(isPaper ? PAPER.flame : 0) / ROW) * isPaper, "more levels of calls");
    }
    this.leaveOut([...panel.querySelectorAll(".source > .line:not(.head)")], isPaper);
  }

  say(before, count, what) {
    if (count > 0) before.after(make("p", { className: "of-paper" }, `… and ${formatCount(count)} ${what}, which are not printed`));
  }

  /* Of code what is far from any time; the source line of instructions that are near stays. */
  leaveOut(lines, isPaper) {
    let last = -Infinity;
    const near = new Uint8Array(lines.length), mark = (i) => { if (lines[i].hasFigures && lines[i].children[2].textContent) last = i; near[i] ||= Math.abs(i - last) <= PAPER.around; };
    for (let i = 0; i < lines.length; i++) mark(i);
    last = Infinity;
    for (let i = lines.length - 1; i >= 0; i--) mark(i);
    let source = 0;
    lines.forEach((line, i) => {
      if (line.classList.contains("of-source")) source = i;
      else if (near[i] && lines[source].classList.contains("of-source")) near[source] = 1;
    });
    lines.forEach((line, i) => {
      line.classList.toggle("far", isPaper && !near[i]);
      line.classList.toggle("behind-far", isPaper && i > 0 && Boolean(near[i]) && !near[i - 1]);
    });
  }
}
