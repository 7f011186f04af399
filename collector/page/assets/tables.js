/* tables -- long tables of which only the rows in sight exist, sorted by a click on a column's title */
"use strict";

const LINE = 24;

class LongTable {
  /* Columns: {key, title, value(row), text(row), isNumber, bar(row) as part of 1, className}. */
  constructor(container, columns, { onPick, onSort, onArrow, label }) {
    this.columns = columns;
    this.onPick = onPick;
    this.onArrow = onArrow;
    this.rows = [];
    this.sort = null;
    this.focused = 0;
    this.head = make("div", { className: "row head", role: "row" }, ...columns.map((column) => make("div", {
      className: `cell ${column.className || ""} ${column.isNumber ? "number" : ""}`, role: "columnheader", tabIndex: 0, title: column.hint || "",
      onclick: () => onSort(column.key), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); onSort(column.key); } },
    }, column.title)));
    this.body = make("div", { className: "body", role: "rowgroup" });
    this.scroller = make("div", { className: "table", id: `table-${label.toLowerCase().replace(/\W+/g, "-")}`, role: "grid", ariaLabel: label, tabIndex: 0 }, make("div", { role: "rowgroup", className: "heads" }, this.head), this.body);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    container.append(this.scroller);
  }

  show(rows, sort, picked) {
    this.rows = rows;
    this.picked = picked;
    this.columns.forEach((column, i) => {
      const cell = this.head.children[i];
      cell.setAttribute("aria-sort", column.key === sort ? (column.isNumber ? "descending" : "ascending") : "none");
    });
    this.scroller.setAttribute("aria-rowcount", rows.length + 1);
    this.body.style.height = `${rows.length * LINE}px`;
    this.focused = Math.min(this.focused, Math.max(0, rows.length - 1));
    this.drawNow();
  }

  /* For paper: all rows, but no more than so many; 0 takes it back. How many are left out. */
  unroll(most) {
    this.most = most;
    this.drawNow();
    return Math.max(0, this.rows.length - most);
  }

  draw() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => { this.isAsked = false; this.drawNow(); });
  }

  drawNow() {
    const first = this.most ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / LINE) - 2);
    const last = Math.min(this.rows.length, this.most ? this.most : first + Math.ceil(this.scroller.clientHeight / LINE) + 6);
    const shown = [];
    for (let i = first; i < last; i++) {
      const row = this.rows[i];
      const cells = this.columns.map((column) => {
        const cell = make("div", { className: `cell ${column.className || ""} ${column.isNumber ? "number" : ""} ${column.tone ? column.tone(row) : ""}`, role: "gridcell" }, column.draw ? column.draw(row) : column.text(row));
        if (column.bar) {
          const bar = make("i", { className: "bar" });
          bar.style.width = `${Math.min(100, 100 * column.bar(row))}%`;
          cell.prepend(bar);
        }
        if (column.indent) cell.style.paddingLeft = `${8 + 14 * column.indent(row)}px`;
        if (column.title && !column.isNumber) cell.title = column.text(row);
        return cell;
      });
      const line = make("div", {
        className: `row ${this.picked && this.picked(row) ? "picked" : ""} ${i === this.focused ? "focused" : ""}`, role: "row",
        onclick: (event) => { this.focused = i; this.onPick(row, event.detail > 1); },
      }, ...cells);
      line.id = `${this.scroller.id}-${i}`;
      line.setAttribute("aria-rowindex", i + 2);
      line.setAttribute("aria-selected", i === this.focused);
      line.style.top = `${i * LINE}px`;
      shown.push(line);
    }
    this.body.replaceChildren(...shown);
    this.scroller.setAttribute("aria-activedescendant", shown.length ? `${this.scroller.id}-${this.focused}` : "");
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
    if (event.target !== this.scroller) return;
    if (event.key in steps) {
      event.preventDefault();
      this.focused = Math.max(0, Math.min(this.rows.length - 1, this.focused + steps[event.key]));
      const y = this.focused * LINE, room = this.scroller.clientHeight - LINE;
      if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
      if (y + LINE > this.scroller.scrollTop + room) this.scroller.scrollTop = y + LINE - room;
      this.drawNow();
    } else if (event.key === "Enter" && this.rows[this.focused]) {
      this.onPick(this.rows[this.focused], true);
    } else if (this.onArrow && ["ArrowRight", "ArrowLeft"].includes(event.key) && this.rows[this.focused]) {
      event.preventDefault();
      this.onArrow(this.rows[this.focused], event.key === "ArrowRight");
    }
  }
}

/* Functions with their times; the search is that of the flame graph. */
class FunctionsView {
  constructor(page, container) {
    this.page = page;
    this.filter = make("input", {
      type: "search", placeholder: "filter (regular expression)", ariaLabel: "Filter functions", spellcheck: false,
      oninput: () => page.state.set({ search: this.filter.value }),
    });
    this.note = make("span", { className: "matches" });
    this.links = make("span", { className: "links" });
    container.append(make("div", { className: "bar" }, this.filter, this.note, this.links));
    const part = (value, whole) => whole > 0 ? value / whole : 0;
    const error = (row) => page.sums.error(row.exclusive, row.count);
    this.columns = [
      { key: "exclusive", title: "exclusive", isNumber: true, value: (row) => row.exclusive, text: (row) => page.sums.metric.format(row.exclusive), bar: (row) => part(row.exclusive, this.greatest.exclusive), hint: "time in the function itself" },
      { key: "percent", title: "%", isNumber: true, value: (row) => row.exclusive, text: (row) => formatPercent(row.exclusive, page.sums.total) },
      { key: "error", title: "± 95 %", isNumber: true, value: (row) => error(row) || 0, text: (row) => error(row) === null ? "" : page.sums.metric.format(error(row)), hint: "how far off the exclusive time may be because it was sampled" },
      { key: "inclusive", title: "inclusive", isNumber: true, value: (row) => row.inclusive, text: (row) => page.sums.metric.format(row.inclusive), bar: (row) => part(row.inclusive, this.greatest.inclusive), hint: "with all that the function called" },
      { key: "inclusivePercent", title: "%", isNumber: true, value: (row) => row.inclusive, text: (row) => formatPercent(row.inclusive, page.sums.total) },
      { key: "count", title: "samples", isNumber: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
      { key: "name", title: "function", className: "wide", value: (row) => page.experiment.functionName(row.index), text: (row) => page.experiment.functionName(row.index) },
      { key: "module", title: "module", className: "middle", value: (row) => page.experiment.moduleName(row.index), text: (row) => page.experiment.moduleName(row.index) },
      { key: "place", title: "defined at", className: "middle", value: (row) => page.experiment.functionPlace(row.index), text: (row) => page.experiment.functionPlace(row.index).split("/").slice(-2).join("/") },
    ];
    this.columns.splice(this.columns.length - 3, 0, ...page.experiment.facts.ratios.map((ratio) => this.ratioColumn(ratio)));
    this.table = new LongTable(container, this.columns, {
      label: "Functions", onPick: (row) => page.showFunction(row.index), onSort: (sort) => page.state.set({ sort }),
    });
  }

  /* One metric divided by another, of the function itself. */
  ratioColumn([name, part, whole, isShare]) {
    const of = (metric, row) => this.page.sums.by(metric).functions.exclusive[row.index];
    const value = (row) => of(whole, row) > 0 ? of(part, row) / of(whole, row) : -1;
    const text = (row) => value(row) < 0 ? "–" : isShare ? formatPercent(value(row), 1) : value(row).toFixed(2);
    return { key: name, title: name, isNumber: true, value, text, hint: `${part} / ${whole}` };
  }

  update(changed) {
    const { state, sums, experiment } = this.page;
    if (changed && !["span", "threads", "metric", "search", "sort", "function", "tab"].some((name) => changed.has(name))) return;
    if (document.activeElement !== this.filter) this.filter.value = state.search;
    let found = null;
    this.filter.classList.remove("wrong");
    try {
      if (state.search) found = experiment.matching(state.search);
    } catch {
      this.filter.classList.add("wrong");
    }
    showLinks(this.page, this.links);
    const { exclusive, inclusive, counts } = sums.functions, rows = [];
    for (let index = 0; index < experiment.functionCount; index++) {
      if (!inclusive[index]) continue;
      if (found && !found[index]) continue;
      rows.push({ index, exclusive: exclusive[index], inclusive: inclusive[index], count: counts[index] });
    }
    const column = this.columns.find(({ key }) => key === state.sort) || this.columns[0];
    rows.sort(column.isNumber
      ? (one, other) => column.value(other) - column.value(one) || other.inclusive - one.inclusive
      : (one, other) => (column.value(one) < column.value(other) ? -1 : column.value(one) > column.value(other) ? 1 : other.exclusive - one.exclusive));
    this.greatest = { exclusive: Math.max(0, ...rows.map((row) => row.exclusive)), inclusive: Math.max(0, ...rows.map((row) => row.inclusive)) };
    const shown = rows.reduce((sum, row) => sum + row.exclusive, 0);
    this.note.textContent = `${formatCount(rows.length)} ${rows.length === 1 ? "function" : "functions"}${found ? `, ${formatPercent(shown, sums.total)} exclusive` : ""}`;
    this.table.show(rows, column.key, (row) => row.index === state.function);
  }
}
