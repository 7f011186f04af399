/* format -- numbers as people read them, and text as text */
"use strict";

/* Seconds with the unit that leaves three or four digits. */
function formatTime(seconds) {
  const size = Math.abs(seconds);
  if (size >= 6000) return `${(seconds / 3600).toFixed(2)} h`;
  if (size >= 99.95) return `${seconds.toFixed(0)} s`;
  if (size >= 0.9995) return `${seconds.toFixed(size < 9.9995 ? 3 : 2)} s`;
  if (size >= 0.0009995) return `${(seconds * 1e3).toPrecision(3)} ms`;
  if (size === 0) return "0";
  return `${(seconds * 1e6).toFixed(0)} µs`;
}

function formatPercent(part, whole) {
  if (!(whole > 0)) return "–";
  const percent = 100 * part / whole;
  return percent !== 0 && Math.abs(percent) < 0.05 ? "<0.1 %" : `${percent.toFixed(1)} %`;
}

function formatCount(count) {
  return Math.round(count).toLocaleString("en-US");
}

const UNITS = [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1], ["m", 1e-3], ["µ", 1e-6]];

/* A value of a plugin's metric with its units. */
function formatUnits(value, units) {
  if (value === null || value === undefined) return "–";
  if (units === "%") return `${value.toFixed(1)} %`;
  const size = Math.abs(value);
  if (units === "B" || units === "B/s") {
    let step = 0;
    while (Math.abs(value) >= 1023.95 && step < 4) { value /= 1024; step++; }
    return `${step ? value.toFixed(1) : value.toFixed(0)} ${["B", "KiB", "MiB", "GiB", "TiB"][step]}${units.slice(1)}`;
  }
  const scaled = UNITS.find(([, factor]) => size >= factor) || ["", 1];
  return `${Number((value / scaled[1]).toPrecision(3))} ${scaled[0]}${units}`.trimEnd();
}

/* By number of samples: a Poisson distribution of this mean has so few, or fewer, in 2.5 % of all cases. */
const UPPER_BOUNDS = [3.6889, 5.5716, 7.2247, 8.7673, 10.2416, 11.6683, 13.0595, 14.4227, 15.7632, 17.0848];

/* Half the range in which a value that rests on so many samples lies with 95 % probability. */
function samplingError(value, count) {
  if (!(count > 0)) return null;
  const error = count >= UPPER_BOUNDS.length ? 1.96 * Math.sqrt(count) : UPPER_BOUNDS[Math.round(count)] - count;
  return error * value / count;
}

/* An element with attributes and children; strings become text, never markup. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== "list" && key !== "style") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
