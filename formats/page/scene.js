// @ts-check
"use strict";

/**
 * The picture of one page: which scopes are open, where boxes stand, how edges run. Nothing here touches the document.
 *
 * Every open scope is laid out by itself, so that opening one costs the layout of it and of those around it. Edges that enter or leave a
 * scope meet at one port at its top or bottom: an edge between two nodes runs through the ports of all scopes between them.
 */

/** How large the letters at edges are against those of boxes. */
const WORD_SIZE = 9 / 11;
/** How many boxes may be shown when all scopes in one are opened. */
const MAX_SHOWN = 300;
/** How many boxes may be shown when the calls of a signature are opened. */
const MAX_INLINED = 60;
/** The part of their nodes that scopes of two graphs share at least, where one stands for the other. */
const LIKE = 0.4;

/** The picture of a page. The inside of a scope is made when the scope opens, so that a closed scope costs nothing. */
class Scene {
  /** @param {Book} book @param {Page} page @param {boolean} isWhole @param {(text: string, bold: boolean) => number} measure Widths of texts.
   * @param {Map<string, Page>} functions That nodes call. */
  constructor(book, page, isWhole, measure, functions = book.functions) {
    this.book = book;
    this.functions = functions;
    this.entries = book.entries;
    this.isWhole = isWhole;
    this.measure = measure;
    /** By their numbers. @type {Item[]} */
    this.items = [];
    /** The number of the innermost item made so far that has a node, by the node's number in the picture. @type {number[]} */
    this.innermost = [];
    /** The nodes whose numbers in the picture are not their own: of functions in frames of calls. */
    this.inlined = /** @type {number[]} */ ([]);
    this.body = new Body(this, page, "", 0);
    this.bodies = [this.body];
    this.links = [...this.body.view.links];
    this.root = this.makeScope(this.body.view.root, null, this.body);
    this.root.inside = this.links.map((_, i) => i);
    this.fill(this.root);
    this.isReady = false;
    /** What the page calls its inputs, by the nodes that are fed. @type {Map<number, string>} */
    this.inputNames = new Map();
  }

  /** Add outputs, and open the calls of a signature, before the first drawing. */
  async prepare() {
    if (this.isReady) return;
    this.isReady = true;
    const { page } = this.body;
    for (const [name, tensor] of page.inputs) this.inputNames.set(parseTensor(tensor, page, this.entries)?.[0] ?? -1, name);
    await this.body.describe(page.outputs.flatMap(([, tensor]) => parseTensor(tensor, page, this.entries)?.slice(0, 1) ?? []));
    this.addPorts();
    this.relink();
    if (this.body.page.kind === "signature") await this.openCalls();
  }

  /** The node of a number in the picture. @param {number} spot */
  nodeAt(spot) {
    return spot < this.entries.length ? spot : this.inlined[spot - this.entries.length];
  }

  /** What is known of the node of a number in the picture. @param {number} spot */
  entryAt(spot) {
    return this.entries[this.nodeAt(spot)];
  }

  /** @template {Item} T @param {T} item @param {Body} body @returns {T} */
  add(item, body) {
    this.items.push(item);
    for (const node of item.nodes) {
      if (!body.bound.has(node)) this.innermost[node + body.shift] = item.id;
      item.share += this.entries[node].share;
    }
    return item;
  }

  /** @param {Branch} branch @param {Scope | null} parent @param {Body} body @returns {Scope} */
  makeScope(branch, parent, body) {
    const scope = this.add(new Scope(this.items.length, parent, branch, body), body);
    const nodes = scope.nodes.length;
    scope.lines = [`${shortened(scope.label)}/`, `${nodes.toLocaleString("en")} node${nodes === 1 ? "" : "s"}`, shortened(scope.contents), ...shareText(scope)];
    return scope;
  }

  /** Make what is in a scope, and in the open scopes in it. @param {Scope} scope */
  fill(scope) {
    if (scope.isFilled) return;
    scope.isFilled = true;
    this.makeParts(scope, scope.branch, scope.body);
    this.distribute(scope);
    for (const part of scope.parts) if (part instanceof Scope && part.isOpen) this.fill(part);
  }

  /** Make the parts of a scope; arguments that are bound need no box. @param {Scope} scope @param {Branch} branch @param {Body} body */
  makeParts(scope, { parts = [] }, body) {
    for (const part of parts) {
      if (typeof part !== "number") scope.parts.push(this.makeScope(part, scope, body));
      else if (!body.bound.has(part)) scope.parts.push(this.makeNode(part, scope, nameInside(this.entries[part].name, scope.around), body));
    }
  }

  /** @param {number} node @param {Scope} parent @param {string} label @param {Body} body */
  makeNode(node, parent, label, body) {
    const isCall = this.pagesOf(node).length > 0;
    return this.add(new (isCall ? Call : Leaf)(this.items.length, parent, label, node, body), body);
  }

  /** The pages of the functions that a node calls. @param {number} node */
  pagesOf(node) {
    return this.entries[node].calls.flatMap((name) => this.functions.get(name) ?? []);
  }

  /** Give the parts of a scope the links that begin, end or run in the scope. @param {Scope} scope */
  distribute(scope) {
    const outer = [...(scope.parent?.segments.values() ?? [])].filter(({ from, to }) => from === scope || to === scope);
    const links = [...outer.flatMap((segment) => segment.links), ...scope.inside].sort((a, b) => a - b);
    for (const index of links) this.addLink(scope, index);
    scope.inside = [];
  }

  /** Distribute all links anew. */
  relink() {
    const scopes = this.items.filter((item) => item instanceof Scope);
    for (const scope of scopes) {
      scope.segments.clear();
      scope.inside = [];
      scope.isLaidOut = false;
    }
    this.root.inside = this.links.map((_, i) => i);
    for (const scope of scopes) if (scope.isFilled) this.distribute(scope);
  }

  /** Give a scope its part of a link. @param {Scope} scope @param {number} index */
  addLink(scope, index) {
    const [source, target] = this.links[index];
    const [from, to] = [this.partWith(scope, source), this.partWith(scope, target)];
    if (!from || !to) return;
    if (from !== to) addSegment(scope, from, to, index);
    else if (from instanceof Scope && from !== scope) from.inside.push(index);
  }

  /** The part of a scope that has a node, the scope itself where the node is outside. @param {Scope} scope @param {number} node */
  partWith(scope, node) {
    /** @type {Item | undefined} */ let item = this.items[this.innermost[node]];
    if (!item) return undefined;
    while (item.depth > scope.depth + 1 && item.parent) item = item.parent;
    return item.parent === scope ? item : scope;
  }

  /** Give each output of the page a box. */
  addPorts() {
    for (const [name, tensor, spec] of this.body.page.outputs) {
      const port = new Port(this.items.length, this.root, [name, spec].filter(Boolean).map(shortened));
      this.items.push(port);
      this.root.parts.push(port);
      const spot = this.entries.length + this.inlined.push(-1) - 1;
      this.innermost[spot] = port.id;
      const end = this.body.tensor(tensor);
      if (end) this.links.push([end[0], spot, end[1]]);
    }
  }

  /** The node in the function of an open call that an output comes from, if the output comes from a single node. @param {End} end @returns {End} */
  innermostEnd(end) {
    const call = this.items[this.innermost[end[0]]];
    const results = call instanceof Call ? call.results(end[1]) : [];
    return results.length === 1 ? results[0] : end;
  }

  /** Put the functions that a node calls into its frame. @param {Call} call */
  async fillCall(call) {
    const { store } = this.book;
    const pages = this.pagesOf(call.node);
    await store.describe([call.node]);
    await call.body.describe(this.entries[call.node].inputs.map(([source]) => source));
    for (const page of pages) await store.openView(page, this.isWhole);
    if (call.bodies) return;
    const bodies = pages.map((page) => this.makeBody(call, page, pages.length === 1));
    for (const body of bodies) {
      await body.describe(body.page.outputs.flatMap(([, tensor]) => parseTensor(tensor, body.page, this.entries)?.slice(0, 1) ?? []));
    }
    call.bodies = bodies;
    call.isLaidOut = false;
    this.bodies.push(...bodies);
    this.rewire(call, bodies);
    this.joinResults(call);
    for (const body of bodies) this.addLinks(body);
    this.relink();
    for (const body of bodies) if (body.top && body.top !== call) this.fill(body.top);
    for (const part of call.parts) if (part instanceof Scope && part.isOpen) this.fill(part);
  }

  /** The nodes of a function, in the frame of a call or in a scope of their own there. @param {Call} call @param {Page} page
   * @param {boolean} isOnly */
  makeBody(call, page, isOnly) {
    const body = new Body(this, page, `${call.path}/${isOnly ? "" : `${page.name}/`}`, this.entries.length + this.inlined.length - (page.nodes[0] ?? 0));
    for (const node of page.nodes) this.inlined.push(node);
    this.bind(call, body);
    if (isOnly) this.makeParts(call, body.view.root, body);
    else call.parts.push(this.makeScope({ ...body.view.root, label: page.name, path: "", is_open: true }, call, body));
    body.top = isOnly ? call : /** @type {Scope} */ (call.parts[call.parts.length - 1]);
    return body;
  }

  /** Bind the arguments of a function to the tensors that a call passes. @param {Call} call @param {Body} body */
  bind(call, body) {
    const { inputs, passing } = this.entries[call.node];
    if (!passing.length) return;
    const read = new Set(body.view.links.map(([source]) => source));
    body.page.inputs.forEach(([, tensor], i) => {
      const node = parseTensor(tensor, body.page, this.entries)?.[0];
      const input = inputs[passing[0] + i];
      const end = node !== undefined && input && read.has(node) ? call.body.origin(...input) : null;
      if (node !== undefined && end) body.bound.set(node, end);
    });
  }

  /** Lead the links of a call to the nodes of its functions. @param {Call} call @param {Body[]} bodies */
  rewire(call, bodies) {
    const spot = call.node + call.body.shift;
    const bound = new Set(bodies.flatMap((body) => [...body.bound.values()].map(String)));
    this.links = this.links.flatMap((link) => {
      const [source, target, output] = link;
      if (output === CONTROL) return [link];
      if (target === spot) return bound.has(String([source, output])) ? [] : [link];
      const ends = source === spot ? call.results(output) : [];
      return [ends.length === 1 ? /** @type {Link} */ ([ends[0][0], target, ends[0][1]]) : link];
    });
  }

  /** Lead results of several functions to the one place where they leave the frame of the call. @param {Call} call */
  joinResults(call) {
    this.entries[call.node].outputs.forEach((_, output) => {
      const results = call.results(output);
      if (results.length < 2) return;
      for (const [source, from] of results) this.links.push([source, call.node + call.body.shift, from]);
    });
  }

  /** @param {Body} body */
  addLinks(body) {
    for (const [source, target, output] of body.view.links) {
      const from = output === CONTROL ? /** @type {End} */ ([source + body.shift, CONTROL]) : body.origin(source, output);
      if (from) this.links.push([from[0], target + body.shift, from[1]]);
    }
  }

  /** Open calls, the nearest first, as long as boxes stay few. */
  async openCalls() {
    for (let calls = this.closedCalls(); calls.length; ) {
      for (const call of calls) {
        await this.open(call);
        if ([...this.root.shown()].length > MAX_INLINED) this.setOpen(call, false);
      }
      const tried = new Set(calls);
      calls = this.closedCalls().filter((call) => !tried.has(call));
    }
  }

  closedCalls() {
    return [...this.root.shown()].filter((item) => item instanceof Call).filter((call) => !call.isOpen);
  }

  /** Open a scope or call, once its nodes are unpacked. @param {Scope} scope */
  async open(scope) {
    if (scope instanceof Call && !scope.bodies) await this.fillCall(scope);
    this.setOpen(scope, true);
  }

  /** The innermost body that a path leads into. @param {string} path @returns {Body} */
  bodyOf(path) {
    return this.bodies.filter(({ prefix }) => path.startsWith(prefix)).reduce((a, b) => (b.prefix.length > a.prefix.length ? b : a));
  }

  /** The body that has a node, nearest to a path where several have. @param {number} node @param {string} path @returns {Body | undefined} */
  bodyWith(node, path) {
    const holders = this.bodies.filter((body) => body.has(node));
    return holders.sort((a, b) => Number(path.startsWith(b.prefix)) - Number(path.startsWith(a.prefix)) || b.prefix.length - a.prefix.length)[0];
  }

  /** A node by its path in the picture, and the number of what draws the node. @param {string} path */
  find(path) {
    const body = this.bodyOf(path);
    const node = nodesByName(body.page, this.entries).get(path.slice(body.prefix.length));
    return node === undefined ? null : { node, spot: body.holder(node) };
  }

  /** Fill the calls that a path leads through. @param {string} path */
  async fillTo(path) {
    for (;;) {
      const body = this.bodyOf(path);
      const names = nodesByName(body.page, this.entries);
      const rest = path.slice(body.prefix.length);
      if (names.has(rest)) return;
      const ends = [...rest.matchAll(/\//g)].map(({ index }) => names.get(rest.slice(0, index)));
      const node = ends.find((candidate) => candidate !== undefined && this.pagesOf(candidate).length);
      const call = node === undefined ? undefined : this.reveal(node + body.shift);
      if (!(call instanceof Call) || call.bodies) return;
      await this.open(call);
    }
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
    const body = this.bodyOf(path);
    let scope = /** @type {Scope | undefined} */ (body.top ?? this.root);
    for (const branch of wayTo(body.view.root, path.slice(body.prefix.length))?.slice(1) ?? []) {
      if (scope) this.fill(scope);
      scope = /** @type {Scope | undefined} */ (scope?.parts.find((part) => part instanceof Scope && part.branch === branch));
    }
    return scope?.path === path ? scope : undefined;
  }

  /** The nodes of which the picture says more than names: those with boxes, and those whose tensor alone is at an edge.
   * @returns {Generator<number>} */
  *described() {
    for (const item of [this.root, ...this.root.shown()]) {
      if (item instanceof Leaf || item instanceof Call) yield item.node;
      if (!(item instanceof Scope) || !item.isOpen) continue;
      for (const segment of item.segments.values()) {
        const tensors = this.tensorsOf(segment);
        if (tensors.length === 1) yield this.nodeAt(tensors[0][0]);
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
    const inner = (/** @type {Scope} */ outer) => outer.parts.filter((part) => part instanceof Scope).filter((part) => !(part instanceof Call));
    for (let level = [scope]; level.length; level = level.flatMap(inner)) {
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
    arrange(scope, (segment) => this.labelOf(segment), (text) => this.measure(text, false) * WORD_SIZE);
    const label = this.measure(scope.heading, true) + 44;
    scope.width = Math.max(scope.width, label);
    scope.isLaidOut = true;
  }

  /** @param {Item} item */
  sizeBox(item) {
    if (item instanceof Leaf || item instanceof Call) item.lines = this.linesOf(item);
    const widths = item.lines.map((line, i) => this.measure(line, i === 0));
    item.width = Math.max(56, ...widths) + 2 * PAD + (item instanceof Scope ? 16 : 0);
    item.height = item.lines.length * LINE + (item instanceof Scope ? 17 : 12);
  }

  /** The name, or the functions that a node of a generated name calls, and the op. @param {Leaf | Call} item */
  linesOf(item) {
    const { body, node, label } = item;
    const { op, calls, constants } = this.entries[node];
    const argument = body === this.body ? this.inputNames.get(node) : undefined;
    const names = [...(argument ? [argument] : []), ...(isGeneratedName(label, op) ? [...calls, label] : [label, ...calls]), op];
    return [...new Set(names), ...constants, ...shareText(item)].map(shortened);
  }

  /** The scope's or node's box that shows a node now. @param {number} node @returns {Item | undefined} */
  boxOf(node) {
    /** @type {Item | undefined} */ let box = this.items[this.innermost[node]];
    for (let scope = box?.parent; scope; scope = scope.parent) if (!scope.isOpen) box = scope;
    return box;
  }

  /** The scope of a path that holds one of some nodes, otherwise the one that holds most of them and few others; a call for a call.
   * @param {number[]} nodes @param {boolean} isCall @param {string} path @returns {Scope | undefined} */
  likeliest(nodes, isCall, path) {
    /** @type {Map<Scope, number>} */ const shared = new Map();
    for (const node of nodes) {
      const body = this.bodyWith(node, "");
      /** @type {Item | null} */ let item = body ? this.items[this.innermost[body.holder(node)]] : null;
      for (; item?.parent; item = item.parent) {
        if (item instanceof Scope && item instanceof Call === isCall) shared.set(item, (shared.get(item) ?? 0) + 1);
      }
    }
    const same = [...shared.keys()].find((scope) => scope.path === path);
    if (same) return same;
    const likeness = (/** @type {[Scope, number]} */ [scope, count]) => count / (scope.nodes.length + nodes.length - count);
    const best = [...shared].sort((a, b) => likeness(b) - likeness(a))[0];
    return best && likeness(best) > LIKE ? best[0] : undefined;
  }

  /** The links that begin or end at nodes of an item, those inside it left out. @param {Item} item */
  linksOf(item) {
    const isInside = new Map(this.items.map((other) => [other.id, item.holds(other)]));
    const holds = (/** @type {number} */ spot) => isInside.get(this.innermost[spot]) ?? false;
    /** @type {Set<number>} */ const incoming = new Set();
    /** @type {Set<number>} */ const outgoing = new Set();
    this.links.forEach(([source, target], i) => {
      if (holds(source) !== holds(target)) (holds(target) ? incoming : outgoing).add(i);
    });
    return { incoming, outgoing };
  }

  /** What a segment carries. @param {Segment} segment */
  kindOf(segment) {
    const data = segment.links.filter((i) => this.links[i][2] !== CONTROL);
    if (!data.length) return "control";
    const isReference = (/** @type {number} */ i) => this.entryAt(this.links[i][0]).references.includes(this.links[i][2]);
    return data.every(isReference) ? "reference" : "data";
  }

  /** What stands at a segment: the tensor, or how many there are. @param {Segment} segment */
  labelOf(segment) {
    const tensors = this.tensorsOf(segment);
    if (tensors.length > 1) return `${tensors.length} tensors`;
    return tensors.map(([source, output]) => this.entryAt(source).outputs[output] ?? "").join("");
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
