// @ts-check
"use strict";

/**
 * The picture of one page: which scopes are open, where boxes stand, how edges run. Nothing here touches the document.
 *
 * Every open scope is laid out by itself, so that opening one costs the layout of it and of those around it. Edges that enter or leave a
 * scope meet at one port at its top or bottom: an edge between two nodes runs through the ports of all scopes between them.
 *
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ from: Item, to: Item, links: number[], tensors?: [source: number, output: number][] }} Segment  A part of some links; from or
 *   to the scope itself means its port. The tensors are found when they are first asked for.
 * @typedef {{ segment: Segment, points: Point[] }} Route
 */

const PAD = 14;
const HEAD = 24;
const LINE = 15;
const MAX_LETTERS = 44;
/** How much straighter edges between boxes are to be than those to ports. Whole: the library's search does not end where sums are not exact. */
const WEIGHT = 4;
/** How many boxes may be shown when all scopes in one are opened. */
const MAX_SHOWN = 300;

/** More than there are boxes and scopes on a page. */
const MAX_ITEMS = 2 ** 26;

/** A node's box, or a scope: what has a place in a picture. */
class Item {
  /** How many scopes are around it. */
  depth = 0;

  /** @param {number} id @param {Scope | null} parent @param {string} label */
  constructor(id, parent, label) {
    this.id = id;
    this.parent = parent;
    this.label = label;
    this.depth = parent === null ? 0 : parent.depth + 1;
    this.width = 0;
    this.height = 0;
    /** Left upper corner, inside the scope around it. */
    this.x = 0;
    this.y = 0;
    /** What stands in the box, once it has a size. @type {string[]} */
    this.lines = [];
    /** @type {number[]} */
    this.nodes = [];
    this.share = 0;
  }

  /** @returns {Point} The left upper corner in the picture. */
  place() {
    const outer = this.parent?.place() ?? { x: 0, y: 0 };
    return { x: outer.x + this.x, y: outer.y + this.y };
  }

  /** True where no scope around it is closed. */
  get isShown() {
    for (let scope = this.parent; scope; scope = scope.parent) if (!scope.isOpen) return false;
    return true;
  }
}

class Leaf extends Item {
  /** @param {number} id @param {Scope} parent @param {string} label @param {number} node */
  constructor(id, parent, label, node) {
    super(id, parent, label);
    this.nodes = [node];
  }
}

class Scope extends Item {
  /** @param {number} id @param {Scope | null} parent @param {Branch} branch */
  constructor(id, parent, branch) {
    super(id, parent, branch.label ?? "");
    this.branch = branch;
    this.path = branch.path ?? "";
    this.contents = branch.contents ?? "";
    this.isOpen = branch.is_open === true || parent === null;
    this.nodes = [...membersOf(branch)];
    /** The links between nodes inside, until the scope is filled. @type {number[]} */
    this.inside = [];
    this.isFilled = false;
    /** What is in the scope, once it is filled. @type {Item[]} */
    this.parts = [];
    /** By the numbers of both ends. @type {Map<number, Segment>} */
    this.segments = new Map();
    /** @type {Route[]} */
    this.routes = [];
    this.isLaidOut = false;
    /** Where edges enter at the top and leave at the bottom. */
    this.entrance = 0;
    this.exit = 0;
  }

  /** What is drawn in it: boxes and open scopes, from the outside in. @returns {Generator<Item>} */
  *shown() {
    for (const part of this.parts) {
      yield part;
      if (part instanceof Scope && part.isOpen) yield* part.shown();
    }
  }
}

/** The nodes in a branch. @param {Branch} branch @returns {Generator<number>} */
function* membersOf(branch) {
  for (const part of branch.parts ?? []) {
    if (typeof part === "number") yield part;
    else yield* membersOf(part);
  }
}

/** The branches from a branch down to the one of a path. @param {Branch} branch @param {string} path @returns {Branch[] | null} */
function wayTo(branch, path) {
  if (branch.path === path) return [branch];
  for (const part of branch.parts ?? []) {
    const way = typeof part === "number" ? null : wayTo(part, path);
    if (way) return [branch, ...way];
  }
  return null;
}

/** The picture of a page. The inside of a scope is made when the scope opens, so that a closed scope costs nothing. */
class Scene {
  /** @param {Entry[]} entries @param {View} view @param {(text: string, bold: boolean) => number} measure Widths of texts. */
  constructor(entries, view, measure) {
    this.entries = entries;
    this.links = view.links;
    this.measure = measure;
    /** By their numbers. @type {Item[]} */
    this.items = [];
    /** The number of the innermost item made so far that has a node; -1 where none has. */
    this.innermost = new Int32Array(entries.length).fill(-1);
    this.root = this.makeScope(view.root, null);
    this.root.inside = view.links.map((_, i) => i);
    this.fill(this.root);
  }

  /** @template {Item} T @param {T} item @returns {T} */
  add(item) {
    this.items.push(item);
    for (const node of item.nodes) {
      this.innermost[node] = item.id;
      item.share += this.entries[node].share;
    }
    return item;
  }

  /** @param {Branch} branch @param {Scope | null} parent @returns {Scope} */
  makeScope(branch, parent) {
    const scope = this.add(new Scope(this.items.length, parent, branch));
    const nodes = scope.nodes.length;
    scope.lines = [`${shortened(scope.label)}/`, `${nodes.toLocaleString("en")} node${nodes === 1 ? "" : "s"}`, shortened(scope.contents), ...shareText(scope)];
    return scope;
  }

  /** Make what is in a scope, and in the open scopes in it. @param {Scope} scope */
  fill(scope) {
    if (scope.isFilled) return;
    scope.isFilled = true;
    const { parts = [], names = [] } = scope.branch;
    scope.parts = parts.map((part, i) =>
      typeof part === "number" ? this.add(new Leaf(this.items.length, scope, names[i] ?? "", part)) : this.makeScope(part, scope));
    const outer = [...(scope.parent?.segments.values() ?? [])].filter(({ from, to }) => from === scope || to === scope);
    const links = [...outer.flatMap((segment) => segment.links), ...scope.inside].sort((a, b) => a - b);
    for (const index of links) this.addLink(scope, index);
    scope.inside = [];
    for (const part of scope.parts) if (part instanceof Scope && part.isOpen) this.fill(part);
  }

  /** Give a scope its part of a link. @param {Scope} scope @param {number} index */
  addLink(scope, index) {
    const [source, target] = this.links[index];
    const [from, to] = [this.partWith(scope, source), this.partWith(scope, target)];
    if (!from || !to) return;
    if (from !== to) addSegment(scope, from, to, index);
    else if (from instanceof Scope) from.inside.push(index);
  }

  /** The part of a scope that has a node, the scope itself where the node is outside. @param {Scope} scope @param {number} node */
  partWith(scope, node) {
    const item = this.items[this.innermost[node]];
    return item && item.parent !== scope ? scope : item;
  }

  /** Open the scopes around a node. @param {number} node @returns {Item | undefined} */
  reveal(node) {
    const innermost = () => this.items[this.innermost[node]];
    for (let item = innermost(); item instanceof Scope && !item.isFilled; item = innermost()) this.setOpen(item, true);
    const leaf = innermost();
    for (let scope = leaf?.parent; scope; scope = scope.parent) if (!scope.isOpen) this.setOpen(scope, true);
    return leaf;
  }

  /** The scope of a path. @param {string} path @returns {Scope | undefined} */
  scopeOf(path) {
    let scope = /** @type {Scope | undefined} */ (this.root);
    for (const branch of wayTo(this.root.branch, path)?.slice(1) ?? []) {
      if (scope) this.fill(scope);
      scope = /** @type {Scope | undefined} */ (scope?.parts.find((part) => part instanceof Scope && part.branch === branch));
    }
    return scope?.path === path ? scope : undefined;
  }

  /** The nodes of which the picture says more than names: those with boxes, and those whose tensor alone is at an edge.
   * @returns {Generator<number>} */
  *described() {
    for (const item of [this.root, ...this.root.shown()]) {
      if (item instanceof Leaf) yield item.nodes[0];
      if (!(item instanceof Scope) || !item.isOpen) continue;
      for (const segment of item.segments.values()) {
        const tensors = this.tensorsOf(segment);
        if (tensors.length === 1) yield tensors[0][0];
      }
    }
  }

  /** @param {Scope} scope @param {boolean} isOpen */
  setOpen(scope, isOpen) {
    scope.isOpen = isOpen;
    if (isOpen) this.fill(scope);
    for (let outer = /** @type {Scope | null} */ (scope); outer; outer = outer.parent) outer.isLaidOut = false;
  }

  /** Open the scopes in one, the nearest first, as long as boxes stay few. @param {Scope} scope */
  openAll(scope) {
    let boxes = [...this.root.shown()].length;
    for (let level = [scope]; level.length; level = level.flatMap((s) => s.parts.filter((p) => p instanceof Scope))) {
      for (const one of level) {
        const more = one.isOpen ? 0 : one.branch.parts?.length ?? 0;
        if (boxes + more > MAX_SHOWN) return;
        boxes += more;
        this.setOpen(one, true);
      }
    }
  }

  /** Give everything that is shown its place. */
  layOut() {
    this.layOutScope(this.root);
  }

  /** @param {Scope} scope */
  layOutScope(scope) {
    if (scope.isLaidOut) return;
    for (const part of scope.parts) {
      if (part instanceof Scope && part.isOpen) this.layOutScope(part);
      else this.sizeBox(part);
    }
    arrange(scope);
    const label = this.measure(scope.label, true) + 44;
    scope.width = Math.max(scope.width, label);
    scope.isLaidOut = true;
  }

  /** @param {Item} item */
  sizeBox(item) {
    if (item instanceof Leaf) item.lines = this.linesOf(item);
    const widths = item.lines.map((line, i) => this.measure(line, i === 0));
    item.width = Math.max(56, ...widths) + 2 * PAD + (item instanceof Scope ? 16 : 0);
    item.height = item.lines.length * LINE + (item instanceof Scope ? 17 : 12);
  }

  /** @param {Leaf} leaf */
  linesOf(leaf) {
    const entry = this.entries[leaf.nodes[0]];
    return [leaf.label, ...(entry.op === leaf.label ? [] : [entry.op]), ...entry.constants, ...shareText(leaf)].map(shortened);
  }

  /** The scope's or node's box that shows a node now. @param {number} node @returns {Item | undefined} */
  boxOf(node) {
    /** @type {Item | undefined} */ let box = this.items[this.innermost[node]];
    for (let scope = box?.parent; scope; scope = scope.parent) if (!scope.isOpen) box = scope;
    return box;
  }

  /** The links that begin or end at nodes of an item, those inside it left out. @param {Item} item */
  linksOf(item) {
    const isInside = new Uint8Array(this.entries.length);
    for (const node of item.nodes) isInside[node] = 1;
    /** @type {Set<number>} */ const incoming = new Set();
    /** @type {Set<number>} */ const outgoing = new Set();
    this.links.forEach(([source, target], i) => {
      if (isInside[source] !== isInside[target]) (isInside[target] ? incoming : outgoing).add(i);
    });
    return { incoming, outgoing };
  }

  /** What a segment carries. @param {Segment} segment */
  kindOf(segment) {
    const data = segment.links.filter((i) => this.links[i][2] !== CONTROL);
    if (!data.length) return "control";
    const isReference = (/** @type {number} */ i) => this.entries[this.links[i][0]].references.includes(this.links[i][2]);
    return data.every(isReference) ? "reference" : "data";
  }

  /** What stands at a segment: the tensor, or how many there are. @param {Segment} segment */
  labelOf(segment) {
    const tensors = this.tensorsOf(segment);
    if (tensors.length > 1) return `${tensors.length} tensors`;
    return tensors.map(([source, output]) => this.entries[source].outputs[output] ?? "").join("");
  }

  /** The different tensors of a segment. @param {Segment} segment @returns {[source: number, output: number][]} */
  tensorsOf(segment) {
    if (!segment.tensors) {
      /** @type {Map<number, [number, number]>} */ const tensors = new Map();
      for (const i of segment.links) {
        const [source, , output] = this.links[i];
        if (output !== CONTROL) tensors.set(source * MAX_ITEMS + output, [source, output]);
      }
      segment.tensors = [...tensors.values()];
    }
    return segment.tensors;
  }
}

/** @param {Scope} scope @param {Item} from @param {Item} to @param {number} link */
function addSegment(scope, from, to, link) {
  const key = from.id * MAX_ITEMS + to.id;
  const segment = scope.segments.get(key);
  if (segment) segment.links.push(link);
  else scope.segments.set(key, { from, to, links: [link] });
}

/** Place the parts of a scope and route what runs between them. @param {Scope} scope */
function arrange(scope) {
  const graph = new dagre.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30, edgesep: 8 });
  const segments = [...scope.segments.values()];
  const linked = new Set(segments.flatMap((segment) => [segment.from, segment.to]));
  for (const part of scope.parts) if (linked.has(part)) graph.setNode(String(part.id), { width: part.width, height: part.height });
  const hasEntrance = segments.some((segment) => segment.from === scope);
  const hasExit = segments.some((segment) => segment.to === scope);
  if (hasEntrance) graph.setNode("entrance", { width: 2, height: 2 });
  if (hasExit) graph.setNode("exit", { width: 2, height: 2 });
  const ends = (/** @type {Segment} */ segment) => /** @type {[string, string]} */ ([
    segment.from === scope ? "entrance" : String(segment.from.id),
    segment.to === scope ? "exit" : String(segment.to.id),
  ]);
  for (const segment of segments) graph.setEdge(...ends(segment), { weight: segment.from === scope || segment.to === scope ? 1 : WEIGHT });
  if (linked.size) dagre.layout(graph);
  const top = scope.parent ? HEAD : 0;
  const routes = segments.map((segment) => graph.edge(...ends(segment)).points);
  const size = extent(linked.size ? graph.graph() : { width: 0, height: 0 }, routes);
  const shift = { x: PAD - size.left, y: PAD + top };
  for (const part of scope.parts) {
    if (linked.has(part)) {
      const { x, y } = graph.node(String(part.id));
      part.x = x - part.width / 2 + shift.x;
      part.y = y - part.height / 2 + shift.y;
    }
  }
  const rows = pack(scope.parts.filter((part) => !linked.has(part)), size.width, top + (linked.size ? size.height + 2 * PAD : PAD));
  scope.width = Math.max(size.width, rows.width) + 2 * PAD;
  scope.height = Math.max(rows.bottom, top + size.height + PAD) + PAD;
  scope.entrance = hasEntrance ? graph.node("entrance").x + shift.x : scope.width / 2;
  scope.exit = hasExit ? graph.node("exit").x + shift.x : scope.width / 2;
  scope.routes = segments.map((segment, i) => ({ segment, points: route(scope, segment, routes[i], shift) }));
}

/** What a layout takes with its edges, which the library lets stand out at both sides. @param {{ width: number, height: number }} size
 * @param {Point[][]} routes */
function extent({ width, height }, routes) {
  let [left, right] = [0, width];
  for (const points of routes) for (const { x } of points) [left, right] = [Math.min(left, x), Math.max(right, x)];
  return { left, width: right - left, height };
}

/** The points of a route, led to ports where it begins or ends at an open scope. @param {Scope} scope @param {Segment} segment
 * @param {Point[]} found @param {Point} shift @returns {Point[]} */
function route(scope, { from, to }, found, shift) {
  const points = found.map(({ x, y }) => ({ x: x + shift.x, y: y + shift.y }));
  const isBack = points[0].y > points[points.length - 1].y;
  const start = from === scope ? [{ x: scope.entrance, y: 0 }] : from instanceof Scope && from.isOpen ? around(from, isBack).reverse() : [points[0]];
  const end = to === scope ? [{ x: scope.exit, y: scope.height }] : to instanceof Scope && to.isOpen ? around(to, isBack, true) : points.slice(-1);
  return [...start, ...points.slice(1, -1), ...end];
}

/** The way to a port of an open scope: there straight, against the flow along its right side. @param {Scope} scope @param {boolean} isBack
 * @param {boolean} [isEntrance] @returns {Point[]} */
function around(scope, isBack, isEntrance = false) {
  const [top, bottom, right] = [scope.y, scope.y + scope.height, scope.x + scope.width + 8];
  const port = isEntrance ? { x: scope.x + scope.entrance, y: top } : { x: scope.x + scope.exit, y: bottom };
  if (!isBack) return [port];
  return isEntrance ? [{ x: right, y: bottom }, { x: right, y: top - 10 }, port] : [{ x: right, y: top }, { x: right, y: bottom + 10 }, port];
}

/** Place boxes that nothing is linked to in rows. @param {Item[]} parts @param {number} width @param {number} top */
function pack(parts, width, top) {
  const area = parts.reduce((sum, part) => sum + (part.width + PAD) * (part.height + PAD), 0);
  const limit = Math.max(width, Math.sqrt(area * 2.5));
  let [x, y, height, widest] = [0, top, 0, 0];
  for (const part of parts) {
    if (x > 0 && x + part.width > limit) [x, y, height] = [0, y + height + PAD, 0];
    [part.x, part.y] = [x + PAD, y];
    x += part.width + PAD;
    height = Math.max(height, part.height);
    widest = Math.max(widest, x - PAD);
  }
  return { width: widest, bottom: y + height };
}

/** A text with its middle left out where it is long. @param {string} text */
function shortened(text) {
  if (text.length <= MAX_LETTERS) return text;
  const kept = (MAX_LETTERS - 1) >> 1;
  return `${text.slice(0, kept)}…${text.slice(-kept)}`;
}

/** @param {Item} item */
function shareText({ share }) {
  return share >= 0.0005 ? [percent(share)] : [];
}

/** @param {number} share */
function percent(share) {
  return `${(100 * share).toFixed(1)}% of FLOPs`;
}
