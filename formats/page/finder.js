// @ts-check
"use strict";

/** Search by name and op: a text field with a list of results, as screen readers know them. */

const MAX_RESULTS = 60;

class Finder {
  /** @param {Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.input = part("search", HTMLInputElement);
    this.popup = part("popup", HTMLElement);
    this.results = part("results", HTMLOListElement);
    /** @type {number[]} */
    this.nodes = [];
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

  /** Find the nodes whose name or op has the text: nodes of this page first, then nodes whose last name is the text. */
  find() {
    const text = this.input.value.trim().toLowerCase();
    const { entries } = this.viewer.book;
    const here = new Set(this.viewer.page.nodes);
    const rank = (/** @type {number} */ node) => {
      const name = entries[node].name.toLowerCase();
      return (here.has(node) ? 0 : 8) + (name === text ? 0 : name.endsWith(`/${text}`) ? 1 : entries[node].op.toLowerCase() === text ? 2 : 3);
    };
    const all = text ? [...entries.keys()].filter((node) => `${entries[node].name}\n${entries[node].op}`.toLowerCase().includes(text)) : [];
    this.nodes = all.map((node) => ({ node, rank: rank(node) })).sort((a, b) => a.rank - b.rank || a.node - b.node).map(({ node }) => node);
    this.at = -1;
    this.show(text);
  }

  /** @param {string} text */
  show(text) {
    const { entries } = this.viewer.book;
    const rows = this.nodes.slice(0, MAX_RESULTS).map((node, i) => {
      const row = html("li", { id: `result-${i}`, role: "option", "aria-selected": "false" }, html("b", {}, entries[node].name), ` ${entries[node].op}`);
      row.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.choose(i);
      });
      return row;
    });
    const { length } = this.nodes;
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
    const shown = Math.min(this.nodes.length, MAX_RESULTS);
    if (!shown) return;
    this.at = this.at < 0 && step < 0 ? shown - 1 : (this.at + step + shown) % shown;
    for (const [i, row] of [...this.results.children].entries()) row.setAttribute("aria-selected", String(i === this.at));
    this.results.children[this.at].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `result-${this.at}`);
    this.viewer.jump(this.nodes[this.at], false);
  }

  /** Show a result and close the list. @param {number} index */
  choose(index) {
    if (index >= this.nodes.length) return;
    this.at = index;
    this.viewer.jump(this.nodes[index]);
    this.close();
  }

  /** Show the next result of the last search, or the one before. @param {number} step */
  next(step) {
    if (this.nodes.length) this.choose((this.at + step + this.nodes.length) % this.nodes.length);
  }
}
