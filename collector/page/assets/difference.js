/* difference -- a comparison's data, and its flame graph: the calls of both sides in one tree, coloured by what changed */
"use strict";

const VERDICTS = ["none", "slower", "faster", "new", "gone", "too few"];
const FULL_COLOUR = 0.1; // of the total: a difference of as much has the strongest colour
const UNITS_SHOWN = {
  time: { title: "in time", slower: "slower", faster: "faster", format: formatTime },
  share: { title: "in share of the total", slower: "more", faster: "less", format: (value) => `${(100 * value).toFixed(2)} %` },
};
const WIDTHS = {
  both: { title: "wide as the mean of both", of: (change, node) => (change.before[node] + change.after[node]) / 2 },
  after: { title: "wide as after", of: (change, node) => change.after[node] },
  before: { title: "wide as before", of: (change, node) => change.before[node] },
};
const KINDS = { inclusive: "colour with what it calls", exclusive: "colour of the function itself" };

Object.assign(DEFAULTS, { tab: "compare", side: "after", unit: "time", order: "", row: -1, branch: 0, width: "both", difference: "inclusive" });
Object.assign(CODECS, { row: [String, readNumber], branch: [String, readNumber] });

/* What collector/page/compared.py packed. Functions are those of `facts.functions`, the rows first; `changes` are by unit, kind and node of the tree. */
class Comparison {
  constructor({ facts, columns }) {
    this.facts = facts;
    this.rowCount = facts.time.before.length;
    this.parents = columns.parents.map((way, node) => node - way);
    this.nodeFunctions = columns.functions.map((number) => number - 1);
    this.numbers = { before: columns["before.functions"].map((number) => number - 1), after: columns["after.functions"].map((number) => number - 1) };
    [this.firstChild, this.children] = childrenOf(this.parents);
    this.changes = {};
    for (const unit of Object.keys(UNITS_SHOWN)) {
      const scaled = (column) => Float64Array.from(column, (value) => (value >>> 0) * facts.units[unit]);
      this.changes[unit] = {};
      for (const kind of Object.keys(KINDS)) {
        const figure = (name) => columns[`${unit}.${kind}.${name}`];
        this.changes[unit][kind] = {
          before: scaled(figure("before")), after: scaled(figure("after")), error: scaled(figure("error")), verdict: figure("verdict"), samples: columns[`${kind}.samples`],
        };
      }
    }
  }

  /* The number of a function of an experiment, and the function of the other experiment that has it; -1: none. */
  numberOf(side, index) {
    return index >= 0 && index < this.numbers[side].length ? this.numbers[side][index] : -1;
  }

  functionAt(side, number) {
    return number < 0 ? -1 : this.numbers[side].indexOf(number);
  }

  name(number, isLong) {
    return number < 0 ? "(unfinished stacks)" : this.facts.functions[isLong ? "name" : "shortName"][number];
  }

  place(number) {
    const { file, line } = this.facts.functions;
    return number < 0 || !file[number] ? "" : line[number] ? `${file[number]}:${line[number]}` : file[number];
  }

  /* The nodes from the whole down to one. */
  pathTo(node) {
    const path = [];
    for (let step = node; step > 0 && step < this.parents.length; step = this.parents[step]) path.push(step);
    return path.reverse();
  }
}

/* What a finding is called: of a share it is not known whether anything got slower. */
function findingTitle(verdict, unit) {
  return verdict === "none" ? "" : UNITS_SHOWN[unit][verdict] || verdict;
}

function formatSigned(value, format) {
  return `${value < 0 ? "−" : "+"}${format(Math.abs(value))}`;
}

function formatRatio(before, after) {
  if (!before || !after) return before ? "gone" : "new";
  return `${formatSigned(100 * (after / before - 1), (value) => value.toFixed(1))} %`;
}

/* The colour of a difference that is a part of the total; grey where it is not more than chance. */
function differenceColour(part, verdict, isDark, variant) {
  const shade = ((variant * 2654435761) >>> 0) / 4294967296;
  if (verdict === 0 || verdict === 5) return isDark ? `hsl(220 5% ${28 + 5 * shade}%)` : `hsl(220 8% ${88 + 4 * shade}%)`;
  const strength = 0.25 + 0.75 * Math.sqrt(Math.min(1, Math.abs(part) / FULL_COLOUR)), hue = part > 0 ? 8 : 214;
  return isDark ? `hsl(${hue} ${30 + 45 * strength}% ${28 + 14 * strength}%)` : `hsl(${hue} ${50 + 38 * strength}% ${90 - 24 * strength}%)`;
}

class DifferenceGraph extends FlameGraph {
  makeBar(page) {
    const choice = (name, label, options) => make("select", { ariaLabel: label, onchange: (event) => page.state.set({ [name]: event.target.value }) },
      ...Object.entries(options).map(([value, title]) => make("option", { value }, title.title || title)));
    this.keepsColour = true;
    this.widths = choice("width", "Width of boxes", WIDTHS);
    this.kinds = choice("difference", "Which difference is coloured", KINDS);
    this.legend = make("span", { className: "legend" });
    this.reset = make("button", { type: "button", onclick: () => page.state.set({ branch: 0 }) }, "Reset zoom");
    this.about = make("span", { className: "matches" });
    return make("div", { className: "bar" }, make("b", {}, "Calls of both sides"), this.about, this.widths, this.kinds, this.reset, this.legend);
  }

  get unit() {
    return Object.hasOwn(UNITS_SHOWN, this.page.state.unit) ? this.page.state.unit : "time";
  }

  get kind() {
    return Object.hasOwn(KINDS, this.page.state.difference) ? this.page.state.difference : "inclusive";
  }

  update() {
    const { state, comparison } = this.page, changes = comparison.changes[this.unit].inclusive;
    this.widths.value = Object.hasOwn(WIDTHS, state.width) ? state.width : "both";
    this.kinds.value = this.kind;
    this.total = Math.max(changes.before[0], changes.after[0]);
    this.about.textContent = UNITS_SHOWN[this.unit].title;
    this.showLegend();
    this.find();
    this.reset.hidden = !(state.branch > 0);
    const value = WIDTHS[this.widths.value].of;
    const node = (number) => ({ id: number, function: number ? comparison.nodeFunctions[number] : -1, title: number ? "" : "(all)", value: value(changes, number), count: changes.samples[number], kind: "" });
    const children = ({ id }) => {
      const nodes = [];
      for (let i = comparison.firstChild[id]; i < comparison.firstChild[id + 1]; i++) if (value(changes, comparison.children[i]) > 0) nodes.push(node(comparison.children[i]));
      return nodes.sort(byValue);
    };
    this.setBoxes(changes.before.length ? layOutTree(node(0), children, Math.max(200, this.canvas.width), comparison.pathTo(state.branch)) : []);
  }

  showLegend() {
    const sample = (title, part, verdict) => {
      const box = make("i", {});
      box.style.background = differenceColour(part, verdict, this.page.colours.isDark, 1);
      return make("span", {}, box, title);
    };
    const { slower, faster } = UNITS_SHOWN[this.unit];
    this.legend.replaceChildren(sample(`${faster} by ${100 * FULL_COLOUR} % of the total`, -FULL_COLOUR, 2), sample("by 1 %", -0.01, 2), sample("no more than chance", 0, 0), sample(`${slower} by 1 %`, 0.01, 1), sample(`by ${100 * FULL_COLOUR} %`, FULL_COLOUR, 1));
  }

  /* What the search means, or the row that is picked in the table. */
  find() {
    const { state, comparison } = this.page, pattern = patternOf(state.search);
    this.found = null;
    if (!pattern && state.row < 0) return;
    const { name, module } = comparison.facts.functions;
    this.found = Uint8Array.from(name, (text, number) => pattern ? pattern.test(text) || pattern.test(module[number]) : number === state.row);
  }

  title(box, isLong) {
    return box.title || this.page.comparison.name(box.function, isLong);
  }

  fill(box) {
    const change = this.page.comparison.changes[this.unit][this.kind], node = box.node.id;
    return differenceColour((change.after[node] - change.before[node]) / (this.total || 1), change.verdict[node], this.page.colours.isDark, box.function + 1);
  }

  describe(box) {
    const { comparison } = this.page, node = box.node.id, { format } = UNITS_SHOWN[this.unit], rows = [];
    for (const [title, kind] of [["with what it calls", "inclusive"], ["itself", "exclusive"]]) {
      const change = comparison.changes[this.unit][kind], before = change.before[node], after = change.after[node], verdict = VERDICTS[change.verdict[node]];
      if (!before && !after) continue;
      rows.push([title, `${format(before)} → ${format(after)}`]);
      rows.push(["", `${formatSigned(after - before, format)} ± ${format(change.error[node])}${before && after ? `  (${formatRatio(before, after)})` : ""}, ${findingTitle(verdict, this.unit) || "no more than chance"}`]);
    }
    rows.push(["samples", formatCount(comparison.changes.time.inclusive.samples[node])]);
    const place = comparison.place(box.function);
    if (box.function >= 0) rows.push(["module", comparison.facts.functions.module[box.function]]);
    if (place) rows.push(["defined at", place]);
    return rows;
  }

  choose(box) {
    this.page.state.set({ branch: box.node.id, row: box.function < this.page.comparison.rowCount ? box.function : -1 });
  }

  zoomOut() {
    const { state, comparison } = this.page;
    this.page.state.set({ branch: comparison.parents[state.branch] || 0 });
  }

  open(box) {
    openFunction(this.page, box.function, "callers");
  }
}

/* The regular expression that somebody typed, or null. */
function patternOf(text) {
  try {
    return text ? new RegExp(text, "i") : null;
  } catch {
    return null;
  }
}
