// Imported conversations. One is read with its reasoning, tools and their results in the order in which they came;
// what was cut is marked.

import { html, useEffect, useState } from '../../../vendor/preact.js';
import { get } from '../../lib/api.js';
import { When } from '../../lib/clock.js';
import { figure, plural } from '../../lib/numbers.js';
import { go } from '../../lib/router.js';
import { ensureStyle } from '../../lib/stylesheet.js';
import { Button, Empty, Failed, useLoaded } from '../../lib/ui.js';
import { Message, isPartial } from './message.js';

await ensureStyle('extensions/conversations/conversations');

const SIZE = 20;
const EVENTS = 200;

export default function Conversations({ at }) {
  const id = at.query.get('id');
  return id ? html`<${Conversation} key=${id} id=${id} />` : html`<${List} at=${at} />`;
}

function List({ at }) {
  const search = at.query.get('search') ?? '';
  const page = Math.max(1, Number.parseInt(at.query.get('page') ?? '1', 10) || 1);
  const query = new URLSearchParams({ limit: SIZE, offset: (page - 1) * SIZE, ...(search && { search }) });
  const [imported, error, again] = useLoaded((signal) => get(`/conversations?${query}`, { signal }), [`${query}`]);
  return html`<main id="main" class="wide conversations">
    <header class="row">
      <h1 tabindex="-1" class="grow">Conversations</h1>
    </header>
    <section aria-labelledby="imported-title" class="stack">
      <header class="row">
        <h2 id="imported-title" class="grow">Imported</h2>
        ${imported && html`<p class="soft numbers">${plural(imported.total, 'conversation')}</p>`}
      </header>
      ${(imported?.total > 0 || search) && html`<${Search} search=${search} />`}
      ${error && html`<${Failed} error=${error} again=${again} />`}
      ${imported && (imported.conversations.length
        ? html`<ol class="rows">${imported.conversations.map((one) => html`<${Row} key=${one.id} one=${one} />`)}</ol>`
        : html`<${Nothing} search=${search} />`)}
      ${imported && imported.total > SIZE && html`<${Pages} search=${search} page=${page} imported=${imported} />`}
    </section>
  </main>`;
}

const addressOf = (id) => `/conversations?id=${encodeURIComponent(id)}`;

const Row = ({ one }) => html`<li>
  <h3><a href=${addressOf(one.id)} dir="auto">${one.title ?? one.id}</a></h3>
  <p class="soft small"><bdi>${one.source}</bdi></p>
  <p class="soft small numbers">${plural(one.events, 'message')} · <${When} at=${new Date(one.lastTs).toISOString()} /></p>
</li>`;

function Search({ search }) {
  const seek = (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get('search').trim();
    go(`/conversations${text ? `?search=${encodeURIComponent(text)}` : ''}`);
  };
  return html`<search><form class="row" onSubmit=${seek}>
    <label class="named grow"><span class="visually-hidden">Search text and sources</span>
      <input class="field" type="search" name="search" defaultValue=${search} placeholder="Search text and sources" maxlength="200" />
    </label>
    <button class="btn">Search</button>
    ${search && html`<a class="btn plain" href="/conversations">Clear</a>`}
  </form></search>`;
}

function Nothing({ search }) {
  if (search) return html`<${Empty} title="No conversation has these words"><p><a href="/conversations">Clear the search</a></p><//>`;
  return html`<${Empty} title="Nothing has been imported">
    <p class="soft">Conversations with models that were held elsewhere are imported in the terminal, and read here:</p>
    <pre>moot import legacy events.jsonl</pre>
  <//>`;
}

function Pages({ search, page, imported }) {
  const to = (number) => `/conversations?${new URLSearchParams({ page: number, ...(search && { search }) })}`;
  return html`<nav class="pages row" aria-label="Pages">
    ${page > 1 && html`<a class="btn" rel="prev" href=${to(page - 1)}>Newer</a>`}
    <span class="grow soft numbers">Page ${page} of ${Math.ceil(imported.total / SIZE)}</span>
    ${imported.hasMore && html`<a class="btn" rel="next" href=${to(page + 1)}>Older</a>`}
  </nav>`;
}

// --- one conversation ----------------------------------------------------------------------------------------

function Conversation({ id }) {
  const path = `/conversations/${encodeURIComponent(id)}`;
  const [about, error, again] = useLoaded((signal) => get(path, { signal }), [id]);
  const [events, setEvents] = useState([]);
  const [next, setNext] = useState('');
  const [more, setMore] = useState(false);
  const [sought, seek] = useState('');
  const [trouble, setTrouble] = useState(null);
  const load = async () => {
    const query = new URLSearchParams({ limit: EVENTS, ...(next && { after: next }) });
    try {
      const page = await get(`${path}/events?${query}`);
      setEvents((known) => [...known, ...page.events]);
      setNext(page.next ?? '');
      setMore(page.hasMore);
    } catch (problem) {
      setTrouble(problem);
    }
  };
  useEffect(() => {
    load();
  }, [id]);
  const fits = (event) => !sought || JSON.stringify(event.segments).toLowerCase().includes(sought.toLowerCase());
  const shown = events.filter(fits);
  const partial = events.filter(isPartial).length;
  const save = async () => {
    const all = [...events];
    for (let after = next, has = more; has; ) {
      const page = await get(`${path}/events?${new URLSearchParams({ limit: EVENTS, after })}`);
      all.push(...page.events);
      [after, has] = [page.next, page.hasMore];
    }
    keep(`${id.replace(/[^\w.-]+/g, '-')}.jsonl`, all.map((event) => JSON.stringify(event)).join('\n'));
  };
  return html`<main id="main" class="wide conversations one">
    <p><a href="/conversations">All conversations</a></p>
    <header class="row">
      <h1 tabindex="-1" class="grow" dir="auto">${about?.title ?? id}</h1>
      <${Button} onClick=${save}>Export (JSON lines)<//>
    </header>
    ${(error || trouble) && html`<${Failed} error=${error ?? trouble} again=${again} />`}
    ${about && html`<p class="soft small">
      <bdi>${about.source ?? 'a debate'}</bdi> · ${plural(about.events, 'message')}
      ${partial > 0 && html` · <span class="warned">${figure(partial)} partial</span>`}
    </p>`}
    <label class="named"><span class="visually-hidden">Search in this conversation</span>
      <input class="field" type="search" placeholder="Search in this conversation" value=${sought}
        onInput=${(event) => seek(event.target.value)} />
    </label>
    <ol class="messages">${shown.map((event) => html`<${Message} key=${event.id} event=${event} />`)}</ol>
    ${sought && html`<p class="soft" role="status">${plural(shown.length, 'message')} of ${events.length} loaded</p>`}
    ${more && html`<p><${Button} onClick=${load}>Load more<//></p>`}
  </main>`;
}

function keep(name, text) {
  const href = URL.createObjectURL(new Blob([`${text}\n`], { type: 'application/x-ndjson' }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
