// A debate as a file. The token goes in a header, so that it is fetched here and handed to the browser.

import { get } from './api.js';

const KEPT_MS = 60_000;

/** `form`: markdown, html, json, or replay, which is a page that plays without a server. */
export const transcript = (id, form, reasoning) =>
  get(`/debates/${id}/transcript?format=${form}&reasoning=${reasoning}`, { raw: true });

export async function save(id, form, reasoning) {
  const reply = await transcript(id, form, reasoning);
  const named = /filename="([^"]+)"/.exec(reply.headers.get('content-disposition') ?? '')?.[1];
  const href = URL.createObjectURL(await reply.blob());
  Object.assign(document.createElement('a'), { href, download: named ?? `${id}.${form}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}
