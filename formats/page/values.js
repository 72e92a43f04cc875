// @ts-check
"use strict";

/**
 * The value of a node in the panel, as core/drawing/node_values.py describes it.
 *
 * @typedef {{ holds: string, facts: [string, string][], first: string, bins?: number[], ends?: string[], npy?: string, file_dtype?: string }} NodeValue
 */

const BAR = 10;
const BARS_HEIGHT = 48;

/** @param {Entry} entry */
function valueSection({ name, value }) {
  if (!value) return null;
  const parts = [html("h3", {}, "Value"), html("p", { class: "aside" }, value.holds), facts(value.facts)];
  if (value.bins) parts.push(histogram(value.bins, value.ends ?? []));
  parts.push(html("code", { class: "first" }, value.first));
  if (value.npy) parts.push(download(name, value.npy, value.file_dtype));
  return html("section", { class: "value" }, ...parts);
}

/** @param {number[]} bins @param {string[]} ends */
function histogram(bins, ends) {
  const highest = Math.max(...bins);
  const bars = bins.map((count, i) => {
    const height = count && Math.max(1, (count / highest) * BARS_HEIGHT);
    const bar = svg("rect", { x: i * BAR, y: BARS_HEIGHT - height, width: BAR - 1, height });
    bar.append(svg("title", {}, `${count.toLocaleString("en")} elements`));
    return bar;
  });
  const picture = svg("svg", { class: "histogram", viewBox: `0 0 ${bins.length * BAR} ${BARS_HEIGHT}`, role: "img",
    "aria-label": `Histogram from ${ends[0]} to ${ends[1]}: ${bins.join(", ")}` }, ...bars);
  const scale = html("div", { class: "scale" }, html("span", {}, ends[0]), html("span", {}, ends[1]));
  const figure = html("figure", {}, picture, scale);
  return figure;
}

/** A button that saves the value as a NumPy file. @param {string} name @param {string} npy @param {string} [dtype] */
function download(name, npy, dtype) {
  const file = `${name.replaceAll(/[^\w.-]+/g, "_")}.npy`;
  const button = html("button", { type: "button", class: "download" }, `Download ${file}${dtype ? ` as ${dtype}` : ""}`);
  button.addEventListener("click", async () => offer(await inflated(npy).blob(), file));
  return button;
}

/** What differs from another graph. @param {[field: string, before: string, after: string][]} changes */
function changesSection(changes) {
  if (!changes.length) return null;
  const row = (/** @type {string} */ tag, /** @type {string[]} */ cells) => html("tr", {}, ...cells.map((cell) => html(tag, {}, cell)));
  const table = html("table", { class: "changes" }, html("thead", {}, row("th", ["field", "before", "after"])), html("tbody", {}, ...changes.map((change) => row("td", change))));
  return html("section", {}, html("h3", {}, "Changes"), html("div", { class: "scroll" }, table));
}
