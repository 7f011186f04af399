/* callers -- one function between its callers and its callees */
"use strict";

class CallersView {
  constructor(page, container) {
    this.page = page;
    this.title = make("h2");
    this.place = make("p");
    this.figures = Object.fromEntries(["inclusive", "exclusive", "samples"].map((name) => [name, make("dd")]));
    this.links = make("div", { className: "links" });
    this.callers = new NeighbourList(page, "called by");
    this.callees = new NeighbourList(page, "calls");
    const card = make("div", { className: "middle-card" }, this.title, this.place,
      make("dl", {}, ...Object.entries(this.figures).flatMap(([name, figure]) => [make("dt", {}, name), figure])), this.links);
    this.note = make("p", { className: "empty" });
    this.content = make("div", { className: "callers" }, this.callers.element, card, this.callees.element);
    container.append(this.note, this.content);
  }

  update() {
    const { state, sums, experiment } = this.page, { exclusive, inclusive, counts } = sums.functions;
    const index = state.function >= 0 && state.function < experiment.functionCount ? state.function : heaviest(exclusive);
    const isThere = inclusive[index] > 0;
    this.content.hidden = !isThere;
    this.note.hidden = isThere;
    if (!isThere) {
      this.note.textContent = index < 0 ? "No sample is in this selection." : `${experiment.functionName(index)} is on no stack of this selection.`;
      return;
    }
    const withShare = (value) => `${sums.metric.format(value)} (${formatPercent(value, sums.total)})`;
    this.figures.inclusive.textContent = withShare(inclusive[index]);
    this.figures.exclusive.textContent = withShare(exclusive[index]);
    this.figures.samples.textContent = formatCount(counts[index]);
    if (this.shown !== index) {
      this.shown = index;
      this.title.textContent = this.title.title = experiment.functionName(index, true);
      this.place.textContent = [experiment.moduleName(index), experiment.functionPlace(index)].filter(Boolean).join(" · ");
      this.links.replaceChildren(...linkButtons(this.page, index, (parts) => this.page.state.set(parts)));
    }
    const { callers, callees } = sums.neighbours(index), own = { function: index, value: exclusive[index], title: "the function itself" };
    this.callers.show(callers, inclusive[index]);
    this.callees.show(exclusive[index] ? [own, ...callees] : callees, inclusive[index]);
  }
}

const MOST_NEIGHBOURS = 200;

/* Functions with their parts of one's time. Its rows stay and get other words and figures: while somebody drags, that happens at every frame. */
class NeighbourList {
  constructor(page, title) {
    this.page = page;
    this.rows = [];
    this.list = make("div");
    this.note = make("p", { className: "empty" });
    this.element = make("div", { className: "neighbours" }, make("h2", {}, title), this.list, this.note);
  }

  show(rows, whole) {
    const shown = rows.slice(0, MOST_NEIGHBOURS);
    while (this.rows.length < shown.length) this.rows.push(this.row());
    this.rows.forEach((row, i) => this.fill(row, shown[i], whole));
    this.note.textContent = rows.length > shown.length ? `and ${formatCount(rows.length - shown.length)} more` : rows.length ? "" : "nothing";
  }

  row() {
    const row = { bar: make("i", { className: "bar" }), share: make("span", { className: "share" }), time: make("span", { className: "time" }), name: make("span", { className: "name" }) };
    row.button = make("button", { type: "button", className: "neighbour", onclick: () => this.page.state.set({ function: row.function }) }, row.bar, row.share, row.time, row.name);
    this.list.append(row.button);
    return row;
  }

  fill(row, shown, whole) {
    row.button.hidden = !shown;
    if (!shown) return;
    const { experiment, sums } = this.page;
    row.bar.style.width = `${Math.min(100, 100 * shown.value / whole)}%`;
    row.share.textContent = formatPercent(shown.value, whole);
    row.time.textContent = sums.metric.format(shown.value);
    if (row.function === shown.function && row.title === shown.title) return;
    [row.function, row.title] = [shown.function, shown.title];
    row.name.textContent = shown.title || (shown.function < 0 ? "(start of the stack)" : experiment.functionName(shown.function));
    row.button.disabled = shown.function < 0 || Boolean(shown.title);
    row.button.title = shown.function < 0 ? "" : experiment.functionName(shown.function, true);
  }
}

function heaviest(values) {
  let best = -1;
  values.forEach((value, index) => { if (value > 0 && (best < 0 || value > values[best])) best = index; });
  return best;
}
