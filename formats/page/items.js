// @ts-check
"use strict";

/**
 * What stands in a picture: boxes of nodes, scopes, calls, and the nodes of called functions.
 *
 * @typedef {{ x: number, y: number }} Point
 * @typedef {[spot: number, output: number]} End  The number of a node in the picture, and of one of its outputs.
 * @typedef {{ from: Item, to: Item, links: number[], tensors?: [source: number, output: number][] }} Segment  A part of some links; from or
 *   to the scope itself means its port. The tensors are found when they are first asked for.
 * @typedef {{ segment: Segment, points: Point[], text: string, middle: Point | null }} Route  With the middle of the text at the edge.
 */

const LINE = 15;
const MAX_LETTERS = 44;
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

  /** Whether an item is this item or inside. @param {Item} item */
  holds(item) {
    /** @type {Item | null} */ let outer = item;
    while (outer && outer.depth > this.depth) outer = outer.parent;
    return outer === this;
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

/** A node's box. */
class Leaf extends Item {
  /** @param {number} id @param {Scope} parent @param {string} label @param {number} node @param {Body} body */
  constructor(id, parent, label, node, body) {
    super(id, parent, label);
    this.body = body;
    this.node = node;
    this.nodes = [node];
    this.path = body.pathOf(node);
  }
}

/** The box of an output of a signature or function, which no node of the graph stands for. */
class Port extends Item {
  /** @param {number} id @param {Scope} parent @param {string[]} lines */
  constructor(id, parent, lines) {
    super(id, parent, lines[0]);
    this.lines = lines;
  }
}

class Scope extends Item {
  /** @param {number} id @param {Scope | null} parent @param {Branch} branch @param {Body} body */
  constructor(id, parent, branch, body) {
    super(id, parent, branch.label ?? "");
    this.branch = branch;
    this.body = body;
    this.path = body.prefix + (branch.path ?? "");
    /** The name scope that the nodes in it have in common. @type {string} */
    this.around = branch.is_made && parent ? parent.around : branch.path ?? "";
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

  /** The text at the head of the frame. */
  get heading() {
    return `${this.label}/`;
  }

  /** What is drawn in it: boxes and open scopes, from the outside in. @returns {Generator<Item>} */
  *shown() {
    for (const part of this.parts) {
      yield part;
      if (part instanceof Scope && part.isOpen) yield* part.shown();
    }
  }
}

/** A node that calls functions: a box, or a frame with the nodes of the functions. */
class Call extends Scope {
  /** @param {number} id @param {Scope} parent @param {string} label @param {number} node @param {Body} body The body with the node. */
  constructor(id, parent, label, node, body) {
    super(id, parent, { label }, body);
    this.node = node;
    this.nodes = [node];
    this.path = body.pathOf(node);
    this.isFilled = true;
    /** The functions' nodes, once the call was opened. @type {Body[] | null} */
    this.bodies = null;
  }

  get heading() {
    const { op, calls } = this.body.scene.entries[this.node];
    const functions = shortened(calls.join(", "));
    return isGeneratedName(this.label, op) ? `${functions} · ${this.label}` : `${this.label} · ${functions}`;
  }

  /** The outputs of nodes in the functions that an output of the call is. @param {number} output @returns {End[]} */
  results(output) {
    const { passing } = this.body.scene.entries[this.node];
    const bodies = passing.length ? (this.bodies ?? []).slice(passing[1]) : [];
    const results = bodies.map((body) => (output in body.page.outputs ? body.tensor(body.page.outputs[output][1]) : null));
    return results.filter((end) => end !== null);
  }
}

/** The nodes of a page in a picture: the picture's own page, or a function in the frame of a call. */
class Body {
  /** @param {Scene} scene @param {Page} page @param {string} prefix The names of the calls around.
   * @param {number} shift From the numbers of nodes to their numbers in the picture. */
  constructor(scene, page, prefix, shift) {
    this.scene = scene;
    this.page = page;
    this.prefix = prefix;
    this.shift = shift;
    this.view = scene.isWhole ? page.whole : page.brief;
    /** The tensors that arguments of the function are, by the arguments. @type {Map<number, End>} */
    this.bound = new Map();
    /** What is around the nodes, the picture's root where nothing is. @type {Scope | null} */
    this.top = null;
    /** @type {Set<number> | null} */
    this.boxed = null;
    /** @type {Set<number> | null} */
    this.members = null;
  }

  /** Whether the page has a node; a scope asks for all its nodes. @param {number} node */
  has(node) {
    this.members ??= new Set(this.page.nodes);
    return this.members.has(node);
  }

  /** @param {number} node */
  pathOf(node) {
    return this.prefix + this.scene.entries[node].name;
  }

  /** Whether a node has a box in a scope that is or will be opened. @param {number} node */
  draws(node) {
    this.boxed ??= new Set(membersOf(this.view.root));
    return this.boxed.has(node);
  }

  /** The drawn node that an output comes from, past the nodes left out. @param {number} node @param {number} output @returns {End | null} */
  origin(node, output) {
    for (let steps = 0; steps <= this.page.nodes.length; steps++) {
      const end = this.bound.get(node);
      if (end) return this.scene.innermostEnd(end);
      if (this.draws(node)) return this.scene.innermostEnd([node + this.shift, output]);
      const [input] = this.scene.entries[node].inputs;
      if (!input) return null;
      [node, output] = input;
    }
    return null;
  }

  /** The drawn node that a tensor of the page comes from. @param {string} tensor @returns {End | null} */
  tensor(tensor) {
    const found = parseTensor(tensor, this.page, this.scene.entries);
    return found && this.origin(...found);
  }

  /** Unpack the nodes on the way from nodes back to drawn ones. @param {number[]} nodes */
  async describe(nodes) {
    for (let way = nodes; way.length; ) {
      await this.scene.book.store.describe(way);
      const before = way.filter((node) => !this.draws(node)).flatMap((node) => this.scene.entries[node].inputs.slice(0, 1));
      way = before.map(([source]) => source);
    }
  }

  /** The number of the item that draws a node: its own, its user's, or that of the tensor that is passed. @param {number} node */
  holder(node) {
    return this.bound.get(node)?.[0] ?? (this.draws(node) ? node : this.page.holders.get(node) ?? node) + this.shift;
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

/** The name of a node in the scope of a name. @param {string} name @param {string} scope */
function nameInside(name, scope) {
  if (name === scope) return lastName(name);
  return scope && name.startsWith(`${scope}/`) ? name.slice(scope.length + 1) : name;
}

/** Whether a node is called as its op is, with a number at most. @param {string} label @param {string} op */
function isGeneratedName(label, op) {
  return label.replace(/^.*\//, "").replace(/_\d+$/, "") === op;
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
