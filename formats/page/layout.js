// @ts-check
"use strict";

/** Where the parts of a scope stand, and how edges run between them. */

const PAD = 14;
const HEAD = 24;
/** How much straighter edges between boxes are to be than those to ports. Whole: the library's search does not end where sums are not exact. */
const WEIGHT = 4;

/** The height of a text at an edge. */
const WORD = 11;

/** Place the parts of a scope and route what runs between them; the texts at edges have places of their own.
 * @param {Scope} scope @param {(segment: Segment) => string} textOf @param {(text: string) => number} measure */
function arrange(scope, textOf, measure) {
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
  // What enters as a single segment has its text outside, and so has what leaves.
  const isSaid = (/** @type {Segment} */ segment) => segment.to === scope || (segment.from === scope && entering === 1);
  const entering = segments.filter((segment) => segment.from === scope).length;
  const texts = segments.map((segment) => (isSaid(segment) ? "" : shortened(textOf(segment))));
  segments.forEach((segment, i) => {
    const size = texts[i] ? { width: measure(texts[i]) + 6, height: WORD, labelpos: "c" } : {};
    graph.setEdge(...ends(segment), { weight: segment.from === scope || segment.to === scope ? 1 : WEIGHT, ...size });
  });
  if (linked.size) dagre.layout(graph);
  const top = scope.parent ? HEAD : 0;
  const edges = segments.map((segment) => graph.edge(...ends(segment)));
  const size = extent(linked.size ? graph.graph() : { width: 0, height: 0 }, edges.map(({ points }) => points));
  const boxes = [...linked].filter((part) => part !== scope).map((part) => graph.node(String(part.id)));
  const { first, last } = used(scope, boxes, edges, texts);
  size.height = Math.min(size.height, last) - first;
  const shift = { x: PAD - size.left, y: PAD + top - first };
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
  scope.routes = segments.map((segment, i) => {
    const { points, x, y } = edges[i];
    const middle = texts[i] && x !== undefined && y !== undefined ? { x: x + shift.x, y: y + shift.y } : null;
    const inside = points.filter(({ y }, at) => at === 0 || at === points.length - 1 || (y >= first && y <= last));
    return { segment, points: throughText(route(scope, segment, inside, shift), middle), text: texts[i], middle };
  });
}

/** Where boxes, texts and the edges between boxes begin and end: the library leaves room for a text at ports, too.
 * @param {Scope} scope @param {{ y: number, height: number }[]} boxes @param {{ points: Point[], y?: number }[]} edges @param {string[]} texts */
function used(scope, boxes, edges, texts) {
  let [first, last] = boxes.length ? [Infinity, -Infinity] : [0, 0];
  const take = (/** @type {number} */ from, /** @type {number} */ to) => ([first, last] = [Math.min(first, from), Math.max(last, to)]);
  for (const { y, height } of boxes) take(y - height / 2, y + height / 2);
  [...scope.segments.values()].forEach(({ from, to }, i) => {
    const { points, y } = edges[i];
    if (from !== scope && to !== scope) for (const point of points) take(point.y, point.y);
    if (texts[i] && y !== undefined) take(y - WORD, y + WORD);
  });
  return { first, last };
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

/** Points whose smooth line goes down through the middle of its text. @param {Point[]} points @param {Point | null} middle */
function throughText(points, middle) {
  if (!middle) return points;
  return points.flatMap((point) => {
    const isText = Math.abs(point.x - middle.x) < 1 && Math.abs(point.y - middle.y) < 1;
    return isText ? [{ x: point.x, y: point.y - WORD }, { x: point.x, y: point.y + WORD }] : [point];
  });
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
