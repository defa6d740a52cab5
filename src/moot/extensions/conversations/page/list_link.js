// The way from the list of debates to imported conversations, where there are any.

import { html } from '../../../vendor/preact.js';
import { get, tokens } from '../../lib/api.js';
import { useLoaded } from '../../lib/ui.js';

export default function ListLink() {
  // With a token they may not be this user's to ask for: then there may be some.
  const [found] = useLoaded(async (signal) =>
    tokens.own() || (await get('/conversations?limit=1', { signal })).total > 0);
  return found && html` · <a href="/conversations">Conversations</a>`;
}
