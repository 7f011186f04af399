/* tree -- the calls as a tree to unfold: callers first, or callees first */
"use strict";

class CallTreeView {
  constructor(page, container) {
    this.page = page;
    this.order = make("select", { ariaLabel: "Order", onchange: () => { this.isInverted = this.order.value === "inverted"; this.grow(); } },
      make("option", { value: "calls" }, MODES.calls), make("option", { value: "inverted" }, MODES.inverted));
    const button = (title, hint, onclick) => make("button", { type: "button", title: hint, onclick }, title);
    container.append(make("div", { className: "bar" }, this.order,
      button("Hot path", "unfold the heaviest chain of calls", () => this.grow()), button("Fold", "fold all", () => { this.open.clear(); this.list(); }),
      make("span", { className: "matches" }, "→ unfolds, ← folds; Enter or a second click shows callers and callees")));
    const format = (value) => page.sums.metric.format(value), percent = (value) => formatPercent(value, page.sums.total);
    const columns = [
      { key: "inclusive", title: "inclusive", isNumber: true, text: ({ node }) => format(node.value), bar: ({ node }) => node.value / page.sums.total },
      { key: "inclusivePercent", title: "%", isNumber: true, text: ({ node }) => percent(node.value) },
      { key: "exclusive", title: "exclusive", isNumber: true, text: ({ node }) => node.own ? format(node.own) : "" },
      { key: "samples", title: "samples", isNumber: true, text: ({ node }) => formatCount(node.count) },
      {
        key: "name", title: "function", className: "wide tree", indent: (row) => row.depth,
        text: (row) => `${row.isLeaf ? "·" : this.open.has(row.key) ? "▾" : "▸"} ${page.experiment.functionName(row.node.function)}`,
      },
      { key: "module", title: "module", className: "middle", text: ({ node }) => page.experiment.moduleName(node.function) },
    ];
    this.table = new LongTable(container, columns, {
      label: "Call tree", onPick: (row, isAgain) => isAgain ? page.showFunction(row.node.function) : this.turn(row, !this.open.has(row.key)),
      onSort: () => {}, onArrow: (row, isOpening) => this.turn(row, isOpening),
    });
    this.open = new Set();
  }

  update(changed) {
    if (!changed || ["span", "threads", "metric"].some((name) => changed.has(name))) this.grow();
  }

  /* The tree anew, with its heaviest chain unfolded. */
  grow() {
    this.tree = (this.isInverted ? invertedTree : calledTree)(this.page);
    this.open.clear();
    if (!this.isInverted && this.tree) {
      let key = "";
      for (let node = this.tree.root; ;) {
        const [heaviest] = this.tree.children(node);
        if (!heaviest || heaviest.value < node.value / 2) break;
        key += `.${heaviest.function}`;
        this.open.add(key);
        node = heaviest;
      }
    }
    this.list();
  }

  turn(row, isOpening) {
    if (isOpening) this.open.add(row.key); else this.open.delete(row.key);
    this.list();
  }

  /* The rows that are to be seen: a node behind its caller, below one that is unfolded. */
  list() {
    const rows = [], waiting = [];
    const push = (node, key, depth) => waiting.push(...this.tree.children(node).map((child) => ({ node: child, key: `${key}.${child.function}`, depth })).reverse());
    if (this.tree) push(this.tree.root, "", 0);
    while (waiting.length) {
      const row = waiting.pop();
      rows.push(row);
      row.isLeaf = !this.tree.children(row.node).length;
      if (this.open.has(row.key)) push(row.node, row.key, row.depth + 1);
    }
    this.table.show(rows, "inclusive", null);
  }
}
