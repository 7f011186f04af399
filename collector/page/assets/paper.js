/* paper -- the page as it is printed: light, as wide as paper, and as long as what it shows instead of a screen */
"use strict";

const PAPER = { width: 720, timeline: 420, view: 2600 }; // pixels

class Paper {
  constructor(page) {
    this.page = page;
    window.addEventListener("beforeprint", () => this.take(true));
    window.addEventListener("afterprint", () => this.take(false));
  }

  take(isPaper) {
    const { dataset, classList } = document.documentElement, { timeline, views, state, colours } = this.page;
    if (isPaper) this.theme = dataset.theme;
    if (isPaper || this.theme) dataset.theme = isPaper ? "light" : this.theme;
    else delete dataset.theme;
    classList.toggle("paper", isPaper);
    colours.read();
    timeline.canvas.unroll(isPaper ? PAPER.timeline : 0);
    const view = views[state.tab] || views[DEFAULTS.tab];
    view?.table?.unroll(isPaper ? PAPER.view : 0);
    if (view?.canvas) {
      view.update(null);
      view.canvas.unroll(isPaper ? PAPER.view : 0);
    }
  }
}
