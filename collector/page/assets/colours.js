/* colours -- of modules and kinds of code, for both themes; and what the canvas needs of the style sheet */
"use strict";

const HUES = [212, 32, 152, 285, 0, 188, 52, 325, 105, 250, 18, 170];
const KIND_HUES = { native: 212, inlined: 188, python: 46, "python without lock": 32, method: 62, dynamic: 285, unknown: 0 };
const KIND_TITLES = {
  native: "native", inlined: "inlined", python: "Python", "python without lock": "Python, without the lock", method: "built into Python",
  dynamic: "made at run time", unknown: "no name known",
};

class Colours {
  constructor(experiment) {
    this.experiment = experiment;
    const sums = new Float64Array(experiment.facts.modules.name.length);
    const functions = new Sums(experiment, { span: null, threads: null }, METRICS.wall ? "wall" : "cpu").functions;
    experiment.facts.functions.module.forEach((module, index) => { sums[module] += functions.exclusive[index]; });
    this.moduleTimes = sums;
    this.ranks = new Map([...sums.keys()].sort((a, b) => sums[b] - sums[a]).map((module, rank) => [module, rank]));
    this.read();
  }

  /* What the theme says now. */
  read() {
    this.fills = new Map();
    const style = getComputedStyle(document.documentElement);
    this.theme = (name) => style.getPropertyValue(`--${name}`).trim();
    this.isDark = this.theme("is-dark") === "1";
    for (const name of ["text", "muted", "line", "panel", "accent", "select", "match", "pause", "area", "system", "runnable", "blocked"]) this[name] = this.theme(name);
  }

  /* A fill for a call; `variant` (any number) makes neighbours differ a little. */
  fill(index, kind, by, variant) {
    const key = `${index} ${kind} ${by} ${variant}`;
    let fill = this.fills.get(key);
    if (!fill) this.fills.set(key, fill = this.mix(index, kind, by, variant));
    return fill;
  }

  mix(index, kind, by, variant) {
    const hue = this.hue(index, kind, by);
    const shift = ((variant * 2654435761) >>> 0) / 4294967296;
    if (hue === null) return this.isDark ? `hsl(220 6% ${30 + 6 * shift}%)` : `hsl(220 8% ${84 + 6 * shift}%)`;
    return this.isDark ? `hsl(${hue + 14 * shift - 7} ${40 + 10 * shift}% ${23 + 5 * shift}%)` : `hsl(${hue + 14 * shift - 7} ${62 + 16 * shift}% ${76 + 8 * shift}%)`;
  }

  hue(index, kind, by) {
    if (index < 0 || index >= this.experiment.unfinished) return null;
    if (by === "kind") return Object.hasOwn(KIND_HUES, kind) ? KIND_HUES[kind] : null;
    const rank = this.ranks.get(this.experiment.facts.functions.module[index]);
    return rank < HUES.length ? HUES[rank] : null;
  }

  /* Rows of a legend: [title, fill]. */
  legend(by) {
    if (by === "kind") {
      const kinds = [...new Set(this.experiment.callKinds)].filter((kind) => Object.hasOwn(KIND_TITLES, kind));
      return kinds.map((kind) => [KIND_TITLES[kind], this.fill(0, kind, "kind", 0)]);
    }
    const { name } = this.experiment.facts.modules;
    const known = [...this.ranks.keys()].filter((module) => this.moduleTimes[module] > 0);
    const rows = known.slice(0, HUES.length).map((module) => {
      const index = this.experiment.facts.functions.module.indexOf(module);
      return [name[module], this.fill(index, "", "module", 0)];
    });
    return known.length > HUES.length ? [...rows, ["others", this.fill(-1, "", "module", 0)]] : rows;
  }
}
