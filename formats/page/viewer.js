// @ts-check
"use strict";

/** What the page does: which page, colours and selection are shown, and what keys and buttons change of that. */

const MAX_RESULTS = 60;
const STEP = 80;

/** @template {Element} T @param {string} id @param {new () => T} kind @returns {T} */
function part(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

class Viewer {
  /** @param {Book} book */
  constructor(book) {
    this.book = book;
    this.page = book.pages[0];
    this.isWhole = false;
    /** What is selected: a node, or a scope by its path. @type {{ node: number } | { path: string } | null} */
    this.selected = null;
    /** @type {Map<string, Scene>} */
    this.scenes = new Map();
    this.colouring = colourings(book)[0];
    this.surface = new Surface(part("surface", SVGSVGElement), (item, isHead) => this.click(item, isHead));
    this.panel = new Panel(part("panel", HTMLElement), book, (node) => this.jump(node), (page) => this.turnTo(page));
    this.finder = new Finder(this);
    this.fillBar();
    document.addEventListener("keydown", (event) => this.key(event));
    this.turnTo(this.page);
  }

  fillBar() {
    part("title", HTMLHeadingElement).textContent = this.book.title;
    const pages = part("pages", HTMLSelectElement);
    pages.append(...this.book.pages.map((page, i) => html("option", { value: String(i) }, page.kind === "graph" ? "Graph" : `${page.kind}: ${page.name}`)));
    pages.addEventListener("change", () => this.turnTo(this.book.pages[Number(pages.value)]));
    const colours = part("colours", HTMLSelectElement);
    colours.append(...colourings(this.book).map(({ title }, i) => html("option", { value: String(i) }, title)));
    colours.addEventListener("change", () => this.colour(Number(colours.value)));
    const on = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id, HTMLButtonElement).addEventListener("click", act);
    on("whole", () => this.toggleWhole());
    on("zoom-in", () => this.surface.zoom(1.3));
    on("zoom-out", () => this.surface.zoom(1 / 1.3));
    on("fit", () => this.surface.fit());
    on("theme", () => this.toggleTheme());
    this.nameTheme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.nameTheme());
    on("help", () => part("keys", HTMLDialogElement).showModal());
  }

  /** The scene of this page, made when it is first looked at. @returns {Scene} */
  get scene() {
    const key = `${this.book.pages.indexOf(this.page)} ${this.isWhole}`;
    let scene = this.scenes.get(key);
    if (!scene) {
      scene = new Scene(this.book.entries, this.isWhole ? this.page.whole : this.page.brief, measure);
      this.scenes.set(key, scene);
    }
    return scene;
  }

  /** @param {Page} page */
  async turnTo(page) {
    await this.book.store.openView(page, this.isWhole);
    this.page = page;
    this.selected = null;
    part("pages", HTMLSelectElement).value = String(this.book.pages.indexOf(page));
    this.panel.turnTo(page);
    await this.draw();
    this.surface.fit();
    this.showSelection();
  }

  async toggleWhole() {
    await this.book.store.openView(this.page, !this.isWhole);
    this.isWhole = !this.isWhole;
    part("whole", HTMLButtonElement).setAttribute("aria-pressed", String(this.isWhole));
    await this.draw();
    this.surface.fit();
    if (this.selected && "node" in this.selected) await this.jump(this.selected.node);
    else this.showSelection();
  }

  toggleTheme() {
    document.documentElement.dataset.theme = this.isDark ? "light" : "dark";
    this.nameTheme();
  }

  get isDark() {
    return (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  }

  /** The button says what it changes to. */
  nameTheme() {
    part("theme", HTMLButtonElement).textContent = this.isDark ? "Light" : "Dark";
  }

  /** @param {number} index Of a colouring. */
  colour(index) {
    const all = colourings(this.book);
    this.colouring = all[index % all.length];
    part("colours", HTMLSelectElement).value = String(index % all.length);
    this.surface.recolour((item) => this.paint(item));
    this.drawLegend();
  }

  /** @param {Item} item @returns {Paint} */
  paint(item) {
    return this.colouring.paint(item, this.book);
  }

  /** Draw the page, once what its picture says is unpacked. */
  async draw() {
    await this.book.store.describe(this.scene.described());
    this.scene.layOut();
    this.surface.draw(this.scene, (item) => this.paint(item));
    this.drawLegend();
    this.markSelection();
  }

  drawLegend() {
    const items = [...this.scene.root.shown()].filter((item) => !(item instanceof Scope && item.isOpen));
    part("legend", HTMLElement).replaceChildren(...this.colouring.legend(items, this.book).map(({ name, text }) =>
      html("span", { "data-paint": name }, html("i"), text)));
  }

  /** @param {Item | null} item @param {boolean} isHead */
  click(item, isHead) {
    if (item instanceof Scope && (isHead || !item.isOpen)) this.toggle(item);
    else if (item instanceof Scope) this.select({ path: item.path });
    else this.select(item ? { node: item.nodes[0] } : null);
    this.surface.element.focus({ preventScroll: true });
  }

  /** Open or close a scope, which stays where it is on the screen. @param {Scope} scope */
  async toggle(scope) {
    const place = this.surface.screenPlace(scope);
    this.scene.setOpen(scope, !scope.isOpen);
    await this.draw();
    this.surface.hold(scope, place);
    this.select({ path: scope.path });
  }

  /** @param {{ node: number } | { path: string } | null} selected */
  select(selected) {
    this.selected = selected;
    this.showSelection();
  }

  /** The box or frame that stands for what is selected. @returns {Item | undefined} */
  get selectedItem() {
    if (!this.selected) return undefined;
    if ("path" in this.selected) return this.scene.scopeOf(this.selected.path);
    return this.scene.boxOf(this.drawnAs(this.selected.node));
  }

  /** The node in whose box a node is drawn. @param {number} node */
  drawnAs(node) {
    return this.isWhole ? node : this.page.holders.get(node) ?? node;
  }

  markSelection() {
    const item = this.selectedItem;
    this.surface.select(item ? { item, ...this.scene.linksOf(item) } : null);
  }

  async showSelection() {
    this.markSelection();
    const item = this.selectedItem;
    const { selected } = this;
    if (selected && "node" in selected) {
      await this.book.store.describe([selected.node]);
      const { inputs, controls } = this.book.entries[selected.node];
      await this.book.store.describe([...inputs.map(([source]) => source), ...controls]);
      if (selected !== this.selected) return;
      const holder = this.drawnAs(selected.node);
      this.panel.showNode(selected.node, holder === selected.node ? undefined : holder);
    } else if (item instanceof Scope) this.panel.showScope(item, this.book.entries);
    else this.panel.showPage(this.page);
  }

  /** Show a node: turn to a page that has it, open what it is in, bring it into the middle. @param {number} node */
  async jump(node) {
    if (!this.page.nodes.includes(node)) {
      const page = this.book.pages.find((candidate) => candidate.nodes.includes(node));
      if (page) await this.turnTo(page);
    }
    const leaf = this.scene.reveal(this.drawnAs(node));
    this.selected = { node };
    await this.draw();
    if (leaf) this.surface.centre(leaf);
    this.showSelection();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || part("keys", HTMLDialogElement).open) return;
    if (event.key === "Escape") {
      if (this.finder.isOpen) this.finder.close();
      else this.select(null);
      this.surface.element.focus();
      return;
    }
    if (target.matches("input, select") || (target.matches("button") && event.key === "Enter")) return;
    const act = this.keys()[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }

  /** @returns {Record<string, () => void>} */
  keys() {
    return {
      "/": () => this.finder.open(),
      "?": () => part("keys", HTMLDialogElement).showModal(),
      "+": () => this.surface.zoom(1.3),
      "=": () => this.surface.zoom(1.3),
      "-": () => this.surface.zoom(1 / 1.3),
      f: () => this.surface.fit(),
      a: () => this.toggleWhole(),
      c: () => this.colour(colourings(this.book).indexOf(this.colouring) + 1),
      d: () => this.toggleTheme(),
      e: () => this.expand(),
      Enter: () => this.expand(),
      E: () => this.expandAll(),
      ArrowUp: () => this.move(0, -1),
      ArrowDown: () => this.move(0, 1),
      ArrowLeft: () => this.move(-1, 0),
      ArrowRight: () => this.move(1, 0),
    };
  }

  expand() {
    const item = this.selectedItem;
    const scope = item instanceof Scope ? item : item?.parent;
    if (scope?.parent) this.toggle(scope);
  }

  async expandAll() {
    const item = this.selectedItem;
    this.scene.openAll(item instanceof Scope ? item : this.scene.root);
    await this.draw();
    if (item) this.surface.centre(item);
    else this.surface.fit();
  }

  /** Select the nearest box in a direction; move the picture where nothing is selected. @param {number} dx @param {number} dy */
  move(dx, dy) {
    const from = this.selectedItem;
    if (!from) return this.surface.pan(-dx * STEP, -dy * STEP);
    const start = middleOf(from);
    let [best, cost] = [/** @type {Item | null} */ (null), Infinity];
    for (const item of this.scene.root.shown()) {
      if (item === from || (item instanceof Scope && item.isOpen)) continue;
      const { x, y } = middleOf(item);
      const [along, across] = [(x - start.x) * dx + (y - start.y) * dy, Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx)];
      if (along > 1 && along + 3 * across < cost) [best, cost] = [item, along + 3 * across];
    }
    if (!best) return;
    this.select(best instanceof Scope ? { path: best.path } : { node: best.nodes[0] });
    this.surface.centre(best);
  }
}

/** Search by name and op. */
class Finder {
  /** @param {Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.input = part("search", HTMLInputElement);
    this.results = part("results", HTMLOListElement);
    /** @type {number[]} */
    this.found = [];
    this.at = -1;
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("focus", () => this.find());
    this.input.addEventListener("blur", () => setTimeout(() => (this.results.hidden = true), 200));
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
    this.results.hidden = true;
    this.input.blur();
  }

  /** The nodes in whose name or op the text is, those of this page and those whose last name it is first. */
  find() {
    const text = this.input.value.trim().toLowerCase();
    const { entries } = this.viewer.book;
    const here = new Set(this.viewer.page.nodes);
    const rank = (/** @type {number} */ node) => {
      const name = entries[node].name.toLowerCase();
      return (here.has(node) ? 0 : 8) + (name === text ? 0 : name.endsWith(`/${text}`) ? 1 : entries[node].op.toLowerCase() === text ? 2 : 3);
    };
    const all = text ? [...entries.keys()].filter((node) => `${entries[node].name}\n${entries[node].op}`.toLowerCase().includes(text)) : [];
    this.found = all.map((node) => ({ node, rank: rank(node) })).sort((a, b) => a.rank - b.rank || a.node - b.node).map(({ node }) => node);
    this.at = -1;
    this.show(text);
  }

  /** @param {string} text */
  show(text) {
    const { entries } = this.viewer.book;
    const rows = this.found.slice(0, MAX_RESULTS).map((node, i) => {
      const row = html("li", i === this.at ? { class: "now" } : {}, html("b", {}, entries[node].name), ` ${entries[node].op}`);
      row.addEventListener("pointerdown", () => this.go(i));
      return row;
    });
    const { length } = this.found;
    const more = length > MAX_RESULTS ? `${MAX_RESULTS} of ${length.toLocaleString("en")}` : `${length} found`;
    this.results.replaceChildren(...rows, html("li", { class: "aside" }, more));
    this.results.hidden = !text;
    this.results.querySelector(".now")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || !this.found.length) return;
    event.preventDefault();
    this.go((this.at + step + this.found.length) % this.found.length);
  }

  /** @param {number} index */
  go(index) {
    this.at = index;
    this.viewer.jump(this.found[index]);
    this.show(this.input.value.trim());
  }
}

/** @param {Item} item @returns {Point} */
function middleOf(item) {
  const { x, y } = item.place();
  return { x: x + item.width / 2, y: y + item.height / 2 };
}

/**
 * What boxes may be coloured by.
 *
 * @typedef {{ title: string, paint: (item: Item, book: Book) => Paint, legend: (items: Item[], book: Book) => { name: string, text: string }[] }} Colouring
 */

/** @type {Colouring[]} */
let made = [];

/** @param {Book} book @returns {Colouring[]} */
function colourings(book) {
  if (!made.length) {
    made = [
      byClass("Kind", book, (entry) => entry.kind, book.kinds, (item) => (item instanceof Scope ? "scope" : null)),
      byClass("Stage", book, (entry) => entry.stage, book.stages),
      ...(book.entries.some((entry) => entry.share > 0) ? [byHeat()] : []),
      byClass("Device", book, (entry) => entry.device || "no device"),
      byClass("Colocation", book, (entry) => (entry.group === null ? "with nobody" : `loc:@${book.groups[entry.group].root}`)),
    ];
  }
  return made;
}

/** Colour by what is true of most nodes in a box. @param {string} title @param {Book} book @param {(entry: Entry) => string} say
 * @param {string[]} [order] @param {(item: Item) => string | null} [instead] @returns {Colouring} */
function byClass(title, book, say, order, instead = () => null) {
  const known = order ?? [...new Set(book.entries.map(say))];
  const counts = (/** @type {Item} */ item) => count(item.nodes.map((node) => say(book.entries[node])));
  const value = (/** @type {Item} */ item) => instead(item) ?? counts(item)[0]?.[0] ?? "";
  const name = (/** @type {string} */ text) => (title === "Kind" ? text.replace(" ", "-") : `p${known.indexOf(text) % 12}`);
  return {
    title,
    paint: (item) => ({ name: name(value(item)), heat: null, parts: item.nodes.length > 1 ? counts(item).map(([text, n]) => [name(text), n / item.nodes.length]) : [] }),
    legend: (items) => {
      const present = new Set(items.flatMap((item) => [value(item), ...counts(item).map(([text]) => text)]));
      return known.filter((text) => present.has(text)).slice(0, 14).map((text) => ({ name: name(text), text }));
    },
  };
}

/** Colour by share of the FLOPs. @returns {Colouring} */
function byHeat() {
  return {
    title: "FLOPs",
    paint: (item) => ({ name: "heat", heat: Math.min(item.share, 1), parts: [] }),
    legend: () => [{ name: "cold", text: "no FLOPs" }, { name: "hot", text: "all FLOPs" }],
  };
}

const ruler = document.createElement("canvas").getContext("2d");
/** @type {Map<string, number>} */
const widths = new Map();

/** How wide a text is in a box. @param {string} text @param {boolean} isName */
function measure(text, isName) {
  const font = isName ? "600 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (ruler) ruler.font = font;
    width = ruler ? ruler.measureText(text).width : text.length * 7;
    widths.set(key, width);
  }
  return width;
}

/** Show the book that stands in the page. */
async function start() {
  const book = await readBook();
  await book.store.openView(book.pages[0], false);
  new Viewer(book);
}

start();
