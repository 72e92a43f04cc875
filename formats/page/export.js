// @ts-check
"use strict";

/** The part of the picture that is seen, as a file of its own: SVG, or PNG. */

/** The properties that make a picture the same without the page's style sheet. */
const LOOKS = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "paint-order", "text-anchor",
  "font-family", "font-size", "font-weight",
];
/** How many pixels of a PNG a pixel of the screen is. */
const SCALE = 2;

/** The picture as the text of an SVG file. @param {SVGSVGElement} picture */
function pictureText(picture) {
  const { width, height } = picture.getBoundingClientRect();
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const copies = [...copy.querySelectorAll("*")];
  [...picture.querySelectorAll("*")].forEach((element, i) => dress(element, copies[i]));
  for (const name of ["id", "class", "tabindex"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.prepend(svg("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

/** Write the look of an element into its copy. @param {Element} element @param {Element} copy */
function dress(element, copy) {
  const look = getComputedStyle(element);
  if (look.display === "none") return copy.remove();
  for (const name of LOOKS) copy.setAttribute(name, look.getPropertyValue(name));
  for (const name of ["class", "style"]) copy.removeAttribute(name);
}

/** @param {SVGSVGElement} picture @param {string} name */
function saveSvg(picture, name) {
  offer(new Blob([pictureText(picture)], { type: "image/svg+xml" }), `${name}.svg`);
}

/** @param {SVGSVGElement} picture @param {string} name */
async function savePng(picture, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(pictureText(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width * SCALE, image.height * SCALE];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && offer(blob, `${name}.png`));
}

/** Let the browser save a file. @param {Blob} contents @param {string} name */
function offer(contents, name) {
  const url = URL.createObjectURL(contents);
  html("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
