/* state -- what is chosen and shown; it lives in the fragment of the page's address, so that a link shows the same */
"use strict";

const DEFAULTS = {
  tab: "flame", metric: "cpu", span: null, view: null, threads: null, search: "", mode: "calls", zoom: [], function: -1, file: -1,
  line: 0, sort: "exclusive", colour: "module",
};

/* So long a change may wait for its place in the address: browsers refuse to have that changed sixty times a second. */
const WRITE_MS = 200;

/* How each part is written in the fragment, and read; reading gives undefined for what makes no sense. */
const CODECS = {
  span: [(value) => value.map((time) => +time.toFixed(6)).join("-"), readSpan],
  view: [(value) => value.map((time) => +time.toFixed(6)).join("-"), readSpan],
  threads: [(value) => [...value].sort((a, b) => a - b).join("."), (text) => readNumbers(text, (numbers) => new Set(numbers))],
  zoom: [(value) => value.join("."), (text) => readNumbers(text, (numbers) => numbers)],
  function: [String, readNumber],
  file: [String, readNumber],
  line: [String, readNumber],
};

function readSpan(text) {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text);
  return match && +match[2] - +match[1] >= 1e-6 && +match[2] < 1e9 ? [+match[1], +match[2]] : undefined;
}

function readNumber(text) {
  return /^\d+$/.test(text) ? +text : undefined;
}

function readNumbers(text, collect) {
  return /^\d+(\.\d+)*$/.test(text) ? collect(text.split(".").map(Number)) : undefined;
}

class State {
  constructor() {
    Object.assign(this, DEFAULTS);
    this.listeners = [];
    this.read();
    window.addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.written) return;
      const changed = this.read();
      if (changed.size) this.tell(changed);
    });
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  /* Change parts of it; listeners get the names of what changed. */
  set(parts) {
    const changed = new Set(Object.keys(parts).filter((name) => !isSame(this[name], parts[name])));
    Object.assign(this, parts);
    if (!changed.size) return;
    this.timer ||= setTimeout(() => this.write(), WRITE_MS);
    this.tell(changed);
  }

  tell(changed) {
    for (const listener of this.listeners) listener(changed);
  }

  write() {
    this.timer = 0;
    const words = [];
    for (const [name, usual] of Object.entries(DEFAULTS)) {
      if (isSame(this[name], usual)) continue;
      words.push(`${name}=${encodeURIComponent(CODECS[name] ? CODECS[name][0](this[name]) : this[name])}`);
    }
    this.written = words.join("&");
    history.replaceState(null, "", `#${this.written}`);
  }

  read() {
    const found = { ...DEFAULTS };
    for (const word of location.hash.slice(1).split("&")) {
      const [name, text] = [word.split("=")[0], word.split("=").slice(1).join("=")];
      if (!Object.hasOwn(DEFAULTS, name)) continue;
      let value;
      try {
        value = decodeURIComponent(text);
      } catch {
        continue;
      }
      if (CODECS[name]) value = CODECS[name][1](value);
      if (value !== undefined) found[name] = value;
    }
    const changed = new Set(Object.keys(DEFAULTS).filter((name) => !isSame(this[name], found[name])));
    Object.assign(this, found);
    return changed;
  }
}

function isSame(one, other) {
  if (one instanceof Set && other instanceof Set) return one.size === other.size && [...one].every((value) => other.has(value));
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((value, i) => value === other[i]);
  return one === other;
}
