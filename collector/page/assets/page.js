/* page -- puts the parts together: what is selected is added up once, and every view shows it */
"use strict";

/* Some views are not in every page: their scripts are left out. */
const TABS = {
  ...(typeof CompareView === "undefined" ? {} : { compare: { title: "Compare", View: CompareView } }),
  flame: { title: "Flame graph", View: FlameGraph },
  tree: { title: "Call tree", View: CallTreeView },
  functions: { title: "Functions", View: FunctionsView },
  callers: { title: "Callers & callees", View: CallersView },
  source: { title: "Source", View: SourceView },
  ...(typeof DisassemblyView === "undefined" ? {} : { disassembly: { title: "Disassembly", View: DisassemblyView } }),
  summary: { title: "Summary", View: SummaryView },
};

const KEYS = [
  [`1 to ${Object.keys(TABS).length}`, "the views"], ["/", "search"], ["drag on the timeline", "select a span; a click clears it"], ["double click there, z", "zoom the timeline to the selection; Z: all"],
  ["Ctrl and wheel, + and -", "zoom the timeline"], ["← →", "on the timeline: move the selection, with Shift its end"], ["↑ ↓, Enter there", "go to a thread or process, and take only that; with Ctrl besides others"], ["click on a name there", "only this thread or process; Ctrl: besides others"],
  ["arrow keys, Enter, Escape", "in the flame graph: move, zoom, zoom out"], ["Escape", "clear the selection"], ["t", "light or dark"],
];

class Page {
  /* One experiment, or two, before and after, and their comparison. */
  constructor(experiments, comparison) {
    this.experiments = experiments;
    this.comparison = comparison;
    if (METRICS.wall) DEFAULTS.metric = "wall";
    this.state = new State();
    this.fillControls();
    this.fillTabs();
    this.listen();
    this.sides = comparison && new SideSwitch(this);
    this.takeSide();
    this.state.onChange((changed) => this.update(changed));
    this.update(null);
  }

  get side() {
    return this.state.side === "before" ? "before" : "after";
  }

  experimentOf(side) {
    return this.experiments[side === "before" ? 0 : this.experiments.length - 1];
  }

  /* Show the experiment that the state says; all views begin anew. */
  takeSide() {
    this.experiment = this.experimentOf(this.side);
    this.colours = new Colours(this.experiment);
    const { pid, isNextImage } = this.experiment.facts.processes, { threads } = this.experiment.facts;
    this.processCount = isNextImage.filter((isNext) => !isNext).length;
    this.threadCount = threads.process.filter((process, i) => !(isNextImage[process] && pid[process] === threads.tid[i])).length;
    this.processors = Math.max(1, ...this.experiment.facts.recordings.map((recording) => recording.processors));
    this.views = {};
    for (const panel of Object.values(this.panels)) panel.replaceChildren();
    this.addUp();
    this.fillHeader();
    const old = document.getElementById("timeline"), place = old.cloneNode(false);
    old.replaceWith(place);
    this.timeline = new Timeline(this, place);
    this.sides?.update(this);
  }

  addUp() {
    if (!Object.hasOwn(METRICS, this.state.metric)) this.state.metric = "cpu";
    this.sums = new Sums(this.experiment, this.state, this.state.metric);
  }

  fillHeader() {
    const { facts } = this.experiment, element = (id) => document.getElementById(id);
    element("command").textContent = facts.recordings.map((recording) => recording.command || recording.name).join("  +  ");
    element("command").title = element("command").textContent;
    element("facts").textContent = [
      facts.total.wall ? `${formatTime(facts.total.wall)} wall time of threads` : "", `${formatTime(facts.total.cpu)} CPU time`, `${formatTime(this.experiment.duration)} long`, `${formatCount(facts.samples)} samples`,
      this.processCount > 1 ? `${formatCount(this.processCount)} processes` : "", this.threadCount > 1 ? `${formatCount(this.threadCount)} threads` : "",
    ].filter(Boolean).join(" · ");
    const summary = [" ", make("button", { type: "button", onclick: () => this.state.set({ tab: "summary" }) }, "Summary")];
    element("warnings").replaceChildren(...(facts.brief.length ? [facts.brief.join(" ").replaceAll("the overview", "the summary"), ...summary] : []));
  }

  fillControls() {
    const element = (id) => document.getElementById(id);
    element("metric").append(...Object.entries(METRICS).map(([value, { title }]) => make("option", { value }, title)));
    element("metric").addEventListener("change", (event) => this.state.set({ metric: event.target.value }));
    element("theme").addEventListener("click", () => this.changeTheme());
    element("help").addEventListener("click", () => this.showKeys());
  }

  fillTabs() {
    const tabs = document.getElementById("tabs"), views = document.getElementById("views");
    this.panels = {};
    tabs.addEventListener("keydown", (event) => this.turnTab(event));
    for (const [name, { title }] of Object.entries(TABS)) {
      tabs.append(make("button", { type: "button", id: `tab-${name}`, role: "tab", onclick: () => this.state.set({ tab: name }) }, title));
      this.panels[name] = make("section", { id: `view-${name}`, role: "tabpanel", className: "view", hidden: true });
      this.panels[name].setAttribute("aria-labelledby", `tab-${name}`);
      tabs.lastChild.setAttribute("aria-controls", `view-${name}`);
      views.append(this.panels[name]);
    }
  }

  /* Arrow keys on a tab go to the one beside it. */
  turnTab(event) {
    const names = Object.keys(TABS), steps = { ArrowRight: 1, ArrowLeft: -1, Home: -names.length, End: names.length };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const at = names.findIndex((name) => event.target.id === `tab-${name}`) + steps[event.key];
    const name = Math.abs(steps[event.key]) === 1 ? names.at(at % names.length) : event.key === "Home" ? names[0] : names.at(-1);
    this.state.set({ tab: name });
    document.getElementById(`tab-${name}`).focus();
  }

  listen() {
    document.addEventListener("keydown", (event) => this.key(event));
    const splitter = document.getElementById("splitter"), height = () => document.getElementById("timeline").clientHeight;
    const resize = (wanted) => {
      const height = Math.round(Math.max(60, Math.min(innerHeight * 0.8, wanted)));
      document.getElementById("timeline").style.height = `${height}px`;
      splitter.setAttribute("aria-valuenow", height);
    };
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      const start = event.clientY - height();
      splitter.onpointermove = (move) => resize(move.clientY - start);
      splitter.onpointerup = () => { splitter.onpointermove = null; };
    });
    splitter.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      resize(height() + (event.key === "ArrowDown" ? 20 : -20));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    this.paper = new Paper(this);
    document.getElementById("keys").addEventListener("click", (event) => event.currentTarget.close());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (document.getElementById("keys").open) return;
    const tab = Object.keys(TABS)[+event.key - 1];
    if (tab) this.state.set({ tab });
    else if (event.key === "/") {
      event.preventDefault();
      if (!["compare", "flame", "functions"].includes(this.state.tab)) this.state.set({ tab: "functions" });
      (this.views[this.state.tab].search || this.views[this.state.tab].filter).focus();
    } else if (event.key === "z" && this.state.span) this.state.set({ view: this.state.span });
    else if (event.key === "Z") this.state.set({ view: null });
    else if (event.key === "t") this.changeTheme();
    else if (event.key === "?") this.showKeys();
    else if (event.key === "Escape") this.state.set({ span: null, threads: null });
  }

  showKeys() {
    const dialog = document.getElementById("keys");
    dialog.replaceChildren(make("h2", {}, "Keys"), make("table", {}, ...KEYS.map(([key, meaning]) => make("tr", {}, make("th", {}, key), make("td", {}, meaning)))), make("button", { type: "button" }, "Close"));
    dialog.showModal();
  }

  changeTheme() {
    const { dataset } = document.documentElement;
    dataset.theme = this.colours.isDark ? "light" : "dark";
    this.repaint();
  }

  repaint() {
    this.colours.read();
    this.timeline.canvas.draw();
    for (const view of Object.values(this.views)) view.update(null);
  }

  /* While somebody drags: at most once a frame. */
  selectSoon(span) {
    this.wanted = span;
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.state.set({ span: this.wanted }); });
  }

  showFunction(index) {
    this.state.set({ function: index, tab: "callers" });
  }

  update(changed) {
    if (changed && changed.has("side")) this.takeSide();
    const isNewSelection = changed && ["span", "threads", "metric"].some((name) => changed.has(name));
    if (isNewSelection) this.addUp();
    document.getElementById("metric").value = this.state.metric;
    this.fillChips();
    const tab = Object.hasOwn(TABS, this.state.tab) ? this.state.tab : DEFAULTS.tab;
    document.body.dataset.tab = tab;
    for (const [name, panel] of Object.entries(this.panels)) {
      panel.hidden = name !== tab;
      const button = document.getElementById(`tab-${name}`);
      button.setAttribute("aria-selected", name === tab);
      button.tabIndex = name === tab ? 0 : -1;
    }
    const isNew = !this.views[tab];
    if (isNew) this.views[tab] = new TABS[tab].View(this, this.panels[tab]);
    this.views[tab].update(isNew || this.stale?.has(tab) ? null : changed);
    this.stale ||= new Set();
    this.stale.delete(tab);
    if (changed) for (const name of Object.keys(this.views)) if (name !== tab) this.stale.add(name);
    this.timeline.canvas.draw();
  }

  /* What the views are limited to, with a way to take it back. */
  fillChips() {
    const { state, experiment, sums } = this, chips = [];
    const chip = (text, clear) => chips.push(make("span", { className: "chip" }, text, make("button", { type: "button", ariaLabel: `clear: ${text}`, onclick: clear }, "×")));
    if (state.span) chip(`${formatTime(state.span[0])} to ${formatTime(state.span[1])}, ${formatTime(state.span[1] - state.span[0])} long`, () => state.set({ span: null }));
    if (state.threads) {
      const names = [...state.threads].slice(0, 3).filter((thread) => thread < experiment.threadCount).map((thread) => experiment.threadName(thread));
      chip(state.threads.size > 3 ? `${formatCount(state.threads.size)} threads` : names.join(", "), () => state.set({ threads: null }));
    }
    if (state.view) chip("timeline zoomed", () => state.set({ view: null }));
    const whole = new Set(["span", "threads"].filter((name) => state[name])).size ? "of the selection" : "in all";
    const text = `${sums.metric.format(sums.total)} ${sums.metric.title} ${whole}, ${formatCount(sums.count)} samples`;
    document.getElementById("chips").replaceChildren(make("span", { className: "sum" }, text), ...chips,
      ...(chips.length ? [] : [make("span", { className: "hint" }, "drag on the timeline to select a span of time; click on a name to take one thread")]));
  }
}

(async () => {
  const experiments = [...document.querySelectorAll("script.experiment")], comparison = document.querySelector("script.comparison");
  try {
    const unpacked = await Promise.all(experiments.map(async (element) => new Experiment(await unpack(element.textContent))));
    window.collectorPage = new Page(unpacked, comparison && new Comparison(await unpack(comparison.textContent)));
    for (const element of [...experiments, comparison]) element?.remove();
  } catch (error) {
    document.body.prepend(make("p", { className: "failure" }, `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`));
    throw error;
  }
})();
