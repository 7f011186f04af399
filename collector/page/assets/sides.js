/* sides -- which of two experiments the other views show, and what of the state holds for both */
"use strict";

/* The state as it is for a side: functions and files are found again by what they are called. */
function translated(page, side) {
  const { comparison, state } = page, from = page.side, there = page.experimentOf(side), here = page.experiment;
  if (side === from) return { side };
  const other = (index) => comparison.functionAt(side, comparison.numberOf(from, index));
  const zoom = ["calls", "inverted"].includes(state.mode) ? state.zoom.map(other) : [];
  const lost = zoom.indexOf(-1), path = here.facts.files[state.file];
  return {
    side, function: other(state.function), zoom: lost < 0 ? zoom : zoom.slice(0, lost), file: path === undefined ? -1 : fileLike(there.facts.files, path), line: 0,
    threads: null, view: null, span: state.span && state.span[1] <= there.duration ? state.span : null,
  };
}

function fileLike(files, path) {
  const base = (text) => text.slice(text.lastIndexOf("/") + 1);
  const same = files.indexOf(path);
  return same >= 0 ? same : files.findIndex((file) => base(file) === base(path));
}

/* Show a function of the comparison in another view, on the side that is shown, or where it is. */
function openFunction(page, number, tab) {
  const side = page.comparison.functionAt(page.side, number) >= 0 ? page.side : page.side === "after" ? "before" : "after";
  const index = page.comparison.functionAt(side, number);
  if (index >= 0) page.state.set({ ...translated(page, side), function: index, tab });
}

/* The switch in the page's head. */
class SideSwitch {
  constructor(page) {
    this.buttons = ["before", "after"].map((side) => make("button", { type: "button", role: "radio", onclick: () => page.state.set(translated(page, side)) }, side));
    const [before, after] = page.comparison.facts.sides.map(({ commands, names }) => commands[0] || names[0]);
    document.getElementById("command").before(make("span", { id: "pair" }, before === after ? before : `${before}  →  ${after}`),
      make("span", { id: "sides", role: "radiogroup", ariaLabel: "Experiment that is shown" }, ...this.buttons));
    this.update(page);
  }

  update(page) {
    for (const button of this.buttons) button.setAttribute("aria-checked", button.textContent === page.side);
  }
}
