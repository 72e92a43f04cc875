// @ts-check
"use strict";

/**
 * What tfg knows of the graph, as core/drawing/view_model.py describes it. Fields that hold nothing are left out of the JSON.
 *
 * @typedef {[node: number, output: number]} Use  Who takes which output; CONTROL where it only waits.
 * @typedef {{
 *   name: string, op: string, kind: string, stage: string, evidence: string, role: string,
 *   inputs: [number, number][], controls: number[], outputs: string[], references: number[], device: string,
 *   attributes: [string, string][], origin: string, chain: string[], calls: string[], passing: number[], dtype: string, bytes: number | null, flops: string, share: number,
 *   effect: string, group: number | null, constants: string[], values: NodeValue[], weights: number[], changes: [field: string, before: string, after: string][],
 * }} Entry
 * @typedef {{ label?: string, path?: string, contents?: string, is_open?: boolean, is_made?: boolean, parts?: (number | Branch)[] }} Branch
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
 * @template T
 * @typedef {{ values: T[], at?: number[] }} Column  The different values, and for each node the number of its own if they are several.
 */
/**
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
  inputs: [], controls: [], outputs: [], references: [], attributes: [], origin: "", chain: [], calls: [], passing: [], dtype: "", bytes: null, constants: [], values: [], weights: [], changes: [],
});

/** Ends so many nodes back and further are counted from the first node. */
const FAR = 4096;

/** The value of a row of a column. @template T @param {Column<T>} column @param {number} row @returns {T} */
function valueAt({ values, at }, row) {
  return values[at ? at[row] : 0];
}

/** The edges of a packed book: most nodes of a large graph have the same row of ends, counted back from the node if they are near. */
class Edges {
  /** @param {Record<"inputs" | "controls" | "weights", Column<number[]>>} columns */
  constructor(columns) {
    this.columns = columns;
  }

  /** @param {"inputs" | "controls" | "weights"} column @param {number} node */
  row(column, node) {
    return valueAt(/** @type {Column<number[]>} */ (this.columns[column]), node);
  }

  /** @param {"controls" | "weights"} column @param {number} node */
  ends(column, node) {
    return this.row(column, node).map((number) => endOf(node, number));
  }
}

/** The node at the end of an edge. @param {number} node @param {number} number As `_from` in formats/page/writing.py writes it. */
function endOf(node, number) {
  return number < FAR ? node - number : number - FAR;
}

/** A node of a packed book: its edges are made when they are asked for, as a million nodes have several million. */
class PackedEntry extends NodeEntry {
  /** @param {object} fields @param {number} node @param {Edges} edges */
  constructor(fields, node, edges) {
    super(fields);
    this.node = node;
    this.edges = edges;
  }

  /** @returns {[number, number][]} */
  get inputs() {
    const row = this.edges.row("inputs", this.node);
    return Array.from({ length: row.length / 2 }, (_, i) => [endOf(this.node, row[2 * i]), row[2 * i + 1]]);
  }

  get controls() {
    return this.edges.ends("controls", this.node);
  }

  get weights() {
    return this.edges.ends("weights", this.node);
  }
}

/** Who takes the outputs of nodes, and who waits for them: the inputs and controls of all nodes, turned around. */
class Consumers {
  /** @param {Entry[]} entries */
  constructor(entries) {
    this.starts = new Uint32Array(entries.length + 1);
    // In two rounds over the edges, the first of which counts: an array for each node would take most of the memory of the page.
    eachUse(entries, (source) => this.starts[source + 1]++);
    for (let i = 0; i < entries.length; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.nodes = new Uint32Array(this.starts[entries.length]);
    this.outputs = new Int32Array(this.nodes.length);
    eachUse(entries, (source, node, output) => {
      this.nodes[next[source]] = node;
      this.outputs[next[source]++] = output;
    });
  }

  /** @param {number} node @returns {Use[]} */
  of(node) {
    return Array.from(this.nodes.subarray(this.starts[node], this.starts[node + 1]), (user, i) => [user, this.outputs[this.starts[node] + i]]);
  }
}

/** Go through who takes which output, each once for a node. @param {Entry[]} entries @param {(source: number, node: number, output: number) => void} act */
function eachUse(entries, act) {
  entries.forEach(({ inputs, controls }, node) => {
    const ends = new Set(inputs.map(([source, output]) => source * MAX_ITEMS + output));
    for (const end of ends) act(Math.floor(end / MAX_ITEMS), node, end % MAX_ITEMS);
    for (const source of controls) act(source, node, CONTROL);
  });
}

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
    const done = unpack(packed).then((details) => fillColumns(this.entries, details, chunk * this.size, this.size));
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
    if (part === "whole") {
      page.whole = wholeView(opened, page.nodes, this.entries);
    } else {
      let target = 0;
      const links = inRows(opened.links, 3).map(([further, back, output]) => {
        target += further;
        return /** @type {Link} */ ([target - back, target, output]);
      });
      page.brief = { root: opened.root, links };
      if (page.isPlain) page.whole = page.brief;
      page.holders = new Map(inRows(opened.holders, 2).map(([node, holder]) => [node, holder]));
    }
    delete packed[part];
  }
}

/** The view of all nodes of a page, whose links are their edges. @param {Branch} root @param {number[]} nodes @param {Entry[]} entries @returns {View} */
function wholeView(root, nodes, entries) {
  const here = new Set(nodes);
  /** @type {Link[]} */ const links = [];
  for (const node of nodes) {
    /** @type {Set<number>} */ const sources = new Set();
    eachUse([entries[node]], (source, _, output) => {
      if (!here.has(source) || (output === CONTROL && sources.has(source))) return;
      sources.add(source);
      links.push([source, node, output]);
    });
  }
  return { root, links };
}

/** Rows of so many numbers. @param {number[]} numbers @param {number} width */
function inRows(numbers, width) {
  return Array.from({ length: numbers.length / width }, (_, i) => numbers.slice(i * width, (i + 1) * width));
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
  book.entries = raw.columns ? readColumns(columns) : (raw.entries ?? []).map((/** @type {object} */ entry) => new NodeEntry(entry));
  const overlays = (columns.overlays ?? raw.overlays ?? []).map((/** @type {object} */ overlay) => ({ unit: "", adds_up: false, ...overlay }));
  book.overlays = [...ownOverlays(book.entries), ...overlays];
  book.groups = book.groups.map((/** @type {object} */ group) => ({ members: [], conflicts: [], missing: [], device: "", ...group }));
  book.sheets = book.sheets.map((/** @type {object} */ sheet) => ({ title: "", columns: [], rows: [], ...sheet }));
  book.pages = raw.pages.map((/** @type {any} */ page) => readPage(page, book.entries));
  book.ops = new Map(raw.ops ?? []);
  book.defaults = new Map(raw.defaults ?? []);
  book.functions = functionsAmong(book.pages);
  book.panes = raw.panes ? readPanes(raw.panes, book.entries) : null;
  book.store = new Store(book.entries, raw.details ?? [], raw.size ?? 1);
  return book;
}

/** The nodes of a packed book: all names, what nodes that are alike share, and columns.
 * @param {{ names: string[], common: Column<object>, columns: Record<string, Column<any>>, edges: Record<"inputs" | "controls" | "weights", Column<number[]>> }} book */
function readColumns({ names, common, columns, edges }) {
  const ends = new Edges(edges);
  const entries = /** @type {any} */ (names.map((name, i) => new PackedEntry({ name, ...valueAt(common, i) }, i, ends)));
  fillColumns(entries, columns, 0, entries.length);
  return entries;
}

/** Give `count` nodes the values of columns, from the node `start` on.
 * @param {Record<string, any>[]} entries @param {Record<string, Column<any>>} columns @param {number} start @param {number} count */
function fillColumns(entries, columns, start, count) {
  for (const [name, column] of Object.entries(columns)) {
    entries.slice(start, start + count).forEach((entry, i) => {
      const value = valueAt(column, i);
      if (value !== null) entry[name] = value;
    });
  }
}

/** @param {any} raw @param {Entry[]} entries @returns {Page} */
function readPage(raw, entries) {
  const page = { name: "", inputs: [], outputs: [], callers: [], ...raw };
  const nodes = raw.ranges ? raw.ranges.flatMap((/** @type {[number, number]} */ [first, count]) => Array.from({ length: count }, (_, i) => first + i)) : raw.nodes ?? [];
  const brief = { links: [], root: {}, ...raw.brief };
  const isPlain = (raw.packed ?? raw).whole === undefined;
  const whole = raw.whole ? wholeView(raw.whole, nodes, entries) : brief;
  return { ...page, nodes, isPlain, brief, whole, holders: new Map(raw.holders ?? []) };
}

/** @param {any} raw @param {Entry[]} entries @returns {Panes} */
function readPanes({ names, before, after, start, pairs = [] }, entries) {
  const read = (/** @type {any} */ page) => readPage(page, entries);
  const swapped = pairs.map((/** @type {[number, number]} */ [node, merged]) => [merged, node]);
  return { names, before: before.map(read), after: after.map(read), start, merged: new Map(pairs), first: new Map(swapped) };
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
