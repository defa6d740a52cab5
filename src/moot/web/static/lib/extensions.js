// What extensions add to the page: the server lists their modules in the document.

import { html, useEffect, useState } from '../../vendor/preact.js';

const listed = document.querySelector('meta[name=extensions]');

/** Modules with their place (`page`, `nav`, `live`, `verdict`, `report`, `form` or `debates`), path, address and title. */
export const modules = listed ? JSON.parse(listed.content) : [];

const load = (path) => import(`/${path}`);

/** The page of an extension at an address, as `[pattern, path of its module, title]`. */
export const pages = modules.filter(({ address }) => address).map(({ address, path, title }) => {
  const pattern = address.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/, '(?<id>[^/]+)');
  return [new RegExp(`^${pattern}$`), path, title];
});

const included = [];

/** Put the part of an extension into a document that loads nothing: the standalone replay. */
export const include = (place, part) => included.push([place, part]);

/** The parts of all extensions for one place: each is the default component of its module. */
export function Parts({ place, ...props }) {
  const [parts, show] = useState(() => included.filter(([where]) => where === place).map(([, part], index) => [index, part]));
  useEffect(() => {
    if (!modules.length) return;
    const wanted = modules.filter((module) => module.place === place);
    // A part that cannot be loaded is left out: the page is whole without it.
    Promise.allSettled(wanted.map(({ path }) => load(path))).then((found) =>
      show(found.map(({ value }, index) => [wanted[index].path, value?.default]).filter(([, part]) => part)));
  }, [place]);
  return parts.map(([path, part]) => html`<${part} key=${path} ...${props} />`);
}
