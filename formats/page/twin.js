// @ts-check
"use strict";

/**
 * The first of two compared graphs, beside the second: what is scrolled, opened and selected in one picture is so in the other. What is
 * selected is a node of both graphs as one, which the page knows under the name that the second graph has for it.
 */
class Twin {
  /** @param {Viewer} viewer @param {Panes} panes */
  constructor(viewer, panes) {
    this.viewer = viewer;
    this.panes = panes;
    this.pane = part("first", HTMLElement);
    this.surface = new Surface(part("twin", SVGSVGElement), part("twin-map", SVGSVGElement), (item, isHead) => this.click(item, isHead));
    this.functions = functionsAmong(panes.before);
    /** By whether all nodes are drawn. @type {Map<boolean, Scene>} */
    this.scenes = new Map();
    /** The scope that is selected where the other picture has none like it. @type {Scope | null} */
    this.own = null;
    const [before, after] = panes.names;
    part("before", HTMLElement).append(html("b", {}, "Before"), ` ${before}`);
    part("after", HTMLElement).append(html("b", {}, "After"), ` ${after}`);
  }

  get isShown() {
    return !this.pane.hidden;
  }

  /** @param {boolean} isShown */
  show(isShown) {
    this.pane.hidden = !isShown;
    part("after", HTMLElement).hidden = !isShown;
    const { surface } = this.viewer;
    [surface.twin, this.surface.twin] = isShown ? [this.surface, surface] : [null, null];
  }

  /** The picture of the first graph, made when it is first looked at; its scopes are open where those of the other picture are.
   * @returns {Promise<Scene>} */
  async ready() {
    const { isWhole, book, scene: other } = this.viewer;
    let scene = this.scenes.get(isWhole);
    if (!scene) {
      await book.store.openView(this.panes.before[0], isWhole);
      scene = new Scene(book, this.panes.before[0], isWhole, measure, this.functions);
      this.scenes.set(isWhole, scene);
      await scene.prepare();
      for (const scope of [...scene.root.shown()].filter((item) => item instanceof Scope).filter(({ isOpen }) => isOpen)) scene.setOpen(scope, false);
      for (const scope of [...other.root.shown()].filter((item) => item instanceof Scope)) if (scope.isOpen) await this.follow(scope, scene);
    }
    return scene;
  }

  /** The picture of the first graph, once it is ready. */
  get scene() {
    return this.scenes.get(this.viewer.isWhole);
  }

  /** Draw the picture, once what it says is unpacked. */
  async draw() {
    const scene = await this.ready();
    await this.viewer.book.store.describe(scene.described());
    if (scene !== this.scene) return;
    scene.layOut();
    this.surface.draw(scene, (item) => this.viewer.paint(item));
    this.mark();
  }

  /** Open or close what is like a scope of the other picture. @param {Scope} scope @param {Scene} scene */
  async follow(scope, scene) {
    const like = this.like(scope, scene);
    if (like) await setOpenIn(scene, like, scope.isOpen);
  }

  /** The scope like one of the other picture. @param {Scope} scope @param {Scene} scene @returns {Scope | undefined} */
  like(scope, scene) {
    return scene.likeliest(scope.nodes.flatMap((node) => this.panes.first.get(node) ?? []), scope instanceof Call, scope.path);
  }

  /** The scope of the other picture like one of this picture. @param {Scope} scope @returns {Scope | undefined} */
  likeness(scope) {
    return this.viewer.scene.likeliest(scope.nodes.flatMap((node) => this.panes.merged.get(node) ?? []), scope instanceof Call, scope.path);
  }

  /** The box or frame for what is selected. @returns {Item | undefined} */
  get selectedItem() {
    const { scene, viewer } = this;
    if (this.own) return this.own;
    if (!viewer.selected || !scene) return undefined;
    const { node } = viewer.selected;
    const item = viewer.selectedItem;
    if (node === null) return item instanceof Scope ? this.like(item, scene) : undefined;
    const drawn = this.drawn(node, scene);
    return drawn === undefined ? undefined : scene.boxOf(drawn);
  }

  /** What draws a node in this picture. @param {number} node Of both graphs as one. @param {Scene} scene */
  drawn(node, scene) {
    const first = this.panes.first.get(node);
    return first === undefined ? undefined : scene.bodyWith(first, "")?.holder(first);
  }

  mark() {
    const item = this.selectedItem;
    if (this.scene) this.surface.select(item ? { item, ...this.scene.linksOf(item) } : null);
  }

  /** Open what a node is in and bring it into the middle. @param {number} node Of both graphs as one. */
  async reveal(node) {
    const scene = await this.ready();
    const drawn = this.drawn(node, scene);
    if (drawn === undefined) return;
    scene.reveal(drawn);
    await this.draw();
    if (this.selectedItem) this.surface.centre(this.selectedItem);
  }

  /** @param {Item | null} item @param {boolean} isHead */
  click(item, isHead) {
    if (item instanceof Scope && (isHead || !item.isOpen)) this.toggle(item);
    else this.select(item);
    this.surface.element.focus({ preventScroll: true });
  }

  /** Open or close a scope or call, and what is like it. @param {Scope} scope */
  async toggle(scope) {
    const { viewer } = this;
    const scene = await this.ready();
    const like = this.likeness(scope);
    await keepPlace(this.surface, scope, async () => {
      await setOpenIn(scene, scope, !scope.isOpen);
      if (like) await setOpenIn(viewer.scene, like, scope.isOpen);
      await viewer.draw();
    });
    await this.select(scope);
  }

  /** Select an item's node, or the scope like it, in both pictures. @param {Item | null} item @param {boolean} [isStep] */
  async select(item, isStep = true) {
    const { viewer } = this;
    if (item instanceof Leaf || item instanceof Call) {
      const node = this.panes.merged.get(item.node);
      if (node !== undefined) await viewer.selectNode(node, isStep);
      return;
    }
    const like = item instanceof Scope && item.parent ? this.likeness(item) : undefined;
    await viewer.select(like ?? null, isStep);
    if (like || !(item instanceof Scope) || !item.parent) return;
    this.own = item;
    viewer.panel.showScope(item, viewer.book.entries);
    this.mark();
  }
}

/** Open or close a scope, with those around it open. @param {Scene} scene @param {Scope} scope @param {boolean} isOpen */
async function setOpenIn(scene, scope, isOpen) {
  for (let outer = scope.parent; outer && isOpen; outer = outer.parent) if (!outer.isOpen) scene.setOpen(outer, true);
  if (isOpen) await scene.open(scope);
  else scene.setOpen(scope, false);
}

/** Change a picture in which an item stays at the same place on the screen. @param {Surface} surface @param {Item} item
 * @param {() => Promise<void>} change */
async function keepPlace(surface, item, change) {
  const place = surface.screenPlace(item);
  await change();
  surface.hold(item, place);
}
