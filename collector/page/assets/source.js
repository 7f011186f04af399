/* source -- a source file with the time of each of its lines */
"use strict";

class SourceView {
  constructor(page, container) {
    this.page = page;
    this.files = make("select", { ariaLabel: "Source file", onchange: () => page.state.set({ file: +this.files.value, line: 0 }) });
    this.note = make("span", { className: "matches" });
    this.content = make("div", { className: "source", tabIndex: 0 });
    this.links = make("span", { className: "links" });
    container.append(make("div", { className: "bar" }, this.files, this.links, this.note), this.content);
  }

  update(changed) {
    if (changed && !["span", "threads", "metric", "file", "line", "function", "tab"].some((name) => changed.has(name))) return;
    const { state, sums, experiment } = this.page;
    showLinks(this.page, this.links);
    const files = this.listFiles();
    const hasText = ([number]) => number in experiment.facts.sources;
    const file = state.file >= 0 && state.file < experiment.facts.files.length ? state.file : (files.find(hasText) || files[0] || [-1])[0];
    if (file >= 0 && !files.some(([number]) => number === file)) files.push([file, 0]);
    // While somebody drags, the names stay and only their figures wait.
    clearTimeout(this.filling);
    if (changed?.has("span") && this.files.options.length) this.filling = setTimeout(() => this.fill(files, file, hasText), 200);
    else this.fill(files, file, hasText);
    this.files.value = file;
    if (file < 0) {
      this.content.replaceChildren(make("p", { className: "empty" }, "No source line is known here: modules without debug information (-g)."));
      return;
    }
    this.show(file, sums.linesOf(file));
  }

  /* The list to choose from: what has a text comes first. */
  fill(files, file, hasText) {
    const { sums, experiment } = this.page;
    const options = (rows) => rows.map(([number, value]) => make("option", { value: number, selected: number === file }, `${formatPercent(value, sums.total)}  ${experiment.facts.files[number]}`));
    const rest = files.filter((row) => !hasText(row));
    this.files.replaceChildren(...options(files.filter(hasText)), ...(rest.length < files.length && rest.length ? [make("optgroup", { label: "without text" }, ...options(rest))] : options(rest)));
  }

  /* Files with their exclusive time, the greatest first. */
  listFiles() {
    const { nodeLines, facts: { lines, files } } = this.page.experiment, { own } = this.page.sums, times = new Float64Array(files.length), isThere = new Uint8Array(files.length);
    for (let node = 1; node < own.length; node++) {
      const file = nodeLines[node] < 0 ? -1 : lines.file[nodeLines[node]];
      if (file < 0) continue;
      times[file] += own[node];
      isThere[file] = 1;
    }
    const sums = [...times].map((time, file) => [file, time]).filter(([file]) => isThere[file]);
    return sums.sort((one, other) => other[1] - one[1]).slice(0, 300);
  }

  /* The function with most time on a line is the one that other views show. */
  pick(file, number) {
    const { experiment, sums, state } = this.page, { lines } = experiment.facts, times = new Map();
    experiment.nodeLines.forEach((line, node) => {
      if (line < 0 || lines.file[line] !== file || lines.line[line] !== number) return;
      times.set(lines.function[line], (times.get(lines.function[line]) || 0) + sums.own[node]);
    });
    const [[index]] = [...times].sort((one, other) => other[1] - one[1]);
    state.set({ function: index, file, line: number });
  }

  show(file, rows) {
    const { state, sums, experiment } = this.page;
    const [text, note] = experiment.facts.sources[file] || [null, ""];
    const lines = text === null ? null : text.split("\n");
    this.note.textContent = text === null ? "only lines with time; the text comes with --sources, where it can be read" : note;
    const heaviestLine = Math.max(1e-12, ...[...rows.values()].map((row) => row[0]));
    const numbers = lines === null ? [...rows.keys()].sort((a, b) => a - b) : lines.map((_, i) => i + 1);
    let before = 0;
    const shown = numbers.map((number) => {
      const row = rows.get(number);
      const isGap = lines === null && number !== before + 1 && before;
      before = number;
      const heat = row ? row[0] / heaviestLine : 0;
      const line = make("div", { className: `line ${isGap ? "gap" : ""} ${number === state.line ? "picked" : ""}`, id: `line-${number}` },
        make("span", { className: "number" }, row && row[0] ? sums.metric.format(row[0]) : ""),
        make("span", { className: "number share" }, row && row[0] ? formatPercent(row[0], sums.total) : ""),
        make("span", { className: "number" }, row && row[1] ? sums.metric.format(row[1]) : ""),
        make("span", { className: "where" }, String(number)),
        make("code", {}, lines === null ? "" : lines[number - 1]));
      if (row) line.onclick = () => this.pick(file, number);
      if (heat) line.style.setProperty("--heat", heat.toFixed(3));
      return line;
    });
    const head = make("div", { className: "line head" }, ...["exclusive", "%", "inclusive", "line", experiment.facts.files[file]].map((title, i) =>
      make("span", { className: i < 3 ? "number" : i === 3 ? "where" : "" }, title)));
    this.content.replaceChildren(head, ...shown);
    const wanted = state.line || heaviestOf(rows);
    if (this.shownFile !== `${file}:${state.line}`) this.content.querySelector(`#line-${wanted}`)?.scrollIntoView({ block: "center" });
    this.shownFile = `${file}:${state.line}`;
  }
}

function heaviestOf(rows) {
  let best = 0, most = 0;
  for (const [line, row] of rows) if (row[0] > most) [best, most] = [line, row[0]];
  return best;
}
