// @ts-check
"use strict";

/** What there is to read beside the picture. Everything is set as text, never as markup. */

const MAX_LISTED = 40;
/** The number of columns above which a table is as wide as its cells. */
const WIDE = 5;
/** The columns whose words are no names of nodes, though a node may be called so. */
const WITHOUT_NAMES = ["ops", "kind", "dtype", "shape", "output shape", "holds", "purpose", "argument"];

/** @param {string} name @param {Record<string, string>} attributes @param {(Node | string)[]} children @returns {HTMLElement} */
function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

class Panel {
  /**
   * @param {HTMLElement} element @param {Book} book
   * @param {(node: number) => void} onNode @param {(page: Page) => void} onPage @param {(path: string) => void} onScope
   * @param {(text: string) => void} onSearch
   */
  constructor(element, book, onNode, onPage, onScope, onSearch) {
    this.element = element;
    this.book = book;
    this.onNode = onNode;
    this.onPage = onPage;
    this.onScope = onScope;
    this.onSearch = onSearch;
    /** The scopes of the page whose names are links. @type {Set<string>} */
    this.scopes = new Set();
    /** @type {Map<string, number>} */
    this.names = new Map();
    /** @type {Consumers | null} */
    this.knownConsumers = null;
    /** Where layers are that have another name in the graph. @type {Map<string, string>} */
    this.places = new Map(book.sheets.flatMap(({ places = [] }) => places));
  }

  /** Made for the first node that is looked at: all edges of a large graph are gone through. */
  get consumers() {
    this.knownConsumers ??= new Consumers(this.book.entries);
    return this.knownConsumers;
  }

  /** @param {Page} page Whose nodes the names in texts mean. */
  turnTo(page) {
    this.names = nodesByName(page, this.book.entries);
    this.scopes = new Set(Array.from(branchesOf(page.brief.root), ({ path = "" }) => path));
  }

  /** @param {string} title @param {string} kind @param {(Node | null)[]} parts */
  show(title, kind, ...parts) {
    const shown = parts.filter((part) => part !== null);
    this.element.replaceChildren(html("p", { class: "kind" }, kind), html("h2", {}, title), ...shown);
    this.element.scrollTop = 0;
  }

  /** @param {Page} page @param {boolean} isFirst Whether to show what is known of the whole graph. */
  showPage(page, isFirst) {
    const isGraph = page.kind === "graph";
    const isAll = isGraph || isFirst;
    if (isAll) this.turnTo(this.book.pages[0]); // The facts name nodes of the whole graph.
    const sheets = isAll ? this.book.sheets.map((sheet) => this.sheet(sheet)) : [];
    this.show(
      isGraph ? this.book.title : page.name,
      isGraph ? "Graph" : page.kind === "signature" ? "Signature" : "Function",
      this.list("Notes", isAll ? this.book.notes.map((note) => this.prose(note)) : []),
      this.args("Inputs", page.inputs),
      this.args("Outputs", page.outputs),
      this.list("Called by", page.callers.map((name) => this.prose(`'${name}'`))),
      isGraph ? null : html("p", {}, `${page.nodes.length} nodes`),
      isAll ? this.list("Pages", this.book.pages.filter((p) => p !== page).map((p) => this.pageLink(p))) : null,
      ...sheets,
    );
  }

  /** @param {Scope} scope @param {Entry[]} entries */
  showScope(scope, entries) {
    const costly = scope.nodes.filter((node) => entries[node].share > 0).sort((a, b) => entries[b].share - entries[a].share);
    const ops = count(scope.nodes.map((node) => entries[node].op));
    const stages = count(scope.nodes.map((node) => entries[node].stage));
    this.show(
      `${scope.path}/`,
      `Scope of ${scope.nodes.length} nodes`,
      html("p", { class: "copies" }, copyButton("Copy name", () => scope.path), copyButton("Copy link", () => location.href)),
      scope.share > 0 ? html("p", {}, percent(scope.share)) : null,
      this.list("Stages", stages.map(([stage, n]) => html("span", {}, `${stage}: ${n}`))),
      this.list("Ops", ops.map(([op, n]) => html("span", {}, `${op}: ${n}`))),
      this.list("Most FLOPs", costly.slice(0, 10).map((node) => this.link(node, ` ${entries[node].flops}`))),
    );
  }

  /** @param {number} node @param {number | undefined} holder The node into whose box it goes, where it has none. */
  showNode(node, holder) {
    const entry = this.book.entries[node];
    const { entries } = this.book;
    this.show(
      entry.name,
      entry.op,
      html("p", { class: "copies" }, copyButton("Copy name", () => entry.name), copyButton("Copy link", () => location.href)),
      this.book.ops.has(entry.op) ? html("p", { class: "sentence" }, this.book.ops.get(entry.op) ?? "") : null,
      html("p", {}, ...this.words(entry.role)),
      facts([["stage", `${entry.stage}: ${entry.evidence}`], ["kind", entry.kind], ["device", entry.device], ["FLOPs", flopsText(entry)]]),
      ...valueSections(entry),
      ...entry.weights.map((weight) => this.weight(weight)),
      holder === undefined ? null : html("p", { class: "aside" }, "Drawn with ", this.link(holder), "; All nodes (a) gives it a box of its own."),
      this.list("Outputs", entry.outputs.map((spec, i) => html("code", {}, `:${i} ${spec}`))),
      this.list("Inputs", entry.inputs.map(([source, output]) => this.link(source, ` :${output} ${entries[source].outputs[output] ?? ""}`))),
      this.list("Runs only after", entry.controls.map((source) => this.link(source, `, which ${entries[source].effect}`))),
      this.list("Consumers", this.consumers.of(node).map(([user, output]) => this.link(user, output === CONTROL ? " waits for it" : ` takes :${output}`))),
      this.group(entry),
      this.list("Calls", this.book.pages.filter((page) => page.kind === "function" && entry.calls.includes(page.name)).map((page) => this.pageLink(page))),
      changesSection(entry.changes),
      traitsOf(entry).length ? html("h3", {}, "Attributes") : null,
      facts(traitsOf(entry)),
      this.defaults(entry),
    );
  }

  /** The attributes that are as the op has them by default. @param {Entry} entry */
  defaults(entry) {
    const own = new Set(entry.attributes.map(([name]) => name));
    const others = (this.book.defaults.get(entry.op) ?? []).filter(([name]) => !own.has(name));
    return others.length ? html("section", { class: "defaults" }, html("h3", {}, "Attributes by default"), facts(others)) : null;
  }

  /** What is known of a weight that a node reads. @param {number} weight */
  weight(weight) {
    const { values, outputs } = this.book.entries[weight];
    const about = values.length ? valueSections(this.book.entries[weight]) : outputs.map((spec) => html("code", {}, spec));
    return html("section", { class: "weight" }, html("h3", {}, "Weight"), this.link(weight), ...about);
  }

  /** Where a node must live. @param {Entry} entry */
  group(entry) {
    const last = entry.chain[entry.chain.length - 1];
    const chain = last === undefined ? [] : [this.prose(`loc:@'${entry.chain.join("' → loc:@'")}': will be placed on the device of '${last}', whichever that is`)];
    const group = entry.group === null ? null : this.book.groups[entry.group];
    if (!group) return this.list("Colocated", chain);
    const where = group.device || "no device asked for, so any one will do";
    return this.list("Colocated", [
      ...chain,
      html("span", {}, `group of ${group.members.length}: ${where}`),
      ...group.conflicts.map((conflict) => html("strong", {}, ...this.words(conflict))),
      ...group.missing.map((name) => html("strong", {}, `loc:@${name} names a node that the graph does not have`)),
      ...group.members.map((node) => this.link(node)),
    ]);
  }

  /** @param {string} title @param {HTMLElement[]} items @returns {HTMLElement | null} */
  list(title, items) {
    if (!items.length) return null;
    const rows = items.map((item) => html("li", {}, item));
    const list = html("ul", {}, ...rows.slice(0, MAX_LISTED));
    if (rows.length > MAX_LISTED) {
      const more = this.button(`${rows.length - MAX_LISTED} more`, () => list.replaceChildren(...rows));
      list.append(html("li", {}, more));
    }
    return html("section", {}, html("h3", {}, rows.length > 1 ? `${title} (${rows.length})` : title), list);
  }

  /** @param {string} title @param {Argument[]} found */
  args(title, found) {
    return this.list(title, found.map(([name, tensor, holds]) => html("span", {}, html("b", {}, name), " ", ...this.words(`'${tensor}'`), ` ${holds}`)));
  }

  /** @param {Sheet} sheet */
  sheet(sheet) {
    const cells = (/** @type {string[]} */ row) => html("tr", {}, ...row.map((cell, i) => html("td", {}, ...this.cell(cell, sheet.columns[i]))));
    const body = html("tbody");
    let limit = MAX_LISTED;
    const fill = (/** @type {string[][]} */ rows) => {
      body.replaceChildren(...rows.slice(0, limit).map(cells));
      if (rows.length <= limit) return;
      body.append(html("tr", {}, html("td", {}, this.button(`${rows.length - limit} more`, () => {
        limit = rows.length;
        fill(rows);
      }))));
    };
    fill(sheet.rows);
    const head = sheet.columns.length ? [html("thead", {}, sortingRow(sheet, fill))] : [];
    return html("section", {}, html("h3", {}, sheet.title || "Facts"), html("div", { class: "scroll" }, html("table", { class: sheet.columns.length > WIDE ? "wide" : "" }, ...head, body)));
  }

  /** @param {string} text @param {string | undefined} column @returns {(Node | string)[]} */
  cell(text, column = "") {
    if (column === "op") return [this.button(text, () => this.onSearch(text))];
    if (WITHOUT_NAMES.includes(column)) return [text];
    return column === "layer" ? this.layer(text) : this.words(text, true);
  }

  /** A link to the scope of a layer, or to the last node of a layer whose scope has no frame. @param {string} name */
  layer(name) {
    const place = this.places.get(name) ?? name;
    if (this.scopes.has(place)) return [this.button(name, () => this.onScope(place))];
    const node = this.names.get(place) ?? lastInScopes(this.names).get(place);
    return [node === undefined ? name : this.button(name, () => this.onNode(node))];
  }

  /** @param {string} text */
  prose(text) {
    return html("span", {}, ...this.words(text));
  }

  /** A text in which the names of nodes are links: those in quotes, or the text as a whole. @param {string} text @param {boolean} [isName]
   * @returns {(Node | string)[]} */
  words(text, isName = false) {
    if (isName) return this.named(text, text);
    return text.split(/('[^']*')/).flatMap((part, i) => (i % 2 ? this.named(part.slice(1, -1), part) : [part]));
  }

  /** @param {string} name @param {string} text @returns {(Node | string)[]} */
  named(name, text) {
    const node = this.names.get(name) ?? this.names.get(name.replace(/:\d+$/, ""));
    if (node !== undefined) return [this.button(name, () => this.onNode(node))];
    return [this.scopes.has(name) ? this.button(name, () => this.onScope(name)) : text];
  }

  /** @param {number} node @param {string} [more] */
  link(node, more = "") {
    const entry = this.book.entries[node];
    return html("span", {}, this.button(entry.name, () => this.onNode(node)), html("span", { class: "aside" }, ` ${entry.op}${more}`));
  }

  /** @param {Page} page */
  pageLink(page) {
    return html("span", {}, this.button(pageTitle(page), () => this.onPage(page)), html("span", { class: "aside" }, ` ${page.kind}, ${page.nodes.length} nodes`));
  }

  /** @param {string} text @param {() => void} onClick */
  button(text, onClick) {
    const button = html("button", { type: "button", class: "link" }, text);
    button.addEventListener("click", onClick);
    return button;
  }
}

/** @type {WeakMap<Map<string, number>, Map<string, number>>} */
const lastNodes = new WeakMap();

/** The last node in each scope: kept, as each row of a table of layers asks. @param {Map<string, number>} names Of a page's nodes. */
function lastInScopes(names) {
  let last = lastNodes.get(names);
  if (!last) {
    last = new Map();
    for (const [name, node] of names) {
      for (let end = name.indexOf("/"); end >= 0; end = name.indexOf("/", end + 1)) last.set(name.slice(0, end), node);
    }
    lastNodes.set(names, last);
  }
  return last;
}

/** The heads of a table's columns: a click sorts the rows, numbers from the largest on, a second click the other way round.
 * @param {Sheet} sheet @param {(rows: string[][]) => void} fill */
function sortingRow({ columns, rows }, fill) {
  const heads = columns.map((column, i) => {
    const head = html("th", { scope: "col" });
    const button = html("button", { type: "button", class: "sort", title: `Sort by ${column}` }, column);
    button.addEventListener("click", () => {
      const isDown = head.ariaSort ? head.ariaSort !== "descending" : rows.some((row) => amount(row[i]) !== null);
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = isDown ? "descending" : "ascending";
      fill([...rows].sort((a, b) => (isDown ? -1 : 1) * inOrder(a[i], b[i])));
    });
    head.append(button);
    return head;
  });
  return html("tr", {}, ...heads);
}

/** Negative where a cell stands before another; cells without a number stand before those with one. @param {string} a @param {string} b */
function inOrder(a, b) {
  const [one, other] = [amount(a), amount(b)];
  if (one === null && other === null) return a.localeCompare(b);
  return (one ?? -Infinity) - (other ?? -Infinity);
}

const PREFIXES = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** The number at the start of a cell, as `3,072`, `1.5 M x N` or `4 KiB`; null where there is none. @param {string} cell */
function amount(cell) {
  const match = /^(-?[\d,]*\.?\d+(?:e[-+]?\d+)?)(?: ([kMGTP]|[KMGT]iB)\b)?/.exec(cell);
  if (!match) return null;
  return Number(match[1].replaceAll(",", "")) * (match[2] ? PREFIXES[/** @type {keyof typeof PREFIXES} */ (match[2])] : 1);
}

/** A button that copies a text, and says so. @param {string} title @param {() => string} text */
function copyButton(title, text) {
  const button = html("button", { type: "button", class: "copy" }, title);
  button.addEventListener("click", async () => {
    await copy(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = title), 1500);
  });
  return button;
}

/** @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = html("textarea", {}, text); // A frame without rights, in a notebook, has no clipboard.
  document.body.append(field);
  /** @type {HTMLTextAreaElement} */ (field).select();
  document.execCommand("copy");
  field.remove();
}

/** @param {Entry} entry */
function flopsText(entry) {
  return entry.flops && entry.share > 0 ? `${entry.flops} (${percent(entry.share)})` : entry.flops;
}

/** Names and what is said of them, without those of which nothing is. @param {[string, string][]} pairs */
function facts(pairs) {
  return html("dl", {}, ...pairs.filter(([, text]) => text).flatMap(([name, text]) => [html("dt", {}, name), html("dd", {}, text)]));
}

/** How often each text is there, most frequent first. @param {string[]} texts @returns {[string, number][]} */
function count(texts) {
  /** @type {Map<string, number>} */ const found = new Map();
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1]);
}
