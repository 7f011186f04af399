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
      this.linesOf = null;
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
    const { filed: { ofNodes, first } } = this.page.experiment, { own } = this.page.sums, times = new Float64Array(first.length - 1);
    for (let node = 1; node < own.length; node++) if (ofNodes[node] >= 0) times[ofNodes[node]] += own[node];
    const sums = [...times].map((time, file) => [file, time]).filter(([file]) => first[file] < first[file + 1]);
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
    this.note.textContent = text === null ? "only lines with time; the text comes with --sources, where it can be read" : note;
    if (this.linesOf !== file) {
      this.linesOf = file;
      this.lines = new Map(text === null ? [] : text.split("\n").map((line, i) => [i + 1, this.line(i + 1, line)]));
      this.content.replaceChildren(figureHead("line", "where", experiment.facts.files[file]), ...this.lines.values());
    }
    if (text === null) this.showNumbers([...rows.keys()].sort((a, b) => a - b));
    const most = Math.max(0, ...[...rows.values()].map((row) => row[0]));
    for (const [number, line] of this.lines) {
      const [exclusive, inclusive] = rows.get(number) || [0, 0];
      showFigures(line, sums, most, exclusive, inclusive);
      line.onclick = rows.has(number) ? () => this.pick(file, number) : null;
      line.classList.toggle("picked", number === state.line);
    }
    const wanted = state.line || heaviestOf(rows);
    if (this.shownFile !== `${file}:${state.line}`) this.content.querySelector(`#line-${wanted}`)?.scrollIntoView({ block: "center" });
    this.shownFile = `${file}:${state.line}`;
  }

  line(number, text) {
    const line = figureLine("", make("span", { className: "where" }, String(number)), make("code", {}, text));
    line.id = `line-${number}`;
    return line;
  }

  /* Without a text only the lines with time; those that were there before stay. */
  showNumbers(numbers) {
    if (numbers.length === this.lines.size && numbers.every((number) => this.lines.has(number))) return;
    this.lines = new Map(numbers.map((number) => [number, this.lines.get(number) || this.line(number, "")]));
    numbers.forEach((number, i) => this.lines.get(number).classList.toggle("gap", i > 0 && number !== numbers[i - 1] + 1));
    this.content.replaceChildren(this.content.firstChild, ...this.lines.values());
  }
}

function heaviestOf(rows) {
  let best = 0, most = 0;
  for (const [line, row] of rows) if (row[0] > most) [best, most] = [line, row[0]];
  return best;
}
