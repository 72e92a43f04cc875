// @ts-check
"use strict";

/**
 * The picture as SVG, with pan and zoom. What a graph says is set as text, never as markup.
 *
 * @typedef {{ name: string, heat: number | null, parts: [name: string, part: number][], label?: string, labels?: string[] }} Paint  What colours a box, how hot it is
 *   from 0 to 1 where that does, of what the nodes in it are, and what stands above it, by the colour and by other overlays.
 * @typedef {{ item: Item, incoming: Set<number>, outgoing: Set<number> }} Chosen
 */

const SVG = "http://www.w3.org/2000/svg";
const MIN_ZOOM = 0.02;
const MAX_ZOOM = 4;
/** How far the pointer may move, in pixels, before a click is a pan. */
const CLICK = 4;

/** @param {string} name @param {Record<string, string | number>} attributes @param {(Node | string)[]} children @returns {SVGElement} */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

class Surface {
  /** @param {SVGSVGElement} element @param {SVGSVGElement} minimap @param {(item: Item | null, isHead: boolean) => void} onClick */
  constructor(element, minimap, onClick) {
    this.element = element;
    /** Another picture that is panned and zoomed as this one is. @type {Surface | null} */
    this.twin = null;
    this.minimap = new Minimap(minimap, (place) => this.lookAt(place));
    this.onClick = onClick;
    this.camera = { x: 0, y: 0, zoom: 1 };
    /** What stays free below the whole picture, for the legend, in pixels. */
    this.free = 0;
    /** The camera that the last fit left. @type {{ x: number, y: number, zoom: number } | null} */
    this.fitted = null;
    /** @type {Map<number, SVGElement>} */
    this.boxes = new Map();
    /** @type {Map<Segment, SVGElement>} */
    this.edges = new Map();
    /** @type {Map<number, Item>} */
    this.items = new Map();
    this.content = svg("g");
    element.append(markers(element.id), this.content);
    this.listen();
    /** The size of the window on the picture. */
    this.size = { width: 0, height: 0 };
    // A frame may get its size after the page has drawn the graph, in a notebook for instance.
    new ResizeObserver(() => this.resize()).observe(element);
  }

  /** @param {Scene} scene @param {(item: Item) => Paint} paint */
  draw(scene, paint) {
    this.scene = scene;
    this.paint = paint;
    this.boxes.clear();
    this.edges.clear();
    this.items.clear();
    this.content.replaceChildren(...this.parts(scene.root));
    this.recolour(paint);
    this.minimap.draw(scene);
    this.place();
  }

  /** What is in an open scope: frames, then edges with their words, then boxes. @param {Scope} scope @returns {SVGElement[]} */
  parts(scope) {
    const edges = scope.routes.map((route) => this.edge(scope, route));
    const words = scope.routes.flatMap(({ text, middle }) => (middle ? [svg("text", { class: "word", "aria-hidden": "true", x: middle.x, y: middle.y + 3 }, text)] : []));
    const isFrame = (/** @type {Item} */ part) => part instanceof Scope && part.isOpen;
    const frames = scope.parts.flatMap((part) => (part instanceof Scope && part.isOpen ? [this.frame(part)] : []));
    const boxes = scope.parts.filter((part) => !isFrame(part)).map((part) => this.box(part));
    return [...frames, ...edges, ...words, ...boxes];
  }

  /** @param {Item} item */
  box(item) {
    const kind = this.kindOf(item);
    const lines = item.lines.map((line, i) =>
      svg("text", { class: i === 0 ? "name" : "more", x: item.width / 2, y: 17 + i * LINE }, line));
    const sign = item instanceof Scope ? [svg("text", { class: "sign", x: item.width - 12, y: 16 }, "+")] : [];
    const element = svg("g", { class: `box ${kind.replace(" ", "-")}`, transform: `translate(${item.x},${item.y})`, "data-id": item.id },
      ...outline(kind, item.width, item.height), ...lines, ...sign);
    element.prepend(svg("title", {}, this.titleOf(item)));
    this.announce(element, item, item.lines.join(", "), item instanceof Scope ? false : null);
    this.boxes.set(item.id, element);
    this.items.set(item.id, item);
    return element;
  }

  /** @param {Scope} scope */
  frame(scope) {
    const element = svg("g", { class: "frame", transform: `translate(${scope.x},${scope.y})`, "data-id": scope.id },
      svg("rect", { class: "shape", width: scope.width, height: scope.height, rx: 8 }),
      ...this.parts(scope),
      svg("g", { class: "head" },
        svg("title", {}, `${scope.path}/: click to close`),
        svg("rect", { width: scope.width, height: HEAD, rx: 8 }),
        svg("text", { class: "name", x: 24, y: 16 }, scope.heading),
        svg("text", { class: "sign", x: 12, y: 16 }, "−")));
    this.announce(element, scope, scope.heading, true);
    this.boxes.set(scope.id, element);
    this.items.set(scope.id, scope);
    return element;
  }

  /** @param {Scope} scope @param {Route} route */
  edge(scope, { segment, points }) {
    const kind = this.sceneNow.kindOf(segment);
    const isEnd = segment.to !== scope && !(segment.to instanceof Scope && segment.to.isOpen);
    const width = Math.min(1 + Math.log2(segment.links.length) / 2, 4);
    const element = svg("path", { class: `edge ${kind}`, "aria-hidden": "true", d: curve(points), "stroke-width": width.toFixed(2), ...(isEnd ? { "marker-end": `url(#${this.element.id}-${kind})` } : {}) });
    this.edges.set(segment, element);
    return element;
  }

  /** Tell screen readers what an element is. @param {SVGElement} element @param {Item} item @param {string} text @param {boolean | null} isOpen
   * Null for what does not open. */
  announce(element, item, text, isOpen) {
    const fields = { id: this.idOf(item), role: isOpen ? "group" : "button", "aria-label": text, ...(isOpen === null ? {} : { "aria-expanded": isOpen }) };
    for (const [key, value] of Object.entries(fields)) element.setAttribute(key, String(value));
  }

  /** @param {Item} item */
  idOf(item) {
    return this.element.id === "surface" ? `item-${item.id}` : `${this.element.id}-${item.id}`;
  }

  get sceneNow() {
    if (!this.scene) throw new Error("nothing is drawn yet");
    return this.scene;
  }

  /** @param {Item} item */
  kindOf(item) {
    if (item instanceof Leaf || item instanceof Call) return this.sceneNow.entries[item.node].kind;
    return item instanceof Port ? "output" : "scope";
  }

  /** @param {Item} item */
  titleOf(item) {
    if (item instanceof Port) return item.lines.join("\n");
    if (!(item instanceof Leaf || item instanceof Call)) return `${item.label}/: click to open`;
    const entry = this.sceneNow.entries[item.node];
    return [entry.name, entry.op, ...entry.outputs, ...(item instanceof Call ? [`calls ${entry.calls.join(", ")}: click to open`] : [])].join("\n");
  }

  /** @param {(item: Item) => Paint} paint */
  recolour(paint) {
    for (const [id, element] of this.boxes) {
      const shape = /** @type {SVGElement | null} */ (element.querySelector(":scope > .shape"));
      const item = this.items.get(id);
      if (!shape || !item || element.classList.contains("frame")) continue;
      const { name, heat, parts, label, labels = [] } = paint(item);
      element.dataset.paint = name;
      shape.style.fill = heat === null ? "" : `color-mix(in oklab, var(--hot) ${Math.round(100 * Math.sqrt(heat))}%, var(--cold))`;
      element.querySelector(":scope > .bar")?.remove();
      if (parts.length > 1) shape.after(bar(item, parts));
      element.querySelector(":scope > .overlay")?.remove();
      const said = [label, ...labels].filter(Boolean).join(" · ");
      if (said) element.append(svg("text", { class: "overlay", x: item.width / 2, y: -4 }, shortened(said)));
    }
  }

  /** Mark what is selected, and the edges that lead to it and from it. @param {Chosen | null} selection */
  select(selection) {
    for (const [id, element] of this.boxes) element.classList.toggle("selected", id === selection?.item.id);
    for (const [segment, element] of this.edges) {
      element.classList.toggle("incoming", segment.links.some((i) => selection?.incoming.has(i)));
      element.classList.toggle("outgoing", segment.links.some((i) => selection?.outgoing.has(i)));
    }
    this.element.classList.toggle("has-selection", selection !== null);
    if (selection) this.element.setAttribute("aria-activedescendant", this.idOf(selection.item));
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Light boxes. @param {(item: Item) => boolean} isLit */
  light(isLit) {
    for (const [id, element] of this.boxes) {
      const item = this.items.get(id);
      element.classList.toggle("hit", item !== undefined && !(item instanceof Scope && item.isOpen) && isLit(item));
    }
  }

  /** What of the window shows the whole picture: the legend takes the rest. */
  get window() {
    const { width, height } = this.element.getBoundingClientRect();
    return { width, height: height - this.free };
  }

  /** The zoom at which the whole picture is shown. */
  get fitting() {
    const { width, height } = this.sceneNow.root;
    const size = this.window;
    return Math.max(Math.min(size.width / width, size.height / height, 1.25) * 0.97, MIN_ZOOM);
  }

  /** Show the whole picture, as large as its twin. */
  fit() {
    const { width, height } = this.sceneNow.root;
    const size = this.window;
    const zoom = Math.min(this.fitting, this.twin?.scene ? this.twin.fitting : Infinity);
    this.camera = { zoom, x: (size.width - width * zoom) / 2, y: (size.height - height * zoom) / 2 };
    this.fitted = this.camera;
    this.place();
  }

  /** Show the whole picture again if all of it was shown, else keep its middle in the middle of the window. */
  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    const moved = { x: (width - this.size.width) / 2, y: (height - this.size.height) / 2 };
    const isFirst = !this.size.width;
    this.size = { width, height };
    if (this.camera === this.fitted) this.fit();
    else if (this.scene && !isFirst) this.move(moved.x, moved.y);
  }

  /** Bring an item into the middle, large enough to be read. @param {Item} item */
  centre(item) {
    const { x, y } = item.place();
    const size = this.element.getBoundingClientRect();
    const zoom = Math.max(this.camera.zoom, 0.8);
    this.camera = { zoom, x: size.width / 2 - (x + item.width / 2) * zoom, y: size.height / 2 - (y + item.height / 2) * zoom };
    this.place();
    if (this.twin?.scene) this.twin.enlarge(zoom / this.twin.camera.zoom);
  }

  /** Bring a place of the picture into the middle. @param {Point} place */
  lookAt({ x, y }) {
    const { zoom, ...corner } = this.camera;
    const size = this.element.getBoundingClientRect();
    this.pan(size.width / 2 - x * zoom - corner.x, size.height / 2 - y * zoom - corner.y);
  }

  /** Where an item's corner is on the screen. @param {Item} item @returns {Point} */
  screenPlace(item) {
    const { x, y } = item.place();
    return { x: x * this.camera.zoom + this.camera.x, y: y * this.camera.zoom + this.camera.y };
  }

  /** Move the picture so that an item's corner is at a place on the screen. @param {Item} item @param {Point} place */
  hold(item, place) {
    const now = this.screenPlace(item);
    this.move(place.x - now.x, place.y - now.y);
  }

  /** Move the picture, and its twin. @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.move(dx, dy);
    this.twin?.move(dx, dy);
  }

  /** @param {number} dx @param {number} dy */
  move(dx, dy) {
    const { x, y, zoom } = this.camera;
    this.camera = { zoom, x: x + dx, y: y + dy };
    this.place();
  }

  /** Zoom the picture, and its twin. @param {number} factor @param {Point} [at] The place that stays where it is; the middle by default. */
  zoom(factor, at) {
    this.enlarge(factor, at);
    this.twin?.enlarge(factor, at);
  }

  /** @param {number} factor @param {Point} [at] */
  enlarge(factor, at) {
    const size = this.element.getBoundingClientRect();
    const { x, y } = at ?? { x: size.width / 2, y: size.height / 2 };
    const zoom = Math.min(Math.max(this.camera.zoom * factor, MIN_ZOOM), MAX_ZOOM);
    const ratio = zoom / this.camera.zoom;
    this.camera = { zoom, x: x - (x - this.camera.x) * ratio, y: y - (y - this.camera.y) * ratio };
    this.place();
  }

  place() {
    const { x, y, zoom } = this.camera;
    this.content.setAttribute("transform", `translate(${x},${y}) scale(${zoom})`);
    this.element.classList.toggle("far", zoom < 0.55);
    this.minimap.place(this.sceneNow, this.camera, this.element.getBoundingClientRect());
  }

  listen() {
    /** @type {{ x: number, y: number, moved: number } | null} */
    let drag = null;
    this.element.addEventListener("pointerdown", (event) => {
      if (event.button === 0) drag = { x: event.clientX, y: event.clientY, moved: 0 };
    });
    this.element.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      const moved = drag.moved + Math.abs(dx) + Math.abs(dy);
      if (moved > CLICK && !this.element.hasPointerCapture(event.pointerId)) this.element.setPointerCapture(event.pointerId);
      if (moved > CLICK) this.pan(dx, dy);
      drag = { x: event.clientX, y: event.clientY, moved };
    });
    this.element.addEventListener("pointerup", (event) => {
      if (drag && drag.moved <= CLICK) this.click(/** @type {Element} */ (event.target));
      drag = null;
    });
    this.element.addEventListener("pointercancel", () => (drag = null));
    this.element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const size = this.element.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), { x: event.clientX - size.left, y: event.clientY - size.top });
    }, { passive: false });
  }

  /** @param {Element} target */
  click(target) {
    const element = target.closest("[data-id]");
    const item = element instanceof SVGElement ? this.items.get(Number(element.dataset.id)) : undefined;
    this.onClick(item ?? null, target.closest(".head") !== null);
  }
}

/** The heads of edges. @param {string} surface The name of the picture. */
function markers(surface) {
  const head = (/** @type {string} */ id, /** @type {string} */ d) =>
    svg("marker", { id: `${surface}-${id}`, class: `head-${id}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d }));
  return svg("defs", {}, head("data", "M0 1L10 5L0 9z"), head("control", "M0 1L10 5L0 9z"), head("reference", "M0 5L5 1L10 5L5 9z"));
}

/** A strip at the lower edge of a scope's box that shows of what its nodes are. @param {Item} item @param {[string, number][]} parts */
function bar(item, parts) {
  const inside = item.width - 12;
  let x = 6;
  const pieces = parts.map(([name, part]) => {
    const piece = svg("g", { "data-paint": name }, svg("rect", { class: "shape", x, y: item.height - 7, width: part * inside, height: 4 }));
    x += part * inside;
    return piece;
  });
  return svg("g", { class: "bar" }, ...pieces);
}

/** A smooth line through points. @param {Point[]} points */
function curve(points) {
  const at = (/** @type {Point} */ { x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (/** @type {Point} */ a, /** @type {Point} */ b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  let path = `M${at(points[0])}`;
  for (let i = 1; i < points.length - 1; i++) {
    const end = i === points.length - 2 ? points[i + 1] : middle(points[i], points[i + 1]);
    path += `Q${at(points[i])} ${at(end)}`;
  }
  return points.length > 2 ? path : path + `L${at(points[points.length - 1])}`;
}

/** The outline of a box by kind; the first element is what is coloured. @param {string} kind @param {number} w @param {number} h */
function outline(kind, w, h) {
  const shape = (/** @type {string} */ d) => [svg("path", { class: "shape", d })];
  const rounded = (/** @type {number} */ rx) => [svg("rect", { class: "shape", width: w, height: h, rx })];
  switch (kind) {
    case "scope": return [svg("rect", { class: "behind", x: 4, y: 4, width: w, height: h, rx: 6 }), ...rounded(6)];
    case "input": return rounded(h / 2);
    case "variable": return shape(`M0 5C0 -2 ${w} -2 ${w} 5V${h - 5}C${w} ${h + 2} 0 ${h + 2} 0 ${h - 5}Z`);
    case "update": return shape(`M8 0H${w}L${w - 8} ${h}H0Z`);
    case "output": return shape(`M0 0H${w}V${h - 7}L${w / 2} ${h}L0 ${h - 7}Z`);
    case "control flow": return shape(`M10 0H${w - 10}L${w} ${h / 2}L${w - 10} ${h}H10L0 ${h / 2}Z`);
    case "random": return shape(`M6 0H${w - 6}L${w} 6V${h - 6}L${w - 6} ${h}H6L0 ${h - 6}V6Z`);
    case "constant": return shape(`M0 0H${w - 9}L${w} 9V${h}H0Z`);
    case "call": return [...rounded(0), svg("path", { class: "line", d: `M5 0V${h}M${w - 5} 0V${h}` })];
    case "absent": return [svg("rect", { class: "shape dashed", width: w, height: h })];
    case "no-op": return rounded(0);
    default: return rounded(6);
  }
}
