// @ts-check
"use strict";

/**
 * What tfg knows of the graph, as core/drawing/view_model.py describes it. Fields that hold nothing are left out of the JSON.
 *
 * @typedef {{ node: number, output: number }} Use  Who takes which output; CONTROL where it only waits.
 * @typedef {{
 *   name: string, op: string, kind: string, stage: string, evidence: string, role: string,
 *   inputs: [number, number][], controls: number[], outputs: string[], references: number[], device: string,
 *   attributes: [string, string][], chain: string[], calls: string[], flops: string, share: number,
 *   effect: string, group: number | null, constants: string[], consumers: Use[],
 * }} Entry
 * @typedef {{ label: string, path: string, contents: string, is_open: boolean, names: string[], parts: (number | Branch)[] }} Branch
 * @typedef {[source: number, target: number, output: number]} Link
 * @typedef {{ root: Branch, links: Link[] }} View
 * @typedef {[name: string, tensor: string, holds: string]} Argument
 * @typedef {{
 *   kind: string, name: string, nodes: number[], brief: View, whole: View, holders: Map<number, number>,
 *   inputs: Argument[], outputs: Argument[], callers: string[],
 * }} Page
 * @typedef {{ root: string, members: number[], device: string, conflicts: string[], missing: string[] }} Group
 * @typedef {{ title: string, columns: string[], rows: string[][] }} Sheet
 * @typedef {{
 *   title: string, sheets: Sheet[], notes: string[], kinds: string[], stages: string[],
 *   entries: Entry[], groups: Group[], pages: Page[],
 * }} Book
 */

/** The output of a link that passes on nothing but the order. */
const CONTROL = -1;

const NO_ENTRY = {
  device: "", flops: "", share: 0, effect: "", group: null, evidence: "", role: "",
  inputs: [], controls: [], outputs: [], references: [], attributes: [], chain: [], calls: [], constants: [],
};

/** The book that stands in the page. @returns {Book} */
function readBook() {
  const text = document.getElementById("book")?.textContent ?? "";
  const raw = JSON.parse(text);
  const book = { sheets: [], notes: [], kinds: [], stages: [], groups: [], ...raw };
  book.entries = (raw.entries ?? []).map((/** @type {object} */ entry) => ({ ...NO_ENTRY, consumers: [], ...entry }));
  book.groups = book.groups.map((/** @type {object} */ group) => ({ members: [], conflicts: [], missing: [], device: "", ...group }));
  book.sheets = book.sheets.map((/** @type {object} */ sheet) => ({ title: "", columns: [], rows: [], ...sheet }));
  book.pages = raw.pages.map(readPage);
  noteConsumers(book.entries);
  return book;
}

/** @param {any} raw @returns {Page} */
function readPage(raw) {
  const page = { name: "", nodes: [], inputs: [], outputs: [], callers: [], ...raw };
  return { ...page, brief: readView(raw.brief), whole: readView(raw.whole), holders: new Map(raw.holders ?? []) };
}

/** @param {any} raw @returns {View} */
function readView(raw) {
  return { root: readBranch(raw.root), links: raw.links ?? [] };
}

/** @param {any} raw @returns {Branch} */
function readBranch(raw) {
  const parts = (raw.parts ?? []).map((/** @type {any} */ part) => (typeof part === "number" ? part : readBranch(part)));
  return { label: "", path: "", contents: "", is_open: false, names: [], ...raw, parts };
}

/** Tell every node who uses it. @param {Entry[]} entries */
function noteConsumers(entries) {
  entries.forEach((entry, node) => {
    const seen = new Set();
    for (const [source, output] of entry.inputs) {
      const key = `${source}:${output}`;
      if (!seen.has(key)) entries[source].consumers.push({ node, output });
      seen.add(key);
    }
    for (const source of entry.controls) entries[source].consumers.push({ node, output: CONTROL });
  });
}

/** What a page is called. @param {Page} page */
function pageTitle(page) {
  return page.kind === "graph" ? "Graph" : page.name;
}
