/* links -- from a function to the other views that show it */
"use strict";

/* A button for each view that has something of a function; `go` takes what is to be set in the state. */
function linkButtons(page, index, go, experiment = page.experiment) {
  if (index < 0 || index >= experiment.unfinished) return [];
  const { facts } = experiment, links = [["callers", "Callers & callees", {}]];
  if (facts.functions.file[index] >= 0) links.push(["source", "Source", { file: facts.functions.file[index], line: facts.functions.line[index] }]);
  if (facts.disassembly?.some((one) => one.function === index)) links.push(["disassembly", "Disassembly", {}]);
  return links.filter(([tab]) => tab !== page.state.tab || experiment !== page.experiment).map(([tab, title, parts]) =>
    make("button", { type: "button", onclick: () => go({ function: index, tab, ...parts }) }, title));
}

/* The function that is picked, by name, and its links. */
function showLinks(page, element) {
  const index = page.state.function, { experiment } = page;
  const isKnown = index >= 0 && index < experiment.unfinished;
  element.replaceChildren(...(isKnown ? [make("b", { title: experiment.functionName(index, true) }, experiment.functionName(index)), ...linkButtons(page, index, (parts) => page.state.set(parts))] : []));
}
