/* disassembly -- the instructions of a function with the time of each, below the source lines that they were made of */
"use strict";

class DisassemblyView {
  constructor(page, container) {
    this.page = page;
    this.functions = make("select", { ariaLabel: "Function", onchange: () => page.state.set({ function: +this.functions.value }) });
    this.links = make("span", { className: "links" });
    this.content = make("div", { className: "source disassembly", tabIndex: 0, ariaLabel: "Disassembly" });
    container.append(make("div", { className: "bar" }, this.functions, this.links), this.content);
  }

  update(changed) {
    if (changed && !["span", "threads", "metric", "function", "tab", "side"].some((name) => changed.has(name))) return;
    const { state, experiment } = this.page, { disassembly } = experiment.facts;
    const picked = disassembly.find((one) => one.function === state.function);
    const isOther = !picked && state.function >= 0 && state.function < experiment.unfinished;
    const shown = picked || (isOther ? null : disassembly[0]);
    // While somebody drags, the names stay and only their figures wait.
    clearTimeout(this.filling);
    if (changed?.has("span") && this.functions.options.length) this.filling = setTimeout(() => this.fill(shown), 200);
    else this.fill(shown);
    this.links.replaceChildren(...linkButtons(this.page, shown ? shown.function : state.function, (parts) => this.page.state.set(parts)));
    if (shown) this.show(shown);
    else this.content.replaceChildren(make("p", { className: "empty" }, isOther ? `${experiment.functionName(state.function)} is not among the ${disassembly.length} functions with most time, whose instructions are in this page.` : "No function has much of the time."));
    if (!shown) this.shown = null;
  }

  /* The list to choose from. */
  fill(shown) {
    const { state, experiment, sums } = this.page, { exclusive } = sums.places;
    const timeOf = ({ pieces }) => pieces.reduce((sum, { places }) => places.reduce((all, [, place]) => all + exclusive[place], sum), 0);
    const option = (index, isPicked, text) => make("option", { value: index, selected: isPicked }, `${text}${experiment.functionName(index)}`);
    this.functions.replaceChildren(...(shown || state.function < 0 ? [] : [option(state.function, true, "")]),
      ...experiment.facts.disassembly.map((one) => option(one.function, one === shown, one.note ? "no code  " : `${formatPercent(timeOf(one), sums.total)}  `)));
  }

  show(one) {
    const isNew = this.shown !== one;
    if (isNew) {
      this.shown = one;
      this.lines = one.pieces.map(() => []);
      const parts = one.note ? [make("p", { className: "empty" }, one.note)] : one.pieces.flatMap((piece, number) => this.piece(piece, this.lines[number]));
      this.content.replaceChildren(figureHead("address", "address", "instruction"), ...parts);
    }
    let hottest = null, heat = 0;
    one.pieces.forEach((piece, number) => {
      const values = this.valuesOf(piece), most = Math.max(0, ...[...values.values()].map(([exclusive]) => exclusive));
      this.lines[number].forEach((line, row) => {
        const [exclusive, inclusive] = values.get(row) || [0, 0];
        showFigures(line, this.page.sums, most, exclusive, inclusive);
        if (exclusive > heat) [hottest, heat] = [line, exclusive];
      });
    });
    if (isNew) hottest?.scrollIntoView({ block: "center" });
  }

  /* Exclusive and inclusive values by row of a piece; a row may have several places. */
  valuesOf(piece) {
    const { exclusive, inclusive } = this.page.sums.places, rows = new Map();
    for (const [row, place] of piece.places) {
      const [own, whole] = rows.get(row) || [0, 0];
      rows.set(row, [own + exclusive[place], whole + inclusive[place]]);
    }
    return rows;
  }

  /* The elements of a piece; those of its instructions are added to `lines`. */
  piece(piece, lines) {
    const shown = [make("h3", {}, piece.title)];
    if (piece.note) shown.push(make("p", { className: "empty" }, piece.note));
    if (piece.hidden) shown.push(make("p", { className: "empty" }, `${formatCount(piece.hidden)} instructions far from any time are left out`));
    let place = "";
    piece.rows.forEach(([address, text, file, line], row) => {
      if (piece.index.length && row && piece.index[row] !== piece.index[row - 1] + 1) shown.push(make("div", { className: "line gap" }));
      if (line && `${file}:${line}` !== place) shown.push(this.sourceLine(piece.files[file], line));
      if (line) place = `${file}:${line}`;
      lines.push(figureLine("", make("span", { className: "address" }, address), make("code", {}, text)));
      shown.push(lines.at(-1));
    });
    return shown;
  }

  /* A line of source, with its text where the page has it; a click goes there. */
  sourceLine(path, line) {
    const { files, sources } = this.page.experiment.facts, file = files.indexOf(path);
    const text = file in sources ? sources[file][0].split("\n")[line - 1]?.trim() : "";
    const place = `${path.slice(path.lastIndexOf("/") + 1)}:${line}`;
    const content = [make("span", { className: "place" }, place), make("code", {}, text || "")];
    return file < 0 ? make("div", { className: "line of-source" }, ...content)
      : make("button", { type: "button", className: "line of-source", title: path, onclick: () => this.page.state.set({ file, line, tab: "source" }) }, ...content);
  }
}
