/* summary -- what ran, how it was measured, what is missing; and the metrics of plugins as figures */
"use strict";

class SummaryView {
  constructor(page, container) {
    const { facts } = page.experiment;
    container.tabIndex = 0; // to be scrolled by keys
    const card = (title, ...content) => make("section", { className: "card" }, make("h2", {}, title), ...content);
    const wide = (title, ...content) => { const section = card(title, ...content); section.classList.add("wide"); return section; };
    const rows = (pairs) => make("table", { className: "facts" }, ...pairs.filter(([, value]) => value !== null && value !== "" && value !== undefined)
      .map(([name, value]) => make("tr", {}, make("th", {}, name), make("td", {}, String(value)))));
    for (const one of facts.recordings) {
      container.append(card(one.name, rows([
        ["command", one.command], ["directory", one.directory], ["began", new Date(one.began * 1000).toLocaleString()], ["ran", formatTime(one.duration)],
        ["ended", one.ending], ["host", `${one.host}, ${formatCount(one.processors)} processors`], ["system", one.system],
        ["CPU time by the kernel", one.accounted === null ? null : formatTime(one.accounted)], ["options", one.options], ["recorder", one.recorder],
      ])));
    }
    const clocks = new Map();
    for (const clock of facts.processes.clock) if (clock) clocks.set(clock, (clocks.get(clock) || 0) + 1);
    container.append(card("What was measured", rows([
      ["CPU time", formatTime(facts.total.cpu)], ["of it user", formatTime(facts.total.user)], ["of it system", formatTime(facts.total.system)],
      ["samples", formatCount(facts.samples)], ["processes", page.processCount === facts.processes.pid.length ? formatCount(page.processCount) : `${formatCount(page.processCount)} (${formatCount(facts.processes.pid.length)} program images)`], ["threads", formatCount(page.threadCount)],
      ...nodeRows(page.experiment.nodes),
      ["clock", [...clocks].map(([clock, count]) => clocks.size > 1 ? `${clock} (${count})` : clock).join(", ")],
      ["paused", pausesText(page.experiment)],
      ["unattributed", formatTime(facts.threads.unattributed.reduce((sum, value) => sum + value, 0))],
      ["this page", `steps of ${formatTime(facts.step)}${facts.small ? `; ${formatTime(facts.small)} in branches too small to keep apart` : ""}`],
    ])));
    const unsampled = facts.standIns ? [["", facts.standIns]] : [];
    container.append(card("Stacks", rows(facts.stackEnds.end.map((end, i) => [end, `${formatCount(facts.stackEnds.samples[i])} (${formatPercent(facts.stackEnds.samples[i], facts.samples)})`]).concat(unsampled))));
    const severities = ["note", "warning", "error"];
    container.append(card("Messages and losses", facts.messages.length + facts.losses.length
      ? make("ul", { className: "messages" }, ...facts.messages.map(([severity, text, count]) => make("li", { className: severities[severity] }, `${text}${count > 1 ? ` (${formatCount(count)} times)` : ""}`)), ...facts.losses.map((loss) => make("li", { className: "warning" }, loss)))
      : make("p", {}, "Nothing was lost, and there is nothing to warn of.")));
    if (facts.processes.pid.length > 1) {
      const { processes } = facts;
      container.append(wide("Processes", make("table", { className: "grid" }, make("tr", {}, ...["process", ...(page.experiment.nodes.size > 1 ? ["node"] : []), "started", "ended", "how", "command"].map((title) => make("th", {}, title))),
        ...processOrder(processes).slice(0, 500).map(([process, depth]) => {
          const name = make("td", {}, page.experiment.processName(process));
          name.style.paddingLeft = `${8 + 14 * depth}px`;
          return make("tr", {}, name, ...(page.experiment.nodes.size > 1 ? [make("td", {}, processes.node[process])] : []), make("td", {}, formatTime(processes.start[process])), make("td", {}, processes.end[process] === null ? "" : formatTime(processes.end[process])), make("td", {}, processes.ending[process]), make("td", { className: "command" }, processes.arguments[process]));
        }))));
    }
    if (facts.metrics.length) {
      container.append(wide("Metrics", make("table", { className: "grid" }, make("tr", {}, ...["metric", "least", "mean", "greatest", "of"].map((title) => make("th", {}, title))),
        ...facts.metrics.map((metric) => {
          const known = (name) => metric[name].filter((value) => value !== null), units = (value) => formatUnits(value, metric.units);
          const means = known("mean");
          return make("tr", {}, make("td", { title: metric.description }, metric.title), ...(means.length ? [
            make("td", {}, units(Math.min(...known("least")))), make("td", {}, units(means.reduce((sum, value) => sum + value, 0) / means.length)), make("td", {}, units(Math.max(...known("greatest")))),
          ] : [make("td", {}, "–"), make("td", {}, "–"), make("td", {}, "–")]), make("td", {}, `${metric.parts} ${metric.perNode ? "node" : "process"}${metric.parts > 1 ? (metric.perNode ? "s" : "es") : ""}`));
        }))));
    }
  }

  update() {}
}

/* Of a parallel job, how many ranks it had, and where. */
function nodeRows(nodes) {
  const counts = [...nodes].map(([name, ranks]) => [name, ranks.size]), ranks = counts.reduce((sum, [, count]) => sum + count, 0), shown = counts.slice(0, 20);
  const text = shown.map(([name, count]) => count ? `${name} (${formatCount(count)} ${count === 1 ? "rank" : "ranks"})` : name).join(", ");
  return [["ranks", ranks ? formatCount(ranks) : null], [counts.length > 1 ? `${formatCount(counts.length)} nodes` : "node", ranks || counts.length > 1 ? `${text}${counts.length > shown.length ? ", …" : ""}` : null]];
}

/* How often and how long recording was paused, in all processes together; null where it was not. */
function pausesText({ facts, duration }) {
  const { process, start, end } = facts.pauses;
  if (!process.length) return null;
  const ends = process.map((owner, i) => Math.min(end[i] ?? Infinity, facts.processes.end[owner] ?? duration));
  return `${formatCount(process.length)} ${process.length === 1 ? "time" : "times"}, for ${formatTime(start.reduce((sum, from, i) => sum + ends[i] - from, 0))}`;
}
