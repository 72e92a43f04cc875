// @ts-check
"use strict";

/**
 * Search by name, op, dtype, attribute and regular expression: a text field with a list of results, as screen readers know them.
 *
 * @typedef {{ node: number | null, path: string, rank: number, first: number }} Hit  A node, or the scope of a path on this page; `first` is
 *   the number of the first node.
 */

const MAX_RESULTS = 60;
/** What has no order among texts: a search with one of them is a regular expression, too. */
const EXPRESSION = /[\\^$*+?()[\]{}|]/;
/** The ranks of hits: what is called so, then what computes, variables, and what only serves others. */
const NAMED = 0;
const COMPUTING = 1;
const HOLDING = 2;
const SERVING = 3;
/** What adds to a rank: hits by dtype or attribute, nodes without a box, and those of other pages. */
const UNNAMED = 0.5;
const BOXLESS = 0.25;
const ELSEWHERE = 8;
const HOLDING_STAGES = ["variables", "slot variables"];
const SERVING_STAGES = ["initial values", "initializers", "save/restore"];
const SERVING_KINDS = ["constant", "no-op", "absent"];

class Finder {
  /** @param {Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.input = part("search", HTMLInputElement);
    this.popup = part("popup", HTMLElement);
    this.results = part("results", HTMLOListElement);
    /** @type {Hit[]} */
    this.hits = [];
    this.at = -1;
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("focus", () => this.find());
    this.input.addEventListener("blur", () => this.hide());
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  open() {
    this.input.focus();
    this.input.select();
  }

  /** Find a text that the panel says. @param {string} text */
  search(text) {
    this.input.value = text;
    this.open();
    this.find();
  }

  get isOpen() {
    return document.activeElement === this.input;
  }

  close() {
    this.hide();
    this.viewer.surface.element.focus();
  }

  hide() {
    this.popup.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** Find the nodes and the scopes of this page that a text names, and light them. */
  find() {
    const text = this.input.value.trim().toLowerCase();
    const matches = matcher(text);
    const { entries, panes } = this.viewer.book;
    const { page } = this.viewer;
    const here = new Set(page.nodes);
    const fits = (/** @type {[name: string, value: string]} */ [name, value]) => matches(`${name}=${value}`);
    const hits = text ? [...this.scopes(text, matches)] : [];
    // Nodes that are alike share their attributes: each list of them is looked at once for a search.
    /** @type {Map<[string, string][], boolean>} */ const known = new Map();
    const hasTrait = (/** @type {Entry} */ entry) => {
      if (entry.origin) return traitsOf(entry).some(fits);
      if (!known.has(entry.attributes)) known.set(entry.attributes, entry.attributes.some(fits));
      return known.get(entry.attributes);
    };
    for (const [node, entry] of text ? entries.slice(0, panes?.start).entries() : []) {
      const isNamed = matches(entry.name) || matches(entry.op);
      if (isNamed || entry.dtype === text || hasTrait(entry)) {
        const less = (isNamed ? 0 : UNNAMED) + (page.holders.has(node) ? BOXLESS : 0) + (here.has(node) ? 0 : ELSEWHERE);
        hits.push({ node, path: entry.name, rank: rankOf(entry, text) + less, first: node });
      }
    }
    this.hits = hits.sort((a, b) => a.rank - b.rank || a.first - b.first);
    this.at = -1;
    this.viewer.light(this.hits.flatMap(({ node }) => node ?? []));
    this.show(text);
  }

  /** The scopes of this page whose own name has the text. @param {string} text @param {(text: string) => boolean} matches
   * @returns {Generator<Hit>} */
  *scopes(text, matches) {
    const { page, isWhole } = this.viewer;
    for (const branch of branchesOf((isWhole ? page.whole : page.brief).root)) {
      const { path = "" } = branch;
      if (!path || !(matches(lastName(path)) || path.toLowerCase() === text)) continue;
      const first = [...membersOf(branch)].reduce((a, b) => Math.min(a, b));
      yield { node: null, path, rank: isCalled(path, text) ? NAMED : COMPUTING, first };
    }
  }

  /** @param {string} text */
  show(text) {
    const { entries } = this.viewer.book;
    const rows = this.hits.slice(0, MAX_RESULTS).map(({ node, path }, i) => {
      const [name, kind] = node === null ? [`${path}/`, "scope"] : [path, entries[node].op];
      const row = html("li", { id: `result-${i}`, role: "option", "aria-selected": "false" }, html("b", {}, name), ` ${kind}`);
      row.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.choose(i);
      });
      return row;
    });
    const { length } = this.hits;
    this.results.replaceChildren(...rows);
    part("count", HTMLElement).textContent = length > MAX_RESULTS ? `${MAX_RESULTS} of ${length.toLocaleString("en")}` : `${length} found`;
    this.popup.hidden = !text;
    this.input.setAttribute("aria-expanded", String(!!text));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) this.walk(step);
    else if (event.key === "Enter") this.choose(Math.max(this.at, 0));
    else return;
    event.preventDefault();
  }

  /** Go to the next result, or the one before, with the list left open. @param {number} step */
  walk(step) {
    const shown = Math.min(this.hits.length, MAX_RESULTS);
    if (!shown) return;
    this.at = this.at < 0 && step < 0 ? shown - 1 : (this.at + step + shown) % shown;
    for (const [i, row] of [...this.results.children].entries()) row.setAttribute("aria-selected", String(i === this.at));
    this.results.children[this.at].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `result-${this.at}`);
    this.go(this.hits[this.at], false);
  }

  /** Show a result and close the list. @param {number} index */
  choose(index) {
    if (index >= this.hits.length) return;
    this.at = index;
    this.go(this.hits[index], true);
    this.close();
  }

  /** @param {Hit} hit @param {boolean} isStep Whether Back leads to the selection before. */
  go({ node, path }, isStep) {
    if (node === null) this.viewer.jumpToScope(path, isStep);
    else this.viewer.jump(node, isStep);
  }

  /** Show the next result of the last search, or the one before. @param {number} step */
  next(step) {
    if (this.hits.length) this.choose((this.at + step + this.hits.length) % this.hits.length);
  }
}

/** What tells whether a text has the words of a search, or fits it as a regular expression. @param {string} words In lower case.
 * @returns {(text: string) => boolean} */
function matcher(words) {
  const expression = EXPRESSION.test(words) ? expressionOf(words) : null;
  return (text) => text.toLowerCase().includes(words) || (expression?.test(text) ?? false);
}

/** @param {string} words */
function expressionOf(words) {
  try {
    return new RegExp(words, "i");
  } catch {
    return null; // Half of an expression, while it is typed.
  }
}

/** @param {Entry} entry @param {string} text */
function rankOf({ name, op, kind, stage }, text) {
  if (isCalled(name, text)) return NAMED;
  if (SERVING_KINDS.includes(kind) || SERVING_STAGES.includes(stage) || op === "_Arg") return SERVING;
  return kind === "variable" || HOLDING_STAGES.includes(stage) ? HOLDING : COMPUTING;
}

/** Whether a text is a name or the last part of it. @param {string} name @param {string} text */
function isCalled(name, text) {
  return [name.toLowerCase(), lastName(name).toLowerCase()].includes(text);
}

/** The attributes of a node, after the name that the file has for it. @param {Entry} entry @returns {[name: string, value: string][]} */
function traitsOf({ attributes, origin }) {
  return origin ? [["in the file", origin], ...attributes] : attributes;
}

/** A branch and those in it. @param {Branch} branch @returns {Generator<Branch>} */
function* branchesOf(branch) {
  yield branch;
  for (const part of branch.parts ?? []) if (typeof part !== "number") yield* branchesOf(part);
}
