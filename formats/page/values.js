// @ts-check
"use strict";

/**
 * The values of a node in the panel, as core/drawing/node_values.py and value_pictures.py describe them.
 *
 * @typedef {{ kind: string, width: number, height: number, channels: number, pixels: string, ends: [number, number], about: string }} Picture
 * @typedef {{ holds: string, facts?: [string, string][], first: string, bins?: number[], ends?: string[], npy?: string, file_dtype?: string,
 *   title?: string, picture?: Picture, classes?: [label: string, score: number][] }} NodeValue
 */

const BAR = 10;
const BARS_HEIGHT = 48;
/** How many tiles stand side by side in a picture. */
const TILES_BESIDE = 4;
const LINE_WIDTH = 288;
const LINE_HEIGHT = 72;
/** The highest level of a picture; the next one is NaN or an infinity. */
const TOP_LEVEL = 254;
/** From low to high, as red, green and blue: dark to light, and around a light zero. */
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const AROUND_ZERO = [[33, 102, 172], [146, 197, 222], [247, 247, 247], [244, 165, 130], [178, 24, 43]];
const NOT_FINITE = [255, 0, 255];

/** @param {Entry} entry */
function valueSections({ name, values }) {
  return values.map((value) => valueSection(name, value));
}

/** @param {string} name @param {NodeValue} value */
function valueSection(name, value) {
  const parts = [html("h3", {}, value.title ? `Value: ${value.title}` : "Value"), html("p", { class: "aside" }, value.holds)];
  if (value.classes) parts.push(classBars(value.classes));
  else if (value.picture) parts.push(pictureFigure(value.picture));
  parts.push(facts(value.facts ?? []));
  if (value.bins) parts.push(histogram(value.bins, value.ends ?? []));
  parts.push(html("code", { class: "first" }, value.first));
  if (value.npy) parts.push(download([name, value.title ?? ""].filter(Boolean).join("_"), value.npy, value.file_dtype));
  return html("section", { class: "value" }, ...parts);
}

/** The best classes with their scores. @param {[label: string, score: number][]} classes */
function classBars(classes) {
  const most = Math.max(...classes.map(([, score]) => Math.abs(score)), 1e-300);
  const rows = classes.map(([label, score]) => {
    const bar = svg("svg", { class: "score", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { width: (100 * Math.max(score, 0)) / most, height: 10 }));
    return html("tr", {}, html("td", {}, label), html("td", {}, bar), html("td", {}, String(Number(score.toPrecision(4)))));
  });
  return html("table", { class: "classes" }, html("tbody", {}, ...rows));
}

/** @param {Picture} picture */
function pictureFigure(picture) {
  const { kind, pixels, about } = picture;
  const label = { class: `picture ${kind}`, role: "img", "aria-label": about };
  const drawing = kind === "line" ? svg("svg", { ...label, viewBox: `0 0 ${LINE_WIDTH} ${LINE_HEIGHT}` }) : html("canvas", label);
  inflated(pixels).arrayBuffer().then((buffer) => {
    const bytes = new Uint8Array(buffer);
    if (drawing instanceof HTMLCanvasElement) paintTiles(drawing, picture, bytes);
    else drawing.append(...lines(bytes, picture.width));
  });
  const ends = picture.ends.map((end) => html("span", {}, String(Number(end.toPrecision(4)))));
  const scale = html("div", { class: "scale" }, ends[0], ...(kind === "map" ? [rampBar(picture)] : []), ends[1]);
  return html("figure", {}, drawing, kind === "image" ? "" : scale, html("figcaption", { class: "aside" }, about));
}

/** @param {HTMLCanvasElement} canvas @param {Picture} picture @param {Uint8Array} bytes */
function paintTiles(canvas, picture, bytes) {
  const { width, height, channels } = picture;
  const count = bytes.length / (width * height * channels);
  const columns = Math.min(count, TILES_BESIDE);
  canvas.width = columns * (width + 1) - 1;
  canvas.height = Math.ceil(count / columns) * (height + 1) - 1;
  const context = canvas.getContext("2d");
  for (let tile = 0; tile < count; tile++) {
    const data = new ImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      data.data.set([...colourAt(picture, bytes, (tile * width * height + i) * channels), 255], 4 * i);
    }
    context?.putImageData(data, (tile % columns) * (width + 1), Math.floor(tile / columns) * (height + 1));
  }
}

/** @param {Picture} picture @param {Uint8Array} bytes @param {number} at */
function colourAt(picture, bytes, at) {
  if (picture.kind !== "image") return levelColour(bytes[at], picture);
  return picture.channels === 3 ? [...bytes.slice(at, at + 3)] : [bytes[at], bytes[at], bytes[at]];
}

/** @param {number} level @param {Picture} picture */
function levelColour(level, { ends }) {
  if (level > TOP_LEVEL) return NOT_FINITE;
  const ramp = ends[0] < 0 && ends[1] > 0 ? AROUND_ZERO : RAMP;
  const place = (level / TOP_LEVEL) * (ramp.length - 1);
  const [from, to] = [ramp[Math.floor(place)], ramp[Math.ceil(place)]];
  return from.map((part, i) => Math.round(part + (to[i] - part) * (place % 1)));
}

/** The colours of a map, from low to high. @param {Picture} picture */
function rampBar(picture) {
  const levels = 64;
  const bar = /** @type {HTMLCanvasElement} */ (html("canvas", { class: "ramp", width: String(levels), height: "1", "aria-hidden": "true" }));
  const data = new ImageData(levels, 1);
  for (let i = 0; i < levels; i++) data.data.set([...levelColour(Math.round((i * TOP_LEVEL) / (levels - 1)), picture), 255], 4 * i);
  bar.getContext("2d")?.putImageData(data, 0, 0);
  return bar;
}

/** Lines through the levels of each tile, broken where a level is not finite. @param {Uint8Array} bytes @param {number} length */
function lines(bytes, length) {
  return Array.from({ length: bytes.length / length }, (_, row) => {
    const levels = [...bytes.slice(row * length, (row + 1) * length)];
    const points = levels.map((level, i) => (level > TOP_LEVEL ? "" : `${(3 + (i * (LINE_WIDTH - 6)) / Math.max(length - 1, 1)).toFixed(1)} ${(3 + (1 - level / TOP_LEVEL) * (LINE_HEIGHT - 6)).toFixed(1)}`));
    return svg("path", { class: `line-${row}`, d: points.map((point, i) => (point ? `${i && points[i - 1] ? "L" : "M"}${point}` : "")).join("") });
  });
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
