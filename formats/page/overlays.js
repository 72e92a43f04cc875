// @ts-check
"use strict";

/**
 * Colours and labels by numbers or texts of nodes, as core/drawing/view_model.py describes them.
 *
 * A packed book has a column instead of values; the values of a field stand in the entries.
 *
 * @typedef {[node: number, value: number | string]} Rated
 * @typedef {{ title: string, unit: string, adds_up: boolean, field?: "dtype" | "bytes", values?: Rated[], column?: Column<number | string | null> }} Overlay
 */

const UNITS = {
  bytes: { step: 1024, names: ["B", "KiB", "MiB", "GiB", "TiB"], least: 1 },
  seconds: { step: 1000, names: ["ns", "µs", "ms", "s"], least: 1e-9 },
};

/** @param {Overlay} overlay @param {Book} book @returns {Colouring} */
function byOverlay(overlay, book) {
  /** @type {Colouring | undefined} */
  let colouring;
  const make = () => {
    const values = valuesOf(overlay, book.entries);
    return values.some(([, value]) => typeof value === "string") ? byText(overlay, values) : byNumber(overlay, values, book);
  };
  const ready = () => (colouring ??= make());
  return { title: overlay.title, paint: (item) => ready().paint(item, book), legend: (items) => ready().legend(items, book) };
}

/** The overlays of what the entries say of all nodes. @param {Entry[]} entries @returns {Overlay[]} */
function ownOverlays(entries) {
  /** @type {Overlay[]} */ const own = [
    { title: "Dtype", unit: "", adds_up: false, field: "dtype" },
    { title: "Bytes", unit: "bytes", adds_up: true, field: "bytes" },
  ];
  return own.filter(({ field = "dtype" }) => entries.some((entry) => (entry[field] ?? "") !== ""));
}

/** @param {Overlay} overlay @param {Entry[]} entries @returns {Rated[]} */
function valuesOf({ field, values = [], column }, entries) {
  if (field) return entries.flatMap(({ [field]: value }, node) => ((value ?? "") === "" ? [] : [/** @type {Rated} */ ([node, value])]));
  if (!column) return values;
  return entries.flatMap((_, node) => {
    const value = valueAt(column, node);
    return value === null ? [] : [/** @type {Rated} */ ([node, value])];
  });
}

/** @param {Overlay} overlay @param {Rated[]} values @returns {Colouring} */
function byText({ title }, values) {
  const texts = new Map(/** @type {[number, string][]} */ (values));
  const known = count([...texts.values()]).map(([text]) => text);
  const name = (/** @type {string} */ text) => (text === "" ? "no-op" : DIFFERENCES[text] ?? `p${known.indexOf(text) % 12}`);
  const counts = (/** @type {Item} */ item) => count(item.nodes.flatMap((node) => texts.get(node) ?? []));
  return {
    title,
    paint: (item) => {
      const found = counts(item);
      const text = found[0]?.[0] ?? "";
      const label = item.nodes.length > 1 ? found.slice(0, 3).map(([each, n]) => `${n.toLocaleString("en")} ${each}`).join(", ") : text;
      const parts = item.nodes.length > 1 ? found.map(([each, n]) => /** @type {[string, number]} */ ([name(each), n / item.nodes.length])) : [];
      return { name: name(text), heat: null, parts, label };
    },
    legend: (items) => {
      const present = new Set(items.flatMap((item) => counts(item).map(([text]) => text)));
      return known.filter((text) => present.has(text)).slice(0, 14).map((text) => ({ name: name(text), text }));
    },
  };
}

/** The colours of texts that say where graphs or values differ, and where NaN comes from. @type {Record<string, string>} */
const DIFFERENCES = {
  added: "added", removed: "removed", changed: "changed", "shapes differ": "shaped",
  agree: "added", "part here": "removed", "differ since an input": "changed", "begins here": "removed", "passed on": "changed",
};

/** @param {Overlay} overlay @param {Rated[]} values @param {Book} book @returns {Colouring} */
function byNumber({ title, unit, adds_up }, values, book) {
  const numbers = new Float64Array(book.entries.length).fill(NaN);
  for (const [node, value] of values) numbers[node] = Number(value);
  const all = values.map(([, value]) => Number(value));
  const sumOf = (/** @type {Page} */ page) => page.nodes.reduce((sum, node) => sum + (Number.isNaN(numbers[node]) ? 0 : numbers[node]), 0);
  // The number of a call may hold its functions' numbers: the pages are not added up.
  const total = Math.max(...book.pages.map(sumOf));
  const extremes = all.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const [low, high] = adds_up ? [0, total] : extremes;
  const numberOf = (/** @type {Item} */ item) => {
    const own = item.nodes.map((node) => numbers[node]).filter((value) => !Number.isNaN(value));
    if (!own.length) return null;
    return own.reduce((a, b) => (adds_up ? a + b : Math.max(a, b)));
  };
  return {
    title,
    paint: (item) => {
      const number = numberOf(item);
      if (number === null) return { name: "no-op", heat: null, parts: [], label: "" };
      return { name: "heat", heat: high > low ? (number - low) / (high - low) : 1, parts: [], label: quantity(number, unit) };
    },
    legend: () => [{ name: "cold", text: quantity(low, unit) }, { name: "warm", text: quantity(low + (high - low) / 4, unit) },
      { name: "hot", text: `${quantity(high, unit)}${adds_up ? " in all" : ""}` }, { name: "no-op", text: "no value" }],
  };
}

/** A number with its unit. @param {number} value @param {string} unit */
function quantity(value, unit) {
  const scale = unit === "bytes" || unit === "seconds" ? UNITS[unit] : null;
  const digits = (/** @type {number} */ number) => Number(number.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  if (!scale) return `${digits(value)}${unit ? ` ${unit}` : ""}`;
  let [number, i] = [value / scale.least, 0];
  while (number >= scale.step && i < scale.names.length - 1) [number, i] = [number / scale.step, i + 1];
  return `${digits(number)} ${scale.names[i]}`;
}
