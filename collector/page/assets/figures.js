/* figures -- lines of code with their exclusive and inclusive values, which change while the lines stay: a file may have thousands, and a selection is dragged */
"use strict";

function figureLine(className, ...content) {
  return make("div", { className: `line ${className}` }, ...["number", "number share", "number"].map((name) => make("span", { className: name })), ...content);
}

/* Show the values of a line, and how they are to the selection and to the most that a line has. */
function showFigures(line, sums, most, exclusive, inclusive) {
  if (!exclusive && !inclusive && !line.hasFigures) return;
  line.hasFigures = true;
  const texts = [exclusive ? sums.metric.format(exclusive) : "", exclusive ? formatPercent(exclusive, sums.total) : "", inclusive ? sums.metric.format(inclusive) : ""];
  texts.forEach((text, i) => { if (line.children[i].textContent !== text) line.children[i].textContent = text; });
  line.style.background = exclusive ? `color-mix(in srgb, var(--system) ${(45 * exclusive / most).toFixed(1)}%, transparent)` : "";
}

function figureHead(place, placeClass, title) {
  const head = ["exclusive", "%", "inclusive"].map((text) => make("span", { className: "number" }, text));
  return make("div", { className: "line head" }, ...head, make("span", { className: placeClass }, place), make("span", {}, title));
}
