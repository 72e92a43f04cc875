// @ts-check
"use strict";

/**
 * What tfg knows of the graph, as core/drawing/view_model.py describes it. Fields that hold nothing are left out of the JSON.
 *
 * @typedef {[node: number, output: number]} Use  Who takes which output; CONTROL where it only waits.
 * @typedef {{
 *   name: string, op: string, kind: string, stage: string, evidence: string, role: string,
 *   inputs: [number, number][], controls: number[], outputs: string[], references: number[], device: string,
 *   attributes: [string, string][], traits: string[], chain: string[], calls: string[], passing: number[], flops: string, share: number,
 *   effect: string, group: number | null, constants: string[], consumers: Use[], values: NodeValue[], weights: number[], changes: [field: string, before: string, after: string][],
 * }} Entry
 * @typedef {{ label?: string, path?: string, contents?: string, is_open?: boolean, names?: string[], parts?: (number | Branch)[] }} Branch
 * @typedef {[source: number, target: number, output: number]} Link  Nodes, or their numbers in a picture.
 * @typedef {{ root: Branch, links: Link[] }} View
 * @typedef {[name: string, tensor: string, holds: string]} Argument
 * @typedef {{
 *   kind: string, name: string, nodes: number[], brief: View, whole: View, holders: Map<number, number>,
 *   isPlain: boolean, inputs: Argument[], outputs: Argument[], callers: string[], packed?: { brief?: string, whole?: string },
 * }} Page
 * @typedef {{ root: string, members: number[], device: string, conflicts: string[], missing: string[] }} Group
 * @typedef {{ title: string, columns: string[], rows: string[][], places?: [string, string][] }} Sheet
 * @typedef {{
 *   names: [before: string, after: string], before: Page[], after: Page[], start: number, merged: Map<number, number>, first: Map<number, number>,
 * }} Panes  Two compared graphs: the pages of each, and the nodes of both as one by those of the first graph, and the other way round.
 * @typedef {{
 *   title: string, sheets: Sheet[], notes: string[], kinds: string[], stages: string[],
 *   entries: Entry[], groups: Group[], pages: Page[], start: number, ops: Map<string, string>, defaults: Map<string, [string, string][]>,
 *   functions: Map<string, Page>, overlays: Overlay[], colour: string, store: Store, panes: Panes | null,
 * }} Book
 */

/** The output of a link that passes on nothing but the order. */
const CONTROL = -1;

/** A node of which the page says nothing more; what is left out of the JSON is as here. */
class NodeEntry {
  /** @param {object} fields */
  constructor(fields) {
    Object.assign(this, fields);
  }
}
Object.assign(NodeEntry.prototype, {
  device: "", flops: "", share: 0, effect: "", group: null, evidence: "", role: "",
  inputs: [], controls: [], outputs: [], references: [], attributes: [], traits: [], chain: [], calls: [], passing: [], constants: [], consumers: [], values: [], weights: [], changes: [],
});

/**
 * The parts of a large book that are unpacked when they are first needed: deflated JSON in base64, as formats/page/writing.py writes it. A
 * small book has all of it open.
 */
class Store {
  /** @param {Entry[]} entries @param {string[]} details Packed, each of so many nodes. @param {number} size */
  constructor(entries, details, size) {
    this.entries = entries;
    this.size = size;
    /** @type {(string | Promise<void> | undefined)[]} */
    this.details = details;
  }

  /** Unpack what is said of nodes. @param {Iterable<number>} nodes */
  async describe(nodes) {
    if (!this.details.length) return;
    const chunks = new Set(Array.from(nodes, (node) => Math.floor(node / this.size)));
    await Promise.all(Array.from(chunks, (chunk) => this.unpackDetails(chunk)));
  }

  /** @param {number} chunk @returns {Promise<void>} */
  unpackDetails(chunk) {
    const packed = this.details[chunk];
    if (typeof packed !== "string") return packed ?? Promise.resolve();
    const done = unpack(packed).then((details) => {
      details.forEach((/** @type {object} */ detail, /** @type {number} */ i) => Object.assign(this.entries[chunk * this.size + i], detail));
    });
    this.details[chunk] = done;
    return done;
  }

  /** Unpack how a page is drawn. @param {Page} page @param {boolean} isWhole */
  async openView(page, isWhole) {
    const { packed } = page;
    if (!packed) return;
    const part = isWhole && !page.isPlain ? "whole" : "brief";
    const text = packed[part];
    if (text === undefined) return;
    const opened = await unpack(text);
    page[part] = { links: [], ...opened.view };
    if (page.isPlain) page.whole = page.brief;
    if (part === "brief") page.holders = new Map(opened.holders);
    delete packed[part];
  }
}

/** @param {string} text Deflated JSON in base64. @returns {Promise<any>} */
function unpack(text) {
  return inflated(text).json();
}

/** @param {string} text Deflated bytes in base64. */
function inflated(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
}

/** The book that stands in the page. @returns {Promise<Book>} */
async function readBook() {
  const raw = JSON.parse(document.getElementById("book")?.textContent ?? "");
  const columns = raw.columns ? await unpack(raw.columns) : {};
  const book = { colour: "", sheets: [], notes: [], kinds: [], stages: [], start: 0, groups: columns.groups ?? [], ...raw };
  book.overlays = (columns.overlays ?? raw.overlays ?? []).map((/** @type {object} */ overlay) => ({ unit: "", adds_up: false, ...overlay }));
  book.entries = raw.columns ? readColumns(columns) : (raw.entries ?? []).map((/** @type {object} */ entry) => new NodeEntry(entry));
  book.groups = book.groups.map((/** @type {object} */ group) => ({ members: [], conflicts: [], missing: [], device: "", ...group }));
  book.sheets = book.sheets.map((/** @type {object} */ sheet) => ({ title: "", columns: [], rows: [], ...sheet }));
  book.pages = raw.pages.map(readPage);
  book.ops = new Map(raw.ops ?? []);
  book.defaults = new Map(raw.defaults ?? []);
  book.functions = functionsAmong(book.pages);
  book.panes = raw.panes ? readPanes(raw.panes) : null;
  book.store = new Store(book.entries, raw.details ?? [], raw.size ?? 1);
  return book;
}

/** The nodes of a packed book: all names, what a search finds of their attributes, and for each other column the different values and the number of each node's value.
 * @param {{ names: string[], traits: { values: string[][], at: number[] }, columns: Record<string, { values: any[], at: number[] }> }} columns */
function readColumns({ names, traits, columns }) {
  /** @type {Record<string, any>[]} */
  const entries = names.map((name, i) => new NodeEntry({ name, traits: traits.values[traits.at[i]] }));
  for (const [column, { values, at }] of Object.entries(columns)) {
    entries.forEach((entry, i) => {
      if (values[at[i]] !== null) entry[column] = values[at[i]];
    });
  }
  return entries;
}

/** @param {any} raw @returns {Page} */
function readPage(raw) {
  const page = { name: "", inputs: [], outputs: [], callers: [], ...raw };
  const nodes = raw.ranges ? raw.ranges.flatMap((/** @type {[number, number]} */ [first, count]) => Array.from({ length: count }, (_, i) => first + i)) : raw.nodes ?? [];
  const view = (/** @type {any} */ rawView) => ({ links: [], root: {}, ...rawView });
  const isPlain = (raw.packed ?? raw).whole === undefined;
  return { ...page, nodes, isPlain, brief: view(raw.brief), whole: view(isPlain ? raw.brief : raw.whole), holders: new Map(raw.holders ?? []) };
}

/** @param {any} raw @returns {Panes} */
function readPanes({ names, before, after, start, pairs = [] }) {
  const swapped = pairs.map((/** @type {[number, number]} */ [node, merged]) => [merged, node]);
  return { names, before: before.map(readPage), after: after.map(readPage), start, merged: new Map(pairs), first: new Map(swapped) };
}

/** @param {Page[]} pages @returns {Map<string, Page>} */
function functionsAmong(pages) {
  return new Map(pages.filter(({ kind }) => kind === "function").map((page) => [page.name, page]));
}

/** The name of a page in an address. @param {Page} page */
function pageKey(page) {
  return page.name ? `${page.kind}:${page.name}` : page.kind;
}

/** The name of a node inside the innermost scope. @param {string} name */
function lastName(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** @type {WeakMap<Page, Map<string, number>>} */
const namesOfPages = new WeakMap();

/** The nodes of a page by their names. @param {Page} page @param {Entry[]} entries */
function nodesByName(page, entries) {
  let names = namesOfPages.get(page);
  if (!names) {
    names = new Map(page.nodes.map((node) => [entries[node].name, node]));
    namesOfPages.set(page, names);
  }
  return names;
}

/** The node and the number of the output that a tensor's name says. @param {string} tensor @param {Page} page @param {Entry[]} entries
 * @returns {[node: number, output: number] | null} */
function parseTensor(tensor, page, entries) {
  const [, name, output] = /^(.*?)(?::(\d+))?$/.exec(tensor) ?? ["", tensor, "0"];
  const node = nodesByName(page, entries).get(name);
  return node === undefined ? null : [node, Number(output ?? 0)];
}

/** What a page is called. @param {Page} page */
function pageTitle(page) {
  return page.kind === "graph" ? "Graph" : page.name;
}
