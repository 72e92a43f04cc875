// @ts-check
"use strict";

/**
 * The part of the page's address behind `#`: the page, the node or scope that is selected, and whether all nodes are drawn, and two
 * graphs side by side. A copied link opens on the same selection; Back and forward lead through the selections.
 *
 * @typedef {{ page: string, node: string, scope: string, isClosed: boolean, isWhole: boolean, isBeside: boolean }} Place  Empty texts where nothing is selected,
 *   or the first page is shown.
 */

/** @param {Place} place */
function toFragment({ page, node, scope, isClosed, isWhole, isBeside }) {
  const flag = (/** @type {boolean} */ isSet) => (isSet ? "1" : "");
  const fields = [["node", node], ["scope", scope], ["closed", flag(isClosed)], ["page", page], ["all", flag(isWhole)], ["beside", flag(isBeside)]];
  const readable = (/** @type {string} */ text) => encodeURIComponent(text).replace(/%2F/g, "/").replace(/%3A/g, ":");
  return fields.filter(([, text]) => text).map(([name, text]) => `${name}=${readable(text)}`).join("&");
}

/** @param {string} fragment @returns {Place} */
function toPlace(fragment) {
  const fields = new URLSearchParams(fragment);
  const text = (/** @type {string} */ name) => fields.get(name) ?? "";
  return { page: text("page"), node: text("node"), scope: text("scope"), isClosed: fields.has("closed"), isWhole: fields.has("all"), isBeside: fields.has("beside") };
}

class Address {
  /** @param {(place: Place) => void} onChange Called when Back, forward or a link changes the address. */
  constructor(onChange) {
    addEventListener("popstate", () => onChange(this.place));
  }

  get place() {
    return toPlace(location.hash.slice(1));
  }

  /** Write a place into the address. @param {Place} place @param {boolean} isStep Whether Back leads to the place before. */
  write(place, isStep) {
    if (location.protocol === "about:") return; // The frame of a notebook has no address of its own.
    const address = `${location.href.split("#")[0]}#${toFragment(place)}`;
    if (address === location.href || (!toFragment(place) && !location.hash)) return;
    if (isStep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }
}
