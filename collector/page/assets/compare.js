/* compare -- the answer of a comparison, and its table of functions */
"use strict";

class CompareView {
  constructor(page, container) {
    this.page = page;
    const { state } = page;
    this.filter = make("input", {
      type: "search", placeholder: "filter (regular expression)", ariaLabel: "Filter functions", spellcheck: false, oninput: () => state.set({ search: this.filter.value }),
    });
    this.units = make("select", { ariaLabel: "Unit", onchange: () => state.set({ unit: this.units.value }) },
      ...Object.entries(UNITS_SHOWN).map(([value, { title }]) => make("option", { value }, `differences ${title}`)));
    this.note = make("span", { className: "matches", role: "status" });
    this.links = make("span", { className: "links" });
    container.append(this.answer(), make("div", { className: "bar" }, this.filter, this.units, this.note, this.links));
    this.columns = this.makeColumns();
    this.table = new LongTable(container, this.columns, {
      label: "Functions before and after", onPick: (row, isAgain) => isAgain ? openFunction(page, row.number, "callers") : state.set({ row: state.row === row.number ? -1 : row.number }), onSort: (order) => state.set({ order: state.order === order ? "" : order }),
    });
    this.graph = new DifferenceGraph(page, container);
  }

  /* What the comparison says, in words and as its total. */
  answer() {
    const { facts } = this.page.comparison, { total } = facts;
    const side = (name, { title, commands, names }) => make("tr", {}, make("th", {}, name),
      make("td", {}, `${title} of ${commands[0]}${commands.length > 1 ? " and others" : ""}: ${names.slice(0, 12).join(", ")}${names.length > 12 ? `, and ${names.length - 12} more` : ""}`));
    const error = total.difference_high - total.difference;
    return make("div", { className: "answer" },
      make("div", {},
        make("p", { className: `sentence ${total.verdict}` }, facts.answer),
        make("p", { className: "total" },
          make("span", {}, "total CPU time of a run "), make("b", {}, `${formatTime(total.before)} → ${formatTime(total.after)}`),
          `, ${formatSigned(total.difference, formatTime)} ± ${formatTime(error)} (95 %)`,
          total.ratio_low === null ? "" : `, ratio ${total.ratio.toFixed(3)} (${total.ratio_low.toFixed(3)}–${total.ratio_high.toFixed(3)})`)),
      make("div", { className: "basis" },
        make("table", { className: "facts" }, side("before", facts.sides[0]), side("after", facts.sides[1]), ...facts.rules.map(([title, text]) => make("tr", {}, make("th", {}, title.toLowerCase()), make("td", {}, text)))),
        ...facts.notes.map((note) => make("p", { className: "note" }, note))));
  }

  makeColumns() {
    const format = (value) => UNITS_SHOWN[this.unit].format(value), figures = () => this.page.comparison.facts[this.unit];
    const of = (name) => (row) => figures()[name][row.number];
    const number = (key, title, value, text, more) => ({ key, title, isNumber: true, value, text, ...more });
    const error = (row) => of("difference_high")(row) - of("difference")(row);
    const ends = (low, high) => (row) => (low(row) ?? null) === null ? "" : `${low(row).toFixed(3)}–${high(row).toFixed(3)}`;
    const beside = this.page.comparison.facts.time.rest_ratio.some((ratio) => ratio !== null) ? [
      number("restRatio", "beside rest", (row) => of("rest_ratio")(row) ?? 0, (row) => of("rest_ratio")(row)?.toFixed(3) ?? "", { className: "detail", hint: "the ratio to what the rest of the program took: whole runs are faster or slower" }),
      number("restEnds", "95 %", (row) => of("rest_low")(row) ?? 0, ends(of("rest_low"), of("rest_high")), { className: "long detail", hint: "the interval of the ratio beside the rest" }),
    ] : [];
    return [
      number("before", "before", of("before"), (row) => of("before")(row) ? format(of("before")(row)) : "–"),
      number("after", "after", of("after"), (row) => of("after")(row) ? format(of("after")(row)) : "–"),
      number("difference", "difference", (row) => Math.abs(of("difference")(row)), (row) => formatSigned(of("difference")(row), format), { tone: of("verdict") }),
      number("error", "± 95 %", error, (row) => format(error(row)), { hint: "half of the interval that holds the true difference in 95 of 100 cases" }),
      { key: "interval", title: "", className: "middle", value: (row) => -of("difference")(row), text: () => "", draw: (row) => this.interval(row) },
      number("ratio", "ratio", (row) => of("ratio")(row) ?? Infinity, (row) => of("ratio")(row) ? of("ratio")(row).toFixed(3) : ""),
      number("ratioEnds", "95 %", (row) => of("ratio_low")(row) ?? 0, ends(of("ratio_low"), of("ratio_high")), { className: "long detail", hint: "the interval of the ratio" }),
      ...beside,
      { key: "verdict", title: "finding", value: (row) => -this.rank(row), text: (row) => findingTitle(of("verdict")(row), this.unit), tone: of("verdict"), hint: "what is more than chance; too few: less than 10 samples on both sides together" },
      number("p", "p", (row) => -(of("p")(row) ?? 2), (row) => formatChance(of("p")(row)), { className: "detail", hint: "how likely chance alone makes such a difference, with the number of comparisons taken into account" }),
      { key: "name", title: "function", className: "wide", value: (row) => row.name, text: (row) => row.name },
      { key: "module", title: "module", className: "middle", value: (row) => row.module, text: (row) => row.module },
    ];
  }

  /* What is drawn anew for paper, beside the table. */
  get canvas() {
    return this.graph.canvas;
  }

  get unit() {
    return Object.hasOwn(UNITS_SHOWN, this.page.state.unit) ? this.page.state.unit : "time";
  }

  /* Findings first, then what was judged. */
  rank(row) {
    const verdict = this.page.comparison.facts[this.unit].verdict[row.number];
    return verdict === "none" ? 1 : verdict === "too few" ? 0 : 2;
  }

  /* The interval of a difference beside those of the other rows, with zero in the middle. */
  interval(row) {
    const figures = this.page.comparison.facts[this.unit], place = (value) => 50 + 50 * Math.max(-1, Math.min(1, value / this.reach));
    const verdict = figures.verdict[row.number], low = place(figures.difference_low[row.number]), high = place(figures.difference_high[row.number]);
    const range = make("i", { className: `range ${verdict}` }), dot = make("i", { className: `dot ${verdict}` });
    range.style.left = `${low}%`;
    range.style.width = `${high - low}%`;
    dot.style.left = `${place(figures.difference[row.number])}%`;
    return make("span", { className: "interval" }, make("i", { className: "zero" }), range, dot);
  }

  update(changed) {
    const { state, comparison } = this.page;
    if (document.activeElement !== this.filter) this.filter.value = state.search;
    this.units.value = this.unit;
    if (!changed || ["search", "unit", "order", "row", "tab", "side"].some((name) => changed.has(name))) this.showRows();
    this.links.replaceChildren(...(state.row < 0 || state.row >= comparison.rowCount ? [] : ["before", "after"].flatMap((side) => {
      const index = comparison.functionAt(side, state.row);
      return index < 0 ? [] : [make("span", { className: "matches" }, `${side}:`), ...linkButtons(this.page, index, (parts) => this.page.state.set({ ...translated(this.page, side), ...parts }), this.page.experimentOf(side))];
    })));
    this.graph.update(changed);
  }

  showRows() {
    const { state, comparison } = this.page, { facts } = comparison, pattern = patternOf(state.search), rows = [], figures = facts[this.unit];
    this.filter.classList.toggle("wrong", Boolean(state.search) && !pattern);
    const { name, shortName, module } = facts.functions;
    for (let number = 0; number < comparison.rowCount; number++) {
      if (!pattern || pattern.test(name[number]) || pattern.test(module[number])) rows.push({ number, name: shortName[number], module: module[number] });
    }
    const column = this.columns.find(({ key }) => key === state.order);
    const compared = (one, other) => column.isNumber ? column.value(other) - column.value(one) : column.value(one) < column.value(other) ? -1 : column.value(one) > column.value(other) ? 1 : 0;
    if (column) rows.sort((one, other) => compared(one, other) || one.number - other.number);
    else if (this.unit === "share") rows.sort((one, other) => (this.rank(other) === 2) - (this.rank(one) === 2) || Math.abs(figures.difference[other.number]) - Math.abs(figures.difference[one.number]));
    const findings = rows.filter((row) => this.rank(row) === 2).length;
    this.reach = Math.max(1e-12, ...rows.slice(0, 1000).map((row) => Math.abs(figures.difference[row.number])));
    this.note.textContent = `${formatCount(rows.length)} ${rows.length === 1 ? "function" : "functions"}, ${findings ? formatCount(findings) : "none"} with a finding`;
    this.table.show(rows, state.order, (row) => row.number === state.row);
  }
}

function formatChance(p) {
  return p === null ? "" : p >= 0.0095 ? p.toFixed(2) : p.toExponential(0);
}
