// @ts-check
"use strict";

/** The whole picture in a corner, with a frame around the part that is seen. A press or a drag moves the part. */
class Minimap {
  /** @param {SVGSVGElement} element @param {(place: Point) => void} onMove Called with the place in the picture to bring into the middle. */
  constructor(element, onMove) {
    this.element = element;
    this.boxes = svg("g");
    this.seen = svg("rect", { class: "seen" });
    element.append(this.boxes, this.seen);
    const move = (/** @type {PointerEvent} */ event) => {
      const matrix = element.getScreenCTM();
      if (matrix) onMove(new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()));
    };
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      move(event);
    });
    element.addEventListener("pointermove", (event) => event.buttons && move(event));
  }

  /** @param {Scene} scene */
  draw(scene) {
    const { width, height } = scene.root;
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.boxes.replaceChildren(...[...scene.root.shown()].map((item) => {
      const isFrame = item instanceof Scope && item.isOpen;
      return svg("rect", { class: isFrame ? "far-frame" : "far-box", ...item.place(), width: item.width, height: item.height });
    }));
  }

  /** Frame what is seen; hide where all is. @param {Scene} scene @param {{ x: number, y: number, zoom: number }} camera
   * @param {{ width: number, height: number }} size Of the window on the picture. */
  place(scene, { x, y, zoom }, size) {
    const { width, height } = scene.root;
    const seen = { x: -x / zoom, y: -y / zoom, width: size.width / zoom, height: size.height / zoom };
    for (const [name, value] of Object.entries(seen)) this.seen.setAttribute(name, String(value));
    const isAll = seen.x <= 1 && seen.y <= 1 && seen.x + seen.width >= width - 1 && seen.y + seen.height >= height - 1;
    this.element.classList.toggle("idle", isAll);
  }
}
