/* disassembly -- the instructions of a function with the time of each, below the source lines that they were made of */
"use strict";

class DisassemblyView {
  constructor(page, container) {
    this.page = page;
    this.functions = make("select", { ariaLabel: "Function", onchange: () => page.state.set({ function: +this.functions.value }) });
    this.links = make("span", { className: "links" });
    this.note = make("span", { className: "matches" });
    this.content = make("div", { className: "source disassembly", tabIndex: 0, ariaLabel: "Disassembly" });
    container.append(make("div", { className: "bar" }, this.functions, this.links, this.note), this.content);
  }

  update(changed) {
    if (changed && !["metric", "function", "tab", "side"].some((name) => changed.has(name))) return;
    const { state, experiment } = this.page, { disassembly, total } = experiment.facts;
    this.metric = state.metric in total ? state.metric : "cpu";
    this.total = total[this.metric];
    const own = disassembly.map((one) => one.pieces.reduce((sum, piece) => sum + this.figures(piece).reduce((all, [, value]) => all + value, 0), 0));
    const picked = disassembly.find((one) => one.function === state.function);
    const isOther = !picked && state.function >= 0 && state.function < experiment.unfinished;
    const shown = picked || (isOther ? null : disassembly[0]);
    this.functions.replaceChildren(...(isOther ? [make("option", { value: state.function, selected: true }, experiment.functionName(state.function))] : []),
      ...disassembly.map((one, i) => make("option", { value: one.function, selected: one === shown }, `${one.note ? "no code " : formatPercent(own[i], this.total)}  ${experiment.functionName(one.function)}`)));
    this.note.textContent = "time of the whole recording: instructions do not follow a selection";
    this.links.replaceChildren(...linkButtons(this.page, shown ? shown.function : state.function, (parts) => this.page.state.set(parts)));
    if (shown) this.show(shown);
    else this.content.replaceChildren(make("p", { className: "empty" }, isOther ? `${experiment.functionName(state.function)} is not among the ${disassembly.length} functions with most time, whose instructions are in this page.` : "No function has much of the time."));
  }

  /* Rows of a piece with time, as [row, exclusive, inclusive]. */
  figures(piece) {
    const column = piece.metrics.indexOf(this.metric);
    return piece.times.map(([row, exclusive, inclusive]) => [row, exclusive[column], inclusive[column]]);
  }

  show(one) {
    const head = make("div", { className: "line head" }, ...["exclusive", "%", "inclusive", "address"].map((title) => make("span", { className: title === "address" ? "address" : "number" }, title)), make("span", {}, "instruction"));
    const parts = one.note ? [make("p", { className: "empty" }, one.note)] : one.pieces.flatMap((piece) => this.piece(piece));
    this.content.replaceChildren(head, ...parts);
    this.content.querySelector(".hottest")?.scrollIntoView({ block: "center" });
  }

  piece(piece) {
    const times = new Map(this.figures(piece).map(([row, exclusive, inclusive]) => [row, [exclusive, inclusive]]));
    const most = Math.max(1e-12, ...[...times.values()].map(([exclusive]) => exclusive));
    const { format } = METRICS[this.metric], shown = [make("h3", {}, piece.title)];
    if (piece.note) shown.push(make("p", { className: "empty" }, piece.note));
    if (piece.hidden) shown.push(make("p", { className: "empty" }, `${formatCount(piece.hidden)} instructions far from any time are left out`));
    let place = "";
    piece.rows.forEach(([address, text, file, line], row) => {
      if (piece.index.length && row && piece.index[row] !== piece.index[row - 1] + 1) shown.push(make("div", { className: "line gap" }));
      if (line && `${file}:${line}` !== place) shown.push(this.sourceLine(piece.files[file], line));
      if (line) place = `${file}:${line}`;
      const [exclusive, inclusive] = times.get(row) || [0, 0];
      const item = make("div", { className: `line ${exclusive === most ? "hottest" : ""}` },
        make("span", { className: "number" }, exclusive ? format(exclusive) : ""),
        make("span", { className: "number share" }, exclusive ? formatPercent(exclusive, this.total) : ""),
        make("span", { className: "number" }, inclusive ? format(inclusive) : ""),
        make("span", { className: "address" }, address), make("code", {}, text));
      if (exclusive) item.style.setProperty("--heat", (exclusive / most).toFixed(3));
      shown.push(item);
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
