// @ts-check
"use strict";

/** What the page does: which page, colours and selection are shown, and what keys and buttons change of that. */

const STEP = 80;
/** The pixels below and above the legend. */
const LEGEND_MARGIN = 14;

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
    this.page = this.firstPage;
    this.isWhole = false;
    /** What is selected: a node, whose box may be another node's, or a scope (`node` is null), by the path in the picture.
     * @type {{ node: number | null, path: string } | null} */
    this.selected = null;
    /** The overlays that stand above boxes beside the one that colours them. @type {Set<Colouring>} */
    this.labelled = new Set();
    /** What the last search found. @type {Set<number>} */
    this.hits = new Set();
    /** By the pages, briefly and with all nodes. @type {[brief: Map<Page, Scene>, whole: Map<Page, Scene>]} */
    this.scenes = [new Map(), new Map()];
    this.colouring = colourings(book).find(({ title }) => title === book.colour) ?? colourings(book)[0];
    this.surface = new Surface(part("surface", SVGSVGElement), part("minimap", SVGSVGElement), (item, isHead) => this.click(item, isHead));
    this.panel = new Panel(part("panel", HTMLElement), book, (node) => this.jump(node), (page) => this.turnTo(page), (path) => this.jumpToScope(path, true), (text) => this.finder.search(text));
    this.trail = new Trail(part("trail", HTMLElement), (item) => this.visit(item));
    this.finder = new Finder(this);
    this.twin = book.panes ? new Twin(this, book.panes) : null;
    this.address = new Address((place) => this.go(place));
    this.fillBar();
    document.addEventListener("keydown", (event) => this.key(event));
    this.go(this.address.place);
    for (const { element } of this.surfaces) {
      addEventListener("beforeprint", () => element.setAttribute("viewBox", `0 0 ${element.clientWidth} ${element.clientHeight}`));
      addEventListener("afterprint", () => element.removeAttribute("viewBox"));
    }
  }

  /** @returns {Surface[]} */
  get surfaces() {
    return this.twin ? [this.surface, this.twin.surface] : [this.surface];
  }

  /** The page with the second of two compared graphs, which is shown beside the first. @returns {Page | undefined} */
  get pageBeside() {
    return this.book.panes?.after[0];
  }

  get isBeside() {
    return this.page === this.pageBeside;
  }

  /** The picture of the first of two graphs, where it is shown. @returns {Twin | null} */
  get shownTwin() {
    return this.twin?.isShown ? this.twin : null;
  }

  get firstPage() {
    return this.book.pages[this.book.start];
  }

  fillBar() {
    part("title", HTMLHeadingElement).textContent = this.book.title;
    const pages = part("pages", HTMLSelectElement);
    pages.append(...this.book.pages.map((page, i) => html("option", { value: String(i) }, page.kind === "graph" ? "Graph" : `${page.kind}: ${page.name}`)));
    pages.addEventListener("change", () => this.turnTo(this.book.pages[Number(pages.value)]));
    const colours = part("colours", HTMLSelectElement);
    colours.append(...colourings(this.book).map(({ title }, i) => html("option", { value: String(i) }, title)));
    colours.value = String(colourings(this.book).indexOf(this.colouring));
    colours.addEventListener("change", () => this.colour(Number(colours.value)));
    this.fillLabels();
    const on = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id, HTMLButtonElement).addEventListener("click", act);
    on("whole", () => this.toggleWhole());
    on("beside", () => this.toggleBeside());
    part("beside", HTMLButtonElement).hidden = !this.book.panes;
    on("zoom-in", () => this.surface.zoom(1.3));
    on("zoom-out", () => this.surface.zoom(1 / 1.3));
    on("fit", () => this.fit());
    on("svg", () => saveSvg(this.surface.element, this.fileName));
    on("png", () => savePng(this.surface.element, this.fileName));
    on("theme", () => this.toggleTheme());
    this.nameTheme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.nameTheme());
    on("help", () => part("keys", HTMLDialogElement).showModal());
  }

  /** The name of a file with the picture, without its ending. */
  get fileName() {
    return [this.book.title, ...(this.page === this.firstPage ? [] : [pageTitle(this.page)])].join("_").replace(/[^\w.-]/g, "_");
  }

  /** The scene of this page, made when it is first looked at. @returns {Scene} */
  get scene() {
    const scenes = this.scenes[this.isWhole ? 1 : 0];
    let scene = scenes.get(this.page);
    if (!scene) {
      scene = new Scene(this.book, this.page, this.isWhole, measure, this.isBeside ? this.functionsBeside : this.book.functions);
      scenes.set(this.page, scene);
    }
    return scene;
  }

  /** The functions of the second of two graphs. @returns {Map<string, Page>} */
  get functionsBeside() {
    return functionsAmong(this.book.panes?.after ?? []);
  }

  /** @param {Page} page */
  async turnTo(page) {
    await this.openPage(page);
    await this.showSelection();
  }

  /** @param {Page} page */
  async openPage(page) {
    await this.book.store.openView(page, this.isWhole);
    this.page = page;
    this.selected = null;
    this.twin?.show(this.isBeside);
    part("beside", HTMLButtonElement).setAttribute("aria-pressed", String(this.isBeside));
    part("pages", HTMLSelectElement).value = String(this.isBeside ? 0 : this.book.pages.indexOf(page));
    await this.draw();
    this.fit();
  }

  /** Show all that is drawn. */
  fit() {
    for (const surface of this.surfaces) if (surface.scene) surface.fit();
  }

  /** Show two compared graphs side by side, or as one, with the same selection. */
  async toggleBeside() {
    if (!this.pageBeside) return;
    const node = this.selected?.node ?? null;
    await this.openPage(this.isBeside ? this.book.pages[0] : this.pageBeside);
    if (node === null) await this.showSelection();
    else await this.jump(node);
  }

  /** Show what an address says. @param {Place} place */
  async go({ page, node, scope, isClosed, isWhole, isBeside }) {
    this.setWhole(isWhole);
    if (isBeside && this.pageBeside) await this.goBeside(this.pageBeside, node, scope, isClosed);
    else await this.goTo(page, node, scope, isClosed);
  }

  /** @param {Page} page @param {string} node @param {string} scope @param {boolean} isClosed */
  async goBeside(page, node, scope, isClosed) {
    await this.openPage(page);
    const found = nodesByName(this.book.pages[0], this.book.entries).get(node);
    if (scope) await this.showScope(scope, !isClosed);
    else if (node && (await this.showPath(node, false))) return;
    else if (found !== undefined) return this.jump(found, false);
    await this.showSelection(false);
  }

  /** @param {string} page @param {string} node @param {string} scope @param {boolean} isClosed */
  async goTo(page, node, scope, isClosed) {
    const pages = page ? this.book.pages.filter((candidate) => pageKey(candidate) === page) : [this.firstPage, ...this.book.pages];
    const has = (/** @type {Page} */ candidate) => nodesByName(candidate, this.book.entries).has(node);
    await this.openPage((node ? pages.find(has) : undefined) ?? pages[0] ?? this.firstPage);
    if (scope) await this.showScope(scope, !isClosed);
    else if (node && (await this.showPath(node, false))) return;
    await this.showSelection(false);
  }

  /** What the address says of what is shown. @returns {Place} */
  get place() {
    const item = this.selectedItem;
    const path = this.selected?.path ?? "";
    const isNode = this.selected !== null && this.selected.node !== null;
    return {
      page: this.page === this.firstPage || this.isBeside ? "" : pageKey(this.page),
      node: isNode ? path : "", scope: isNode ? "" : path,
      isClosed: !isNode && item instanceof Scope && !item.isOpen, isWhole: this.isWhole, isBeside: this.isBeside,
    };
  }

  async toggleWhole() {
    const path = this.selected && this.selected.node !== null ? this.selected.path : "";
    this.setWhole(!this.isWhole);
    await this.openPage(this.page);
    if (!path || !(await this.showPath(path))) await this.showSelection();
  }

  /** @param {boolean} isWhole */
  setWhole(isWhole) {
    this.isWhole = isWhole;
    part("whole", HTMLButtonElement).setAttribute("aria-pressed", String(isWhole));
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
    this.recolour();
    this.drawLegend();
  }

  recolour() {
    for (const surface of this.surfaces) surface.recolour((item) => this.paint(item));
  }

  /** @param {Item} item @returns {Paint} */
  paint(item) {
    const others = [...this.labelled].filter((other) => other !== this.colouring);
    return { ...this.colouring.paint(item, this.book), labels: others.flatMap((other) => other.paint(item, this.book).label ?? []) };
  }

  /** Fill the list of overlays that may stand above boxes, several at once. */
  fillLabels() {
    const overlays = colourings(this.book).slice(-this.book.overlays.length || colourings(this.book).length);
    const rows = overlays.map((overlay) => {
      const box = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox" }));
      box.addEventListener("change", () => {
        if (box.checked) this.labelled.add(overlay);
        else this.labelled.delete(overlay);
        this.recolour();
      });
      return html("label", {}, box, ` ${overlay.title}`);
    });
    part("labels", HTMLDetailsElement).append(html("div", { class: "choices" }, ...rows));
    part("labels", HTMLDetailsElement).hidden = !this.book.overlays.length;
  }

  /** Draw the page, once what its picture says is unpacked. */
  async draw() {
    const { scene } = this;
    await scene.prepare();
    await this.book.store.describe(scene.described());
    if (scene !== this.scene) return;
    scene.layOut();
    this.surface.draw(this.scene, (item) => this.paint(item));
    await this.shownTwin?.draw();
    this.drawLegend();
    this.markSelection();
    this.light([...this.hits]);
  }

  drawLegend() {
    const roots = [this.scene.root, ...(this.shownTwin?.scene ? [this.shownTwin.scene.root] : [])];
    const items = roots.flatMap((root) => [...root.shown()]).filter((item) => !(item instanceof Scope && item.isOpen));
    const legend = part("legend", HTMLElement);
    legend.replaceChildren(...this.colouring.legend(items, this.book).map(({ name, text }) =>
      html("span", { "data-paint": name }, html("i"), text)));
    for (const surface of this.surfaces) surface.free = legend.offsetHeight + LEGEND_MARGIN;
  }

  /** @param {Item | null} item @param {boolean} isHead */
  click(item, isHead) {
    if (item instanceof Scope && (isHead || !item.isOpen)) this.toggle(item);
    else this.select(item);
    this.surface.element.focus({ preventScroll: true });
  }

  /** Open or close a scope or call, which stays at the same place on the screen. @param {Scope} scope */
  async toggle(scope) {
    await keepPlace(this.surface, scope, async () => {
      await setOpenIn(this.scene, scope, !scope.isOpen);
      if (this.shownTwin) await this.shownTwin.follow(scope, await this.shownTwin.ready());
      await this.draw();
    });
    await this.select(scope);
  }

  /** @param {Item | null} item @param {boolean} [isStep] Whether Back leads to the selection before. */
  async select(item, isStep = true) {
    if (item instanceof Leaf || item instanceof Call) this.selected = { node: item.node, path: item.path };
    else this.selected = item instanceof Scope && item.parent ? { node: null, path: item.path } : null;
    await this.showSelection(isStep);
  }

  /** Select a node that has a box in one of two pictures. @param {number} node @param {boolean} isStep Whether Back leads to the selection before. */
  async selectNode(node, isStep) {
    const body = this.scene.bodyWith(node, "");
    this.selected = { node, path: (body?.prefix ?? "") + this.book.entries[node].name };
    await this.showSelection(isStep);
  }

  /** Select an item and bring it into the middle. @param {Item | null} item */
  visit(item) {
    if (item) this.surface.centre(item);
    else this.surface.fit();
    this.select(item);
  }

  /** The box or frame that stands for what is selected. @returns {Item | undefined} */
  get selectedItem() {
    if (!this.selected) return undefined;
    const { node, path } = this.selected;
    if (node === null) return this.scene.scopeOf(path);
    const match = this.scene.find(path);
    return match ? this.scene.boxOf(match.spot) : undefined;
  }

  /** Light the boxes with nodes that a search found. @param {number[]} nodes */
  light(nodes) {
    this.hits = new Set(nodes);
    this.surface.light((item) => item.nodes.some((node) => this.hits.has(node)));
    this.shownTwin?.surface.light((item) => item.nodes.some((node) => this.hits.has(this.shownTwin?.panes.merged.get(node) ?? -1)));
  }

  markSelection() {
    const item = this.selectedItem;
    this.surface.select(item ? { item, ...this.scene.linksOf(item) } : null);
    this.shownTwin?.mark();
  }

  /** @param {boolean} [isStep] Whether Back leads to the selection before. */
  async showSelection(isStep = true) {
    if (this.twin) this.twin.own = null;
    this.markSelection();
    const item = this.selectedItem;
    const { selected } = this;
    const { node = null, path = "" } = selected ?? {};
    if (node !== null) {
      await this.book.store.describe([node]);
      const { inputs, controls, weights } = this.book.entries[node];
      await this.book.store.describe([...inputs.map(([source]) => source), ...controls, ...weights]);
      if (selected !== this.selected) return;
    }
    this.panel.turnTo(this.scene.bodyOf(path).page);
    if (node !== null) {
      const holder = this.scene.nodeAt(this.scene.find(path)?.spot ?? node);
      this.panel.showNode(node, holder === node ? undefined : holder);
    } else if (item instanceof Scope) this.panel.showScope(item, this.book.entries);
    else this.panel.showPage(this.page, this.page === this.firstPage);
    this.trail.show(pageTitle(this.page), item, node === null ? item?.label ?? "" : lastName(this.book.entries[node].name));
    this.address.write(this.place, isStep);
  }

  /** Show a node: in this picture if it is there, else on a page that has it. @param {number} node @param {boolean} [isStep] */
  async jump(node, isStep = true) {
    const body = this.scene.bodyWith(node, this.selected?.path ?? "");
    if (!body && this.shownTwin?.panes.first.has(node)) {
      await this.selectNode(node, isStep);
      return this.shownTwin.reveal(node);
    }
    const page = body ? null : this.book.pages.find((candidate) => candidate.nodes.includes(node));
    if (page) await this.openPage(page);
    await this.showPath((body?.prefix ?? "") + this.book.entries[node].name, isStep);
  }

  /** Show a node of the picture: open what it is in, bring it into the middle. @param {string} path @param {boolean} [isStep] */
  async showPath(path, isStep = true) {
    await this.scene.fillTo(path);
    const match = this.scene.find(path);
    if (!match) return false;
    this.scene.reveal(match.spot);
    this.selected = { node: match.node, path };
    await this.draw();
    if (this.selectedItem) this.surface.centre(this.selectedItem);
    await this.shownTwin?.reveal(match.node);
    await this.showSelection(isStep);
    return true;
  }

  /** Show a scope of the picture and open it. @param {string} path @param {boolean} isStep Whether Back leads to the selection before. */
  async jumpToScope(path, isStep) {
    await this.showScope(path, true);
    await this.showSelection(isStep);
  }

  /** Select a scope and bring it into the middle. @param {string} path @param {boolean} isOpen */
  async showScope(path, isOpen) {
    await this.scene.fillTo(path);
    const scope = this.scene.scopeOf(path);
    if (!scope) return;
    for (let outer = scope.parent; outer; outer = outer.parent) this.scene.setOpen(outer, true);
    this.scene.setOpen(scope, isOpen);
    this.selected = { node: null, path };
    if (this.shownTwin) await this.shownTwin.follow(scope, await this.shownTwin.ready());
    await this.draw();
    this.surface.centre(scope);
    const like = this.shownTwin?.selectedItem;
    if (like) this.shownTwin?.surface.centre(like);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || part("keys", HTMLDialogElement).open) return;
    if (event.key === "Escape") {
      if (this.finder.isOpen) this.finder.close();
      else {
        this.light([]);
        this.select(null);
      }
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
      n: () => this.finder.next(1),
      N: () => this.finder.next(-1),
      "?": () => part("keys", HTMLDialogElement).showModal(),
      "+": () => this.surface.zoom(1.3),
      "=": () => this.surface.zoom(1.3),
      "-": () => this.surface.zoom(1 / 1.3),
      f: () => this.fit(),
      s: () => this.toggleBeside(),
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

  /** The picture that the keys are for: the one with the focus, otherwise the one that has the selection. */
  get focused() {
    const { twin } = this;
    const isTwin = twin !== null && twin.isShown && (twin.surface.element === document.activeElement || (!this.selectedItem && twin.selectedItem));
    return isTwin && twin.scene ? { holder: twin, surface: twin.surface, scene: twin.scene } : { holder: this, surface: this.surface, scene: this.scene };
  }

  expand() {
    const { holder } = this.focused;
    const item = holder.selectedItem;
    const scope = item instanceof Scope ? item : item?.parent;
    if (scope?.parent) holder.toggle(scope);
  }

  async expandAll() {
    const { holder, scene, surface } = this.focused;
    const item = holder.selectedItem;
    const other = this.shownTwin && (holder === this ? this.shownTwin : this);
    const [like, otherScene] = [other?.selectedItem, other?.scene];
    scene.openAll(item instanceof Scope ? item : scene.root);
    if (otherScene) otherScene.openAll(like instanceof Scope ? like : otherScene.root);
    await this.draw();
    if (item) surface.centre(item);
    else this.fit();
  }

  /** Select the nearest box in a direction; move the picture where nothing is selected. @param {number} dx @param {number} dy */
  move(dx, dy) {
    const { holder, scene, surface } = this.focused;
    const from = holder.selectedItem;
    if (!from) return surface.pan(-dx * STEP, -dy * STEP);
    const start = middleOf(from);
    let [best, cost] = [/** @type {Item | null} */ (null), Infinity];
    for (const item of scene.root.shown()) {
      if (item === from || item instanceof Port || (item instanceof Scope && item.isOpen)) continue;
      const { x, y } = middleOf(item);
      const [along, across] = [(x - start.x) * dx + (y - start.y) * dy, Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx)];
      if (along > 1 && along + 3 * across < cost) [best, cost] = [item, along + 3 * across];
    }
    if (!best) return;
    surface.centre(best);
    holder.select(best, false);
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
      byClass("Kind", book, (entry) => entry.kind, book.kinds, ownKind),
      byClass("Stage", book, (entry) => entry.stage, book.stages),
      ...(book.entries.some((entry) => entry.share > 0) ? [byHeat()] : []),
      byClass("Device", book, (entry) => entry.device || "no device"),
      byClass("Colocation", book, (entry) => (entry.group === null ? "with nobody" : `loc:@${book.groups[entry.group].root}`)),
      ...book.overlays.map((overlay) => byOverlay(overlay, book)),
    ];
  }
  return made;
}

/** The kind of a box that stands for no single node. @param {Item} item */
function ownKind(item) {
  if (item instanceof Port) return "output";
  return item instanceof Scope && !(item instanceof Call) ? "scope" : null;
}

/** Colour by what is true of most nodes in a box. @param {string} title @param {Book} book @param {(entry: Entry) => string} say
 * @param {string[]} [order] @param {(item: Item) => string | null} [instead] @returns {Colouring} */
function byClass(title, book, say, order, instead = () => null) {
  const known = order ?? [...new Set(book.entries.map(say))];
  const counts = (/** @type {Item} */ item) => count(item.nodes.map((node) => say(book.entries[node])));
  const value = (/** @type {Item} */ item) => instead(item) ?? counts(item)[0]?.[0] ?? "";
  const name = (/** @type {string} */ text) => (title === "Kind" ? text.replace(" ", "-") : text ? `p${known.indexOf(text) % 12}` : "scope");
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
  await book.store.openView(book.pages[book.start], false);
  new Viewer(book);
}

start();
