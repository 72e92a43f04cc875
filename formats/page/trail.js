// @ts-check
"use strict";

/** The way from the page through its scopes to what is selected. Each step is a button that selects. */
class Trail {
  /** @param {HTMLElement} element @param {(item: Item | null) => void} onSelect */
  constructor(element, onSelect) {
    this.element = element;
    this.onSelect = onSelect;
  }

  /** @param {string} title Of the page. @param {Item | undefined} item @param {string} name Of the selected node or scope. */
  show(title, item, name) {
    /** @type {Item[]} */ const outer = [];
    for (let scope = item?.parent; scope?.parent; scope = scope.parent) outer.unshift(scope);
    const steps = [this.step(title, null), ...outer.map((scope) => this.step(scope.label, scope))];
    const last = name ? [html("li", { "aria-current": "true" }, name)] : [];
    this.element.replaceChildren(html("ol", {}, ...steps, ...last));
    this.element.hidden = !name;
  }

  /** @param {string} text @param {Item | null} item */
  step(text, item) {
    const button = html("button", { type: "button", class: "link" }, text);
    button.addEventListener("click", () => this.onSelect(item));
    return html("li", {}, button);
  }
}
