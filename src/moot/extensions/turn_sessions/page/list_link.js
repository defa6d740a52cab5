// The way from the list of debates to that of sessions, where there are any.

import { html } from '../../../vendor/preact.js';
import { outside, tokens } from '../../lib/api.js';
import { useLoaded } from '../../lib/ui.js';

export default function ListLink() {
  // With a token they may not be this user's to ask for: then there may be some.
  const [found] = useLoaded(async (signal) =>
    tokens.own() || (await outside('/debate/sessions', { signal })).sessions.length > 0);
  return found && html` · <a href="/sessions">Turn by turn</a>`;
}
